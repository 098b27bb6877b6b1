// A message as selectors see it: fields of the descriptor under their names of MQI and JMS, and the
// properties that travel with it.
// Thread: one. Views live until the same property is asked for again, and as long as the message.
#pragma once
#include <string>

#include "mqi/properties.h"
#include "queue/core/message.h"

namespace millstream::queue {

class MessageProperties final : public mqi::PropertySource {
 public:
  MessageProperties(const Message& message, uint32_t backout_count)
      : message_(message), backout_count_(backout_count) {}
  mqi::PropertyView find_property(mqi::PropertyId id, std::string_view name) const override;

 private:
  mqi::PropertyView descriptor_field(mqi::PropertyId id) const;
  mqi::PropertyView jms_field(mqi::PropertyId id) const;
  mqi::PropertyView named(std::string_view name) const;
  mqi::PropertyView text(int slot, std::string value) const;
  const Message& message_;
  uint32_t backout_count_;
  mutable std::string made_[4];  // values that are no views of the message
};

}  // namespace millstream::queue
