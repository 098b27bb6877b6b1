// What a peer's attach asks of us: the source of a receiver, the target of a sender (3.5), with the
// capabilities, link names and filters of the JMS mapping. And our answers to them.
//
// Link names of subscriptions: what is before `|` names it ("team|global-volatile2"). Capabilities:
// `queue`, `topic`, `temporary-queue`, `temporary-topic` say what an address is; `shared` and
// `global` (shared by all clients) what a subscription is.
// Thread: any. Everything is owned.
#pragma once
#include <string>
#include <string_view>

#include "wire/amqp/engine/delivery_state.h"
#include "wire/common/broker.h"

namespace millstream::wire::amqp {

struct TerminusRequest {
  bool is_there = false;
  std::string address;
  bool is_dynamic = false;
  NodeKind kind = NodeKind::kAny;  // as capabilities say
  uint32_t durable = 0;
  std::string expiry_policy;
  uint32_t timeout_s = 0;
  std::string capabilities;  // as they came
  bool expires_never() const { return expiry_policy == "never"; }
};

struct SourceRequest : TerminusRequest {
  bool copies = false;  // distribution mode
  bool is_shared = false;
  bool is_global = false;
  bool has_selector = false;
  std::string selector;
  bool is_no_local = false;
  std::string filter;  // those that we act on, encoded
  std::string outcomes;
  std::string default_outcome;
  StateKind default_kind = StateKind::kNone;
  bool default_is_failed = false;
};

// Null, or why they are none.
const char* read_source(std::string_view raw, SourceRequest& out);
const char* read_target(std::string_view raw, TerminusRequest& out);
bool is_coordinator(std::string_view raw_target);

// What was asked for with the address that it has now.
std::string encode_source(const SourceRequest& request, std::string_view address);
std::string encode_target(const TerminusRequest& request, std::string_view address);

// The name under which the queue manager keeps the subscription of a link: what comes from one
// container has its name in front.
std::string subscription_name(std::string_view container, std::string_view link_name,
                              bool is_global, bool is_durable);

}  // namespace millstream::wire::amqp
