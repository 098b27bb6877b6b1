// The server's side of SCRAM, and stored users: no message of a client who does not know the
// password is accepted, and what is read as a user is written the same.
#include <cstdlib>

#include "net/credential_crypto.h"
#include "queue/security/scram.h"

namespace {
namespace security = millstream::queue::security;

const security::UserRef& fuzz_user() {
  static const security::UserRef user = [] {
    auto u = std::make_shared<security::User>();
    u->name = "app";
    millstream::base::SeededRandom random(1);
    security::PasswordCost cost{.scrypt = {.log2_cost = 4, .block = 1, .parallel = 1},
                                .scram_iterations = 1};
    if (!security::make_password(*u, "fuzzed passw0rd", cost, millstream::net::credential_crypto(),
                                 random)
             .ok()) {
      abort();
    }
    return u;
  }();
  return user;
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] & 1) {
    auto user = security::User::decode(bytes);
    if (user.ok() && user.value().encode() != bytes) {
      auto again = security::User::decode(user.value().encode());
      if (!again.ok() || again.value().encode() != user.value().encode()) abort();
    }
    return 0;
  }
  security::ScramServer server(
      {.digest =
           data[0] & 2 ? millstream::base::Digest::kSha256 : millstream::base::Digest::kSha512,
       .crypto = &millstream::net::credential_crypto(),
       .find_user = [](std::string_view name) { return name == "app" ? fuzz_user() : nullptr; },
       .decoy_secret = "decoy",
       .nonce = "server"});
  size_t end = bytes.find('\n');
  auto challenge = server.first(bytes.substr(0, end));
  if (!challenge.ok() || end == std::string_view::npos) return 0;
  static_cast<void>(server.last(bytes.substr(end + 1)));
  if (server.is_accepted()) abort();
  return 0;
}
