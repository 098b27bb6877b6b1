#include "cli/amqp_queue_client.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "cli/admin_client.h"
#include "cli/amqp_message.h"
#include "cli/errors_gen.h"
#include "mqi/reasons.h"
#include "net/reactor_pool.h"
#include "wire/amqp/client/errors_gen.h"
#include "wire/amqp/client/links.h"
#include "wire/amqp/client/url.h"

namespace millstream::cli {
namespace {

namespace client = wire::amqp::client;
using batch::Answer;
using batch::Operation;
using batch::Request;

constexpr uint32_t kRoundMessages = 64;  // asked for at once
constexpr int64_t kPatienceNs = 50 * net::kMillisecond;
constexpr uint64_t kToken = 1;  // there is one session

// What kind of node an address means that has no prefix: these are commands for queues.
std::string capability_of(std::string_view address) {
  const bool is_topic = address.starts_with("topic://") || address.starts_with("/topic/");
  return is_topic ? "topic" : "queue";
}

// Shared with callbacks, which may come when the call has given up.
using Outcomes = std::shared_ptr<std::vector<client::Outcome>>;

Answer refusal(int32_t reason, std::string detail) {
  Answer answer;
  answer.completion = mqi::cc::kFailed;
  answer.reason = reason;
  answer.detail = std::move(detail);
  return answer;
}

class AmqpClient final : public QueueClient {
 public:
  ~AmqpClient() override {
    if (reactors_ == nullptr) return;
    reactors_->run_on(0, [this] {
      close_links();
      connection_.reset();
    });
    reactors_->stop();
  }
  Status start(client::ConnectionOptions options, bool needs_transactions) {
    reactors_ = MS_TRY(net::ReactorPool::create(1));
    std::optional<Status> status;
    reactors_->run_on(0, [&] { status.emplace(connect(std::move(options), needs_transactions)); });
    return std::move(*status);
  }
  Result<Answer> call(const Request& request) override {
    std::optional<Result<Answer>> answer;
    reactors_->run_on(0, [&] { answer.emplace(dispatch(request)); });
    return std::move(*answer);
  }
  void guard(uint64_t) override {}  // the broker sees that the connection is gone

 private:
  Status connect(client::ConnectionOptions options, bool needs_transactions) {
    connection_ = MS_TRY(client::Connection::open(*net::Reactor::current(), std::move(options)));
    Result<std::unique_ptr<client::Coordinator>> coordinator =
        client::Coordinator::open(*connection_);
    if (coordinator.ok()) {
      coordinator_ = std::move(coordinator).take_value();
    } else if (needs_transactions || connection_->is_ended()) {
      return std::move(coordinator).take_status();
    }
    return {};
  }
  Result<Answer> dispatch(const Request& request) {
    const bool is_plain = (request.flags & ~batch::kCommit) == 0;
    switch (is_plain ? request.operation : Operation::kMqsc) {
      case Operation::kPut:
        return put(request);
      case Operation::kGet:
      case Operation::kBrowse:
        return read(request);
      case Operation::kMove:
        return move(request);
      case Operation::kEnd:
        return end(request);
      default:
        return refusal(mqi::reason::kFunctionNotSupported,
                       "AMQP has nothing for it; use the admin port");
    }
  }

