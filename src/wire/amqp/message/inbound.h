// A message of AMQP (3.2) on its way to a queue. The bare message and its annotations are kept bit
// for bit: what is the body of a data section or of a text is the message's body, everything around
// it is its origin (common/content.h). What other protocols and selectors read is taken out of it:
// docs/guide/protocols.md has the table.
// Thread: any.
#pragma once
#include <string>
#include <string_view>

#include "queue/core/connection.h"
#include "wire/amqp/codec/reader.h"
#include "wire/common/broker.h"

namespace millstream::wire::amqp {

struct InboundAddress {
  std::string to;                     // of the properties; empty: none
  NodeKind to_kind = NodeKind::kAny;  // when an annotation tells
};

struct InboundOptions {
  int64_t now_gmt_ms = 0;
  bool wants_address = false;  // of an anonymous relay: `address` is filled in
};

// Fills what the queue manager is to put. `bytes` is all of the message; `owned`, when there is
// one, has those bytes and may be taken. Null, or why it is no message.
const char* read_message(std::string_view bytes, std::string* owned, const InboundOptions& options,
                         queue::PutCall& call, InboundAddress& address);

}  // namespace millstream::wire::amqp
