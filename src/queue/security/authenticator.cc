#include "queue/security/authenticator.h"

#include "base/assert.h"

namespace millstream::queue::security {
namespace {

constexpr int64_t kBusyRetryMs = 1'000;

LoginResult refused_login(std::string why, int64_t retry_after_ms = 0) {
  LoginResult r;
  r.why = std::move(why);
  r.retry_after_ms = retry_after_ms;
  return r;
}

std::string random_secret(base::Random& random, size_t size) {
  std::string out(size, '\0');
  random.fill(out.data(), size);
  return out;
}

std::string slow_down_text(int64_t wait_ms) {
  return "too many failed logins; the next attempt is looked at in " +
         std::to_string((wait_ms + 999) / 1000) + " s";
}

}  // namespace

bool is_loopback_address(std::string_view address) {
  constexpr std::string_view kMapped = "::ffff:";
  if (address.substr(0, kMapped.size()) == kMapped) address.remove_prefix(kMapped.size());
  if (address == "::1") return true;
  return address.substr(0, 4) == "127." &&
         address.find_first_not_of("0123456789.") == std::string_view::npos;
}

Authenticator::Authenticator(Options options)
    : options_(std::move(options)), limiter_(*options_.clock) {
  secret_ = random_secret(*options_.random, 32);
  decoy_ = {.cost = options_.cost.scrypt,
            .salt = random_secret(*options_.random, 16),
            .hash = std::string(32, '\0')};
  for (int i = 0; i < options_.worker_count; ++i) {
    workers_.push_back(options_.workers->start("password", [this] { return work(); }));
  }
  if (options_.prepare) workers_.front()->wake();
}

Authenticator::~Authenticator() {
  workers_.clear();
  for (Job& job : jobs_) base::wipe(job.request.password);
}

LoginResult Authenticator::accept(const User& user) const {
  LoginResult r;
  r.is_accepted = true;
  r.user = user.name;
  r.groups = user.groups;
  return r;
}

std::string Authenticator::mark_of(const LoginRequest& request) const {
  std::string mark;
  Status s = options_.crypto->hmac(base::Digest::kSha256, secret_,
                                   request.user + '\0' + request.password, mark);
  return s.ok() ? mark : std::string();
}

bool Authenticator::is_remembered(const LoginRequest& request, const UserRef& user) {
  std::string mark = mark_of(request);
  std::lock_guard lock(mutex_);
  auto at = remembered_.find(request.user);
  if (at == remembered_.end() || mark.empty()) return false;
  // Another UserRef means that the user was changed.
  if (at->second.user != user || at->second.until_ms <= now_ms()) {
    remembered_.erase(at);
    return false;
  }
  return base::equals_in_constant_time(at->second.mark, mark);
}

void Authenticator::remember(const LoginRequest& request, const UserRef& user) {
  std::string mark = mark_of(request);
  if (mark.empty()) return;
  std::lock_guard lock(mutex_);
  if (remembered_.size() >= kRememberedMax) {
    std::erase_if(remembered_, [&](const auto& r) { return r.second.until_ms <= now_ms(); });
    if (remembered_.size() >= kRememberedMax) remembered_.erase(remembered_.begin());
  }
  remembered_[request.user] = {user, std::move(mark), now_ms() + kRememberMs};
}

void Authenticator::login(LoginRequest request, base::Executor& executor, Answer answer) {
  auto reply = [&](LoginResult result) {
    base::wipe(request.password);
    executor.post([answer = std::move(answer), result = std::move(result)] { answer(result); });
  };
  if (options_.is_dev) {
    if (!is_loopback_address(request.address)) {
      return reply(refused_login("with --dev only this machine may connect"));
    }
    LoginResult r;
    r.is_accepted = true;
    r.user = request.user.empty() ? "dev" : request.user;
    r.groups = {std::string(kAdministrators)};
    return reply(std::move(r));
  }
  if (request.user.empty()) return reply(refused_login("there is no anonymous access"));
  if (request.user == kAdministrators) {
    return reply(refused_login("the server's own user cannot log in"));
  }
  if (int64_t wait = limiter_.wait_ms(request.user, request.address)) {
    return reply(refused_login(slow_down_text(wait), wait));
  }
  UserRef user = options_.users->find(request.user);
  if (user && !user->is_disabled && is_remembered(request, user)) return reply(accept(*user));
  {
    std::lock_guard lock(mutex_);
    if (jobs_.size() < kPendingMax) {
      jobs_.push_back({std::move(request), &executor, std::move(answer)});
      for (auto& worker : workers_) worker->wake();
      return;
    }
  }
  reply(refused_login("too many logins are being checked", kBusyRetryMs));
}

LoginResult Authenticator::compute(const Job& job) {
  const UserRef user = options_.users->find(job.request.user);
  auto is_right =
      is_password(user ? user->password : decoy_, job.request.password, *options_.crypto);
  if (!is_right.ok()) return refused_login(is_right.error().text);
  std::string why = !user               ? "the user is not known"
                    : !is_right.value() ? "the password is wrong"
                    : user->is_disabled ? "the user is disabled"
                                        : "";
  if (why.empty()) {
    limiter_.succeeded(job.request.user, job.request.address);
    remember(job.request, user);
    return accept(*user);
  }
  limiter_.failed(job.request.user, job.request.address);
  return refused_login(std::move(why));
}

// A step of a worker: one password.
bool Authenticator::work() {
  if (options_.prepare) std::call_once(is_prepared_, options_.prepare);
  Job job;
  {
    std::lock_guard lock(mutex_);
    if (jobs_.empty()) return false;
    job = std::move(jobs_.front());
    jobs_.pop_front();
  }
  // What was waiting while others failed is not looked at either.
  int64_t wait = limiter_.wait_ms(job.request.user, job.request.address);
  LoginResult result = wait ? refused_login(slow_down_text(wait), wait) : compute(job);
  base::wipe(job.request.password);
  job.executor->post(
      [answer = std::move(job.answer), result = std::move(result)] { answer(result); });
  return true;
}

Authenticator::ScramLogin Authenticator::begin_scram(base::Digest digest, std::string address) {
  ScramServer::Options o;
  o.digest = digest;
  o.crypto = options_.crypto;
  o.find_user = [this](std::string_view name) {
    UserRef user = options_.users->find(name);
    return user && !user->is_disabled ? user : nullptr;
  };
  o.decoy_secret = secret_;
  o.decoy_iterations = options_.cost.scram_iterations;
  o.nonce = make_scram_nonce(*options_.random);
  return ScramLogin(*this, ScramServer(std::move(o)), std::move(address));
}

Result<std::string> Authenticator::ScramLogin::step(std::string_view message) {
  MS_ASSERT(!is_done_);
  bool is_first = steps_++ == 0;
  auto answer = is_first ? server_.first(message) : server_.last(message);
  const std::string& user = server_.user_name();
  if (!answer.ok()) {
    is_done_ = true;
    result_ = refused_login(answer.error().text);
    return answer;
  }
  if (is_first) {
    int64_t wait = owner_.limiter_.wait_ms(user, address_);
    if (wait == 0) return answer;
    is_done_ = true;
    result_ = refused_login(slow_down_text(wait), wait);
    return std::string("e=other-error");
  }
  is_done_ = true;
  if (UserRef accepted = server_.user()) {
    owner_.limiter_.succeeded(user, address_);
    result_ = owner_.accept(*accepted);
  } else {
    owner_.limiter_.failed(user, address_);
    result_ = refused_login("the proof of the password is wrong, or there is no such user");
  }
  return answer;
}

}  // namespace millstream::queue::security