  // --- put ---
  Result<Answer> put(const Request& request) {
    client::Sender& sender = *MS_TRY(sender_to(request.queue));
    std::string txn;
    if (coordinator_ != nullptr) txn = MS_TRY(coordinator_->declare());
    const Outcomes kept = std::make_shared<std::vector<client::Outcome>>(request.messages.size());
    std::vector<client::Outcome>& outcomes = *kept;
    Answer answer;
    for (size_t i = 0; i < request.messages.size(); ++i) {
      const EncodedMessage m = amqp_message_of(request.messages[i]);
      MS_TRY(sender.post({.head = m.head, .body = &m.body, .tail = m.tail, .txn_id = txn},
                         [kept, i](const client::Outcome& outcome) { (*kept)[i] = outcome; }));
      answer.text += m.message_id;
      answer.text.resize((i + 1) * 24);
    }
    MS_TRY(sender.wait_for_all());
    const auto bad = std::find_if(outcomes.begin(), outcomes.end(),
                                  [](const client::Outcome& o) { return !o.is_accepted(); });
    if (bad == outcomes.end()) {
      if (!txn.empty()) MS_TRY(coordinator_->commit(txn));
      answer.done = outcomes.size();
      return answer;
    }
    if (!txn.empty()) MS_TRY(coordinator_->roll_back(txn));
    answer = refusal(0, client::outcome_text(*bad));
    answer.done = static_cast<uint64_t>(bad - outcomes.begin());
    if (txn.empty() && outcomes.size() > 1) {
      const auto others = std::count_if(bad, outcomes.end(),
                                        [](const client::Outcome& o) { return o.is_accepted(); });
      answer.detail += "; without transactions, " +
                       std::to_string(answer.done + static_cast<uint64_t>(others)) + " of " +
                       std::to_string(outcomes.size()) + " of this unit are on the queue";
    }
    return answer;
  }

  // --- get, browse ---
  Result<Answer> read(const Request& request) {
    if ((request.flags & batch::kCommit) != 0) accept_taken();
    const bool is_browser = request.operation == Operation::kBrowse;
    if (receiver_ == nullptr) MS_TRY(open_receiver(request, is_browser));
    Answer answer;
    answer.token = kToken;
    std::vector<client::Receiver::Delivery> got;
    if (!MS_TRY(take(request.messages_max, request.bytes_max, request.wait_ms, got))) {
      answer.flags = batch::kNoMore;
    }
    for (client::Receiver::Delivery& d : got) {
      batch::FrameMessage& m = answer.messages.emplace_back();
      if (const char* why = read_amqp_message(d.bytes, m)) return refusal(0, why);
      const uint32_t max = request.body_bytes_max;
      if (max != 0 && m.body.size() > max) m.body.resize(max);
      if (!d.is_settled && is_browser) receiver_->accept(d.id);
      if (!d.is_settled && !is_browser) taken_.push_back(d.id);
    }
    return answer;
  }
  Status open_receiver(const Request& request, bool is_browser) {
    receiver_ = MS_TRY(
        client::Receiver::open(*connection_, {.address = request.queue,
                                              .capability = capability_of(request.queue),
                                              .selector = amqp_selector_of(request.selection),
                                              .is_browser = is_browser}));
    return {};
  }
  // False: the broker has no more for now.
  Result<bool> take(uint32_t messages_max, uint32_t bytes_max, uint32_t wait_ms,
                    std::vector<client::Receiver::Delivery>& out) {
    size_t bytes = 0;
    while (out.size() < messages_max && (bytes_max == 0 || bytes < bytes_max)) {
      const auto left = static_cast<uint32_t>(messages_max - out.size());
      const uint32_t credit = std::min(left, kRoundMessages);
      receiver_->set_credit(credit);
      const bool may_wait = out.empty() && wait_ms > 0;
      if (may_wait && !MS_TRY(wait_for_one(wait_ms))) return false;
      // There are brokers that answer a drain before they have looked properly.
      const int64_t patience_ns = connection_->reactor().refresh_now() + kPatienceNs;
      connection_->wait(patience_ns,
                        [&] { return receiver_->is_gone() || receiver_->waiting() >= credit; });
      MS_TRY(receiver_->drain());
      const size_t round = receiver_->waiting();
      for (size_t i = 0; i < round; ++i) {
        std::optional<client::Receiver::Delivery> d =
            MS_TRY(receiver_->receive(connection_->deadline()));
        bytes += d->bytes.size();
        out.push_back(std::move(*d));
      }
      // Fewer than asked for is not the end: a broker may answer a drain with what it has at hand.
      if (round == 0) return false;
    }
    return true;
  }
  // False: none came in time, and none is on its way.
  Result<bool> wait_for_one(uint32_t wait_ms) {
    const int64_t deadline_ns =
        connection_->reactor().refresh_now() + int64_t{wait_ms} * net::kMillisecond;
    connection_->wait(deadline_ns,
                      [&] { return receiver_->is_gone() || receiver_->waiting() > 0; });
    if (receiver_->waiting() > 0) return true;
    MS_TRY(receiver_->drain());
    return receiver_->waiting() > 0;
  }
  void accept_taken() {
    for (uint32_t id : taken_) receiver_->accept(id);
    taken_.clear();
  }

