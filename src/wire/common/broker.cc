#include "wire/common/broker.h"

#include "base/ascii.h"
#include "base/log.h"
#include "queue/objects/object_name.h"
#include "wire/common/transport.h"

namespace millstream::wire {

using queue::Outcome;

namespace {

namespace reason = mqi::reason;

bool take_prefix(std::string_view& text, std::string_view prefix) {
  if (text.substr(0, prefix.size()) != prefix) return false;
  text.remove_prefix(prefix.size());
  return true;
}

constexpr std::string_view kTemporaryModel = "SYSTEM.JMS.TEMPQ.MODEL";
constexpr std::string_view kTemporaryPrefix = "TEMP.*";

}  // namespace

Caller caller_of(Transport& transport, std::string_view protocol, std::string_view channel) {
  Caller caller;
  caller.protocol = protocol;
  caller.channel = channel;
  caller.peer = transport.peer_address();
  caller.address = transport.peer_host();
  caller.has_tls = transport.has_tls();
  const net::TlsPeer* peer = transport.tls_peer();
  if (peer != nullptr && peer->has_certificate) {
    caller.certificate_subject = peer->subject;
    caller.certificate_issuer = peer->issuer;
    caller.certificate_name = peer->common_name;
  }
  return caller;
}

std::string Node::address() const {
  switch (kind) {
    case NodeKind::kQueue:
      return "queue://" + name;
    case NodeKind::kTopic:
      return "topic://" + name;
    case NodeKind::kAny:
      break;
  }
  return name;
}

void Broker::log_in(const Caller& caller, std::string user, std::string password,
                    base::Executor& executor, LoginDone done) {
  bool has_password = !password.empty();
  if (options_.authenticator == nullptr || (user.empty() && !options_.is_dev)) {
    LoginAnswer answer;
    answer.why = user.empty() ? "no user was given" : "nobody may log in here";
    executor.post([done = std::move(done), answer] { done(answer); });
    return;
  }
  if (user.empty()) user = "anonymous";
  queue::security::LoginRequest request{std::move(user), std::move(password), caller.address};
  options_.authenticator->login(
      std::move(request), executor,
      [done = std::move(done), has_password](queue::security::LoginResult result) {
        LoginAnswer answer;
        answer.is_accepted = result.is_accepted;
        answer.login = {std::move(result.user), has_password};
        answer.why = std::move(result.why);
        done(std::move(answer));
      });
}

Outcome Broker::check_channel(const Caller& caller, const Login& login, std::string& user,
                              std::string& why) {
  user = login.user;
  if (options_.is_dev) return Outcome::ok();
  queue::ObjectAdmin& admin = manager().admin();
  using queue::objects::Attr;
  queue::objects::DefinitionPtr definition =
      admin.catalogue().find(queue::objects::ObjectFamily::kQmgr, manager().name());
  constexpr int64_t kDisabled = 0;
  if (definition != nullptr && definition->number(Attr::kChlauth) == kDisabled)
    return Outcome::ok();
  queue::objects::ChannelCaller who;
  who.channel = caller.channel;
  who.address = caller.address;
  who.client_user = login.user;
  who.ssl_peer = caller.certificate_subject;
  who.ssl_issuer = caller.certificate_issuer;
  who.agent_user = login.user;
  auto* authenticator = options_.authenticator;
  who.is_administrator = [authenticator](const std::string& name) {
    return authenticator != nullptr && authenticator->is_administrator(name);
  };
  queue::objects::ChannelDecision decision = admin.channel_auth().decide(who);
  if (!decision.is_allowed) {
    why = "channel " + caller.channel + ": " + decision.rule;
    return Outcome::failed(reason::kNotAuthorized);
  }
  if (decision.check == queue::objects::ChannelCheck::kRequired && !login.has_password) {
    why = "channel " + caller.channel + " requires a password: " + decision.rule;
    return Outcome::failed(reason::kNotAuthorized);
  }
  if (!decision.user.empty()) user = decision.user;
  return Outcome::ok();
}

Outcome Broker::connect(const Caller& caller, const Login& login, std::string application,
                        base::Executor& executor, std::shared_ptr<queue::Connection>& out,
                        std::string* why) {
  std::string reason_text;
  std::string user;
  Outcome outcome = check_channel(caller, login, user, reason_text);
  if (outcome.is_ok()) {
    queue::ConnectOptions connect;
    connect.user = user;
    connect.application_name = std::move(application);
    connect.channel = caller.channel;
    connect.remote_address = caller.peer;
    connect.executor = &executor;
    outcome = manager().connect(connect, out);
    if (outcome.is_failed() && outcome.reason == reason::kNotAuthorized) {
      reason_text = "user " + user + " may not connect to " + manager().name();
    }
  }
  if (why != nullptr) *why = std::move(reason_text);
  return outcome;
}

Node Broker::parse_address(std::string_view address, NodeKind hint, std::string_view manager_name) {
  Node node;
  node.kind = hint;
  std::string_view rest = address;
  bool is_uri = true;
  if (take_prefix(rest, "queue://")) {
    node.kind = NodeKind::kQueue;
  } else if (take_prefix(rest, "topic://")) {
    node.kind = NodeKind::kTopic;
  } else {
    is_uri = false;
    if (take_prefix(rest, "/queue/")) node.kind = NodeKind::kQueue;
    if (take_prefix(rest, "/topic/")) node.kind = NodeKind::kTopic;
  }
  if (is_uri) rest = rest.substr(0, rest.find('?'));
  if (is_uri && node.is_queue()) {
    // queue:///NAME and queue://MANAGER/NAME
    size_t slash = rest.find('/');
    bool names_manager = slash != std::string_view::npos && !manager_name.empty() &&
                         rest.substr(0, slash) == manager_name;
    if (slash == 0 || names_manager) rest.remove_prefix(slash + 1);
  }
  node.name = rest;
  return node;
}

Outcome Broker::resolve(std::string_view address, NodeKind hint, Node& out) {
  queue::QueueManager& qm = manager();
  out = parse_address(address, hint, qm.name());
  constexpr size_t kTopicBytesMax = 10'240;
  if (out.name.empty()) return Outcome::failed(reason::kObjectNameError);
  if (out.name.size() > kTopicBytesMax) return Outcome::failed(reason::kTopicStringError);
  if (out.is_topic()) return Outcome::ok();
  bool is_known = qm.objects().find(out.name) != nullptr;
  if (is_known) {
    out.kind = NodeKind::kQueue;
    return Outcome::ok();
  }
  bool may_be_queue = queue::objects::is_object_name(out.name);
  bool is_made = options_.is_dev && may_be_queue && qm.settings().creates_unknown_queues;
  if (out.is_queue()) {
    // The open that follows makes it.
    if (is_made) return Outcome::ok();
    return Outcome::failed(may_be_queue ? reason::kUnknownObjectName : reason::kObjectNameError);
  }
  // Development makes a queue of a plain name; what has levels is a topic.
  bool has_levels = out.name.find('/') != std::string::npos;
  out.kind = is_made && !has_levels ? NodeKind::kQueue : NodeKind::kTopic;
  return Outcome::ok();
}

Outcome Broker::make_temporary_queue(queue::Connection& connection, queue::Hobj& handle,
                                     std::string& name) {
  queue::OpenCall call;
  call.object_name = kTemporaryModel;
  call.dynamic_name = kTemporaryPrefix;
  call.options = mqi::oo::kInputShared | mqi::oo::kOutput;
  Outcome outcome = connection.open(call);
  if (outcome.is_failed()) return outcome;
  handle = call.handle;
  name = call.resolved_queue;
  return Outcome::ok();
}

std::string Broker::make_temporary_topic() {
  uint64_t unique[2] = {manager().options().random->next_u64(),
                        manager().options().random->next_u64()};
  std::string topic = "TEMP/";
  base::append_upper_hex(topic, {reinterpret_cast<const char*>(unique), sizeof unique});
  return topic;
}

}  // namespace millstream::wire
