// SCRAM-SHA-256 and SCRAM-SHA-512 (RFC 5802, RFC 7677): both sides of a login in which the password
// does not travel and the server proves that it knows the user, too. Without channel binding.
//
// The server computes only a few hashes, so it may run on a reactor; a client derives its key from
// the password, which is slow by design. An unknown user gets a salt like any other and fails at
// the end, so that names cannot be probed.
// Messages that do not fit give an error at once; after an error the exchange is over.
// Limit: kScramMessageBytesMax. Thread: one an exchange.
#pragma once
#include <functional>
#include <string>
#include <string_view>

#include "base/credential_crypto.h"
#include "base/random.h"
#include "base/result.h"
#include "queue/security/user_table.h"

namespace millstream::queue::security {

constexpr size_t kScramMessageBytesMax = 2048;

std::string_view scram_mechanism(base::Digest digest);  // "SCRAM-SHA-256"

class ScramServer {
 public:
  struct Options {
    base::Digest digest = base::Digest::kSha256;
    const base::CredentialCrypto* crypto = nullptr;
    // Null: unknown, or must not log in.
    std::function<UserRef(std::string_view name)> find_user;
    // Makes the salts of unknown users: the same for a name as long as the process lives.
    std::string decoy_secret;
    uint32_t decoy_iterations = PasswordCost().scram_iterations;
    std::string nonce;  // our part of it; printable, without a comma
  };
  explicit ScramServer(Options options) : options_(std::move(options)) {}

  // The answer to the client's first message.
  Result<std::string> first(std::string_view message);
  // The answer to its last one. is_accepted() says how it went; a wrong proof is no error here, and
  // the answer ("e=invalid-proof") is to be sent.
  Result<std::string> last(std::string_view message);
  bool is_accepted() const { return is_accepted_; }
  const std::string& user_name() const { return user_name_; }
  UserRef user() const { return is_accepted_ ? user_ : nullptr; }

 private:
  Result<ScramVerifier> make_decoy() const;

  Options options_;
  int step_ = 0;
  bool is_accepted_ = false;
  std::string user_name_;
  UserRef user_;
  ScramVerifier verifier_;
  std::string gs2_header_;
  std::string nonce_;
  std::string auth_message_;  // as far as it is known
};

class ScramClient {
 public:
  ScramClient(base::Digest digest, std::string user, std::string password, std::string nonce,
              const base::CredentialCrypto& crypto);
  ~ScramClient() { base::wipe(password_); }
  std::string first();
  Result<std::string> answer(std::string_view server_first);  // slow
  Status check(std::string_view server_last);

 private:
  base::Digest digest_;
  std::string user_, password_, nonce_;
  const base::CredentialCrypto& crypto_;
  std::string first_bare_, server_signature_;
};

// Fit for a nonce: 24 characters, 144 bits.
std::string make_scram_nonce(base::Random& random);

}  // namespace millstream::queue::security
