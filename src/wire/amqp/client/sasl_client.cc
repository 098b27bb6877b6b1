#include "wire/amqp/client/sasl_client.h"

#include "base/random.h"
#include "net/credential_crypto.h"
#include "wire/amqp/codec/reader.h"

namespace millstream::wire::amqp::client {
namespace {

using queue::security::ScramClient;

}  // namespace

bool SaslClient::choose(std::string_view offered) {
  auto try_scram = [&](base::Digest digest) {
    std::string_view name = queue::security::scram_mechanism(digest);
    if (!has_symbol(offered, name)) return false;
    mechanism_ = name;
    scram_ = std::make_unique<ScramClient>(digest, identity_.user, identity_.password,
                                           queue::security::make_scram_nonce(base::system_random()),
                                           net::credential_crypto());
    first_ = scram_->first();
    return true;
  };
  auto try_other = [&](std::string_view name) {
    if (!has_symbol(offered, name)) return false;
    mechanism_ = name;
    return true;
  };
  if (!identity_.user.empty()) {
    return try_scram(base::Digest::kSha512) || try_scram(base::Digest::kSha256) ||
           try_other("PLAIN");
  }
  return (identity_.has_certificate && try_other("EXTERNAL")) || try_other("ANONYMOUS");
}

std::string SaslClient::initial_response() const {
  if (scram_ != nullptr) return first_;
  if (mechanism_ != "PLAIN") return {};
  return std::string(1, '\0') + identity_.user + std::string(1, '\0') + identity_.password;
}

Result<std::string> SaslClient::answer(std::string_view challenge) {
  if (scram_ == nullptr) return std::string();
  if (has_answered_) {
    MS_TRY(scram_->check(challenge));
    is_server_known_ = true;
    return std::string();
  }
  has_answered_ = true;
  return scram_->answer(challenge);
}

Status SaslClient::check(std::string_view outcome_data) {
  if (scram_ == nullptr || is_server_known_) return {};
  return scram_->check(outcome_data);
}

}  // namespace millstream::wire::amqp::client
