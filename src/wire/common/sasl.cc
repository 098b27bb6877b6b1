// The mechanisms of SASL, as the server: RFC 4616 (PLAIN), 5802 and 7677 (SCRAM), 4422 appendix A
// (EXTERNAL), 4505 (ANONYMOUS).
#include "net/credential_crypto.h"
#include "queue/security/scram.h"
#include "wire/common/broker.h"

namespace millstream::wire {
namespace {

using Kind = SaslServer::Step::Kind;

SaslServer::Step sasl_refusal(std::string why) {
  SaslServer::Step step;
  step.why = std::move(why);
  return step;
}

// By Broker::log_in(); answers come later, and not after it has gone.
class SaslPassword : public SaslServer {
 public:
  SaslPassword(Broker& broker, Caller caller, base::Executor& executor)
      : broker_(broker), caller_(std::move(caller)), executor_(executor) {}

 protected:
  void log_in(std::string user, std::string password, Answer answer) {
    broker_.log_in(caller_, std::move(user), std::move(password), executor_,
                   [life = std::weak_ptr<char>(life_), answer = std::move(answer)](LoginAnswer a) {
                     if (life.expired()) return;
                     Step step;
                     step.kind = a.is_accepted ? Kind::kAccepted : Kind::kRefused;
                     step.login = std::move(a.login);
                     step.why = std::move(a.why);
                     answer(std::move(step));
                   });
  }

  Broker& broker_;
  Caller caller_;
  base::Executor& executor_;

 private:
  const std::shared_ptr<char> life_ = std::make_shared<char>();  // shared with nobody
};

class SaslPlain final : public SaslPassword {
 public:
  using SaslPassword::SaslPassword;
  // [authorization identity] NUL user NUL password
  void step(std::string_view response, Answer answer) override {
    size_t first = response.find('\0');
    size_t second = first == std::string_view::npos ? first : response.find('\0', first + 1);
    if (second == std::string_view::npos) return answer(sasl_refusal("not a response of PLAIN"));
    std::string_view other = response.substr(0, first);
    std::string user(response.substr(first + 1, second - first - 1));
    if (!other.empty() && other != user) {
      return answer(sasl_refusal("user " + user + " may not act for another one"));
    }
    if (user.empty()) return answer(sasl_refusal("no user was given"));
    log_in(std::move(user), std::string(response.substr(second + 1)), std::move(answer));
  }
};

class SaslAnonymous final : public SaslPassword {
 public:
  using SaslPassword::SaslPassword;
  void step(std::string_view, Answer answer) override { log_in({}, {}, std::move(answer)); }
};

// The user is who the certificate names, unless a rule of the channel maps it.
class SaslExternal final : public SaslServer {
 public:
  explicit SaslExternal(std::string user) : user_(std::move(user)) {}
  void step(std::string_view response, Answer answer) override {
    if (!response.empty() && response != user_) {
      return answer(sasl_refusal("certificate of " + user_ + " may not act for another user"));
    }
    Step step;
    step.kind = Kind::kAccepted;
    step.login = {user_, true};
    answer(std::move(step));
  }

 private:
  std::string user_;
};

class SaslScram final : public SaslServer {
 public:
  SaslScram(queue::security::Authenticator& authenticator, base::Digest digest, std::string address)
      : login_(authenticator.begin_scram(digest, std::move(address))) {}
  void step(std::string_view response, Answer answer) override {
    Step step;
    if (is_first_ && response.empty()) return challenge({}, std::move(answer));
    is_first_ = false;
    auto reply = login_.step(response);
    if (!reply.ok()) return answer(sasl_refusal(reply.error().text));
    if (!login_.is_done()) return challenge(std::move(reply).take_value(), std::move(answer));
    const queue::security::LoginResult& result = login_.result();
    step.kind = result.is_accepted ? Kind::kAccepted : Kind::kRefused;
    step.data = std::move(reply).take_value();
    step.login = {result.user, true};
    step.why = result.why;
    answer(std::move(step));
  }

 private:
  void challenge(std::string data, Answer answer) {
    Step step;
    step.kind = Kind::kChallenge;
    step.data = std::move(data);
    answer(std::move(step));
  }
  queue::security::Authenticator::ScramLogin login_;
  bool is_first_ = true;
};

bool sasl_admits_anonymous(const Broker& broker, const Caller& caller) {
  return broker.is_dev() && queue::security::is_loopback_address(caller.address);
}

}  // namespace

std::vector<std::string> SaslServer::mechanisms(Broker& broker, const Caller& caller) {
  std::vector<std::string> out;
  if (!caller.certificate_name.empty()) out.emplace_back("EXTERNAL");
  if (broker.authenticator() != nullptr) {
    out.emplace_back("SCRAM-SHA-512");
    out.emplace_back("SCRAM-SHA-256");
    out.emplace_back("PLAIN");
  }
  if (sasl_admits_anonymous(broker, caller)) out.emplace_back("ANONYMOUS");
  return out;
}

std::unique_ptr<SaslServer> SaslServer::create(Broker& broker, const Caller& caller,
                                               std::string_view mechanism,
                                               base::Executor& executor) {
  if (mechanism == "EXTERNAL" && !caller.certificate_name.empty()) {
    return std::make_unique<SaslExternal>(caller.certificate_name);
  }
  if (mechanism == "ANONYMOUS" && sasl_admits_anonymous(broker, caller)) {
    return std::make_unique<SaslAnonymous>(broker, caller, executor);
  }
  if (broker.authenticator() == nullptr) return nullptr;
  if (mechanism == "PLAIN") return std::make_unique<SaslPlain>(broker, caller, executor);
  for (base::Digest digest : {base::Digest::kSha256, base::Digest::kSha512}) {
    if (mechanism != queue::security::scram_mechanism(digest)) continue;
    return std::make_unique<SaslScram>(*broker.authenticator(), digest, caller.address);
  }
  return nullptr;
}

}  // namespace millstream::wire
