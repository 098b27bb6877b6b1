// What a session of a protocol needs of the queue manager behind it: who may come in, and as whom;
// what an address means; connections whose calls end on the session's reactor.
//
// Logins: SaslServer below for protocols with SASL, log_in() for a user and a password. Passwords
// are hashed elsewhere, so answers come later, on the executor.
// The rules of channels (SET CHLAUTH) apply to the channel of the listener, in connect(); with
// --dev whoever comes from this machine may do everything.
// Thread: any; answers come on the executor that was given. It outlives all sessions.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/executor.h"
#include "queue/core/connection.h"
#include "queue/security/authenticator.h"

namespace millstream::net {
class Reactor;
}

namespace millstream::wire {

class Transport;

// Who is at the other end, as far as the connection itself tells.
struct Caller {
  std::string protocol;  // "amqp"
  std::string channel;
  std::string address;  // numeric, without the port
  std::string peer;     // with it
  bool has_tls = false;
  // Of a certificate that was verified; else empty.
  std::string certificate_subject;
  std::string certificate_issuer;
  std::string certificate_name;  // its common name
};
Caller caller_of(Transport& transport, std::string_view protocol, std::string_view channel);

// Who has logged in, and how.
struct Login {
  std::string user;
  bool has_password = false;  // or a proof of it
};

struct LoginAnswer {
  bool is_accepted = false;
  Login login;
  std::string why;  // of a refusal, for the log; the peer is told nothing of it
};

enum class NodeKind : uint8_t { kAny, kQueue, kTopic };

// What an address leads to.
struct Node {
  NodeKind kind = NodeKind::kAny;
  std::string name;  // of the queue; or the topic string
  bool is_queue() const { return kind == NodeKind::kQueue; }
  bool is_topic() const { return kind == NodeKind::kTopic; }
  // "queue://NAME", "topic://a/b"
  std::string address() const;
};

class Broker {
 public:
  struct Options {
    queue::QueueManager* manager = nullptr;
    queue::security::Authenticator* authenticator = nullptr;  // null: nobody may log in
    bool is_dev = false;
    // The executor of a reactor: tasks and timers on its thread.
    std::function<base::Executor&(const net::Reactor&)> executor;
  };
  explicit Broker(Options options) : options_(std::move(options)) {}

  queue::QueueManager& manager() { return *options_.manager; }
  base::Executor& executor(const net::Reactor& reactor) const { return options_.executor(reactor); }
  queue::security::Authenticator* authenticator() { return options_.authenticator; }
  bool is_dev() const { return options_.is_dev; }

  using LoginDone = std::function<void(LoginAnswer)>;
  // A user and a password; both empty is a login without either, which --dev admits. Never answers
  // within the call.
  void log_in(const Caller& caller, std::string user, std::string password,
              base::Executor& executor, LoginDone done);

  // The rules of the channel, then MQCONN: 2035 and `why`, for the log. May be called several times
  // by a session that needs several units of work at a time.
  queue::Outcome connect(const Caller& caller, const Login& login, std::string application,
                         base::Executor& executor, std::shared_ptr<queue::Connection>& out,
                         std::string* why = nullptr);

  // What an address means: queue://NAME, queue://MANAGER/NAME, /queue/NAME, topic://a/b, /topic/a/b
  // (parameters behind `?` do not count); without such a prefix what `hint` says; else a queue if
  // there is one of the name, else a topic. 2085 when a queue is asked for that is not there; with
  // --dev it is made from the default queue. 2152 or 2425 for what can be no name.
  queue::Outcome resolve(std::string_view address, NodeKind hint, Node& out);
  // The same without looking: only what prefix and hint say; kAny when nothing does.
  static Node parse_address(std::string_view address, NodeKind hint,
                            std::string_view manager_name = {});

  // A temporary queue that lives as long as `handle` of the connection is open; it is open for
  // input and output.
  queue::Outcome make_temporary_queue(queue::Connection& connection, queue::Hobj& handle,
                                      std::string& name);
  // A topic string that nobody else has.
  std::string make_temporary_topic();

 private:
  queue::Outcome check_channel(const Caller& caller, const Login& login, std::string& user,
                               std::string& why);
  Options options_;
};

// The server's side of SASL: PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, EXTERNAL by a client certificate,
// and ANONYMOUS with --dev.
// Thread: the executor's. It may be destroyed at any time; no answer comes then.
class SaslServer {
 public:
  struct Step {
    enum class Kind : uint8_t { kChallenge, kAccepted, kRefused };
    Kind kind = Kind::kRefused;
    std::string data;  // the challenge; with kAccepted what goes with the outcome
    Login login;
    std::string why;  // of a refusal, for the log
  };
  using Answer = std::function<void(Step)>;

  // What this caller may use, the best first.
  static std::vector<std::string> mechanisms(Broker& broker, const Caller& caller);
  // Null: it may not use that one.
  static std::unique_ptr<SaslServer> create(Broker& broker, const Caller& caller,
                                            std::string_view mechanism, base::Executor& executor);
  virtual ~SaslServer() = default;
  // The client's response, the initial one first. Answers once, within the call or later.
  virtual void step(std::string_view response, Answer answer) = 0;
};

}  // namespace millstream::wire
