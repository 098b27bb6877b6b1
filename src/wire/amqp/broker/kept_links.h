// What links leave behind to be resumed (2.6.13): the deliveries that were not settled when a link
// was detached, or its connection broke. A link that wants this says so by a timeout of its
// terminus; what it leaves is kept that long, in memory, until a link of the same container, name
// and direction takes it. Then, or at the end of the time, the messages go back to their queues.
// Thread: any; a delivery belongs to whoever has taken it.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include "queue/core/delivery.h"
#include "wire/amqp/engine/delivery_state.h"

namespace millstream::wire::amqp {

struct KeptDelivery {
  std::string tag;
  queue::Delivery delivery;           // sent to the client; or, of one that we received:
  StateKind said = StateKind::kNone;  // what we have said, and the sender has not settled
};

class KeptLinks {
 public:
  static constexpr size_t kLinksMax = 1'000;
  static constexpr uint32_t kTimeoutSMax = 600;

  struct Key {
    std::string container;
    std::string name;
    bool is_sender = false;  // of ours, not of the client
    bool operator<(const Key& o) const {
      return std::tie(container, name, is_sender) < std::tie(o.container, o.name, o.is_sender);
    }
  };
  // A number for expire(); 0: too many are kept already, the deliveries go back.
  uint64_t keep(Key key, std::vector<KeptDelivery> deliveries);
  std::vector<KeptDelivery> take(const Key& key);
  // The time of what has this number is over.
  void expire(uint64_t number);
  void clear();

 private:
  struct Kept {
    uint64_t number = 0;
    std::vector<KeptDelivery> deliveries;
  };
  std::mutex mutex_;  // leaf; nothing is settled under it
  std::map<Key, Kept> links_;
  uint64_t last_number_ = 0;
};

// The map of an attach: each tag with what was said of it, or null.
std::string encode_unsettled(const std::vector<KeptDelivery>& deliveries);

}  // namespace millstream::wire::amqp