  // --- move ---
  Result<Answer> move(const Request& request) {
    if (receiver_ == nullptr) MS_TRY(open_receiver(request, false));
    client::Sender& sender = *MS_TRY(sender_to(request.target));
    Answer answer;
    std::vector<client::Receiver::Delivery> got;
    const bool has_more = MS_TRY(take(request.messages_max, 4u << 20, 0, got));
    std::string txn;
    if (coordinator_ != nullptr && !got.empty()) txn = MS_TRY(coordinator_->declare());
    const Outcomes kept = std::make_shared<std::vector<client::Outcome>>(got.size());
    std::vector<client::Outcome>& outcomes = *kept;
    for (size_t i = 0; i < got.size(); ++i) {
      MS_TRY(sender.post({.head = got[i].bytes, .txn_id = txn},
                         [kept, i](const client::Outcome& o) { (*kept)[i] = o; }));
    }
    MS_TRY(sender.wait_for_all());
    const auto bad = std::find_if(outcomes.begin(), outcomes.end(),
                                  [](const client::Outcome& o) { return !o.is_accepted(); });
    const auto good = static_cast<size_t>(bad - outcomes.begin());
    const bool has_failed = bad != outcomes.end();
    if (has_failed && !txn.empty()) {
      MS_TRY(coordinator_->roll_back(txn));
    } else {
      for (size_t i = 0; i < got.size(); ++i) {
        if (outcomes[i].is_accepted()) receiver_->accept(got[i].id, txn);
      }
      if (!txn.empty()) MS_TRY(coordinator_->commit(txn));
      answer.done = has_failed ? good : got.size();
    }
    if (has_failed) {
      for (size_t i = 0; i < got.size(); ++i) {
        if (!txn.empty() || !outcomes[i].is_accepted()) receiver_->release(got[i].id);
      }
      const uint64_t done = answer.done;
      answer = refusal(0, client::outcome_text(*bad));
      answer.done = done;
    }
    answer.token = has_more || has_failed ? kToken : 0;
    return answer;
  }

  Result<Answer> end(const Request& request) {
    if ((request.flags & batch::kCommit) != 0 && receiver_ != nullptr) accept_taken();
    close_links();
    MS_TRY(connection_->close());  // it answers when it has done everything
    return Answer();
  }
  Result<client::Sender*> sender_to(const std::string& address) {
    if (sender_ == nullptr) {
      sender_ = MS_TRY(client::Sender::open(
          *connection_, {.address = address, .capability = capability_of(address)}));
    }
    return sender_.get();
  }
  void close_links() {
    receiver_.reset();
    sender_.reset();
    coordinator_.reset();
  }

  std::unique_ptr<net::ReactorPool> reactors_;
  std::unique_ptr<client::Connection> connection_;
  std::unique_ptr<client::Coordinator> coordinator_;  // null: the broker has no transactions
  std::unique_ptr<client::Sender> sender_;
  std::unique_ptr<client::Receiver> receiver_;
  std::vector<uint32_t> taken_;  // given to the command, not accepted yet
};

}  // namespace

Result<std::unique_ptr<QueueClient>> open_amqp_queue_client(const base::ParsedFlags& flags) {
  const client::BrokerUrl url = MS_TRY(client::parse_broker_url(flags.text("url")));
  client::ConnectionOptions options{.host = url.host, .port = url.port};
  options.identity = {url.user, url.password, flags.has("cert")};
  if (flags.has("user")) options.identity.user = flags.text("user");
  if (!options.identity.user.empty() && options.identity.password.empty()) {
    options.identity.password = MS_TRY(password_of(flags, options.identity.user));
  }
  if (url.has_tls) options.tls = MS_TRY(client_tls_of(flags));
  auto client = std::make_unique<AmqpClient>();
  MS_TRY(client->start(std::move(options), flags.is_on("all-or-nothing")));
  return std::unique_ptr<QueueClient>(std::move(client));
}

}  // namespace millstream::cli
