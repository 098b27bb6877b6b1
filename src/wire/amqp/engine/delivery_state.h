// What one side says about a delivery (3.4, 4.5.5): an outcome, how much was received, or either as
// part of a transaction. Thread: any. Views live as long as the frame.
#pragma once
#include "wire/amqp/codec/performatives_gen.h"

namespace millstream::wire::amqp {

enum class StateKind : uint8_t {
  kNone,
  kReceived,
  kAccepted,
  kRejected,
  kReleased,
  kModified,
  kDeclared,
  kUnknown  // an extension's
};

struct DeliveryState {
  StateKind kind = StateKind::kNone;
  std::string_view txn_id;  // of a transactional state, whose outcome `kind` is; or declared
  bool is_transactional = false;
  bool is_delivery_failed = false;  // of modified
  bool is_undeliverable_here = false;
  std::string_view annotations;  // of modified: a map, encoded
  std::string_view error;        // of rejected: an error, encoded
  Received received;

  bool is_terminal() const { return kind >= StateKind::kAccepted && kind <= StateKind::kModified; }
};

// False: no delivery state. Nothing at all is kNone.
bool decode_state(std::string_view raw, DeliveryState& state);
void encode_state(Writer& w, const DeliveryState& state);
// "amqp:accepted:list" and the like, as sources name outcomes.
std::string_view outcome_symbol(StateKind kind);

// An encoded error; info: an encoded map, or nothing.
std::string encode_error(std::string_view condition, std::string_view description,
                         std::string_view info = {});

}  // namespace millstream::wire::amqp
