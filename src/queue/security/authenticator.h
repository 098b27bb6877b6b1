// Who logs in: by password (hashed on workers, never on the caller's thread) or by SCRAM.
//
// - No name is never enough, and no password is a default. With `is_dev` a caller from a loopback
//   address may be anybody, without a password, and an administrator; from elsewhere nobody may.
// - Hashing is bounded: `workers` at a time, kPendingMax in line, the rest is refused as busy.
//   A password that was right is remembered for kRememberMs, as a keyed hash, so that applications
//   that log in with each request pay once; changing the user forgets it.
// - Failures are slowed down (login_limiter.h). An unknown user takes as long as a wrong password,
//   and both are refused in the same words; `why` is for the log alone.
// Thread: any; answers come on the caller's executor. The destructor waits for the hash that is
// being computed and drops those in line.
#pragma once
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/credential_crypto.h"
#include "base/executor.h"
#include "base/random.h"
#include "queue/security/login_limiter.h"
#include "queue/security/scram.h"
#include "queue/security/user_table.h"

namespace millstream::queue::security {

struct LoginRequest {
  std::string user;
  std::string password;
  std::string address;  // of the caller, numeric
};

struct LoginResult {
  bool is_accepted = false;
  std::string user;
  std::vector<std::string> groups;
  int64_t retry_after_ms = 0;  // when the limiter, or the line, says so
  std::string why;             // of a refusal, for the log
};

class Authenticator {
 public:
  static constexpr size_t kPendingMax = 1'000;
  static constexpr int64_t kRememberMs = 5 * 60'000;
  static constexpr size_t kRememberedMax = 1'000;

  struct Options {
    const UserTable* users = nullptr;
    const base::CredentialCrypto* crypto = nullptr;
    base::Random* random = nullptr;
    const base::Clock* clock = nullptr;
    base::WorkerFactory* workers = nullptr;
    int worker_count = 1;
    bool is_dev = false;
    PasswordCost cost;  // of the hash that is computed for users that do not exist
    // Runs on a worker, at once and before the first password is looked at.
    std::function<void()> prepare;
  };
  explicit Authenticator(Options options);
  ~Authenticator();

  using Answer = std::function<void(LoginResult)>;
  void login(LoginRequest request, base::Executor& executor, Answer answer);

  // SCRAM in two steps: give first() the client's messages in turn. `why` of a refusal as above.
  class ScramLogin {
   public:
    Result<std::string> step(std::string_view message);
    bool is_done() const { return is_done_; }
    const LoginResult& result() const { return result_; }

   private:
    friend class Authenticator;
    ScramLogin(Authenticator& owner, ScramServer server, std::string address)
        : owner_(owner), server_(std::move(server)), address_(std::move(address)) {}
    Authenticator& owner_;
    ScramServer server_;
    std::string address_;
    int steps_ = 0;
    bool is_done_ = false;
    LoginResult result_;
  };
  ScramLogin begin_scram(base::Digest digest, std::string address);

  bool is_dev() const { return options_.is_dev; }
  // For rules of channels that speak of administrators.
  bool is_administrator(const std::string& user) const {
    UserRef found = options_.users->find(user);
    return found != nullptr && found->is_administrator();
  }

 private:
  struct Job {
    LoginRequest request;
    base::Executor* executor;
    Answer answer;
  };
  struct Remembered {
    UserRef user;
    std::string mark;
    int64_t until_ms = 0;
  };
  bool work();
  LoginResult compute(const Job& job);
  std::string mark_of(const LoginRequest& request) const;
  bool is_remembered(const LoginRequest& request, const UserRef& user);
  void remember(const LoginRequest& request, const UserRef& user);
  LoginResult accept(const User& user) const;
  int64_t now_ms() const { return options_.clock->monotonic_ns() / 1'000'000; }

  Options options_;
  std::string secret_;  // of this process: keys what is remembered, and decoys
  PasswordHash decoy_;
  LoginLimiter limiter_;
  std::once_flag is_prepared_;
  std::mutex mutex_;  // leaf; of what follows
  std::deque<Job> jobs_;
  std::map<std::string, Remembered, std::less<>> remembered_;
  std::vector<std::unique_ptr<base::Worker>> workers_;  // last: they stop first
};

// "127.0.0.1", "127.1.2.3", "::1", "::ffff:127.0.0.1".
bool is_loopback_address(std::string_view address);

}  // namespace millstream::queue::security
