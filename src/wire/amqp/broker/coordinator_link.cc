#include "wire/amqp/broker/coordinator_link.h"

#include "wire/amqp/broker/broker_session.h"
#include "wire/amqp/broker/reason_condition.h"

namespace millstream::wire::amqp {

using queue::Outcome;

namespace {

// What the amqp-value of a message is; false: it is no such message.
bool read_coordinator_body(std::string_view bytes, std::string_view& value) {
  Reader reader(bytes);
  while (!reader.at_end()) {
    uint64_t code = 0;
    std::string_view raw;
    if (!reader.read_descriptor(code) || !reader.read_raw(raw)) return false;
    if (code == descriptor::kAmqpValue) value = raw;
  }
  return !value.empty();
}

}  // namespace

void CoordinatorLink::on_attach(const Attach& attach) {
  std::string capabilities = encode_symbols(
      {"amqp:local-transactions", "amqp:multi-txns-per-ssn", "amqp:multi-ssns-per-txn"});
  Writer target;
  encode(target, Coordinator{.capabilities = capabilities});
  link_->attach({.snd_settle_mode = attach.snd_settle_mode,
                 .rcv_settle_mode = attach.rcv_settle_mode,
                 .source = attach.source,
                 .target = target.bytes()});
  link_->set_credit(kCredit);
}

void CoordinatorLink::on_message(Link&, Incoming& message) {
  if (link_->credit() <= kCredit / 2) link_->set_credit(kCredit);
  std::string_view value;
  Declare declared;
  Discharge discharged;
  if (!read_coordinator_body(message.bytes, value)) {
    reject(message.id, condition::kDecodeError, "a message for the coordinator without a value");
  } else if (decode(value, declared)) {
    declare(message);
  } else if (decode(value, discharged)) {
    discharge(message, discharged.txn_id, discharged.fail);
  } else {
    reject(message.id, condition::kNotImplemented, "neither declare nor discharge");
  }
}

void CoordinatorLink::declare(const Incoming& message) {
  if (message.is_settled) {
    return link_->close(condition::kNotAllowed, "a declare that is settled has no answer");
  }
  Transaction* t = nullptr;
  Outcome outcome = session_.transactions().declare(*this, t);
  if (outcome.is_failed()) {
    return reject(message.id, condition_of_reason(outcome.reason), text_of_reason(outcome.reason));
  }
  std::string name = t->name();
  link_->settle(message.id, {.kind = StateKind::kDeclared, .txn_id = name});
}

void CoordinatorLink::discharge(const Incoming& message, std::string_view transaction, bool fails) {
  Transaction* t = session_.transactions().find(transaction);
  if (t == nullptr) {
    return reject(message.id, condition::kUnknownTransaction, "no transaction has this identifier");
  }
  uint32_t id = message.id;
  if (fails) {
    session_.transactions().roll_back(*t);
    return link_->settle(id, {.kind = StateKind::kAccepted});
  }
  session_.transactions().commit(*t, [this, self = shared_from_this(), id](const Outcome& o) {
    if (is_gone()) return;
    if (o.is_failed()) {
      reject(id, condition::kRollback, text_of_reason(o.reason));
    } else {
      link_->settle(id, {.kind = StateKind::kAccepted});
    }
    session_.flush_later();
  });
}

void CoordinatorLink::reject(uint32_t id, std::string_view condition, std::string_view why) {
  std::string error = encode_error(condition, why);
  link_->settle(id, {.kind = StateKind::kRejected, .error = error});
}

void CoordinatorLink::on_end(Link&, End) { session_.transactions().roll_back_of(*this); }

}  // namespace millstream::wire::amqp
