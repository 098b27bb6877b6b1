#include "queue/security/user.h"

#include <algorithm>

#include "queue/objects/record_bytes.h"
#include "queue/security/errors_gen.h"
#include "text/saslprep.h"

namespace millstream::queue::security {
namespace {

constexpr uint8_t kUserVersion = 1;
constexpr size_t kSaltBytes = 16;
constexpr size_t kHashBytes = 32;
// What a stored record may ask of us: 256 MB and a few seconds at most.
constexpr uint8_t kLog2CostMin = 4, kLog2CostMax = 18;
constexpr uint8_t kBlockMax = 8, kParallelMax = 4;
constexpr uint32_t kIterationsMax = 10'000'000;
constexpr size_t kSecretBytesMax = 64;
constexpr size_t kVerifiersMax = 2;

std::string random_bytes(base::Random& random, size_t size) {
  std::string out(size, '\0');
  random.fill(out.data(), size);
  return out;
}

Status user_record_error(const char* reason) {
  return base::make_error(errors::kUserRecord, {reason});
}

bool is_name_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

Status check_decoded(const User& u) {
  if (!check_user_name(u.name).ok()) return user_record_error("its name");
  for (const std::string& group : u.groups) {
    if (!check_user_name(group).ok()) return user_record_error("the name of a group");
  }
  const base::ScryptCost& c = u.password.cost;
  bool is_hash_bounded = u.password.hash.size() <= kSecretBytesMax &&
                         u.password.salt.size() <= kSecretBytesMax && c.log2_cost >= kLog2CostMin &&
                         c.log2_cost <= kLog2CostMax && c.block >= 1 && c.block <= kBlockMax &&
                         c.parallel >= 1 && c.parallel <= kParallelMax;
  if (!is_hash_bounded) return user_record_error("the cost of its password");
  for (const ScramVerifier& v : u.scram) {
    bool is_known = v.digest == base::Digest::kSha256 || v.digest == base::Digest::kSha512;
    if (!is_known || v.iterations == 0 || v.iterations > kIterationsMax || v.salt.empty() ||
        v.salt.size() > kSecretBytesMax || v.stored_key.size() != base::digest_size(v.digest) ||
        v.server_key.size() != base::digest_size(v.digest)) {
      return user_record_error("a verifier");
    }
  }
  return {};
}

}  // namespace

bool User::is_administrator() const {
  return std::find(groups.begin(), groups.end(), kAdministrators) != groups.end();
}

const ScramVerifier* User::find_scram(base::Digest digest) const {
  for (const ScramVerifier& v : scram) {
    if (v.digest == digest) return &v;
  }
  return nullptr;
}

std::string User::encode() const {
  std::string out;
  objects::append_number(out, kUserVersion, 1);
  objects::append_record_text(out, name);
  objects::append_number(out, groups.size(), 2);
  for (const std::string& group : groups) objects::append_record_text(out, group);
  objects::append_record_text(out, description);
  objects::append_number(out, is_disabled, 1);
  objects::append_number(out, static_cast<uint64_t>(altered_gmt_ms), 8);
  objects::append_number(out, password.cost.log2_cost, 1);
  objects::append_number(out, password.cost.block, 1);
  objects::append_number(out, password.cost.parallel, 1);
  objects::append_record_text(out, password.salt);
  objects::append_record_text(out, password.hash);
  objects::append_number(out, scram.size(), 1);
  for (const ScramVerifier& v : scram) {
    objects::append_number(out, static_cast<uint64_t>(v.digest), 1);
    objects::append_number(out, v.iterations, 4);
    objects::append_record_text(out, v.salt);
    objects::append_record_text(out, v.stored_key);
    objects::append_record_text(out, v.server_key);
  }
  return out;
}

Result<User> User::decode(std::string_view bytes) {
  objects::RecordReader reader(bytes);
  if (reader.number(1) != kUserVersion) return user_record_error("its version");
  User u;
  u.name = reader.text();
  size_t groups = reader.number(2);
  if (groups > kUserGroupsMax) return user_record_error("too many groups");
  for (size_t i = 0; i < groups; ++i) u.groups.emplace_back(reader.text());
  u.description = reader.text();
  u.is_disabled = reader.number(1) != 0;
  u.altered_gmt_ms = static_cast<int64_t>(reader.number(8));
  u.password.cost.log2_cost = static_cast<uint8_t>(reader.number(1));
  u.password.cost.block = static_cast<uint8_t>(reader.number(1));
  u.password.cost.parallel = static_cast<uint8_t>(reader.number(1));
  u.password.salt = reader.text();
  u.password.hash = reader.text();
  size_t verifiers = reader.number(1);
  if (verifiers > kVerifiersMax) return user_record_error("too many verifiers");
  for (size_t i = 0; i < verifiers; ++i) {
    ScramVerifier v;
    v.digest = static_cast<base::Digest>(reader.number(1));
    v.iterations = static_cast<uint32_t>(reader.number(4));
    v.salt = reader.text();
    v.stored_key = reader.text();
    v.server_key = reader.text();
    u.scram.push_back(std::move(v));
  }
  if (!reader.ok() || !reader.at_end()) return user_record_error("its length");
  MS_TRY(check_decoded(u));
  return u;
}

Status check_user_name(std::string_view name) {
  bool is_good = !name.empty() && name.size() <= kUserNameBytesMax && is_name_letter(name[0]);
  for (char c : name) {
    is_good = is_good &&
              (is_name_letter(c) || std::string_view("._-@").find(c) != std::string_view::npos);
  }
  if (is_good) return {};
  std::string shown(name.substr(0, kUserNameBytesMax));
  for (char& c : shown) {
    if (c < 0x20 || c > 0x7E) c = '?';
  }
  return base::make_error(errors::kUserName, {shown});
}

Status check_new_password(std::string_view password) {
  if (password.size() < kPasswordBytesMin) {
    return base::make_error(errors::kPasswordRule, {"it is shorter than 8 bytes"});
  }
  if (password.size() > kPasswordBytesMax) {
    return base::make_error(errors::kPasswordRule, {"it is longer than 256 bytes"});
  }
  return {};
}

// RFC 5802, section 3.
Result<ScramVerifier> make_scram_verifier(base::Digest digest, std::string_view password,
                                          std::string_view salt, uint32_t iterations,
                                          const base::CredentialCrypto& crypto) {
  ScramVerifier v{.digest = digest, .iterations = iterations, .salt = std::string(salt)};
  std::string prepared = text::saslprep(password), salted, client_key;
  Status s = crypto.pbkdf2(digest, prepared, salt, iterations, salted);
  base::wipe(prepared);
  MS_TRY(std::move(s));
  MS_TRY(crypto.hmac(digest, salted, "Client Key", client_key));
  MS_TRY(crypto.hash(digest, client_key, v.stored_key));
  MS_TRY(crypto.hmac(digest, salted, "Server Key", v.server_key));
  base::wipe(salted);
  base::wipe(client_key);
  return v;
}

Status make_password(User& user, std::string_view password, const PasswordCost& cost,
                     const base::CredentialCrypto& crypto, base::Random& random) {
  MS_TRY(check_new_password(password));
  PasswordHash hash{.cost = cost.scrypt, .salt = random_bytes(random, kSaltBytes)};
  std::string prepared = text::saslprep(password);
  Status s = crypto.scrypt(prepared, hash.salt, hash.cost, kHashBytes, hash.hash);
  base::wipe(prepared);
  MS_TRY(std::move(s));
  std::vector<ScramVerifier> verifiers;
  for (base::Digest digest : {base::Digest::kSha256, base::Digest::kSha512}) {
    verifiers.push_back(MS_TRY(make_scram_verifier(
        digest, password, random_bytes(random, kSaltBytes), cost.scram_iterations, crypto)));
  }
  user.password = std::move(hash);
  user.scram = std::move(verifiers);
  return {};
}

Result<bool> is_password(const PasswordHash& hash, std::string_view password,
                         const base::CredentialCrypto& crypto) {
  if (hash.hash.empty() || password.size() > kPasswordBytesMax) return false;
  std::string prepared = text::saslprep(password), made;
  Status s = crypto.scrypt(prepared, hash.salt, hash.cost, hash.hash.size(), made);
  base::wipe(prepared);
  MS_TRY(std::move(s));
  return base::equals_in_constant_time(made, hash.hash);
}

std::string generate_password(base::Random& random) {
  // 32 characters, none that is mistaken for another: five bits each.
  constexpr std::string_view kAlphabet = "abcdefghijkmnpqrstuvwxyz23456789";
  static_assert(kAlphabet.size() == 32);
  std::string password;
  for (int i = 0; i < 20; ++i) {
    if (i > 0 && i % 5 == 0) password += '-';
    password += kAlphabet[random_bytes(random, 1)[0] & 31];
  }
  return password;
}

User first_user() {
  User user;
  user.name = "admin";
  user.groups = {std::string(kAdministrators)};
  user.description = "Made at the first start";
  return user;
}

}  // namespace millstream::queue::security
