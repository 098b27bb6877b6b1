#include "wire/amqp/engine/delivery_state.h"

namespace millstream::wire::amqp {

namespace {
bool decode_outcome(Reader& reader, uint64_t code, DeliveryState& state) {
  switch (code) {
    case descriptor::kAccepted: {
      Accepted v;
      state.kind = StateKind::kAccepted;
      return read_fields(reader, v);
    }
    case descriptor::kReleased: {
      Released v;
      state.kind = StateKind::kReleased;
      return read_fields(reader, v);
    }
    case descriptor::kRejected: {
      Rejected v;
      state.kind = StateKind::kRejected;
      if (!read_fields(reader, v)) return false;
      state.error = v.error;
      return true;
    }
    case descriptor::kModified: {
      Modified v;
      state.kind = StateKind::kModified;
      if (!read_fields(reader, v)) return false;
      state.is_delivery_failed = v.delivery_failed;
      state.is_undeliverable_here = v.undeliverable_here;
      state.annotations = v.message_annotations;
      return true;
    }
    case descriptor::kReceived:
      state.kind = StateKind::kReceived;
      return read_fields(reader, state.received);
    case descriptor::kDeclared: {
      Declared v;
      state.kind = StateKind::kDeclared;
      if (!read_fields(reader, v)) return false;
      state.txn_id = v.txn_id;
      return true;
    }
    default:
      state.kind = StateKind::kUnknown;
      return reader.skip();
  }
}
}  // namespace

bool decode_state(std::string_view raw, DeliveryState& state) {
  state = DeliveryState();
  if (raw.empty() || static_cast<uint8_t>(raw[0]) == code::kNull) return true;
  Reader reader(raw);
  uint64_t code = 0;
  if (!reader.read_descriptor(code)) return false;
  if (code != descriptor::kTransactionalState) return decode_outcome(reader, code, state);
  TransactionalState v;
  if (!read_fields(reader, v)) return false;
  if (!v.outcome.empty()) {
    Reader outcome(v.outcome);
    if (!outcome.read_descriptor(code) || code == descriptor::kTransactionalState) return false;
    if (!decode_outcome(outcome, code, state)) return false;
  }
  state.is_transactional = true;
  state.txn_id = v.txn_id;
  return true;
}

namespace {
void encode_outcome(Writer& w, const DeliveryState& state) {
  switch (state.kind) {
    case StateKind::kAccepted:
      return encode(w, Accepted());
    case StateKind::kReleased:
      return encode(w, Released());
    case StateKind::kRejected:
      return encode(w, Rejected{.error = state.error});
    case StateKind::kModified:
      return encode(w, Modified{.delivery_failed = state.is_delivery_failed,
                                .undeliverable_here = state.is_undeliverable_here,
                                .message_annotations = state.annotations});
    case StateKind::kReceived:
      return encode(w, state.received);
    case StateKind::kDeclared:
      return encode(w, Declared{.txn_id = state.txn_id});
    default:
      return w.null();
  }
}
}  // namespace

void encode_state(Writer& w, const DeliveryState& state) {
  if (!state.is_transactional) return encode_outcome(w, state);
  Writer::Compound list = w.begin_list(descriptor::kTransactionalState);
  w.element(list);
  w.binary(state.txn_id);
  if (state.kind != StateKind::kNone) {
    w.element(list);
    encode_outcome(w, state);
  }
  w.end(list);
}

std::string_view outcome_symbol(StateKind kind) {
  switch (kind) {
    case StateKind::kAccepted:
      return "amqp:accepted:list";
    case StateKind::kRejected:
      return "amqp:rejected:list";
    case StateKind::kReleased:
      return "amqp:released:list";
    case StateKind::kModified:
      return "amqp:modified:list";
    default:
      return {};
  }
}

std::string encode_error(std::string_view condition, std::string_view description,
                         std::string_view info) {
  Writer w;
  encode(w, ErrorInfo{.condition = condition, .description = description, .info = info});
  return std::string(w.bytes());
}

}  // namespace millstream::wire::amqp
