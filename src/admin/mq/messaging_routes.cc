// Putting, getting, browsing and listing messages by REST.
#include "admin/errors_gen.h"
#include "admin/mq/rest_error.h"
#include "admin/mq/rest_visit.h"
#include "http/request.h"

namespace millstream::admin {
namespace {

using base::json::Value;
using queue::Outcome;

constexpr int kTakeRounds = 100;

AdminReply no_message() {
  AdminReply reply;
  reply.status = 204;
  return reply;
}

// Whether the client of a request is still there; calls back when it goes.
class RestWatch {
 public:
  RestWatch(http::Request* exchange, std::function<void()> on_gone) : exchange_(exchange) {
    if (!exchange_) return;
    exchange_->set_on_gone([this, on_gone = std::move(on_gone)](http::Request&) {
      is_gone_ = true;
      on_gone();
    });
    exchange_->end_with_input();
  }
  ~RestWatch() {
    if (exchange_ && !is_gone_) exchange_->set_on_gone({});
  }
  RestWatch(const RestWatch&) = delete;
  RestWatch& operator=(const RestWatch&) = delete;
  bool is_gone() const { return is_gone_; }

 private:
  http::Request* exchange_;
  bool is_gone_ = false;
};

struct OpenQueue {
  queue::OpenCall open;
  RestMatch match;
};

void set_match(const RestMatch& match, queue::GetCall& call) {
  call.md = {};
  call.md.message_id = match.message_id;
  call.md.correlation_id = match.correlation_id;
  call.match_options = match.match_options;
}

}  // namespace

AdminReply MqRest::put(const AdminRequest& request, RestVersion version, Visit& visit,
                       bool is_topic) {
  const std::string& name = request.parameter(is_topic ? "topic" : "queue");
  queue::PutCall put;
  const std::string destination = is_topic ? "topic://" + name : "queue:///" + name;
  if (auto refusal = read_rest_message(request, version, is_topic, destination, put)) {
    return std::move(*refusal);
  }
  if (auto refusal = visit.connect(access_)) return std::move(*refusal);
  queue::OpenCall object;
  if (is_topic) {
    object.object_type = mqi::ot::kTopic;
    object.object_string = name;
  } else {
    object.object_name = name;
  }
  put.options = mqi::pmo::kNoSyncpoint | mqi::pmo::kNewMessageId | mqi::pmo::kFailIfQuiescing;
  const Outcome outcome = finish_call(
      [&](queue::Done done) { return visit.connection->put1(object, put, std::move(done)); });
  if (outcome.is_failed()) {
    const uint32_t right = is_topic ? queue::kRightPublish : queue::kRightPut;
    return mqi_error(mqwb::kMessaging,
                     (is_topic ? "The message could not be published to "
                               : "The message could not "
                                 "be put on ") +
                         name + ".",
                     outcome, visit.refusal(object.object_type, name, right));
  }
  AdminReply reply;
  reply.status = 201;
  reply.headers.emplace_back("ibm-mq-md-messageId", rest_id(put.md.message_id, version));
  return reply;
}

AdminReply MqRest::put_message(const AdminRequest& request, RestVersion version, Visit& visit) {
  return put(request, version, visit, false);
}

AdminReply MqRest::publish(const AdminRequest& request, RestVersion version, Visit& visit) {
  return put(request, version, visit, true);
}

AdminReply MqRest::browse_message(const AdminRequest& request, RestVersion version, Visit& visit) {
  return take(request, version, visit, true);
}

AdminReply MqRest::get_message(const AdminRequest& request, RestVersion version, Visit& visit) {
  return take(request, version, visit, false);
}

// A message that is got is looked at under a lock first, so that what cannot be told as text stays
// where it is, with its backout count.
AdminReply MqRest::take(const AdminRequest& request, RestVersion version, Visit& visit,
                        bool is_browse) {
  const std::string& name = request.parameter("queue");
  RestMatch match;
  if (auto refusal = read_rest_match(request, version, match)) return std::move(*refusal);
  int64_t wait_ms = 0;
  if (!is_browse) {
    if (auto refusal = read_rest_number(request, "wait", 0, INT32_MAX, wait_ms)) {
      return std::move(*refusal);
    }
  }
  if (auto refusal = visit.connect(access_)) return std::move(*refusal);
  queue::OpenCall open;
  open.object_name = name;
  open.options = mqi::oo::kBrowse | mqi::oo::kFailIfQuiescing;
  if (!is_browse) open.options |= mqi::oo::kInputShared;
  open.selection_string = match.selector;
  queue::Connection& connection = *visit.connection;
  const char* what = is_browse ? "The queue could not be browsed: " : "No message could be got: ";
  auto refuse = [&](const Outcome& outcome) {
    const uint32_t rights = queue::kRightBrowse | (is_browse ? 0u : uint32_t{queue::kRightGet});
    return mqi_error(mqwb::kMessaging, what + name + ".", outcome,
                     visit.refusal(mqi::ot::kQueue, name, rights));
  };
  Outcome outcome =
      finish_call([&](queue::Done done) { return connection.open(open, std::move(done)); });
  if (outcome.is_failed()) return refuse(outcome);
  queue::GetCall call;
  RestWatch watch(request.exchange, [&] { connection.cancel(call); });
  const int64_t until_ns =
      connection.executor().clock().monotonic_ns() + std::min(wait_ms, kWaitMsMax) * 1'000'000;
  for (int round = 0; round < kTakeRounds && !watch.is_gone(); ++round) {
    set_match(match, call);
    call.options = mqi::gmo::kBrowseFirst | mqi::gmo::kNoSyncpoint | mqi::gmo::kFailIfQuiescing;
    const int64_t left_ms =
        (until_ns - connection.executor().clock().monotonic_ns() + 999'999) / 1'000'000;
    call.wait_ms = std::max<int64_t>(left_ms, 0);
    if (!is_browse) call.options |= mqi::gmo::kLock;
    if (wait_ms > 0) call.options |= mqi::gmo::kWait;
    outcome = finish_call(
        [&](queue::Done done) { return connection.get(open.handle, call, std::move(done)); });
    if (outcome.reason == mqi::reason::kNoMsgAvailable) return no_message();
    if (outcome.is_failed()) return refuse(outcome);
    bool is_message = false;
    AdminReply reply = rest_message_reply(call, version, is_message);
    if (is_browse || !is_message) return reply;
    if (watch.is_gone()) break;  // it is unlocked with the connection
    call.md = {};
    call.match_options = 0;
    call.options = mqi::gmo::kUnderCursor | mqi::gmo::kNoSyncpoint | mqi::gmo::kFailIfQuiescing;
    call.wait_ms = 0;
    outcome = finish_call(
        [&](queue::Done done) { return connection.get(open.handle, call, std::move(done)); });
    if (!outcome.is_failed()) return reply;
    // It expired in between, perhaps.
    if (outcome.reason != mqi::reason::kNoMsgAvailable &&
        outcome.reason != mqi::reason::kNoMsgUnderCursor) {
      return refuse(outcome);
    }
  }
  return no_message();
}

AdminReply MqRest::list_messages(const AdminRequest& request, RestVersion version, Visit& visit) {
  const std::string& name = request.parameter("queue");
  RestMatch match;
  if (auto refusal = read_rest_match(request, version, match)) return std::move(*refusal);
  int64_t limit = kListDefault;
  if (auto refusal = read_rest_number(request, "limit", 1, INT32_MAX, limit)) {
    return std::move(*refusal);
  }
  limit = std::min(limit, kListMax);
  if (auto refusal = visit.connect(access_)) return std::move(*refusal);
  queue::OpenCall open;
  open.object_name = name;
  open.options = mqi::oo::kBrowse | mqi::oo::kFailIfQuiescing;
  open.selection_string = match.selector;
  queue::Connection& connection = *visit.connection;
  Value list = Value::array();
  Outcome outcome =
      finish_call([&](queue::Done done) { return connection.open(open, std::move(done)); });
  auto refuse = [&] {
    return mqi_error(mqwb::kMessaging, "The queue could not be browsed: " + name + ".", outcome,
                     visit.refusal(mqi::ot::kQueue, name, queue::kRightBrowse));
  };
  if (outcome.is_failed()) return refuse();
  for (int64_t i = 0; i < limit; ++i) {
    queue::GetCall call;
    set_match(match, call);
    call.options = mqi::gmo::kBrowseNext | mqi::gmo::kNoSyncpoint | mqi::gmo::kAcceptTruncated |
                   mqi::gmo::kFailIfQuiescing;
    call.buffer_bytes = 0;
    outcome = finish_call(
        [&](queue::Done done) { return connection.get(open.handle, call, std::move(done)); });
    // Of a queue whose get is inhibited the product lists nothing.
    if (outcome.reason == mqi::reason::kNoMsgAvailable ||
        outcome.reason == mqi::reason::kGetInhibited) {
      break;
    }
    if (outcome.is_failed()) return refuse();
    Value item = Value::object();
    item.set("correlationId", rest_correlation_id(call.md, call.message->properties, version));
    item.set("format", call.md.format.view());
    item.set("messageId", rest_id(call.md.message_id, version));
    list.push_back(std::move(item));
  }
  Value body = Value::object();
  body.set("messages", std::move(list));
  return json_reply(body);
}

}  // namespace millstream::admin
