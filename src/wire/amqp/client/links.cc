#include "wire/amqp/client/links.h"

#include <cstring>

#include "wire/amqp/client/errors_gen.h"

namespace millstream::wire::amqp::client {
namespace {

constexpr std::string_view kSelectorSymbol = "apache.org:selector-filter:string";
constexpr uint32_t kDurableUnsettled = 2;

std::string encoded_outcomes() {
  return encode_symbols({outcome_symbol(StateKind::kAccepted), outcome_symbol(StateKind::kRejected),
                         outcome_symbol(StateKind::kReleased),
                         outcome_symbol(StateKind::kModified)});
}

template <typename T>
std::string encoded(const T& composite) {
  Writer w;
  encode(w, composite);
  return std::string(w.bytes());
}

std::string encoded_capability(const std::string& name) {
  return name.empty() ? std::string() : encode_symbols({name});
}

std::string encoded_selector(const std::string& selector) {
  if (selector.empty()) return {};
  Writer w;
  Writer::Compound map = w.begin_map();
  w.element(map);
  w.symbol(kSelectorSymbol);
  w.element(map);
  w.descriptor(descriptor::kSelectorFilter);
  w.string(selector);
  w.end(map);
  return std::string(w.bytes());
}

// An address is encoded, as it may be of any type; ours are text.
std::string encoded_address(const std::string& address) {
  if (address.empty()) return {};
  Writer w;
  w.string(address);
  return std::string(w.bytes());
}

std::string next_link_name(bool is_sender) {
  thread_local uint64_t last = 0;  // a name is unique among the links of a connection
  return (is_sender ? "sender-" : "receiver-") + std::to_string(++last);
}

Outcome outcome_of(const DeliveryState& state) {
  Outcome outcome{.kind = state.kind, .txn_id = std::string(state.txn_id)};
  ErrorInfo error;
  if (!state.error.empty() && decode(state.error, error)) outcome.why = error_text(&error, {});
  return outcome;
}

}  // namespace

std::string outcome_text(const Outcome& outcome) {
  auto with_why = [&](std::string text) {
    return outcome.why.empty() ? text : text + ", " + outcome.why;
  };
  switch (outcome.kind) {
    case StateKind::kAccepted:
      return "accepted";
    case StateKind::kRejected:
      return with_why("rejected");
    case StateKind::kReleased:
      return with_why("released");
    case StateKind::kModified:
      return with_why("modified");
    default:
      return with_why("settled without an outcome");
  }
}

// --- common ---

ClientLink::~ClientLink() {
  if (link_ == nullptr) return;
  link_->set_handler(nullptr);
  if (connection_.is_ended()) return;
  link_->close();
  connection_.flush_later();
}

Status ClientLink::why_gone() const {
  if (connection_.is_ended()) return connection_.why_ended();
  if (link_ != nullptr) return base::make_error(errors::kNoAnswer, {address_});
  return base::make_error(errors::kLinkRefused, {address_, why_});
}

Status ClientLink::open(bool is_sender, Attach attach) {
  if (connection_.is_ended()) return connection_.why_ended();
  std::string name(attach.name);
  if (name.empty()) name = next_link_name(is_sender);
  link_ = connection_.session().attach(std::move(name), is_sender, attach, *this);
  if (link_ == nullptr) {
    why_ = "there are too many links";
    return why_gone();
  }
  connection_.wait(connection_.deadline(),
                   [&] { return link_ == nullptr || (is_answered_ && !is_refused_); });
  return is_answered_ && !is_refused_ && link_ != nullptr ? Status() : why_gone();
}

void ClientLink::on_attached(Link& link, const Attach& attach) {
  is_answered_ = true;
  // Without the terminus of its side, the broker refuses (2.6.3).
  std::string_view terminus = link.is_sender() ? attach.target : attach.source;
  is_refused_ = terminus.empty();
  Source source;
  Target target;
  std::string_view address;
  if (link.is_sender() ? decode(attach.target, target) : decode(attach.source, source)) {
    Reader reader(link.is_sender() ? target.address : source.address);
    if (reader.read_string(address) && !address.empty()) address_ = address;
  }
  connection_.notify();
}

void ClientLink::on_detached(Link&, bool, const ErrorInfo* error) {
  link_ = nullptr;
  why_ = error_text(error, "the broker has closed the link");
  connection_.notify();
}

Status ClientLink::close() {
  if (link_ == nullptr) return why_gone();
  connection_.engine().flush();
  link_->close();
  return connection_.wait(connection_.deadline(), [&] { return link_ == nullptr; }) ? Status()
                                                                                    : why_gone();
}

// --- sender ---

Result<std::unique_ptr<Sender>> Sender::open(Connection& connection, const Options& options) {
  std::unique_ptr<Sender> sender(new Sender(connection, options.address));
  sender->is_settled_ = options.is_settled;
  const std::string outcomes = encoded_outcomes();
  const std::string capabilities = encoded_capability(options.capability);
  const std::string address = encoded_address(options.address);
  Target target{.address = address, .dynamic = options.is_dynamic, .capabilities = capabilities};
  const std::string source = encoded(Source{.outcomes = outcomes});
  const std::string encoded_target = encoded(target);
  Attach attach{.snd_settle_mode = options.is_settled ? kSenderSettled : kSenderUnsettled,
                .source = source,
                .target = encoded_target};
  MS_TRY(sender->ClientLink::open(true, attach));
  return sender;
}

Status Sender::post(const Message& message, Done done) {
  Connection& c = connection();
  const bool may_send =
      c.wait(c.deadline(), [&] { return is_gone() || link()->can_send(); }) && !is_gone();
  if (!may_send) return why_gone();
  const uint64_t cookie = ++last_cookie_;
  Writer state;
  if (!message.txn_id.empty()) {
    encode_state(state, {.txn_id = message.txn_id, .is_transactional = true});
  }
  uint64_t tag = cookie;
  char tag_bytes[sizeof tag];
  std::memcpy(tag_bytes, &tag, sizeof tag);
  if (!is_settled_) pending_.emplace_back(cookie, std::move(done));
  link()->send({.tag = {tag_bytes, sizeof tag_bytes},
                .is_settled = is_settled_,
                .state = state.bytes(),
                .head = message.head,
                .body = message.body,
                .tail = message.tail,
                .cookie = cookie});
  return {};
}

void Sender::on_state(Link& link, uint32_t id, uint64_t cookie, const DeliveryState& state,
                      bool is_settled) {
  const bool is_final = is_settled || state.is_terminal() || state.kind == StateKind::kDeclared;
  if (!is_final) return;
  if (!is_settled) link.settle(id, state);
  for (auto it = pending_.begin(); it != pending_.end(); ++it) {
    if (it->first != cookie) continue;
    Done done = std::move(it->second);
    pending_.erase(it);
    if (done) done(outcome_of(state));
    break;
  }
  connection().notify();
}

Result<Outcome> Sender::send(const Message& message) {
  // The callback may come after this has given up.
  const auto outcome = std::make_shared<std::optional<Outcome>>();
  MS_TRY(post(message, [outcome](const Outcome& o) { *outcome = o; }));
  if (is_settled_) return Outcome{.kind = StateKind::kAccepted};
  Connection& c = connection();
  if (!c.wait(c.deadline(), [&] { return is_gone() || outcome->has_value(); }) ||
      !outcome->has_value()) {
    return why_gone();
  }
  return **outcome;
}

Status Sender::wait_for_all() {
  Connection& c = connection();
  while (!pending_.empty() && !is_gone()) {
    // As long as there is progress.
    const size_t before = pending_.size();
    if (!c.wait(c.deadline(), [&] { return is_gone() || pending_.size() < before; })) break;
  }
  return pending_.empty() ? Status() : why_gone();
}

// --- receiver ---

Result<std::unique_ptr<Receiver>> Receiver::open(Connection& connection, const Options& options) {
  std::unique_ptr<Receiver> receiver(new Receiver(connection, options.address));
  const std::string outcomes = encoded_outcomes();
  const std::string capabilities = encoded_capability(options.capability);
  const std::string filter = encoded_selector(options.selector);
  const std::string default_outcome = encoded(Released());
  const std::string address = encoded_address(options.address);
  Source source{.address = address,
                .dynamic = options.is_dynamic,
                .filter = filter,
                .default_outcome = default_outcome,
                .outcomes = outcomes,
                .capabilities = capabilities};
  if (options.is_browser) source.distribution_mode = "copy";
  Attach attach{.snd_settle_mode = options.is_settled ? kSenderSettled : kSenderUnsettled};
  if (!options.durable_name.empty()) {
    source.durable = kDurableUnsettled;
    source.expiry_policy = "never";
    attach.name = options.durable_name;
  }
  const std::string encoded_source = encoded(source);
  const std::string target = encoded(Target());
  attach.source = encoded_source;
  attach.target = target;
  MS_TRY(receiver->ClientLink::open(false, attach));
  return receiver;
}

void Receiver::set_credit(uint32_t credit) {
  if (is_gone()) return;
  link()->set_credit(credit);
  connection().flush_later();
}

void Receiver::on_message(Link&, Incoming& message) {
  Delivery delivery{.id = message.id, .is_settled = message.is_settled};
  if (message.owned != nullptr) {
    delivery.bytes = std::move(*message.owned);
  } else {
    delivery.bytes = message.bytes;
  }
  deliveries_.push_back(std::move(delivery));
  connection().notify();
}

Result<std::optional<Receiver::Delivery>> Receiver::receive(int64_t deadline_ns) {
  connection().wait(deadline_ns, [&] { return is_gone() || !deliveries_.empty(); });
  if (deliveries_.empty()) {
    if (is_gone() || connection().is_ended()) return why_gone();
    return std::optional<Delivery>();
  }
  std::optional<Delivery> delivery(std::move(deliveries_.front()));
  deliveries_.pop_front();
  return delivery;
}

Status Receiver::drain() {
  if (is_gone()) return why_gone();
  Connection& c = connection();
  if (link()->credit() > 0) link()->request_drain();
  const bool is_drained = c.wait(c.deadline(), [&] {
    return is_gone() || (link()->credit() == 0 && !link()->is_receiving());
  }) && !is_gone();
  return is_drained ? Status() : why_gone();
}

void Receiver::settle(uint32_t id, const DeliveryState& state) {
  if (is_gone()) return;
  link()->settle(id, state);
  connection().flush_later();
}

void Receiver::accept(uint32_t id, std::string_view txn_id) {
  settle(id, {.kind = StateKind::kAccepted, .txn_id = txn_id, .is_transactional = !txn_id.empty()});
}

// --- transactions ---

Result<std::unique_ptr<Coordinator>> Coordinator::open(Connection& connection) {
  std::unique_ptr<Sender> sender(new Sender(connection, "the coordinator of transactions"));
  const std::string outcomes = encoded_outcomes();
  const std::string source = encoded(Source{.outcomes = outcomes});
  const std::string capabilities = encode_symbols({"amqp:local-transactions"});
  const std::string target = encoded(amqp::Coordinator{.capabilities = capabilities});
  Attach attach{.snd_settle_mode = kSenderUnsettled, .source = source, .target = target};
  Status opened = sender->ClientLink::open(true, attach);
  if (!opened.ok()) {
    if (connection.is_ended()) return opened;
    return base::make_error(errors::kNoTransactions, {opened.error().describe()});
  }
  return std::unique_ptr<Coordinator>(new Coordinator(std::move(sender)));
}

Result<std::string> Coordinator::declare() {
  Writer w;
  w.descriptor(descriptor::kAmqpValue);
  encode(w, Declare());
  Outcome outcome = MS_TRY(sender_->send({.head = w.bytes()}));
  if (outcome.kind != StateKind::kDeclared) {
    return base::make_error(errors::kTransactionFailed, {outcome_text(outcome)});
  }
  return std::move(outcome.txn_id);
}

Status Coordinator::discharge(std::string_view txn_id, bool fails) {
  Writer w;
  w.descriptor(descriptor::kAmqpValue);
  // The default of `fail` is written as well: there are brokers that cannot do without it.
  Writer::Compound list = w.begin_list(descriptor::kDischarge);
  w.element(list);
  w.binary(txn_id);
  w.element(list);
  w.boolean(fails);
  w.end(list);
  const Outcome outcome = MS_TRY(sender_->send({.head = w.bytes()}));
  if (outcome.is_accepted()) return {};
  return base::make_error(errors::kTransactionFailed, {outcome_text(outcome)});
}

}  // namespace millstream::wire::amqp::client
