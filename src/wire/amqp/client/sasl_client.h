// The client's side of SASL: the best mechanism that both have, and its steps.
// With a user: SCRAM-SHA-512, SCRAM-SHA-256, PLAIN. Without: EXTERNAL when there is a certificate
// of our own, else ANONYMOUS.
// Thread: one. answer() derives a key from the password with SCRAM: not on a reactor.
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "queue/security/scram.h"

namespace millstream::wire::amqp::client {

struct SaslIdentity {
  std::string user, password;
  bool has_certificate = false;
};

class SaslClient {
 public:
  explicit SaslClient(const SaslIdentity& identity) : identity_(identity) {}
  ~SaslClient() { base::wipe(identity_.password); }
  // `offered`: the encoded mechanisms of the server. False: none of them will do.
  bool choose(std::string_view offered);
  const std::string& mechanism() const { return mechanism_; }
  std::string initial_response() const;
  Result<std::string> answer(std::string_view challenge);
  // After a good outcome: that the server knows the password as well. What it said may have come
  // with the outcome.
  Status check(std::string_view outcome_data);

 private:
  SaslIdentity identity_;
  std::string mechanism_;
  std::unique_ptr<queue::security::ScramClient> scram_;
  std::string first_;
  bool has_answered_ = false;
  bool is_server_known_ = false;
};

}  // namespace millstream::wire::amqp::client
