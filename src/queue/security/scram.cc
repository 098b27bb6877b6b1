#include "queue/security/scram.h"

#include <charconv>

#include "base/base64.h"
#include "queue/security/errors_gen.h"
#include "text/saslprep.h"
#include "text/utf8.h"

namespace millstream::queue::security {
namespace {

constexpr uint32_t kClientIterationsMax = 10'000'000;

Status scram_error(std::string_view reason) {
  return base::make_error(errors::kScramMessage, {reason});
}

// "n=value" at the front of `rest`, up to a comma; false when it is another attribute.
bool take_attribute(std::string_view& rest, char name, std::string_view& value) {
  if (rest.size() < 2 || rest[0] != name || rest[1] != '=') return false;
  size_t comma = rest.find(',');
  value = rest.substr(2, comma == std::string_view::npos ? comma : comma - 2);
  rest.remove_prefix(comma == std::string_view::npos ? rest.size() : comma + 1);
  return true;
}

bool is_nonce(std::string_view s) {
  if (s.empty() || s.size() > 512) return false;
  for (char c : s) {
    if (c < 0x21 || c > 0x7E || c == ',') return false;
  }
  return true;
}

// =2C is a comma, =3D an equals sign.
bool read_name(std::string_view s, std::string& out) {
  out.clear();
  for (size_t i = 0; i < s.size(); ++i) {
    if (s[i] != '=') {
      out.push_back(s[i]);
      continue;
    }
    std::string_view code = s.substr(i, 3);
    if (code != "=2C" && code != "=3D") return false;
    out.push_back(code == "=2C" ? ',' : '=');
    i += 2;
  }
  return !out.empty() && text::is_valid_utf8(out);
}

std::string written_name(std::string_view s) {
  std::string out;
  for (char c : s) {
    if (c == ',') {
      out += "=2C";
    } else if (c == '=') {
      out += "=3D";
    } else {
      out.push_back(c);
    }
  }
  return out;
}

void xor_with(std::string& a, std::string_view b) {
  for (size_t i = 0; i < a.size() && i < b.size(); ++i) a[i] = static_cast<char>(a[i] ^ b[i]);
}

}  // namespace

std::string_view scram_mechanism(base::Digest digest) {
  return digest == base::Digest::kSha256 ? "SCRAM-SHA-256" : "SCRAM-SHA-512";
}

std::string make_scram_nonce(base::Random& random) {
  char bytes[18];
  random.fill(bytes, sizeof bytes);
  return base::base64_encode({bytes, sizeof bytes});
}

Result<ScramVerifier> ScramServer::make_decoy() const {
  ScramVerifier v{.digest = options_.digest, .iterations = options_.decoy_iterations};
  std::string salt;
  MS_TRY(options_.crypto->hmac(options_.digest, options_.decoy_secret, user_name_, salt));
  v.salt = salt.substr(0, 16);
  // Keys that nobody has: a proof against them fails as a wrong password does.
  MS_TRY(options_.crypto->hmac(options_.digest, options_.decoy_secret, salt, v.stored_key));
  v.server_key = v.stored_key;
  return v;
}

Result<std::string> ScramServer::first(std::string_view message) {
  if (step_++ != 0) return scram_error("it comes out of order");
  if (message.size() > kScramMessageBytesMax) return scram_error("it is too long");
  // gs2-header: binding, authorisation identity.
  std::string_view rest = message;
  if (rest.substr(0, 2) == "p=") return scram_error("it asks for channel binding");
  if (rest.substr(0, 2) != "n," && rest.substr(0, 2) != "y,") return scram_error("its header");
  rest.remove_prefix(2);
  std::string_view authorization, name, client_nonce;
  std::string as_user;
  if (!take_attribute(rest, 'a', authorization)) {
    if (rest.empty() || rest[0] != ',') return scram_error("its header");
    rest.remove_prefix(1);
  } else if (!read_name(authorization, as_user)) {
    return scram_error("its authorization identity");
  }
  gs2_header_ = message.substr(0, message.size() - rest.size());
  auth_message_ = rest;
  if (rest.substr(0, 2) == "m=") return scram_error("it has an extension that is not known");
  if (!take_attribute(rest, 'n', name) || !read_name(name, user_name_)) {
    return scram_error("the name of its user");
  }
  user_name_ = text::saslprep(user_name_);
  if (!take_attribute(rest, 'r', client_nonce) || !is_nonce(client_nonce)) {
    return scram_error("its nonce");
  }
  if (!as_user.empty() && as_user != user_name_) {
    return scram_error("it wants to act as somebody else");
  }
  user_ = options_.find_user(user_name_);
  const ScramVerifier* own = user_ ? user_->find_scram(options_.digest) : nullptr;
  if (!own) user_ = nullptr;
  verifier_ = own ? *own : MS_TRY(make_decoy());
  nonce_ = std::string(client_nonce) + options_.nonce;
  std::string answer = "r=" + nonce_ + ",s=" + base::base64_encode(verifier_.salt) +
                       ",i=" + std::to_string(verifier_.iterations);
  auth_message_ += "," + answer;
  return answer;
}

Result<std::string> ScramServer::last(std::string_view message) {
  if (step_++ != 1) return scram_error("it comes out of order");
  if (message.size() > kScramMessageBytesMax) return scram_error("it is too long");
  std::string_view rest = message, binding, nonce;
  if (!take_attribute(rest, 'c', binding) || base::base64_decode(binding) != gs2_header_) {
    return scram_error("its channel binding is not what it said first");
  }
  if (!take_attribute(rest, 'r', nonce) || !base::equals_in_constant_time(nonce, nonce_)) {
    return scram_error("its nonce is not ours");
  }
  size_t proof_at = message.rfind(",p=");
  if (proof_at == std::string_view::npos) return scram_error("it has no proof");
  auto proof = base::base64_decode(message.substr(proof_at + 3));
  if (!proof || proof->size() != base::digest_size(options_.digest)) {
    return scram_error("its proof");
  }
  auth_message_ += "," + std::string(message.substr(0, proof_at));
  std::string client_key, stored_key, signature;
  MS_TRY(options_.crypto->hmac(options_.digest, verifier_.stored_key, auth_message_, client_key));
  xor_with(client_key, *proof);
  MS_TRY(options_.crypto->hash(options_.digest, client_key, stored_key));
  base::wipe(client_key);
  // Both are looked at, so that an unknown user takes as long.
  bool is_proven = base::equals_in_constant_time(stored_key, verifier_.stored_key);
  is_accepted_ = is_proven && user_ != nullptr;
  if (!is_accepted_) return std::string("e=invalid-proof");
  MS_TRY(options_.crypto->hmac(options_.digest, verifier_.server_key, auth_message_, signature));
  return "v=" + base::base64_encode(signature);
}

ScramClient::ScramClient(base::Digest digest, std::string user, std::string password,
                         std::string nonce, const base::CredentialCrypto& crypto)
    : digest_(digest),
      user_(std::move(user)),
      password_(std::move(password)),
      nonce_(std::move(nonce)),
      crypto_(crypto) {}

std::string ScramClient::first() {
  first_bare_ = "n=" + written_name(text::saslprep(user_)) + ",r=" + nonce_;
  return "n,," + first_bare_;
}

Result<std::string> ScramClient::answer(std::string_view server_first) {
  if (server_first.size() > kScramMessageBytesMax) return scram_error("it is too long");
  std::string_view rest = server_first, nonce, salt_text, count;
  if (!take_attribute(rest, 'r', nonce) || nonce.substr(0, nonce_.size()) != nonce_ ||
      nonce.size() == nonce_.size()) {
    return scram_error("the server's nonce does not begin with ours");
  }
  if (!take_attribute(rest, 's', salt_text) || !take_attribute(rest, 'i', count)) {
    return scram_error("the server's salt");
  }
  auto salt = base::base64_decode(salt_text);
  uint32_t iterations = 0;
  auto r = std::from_chars(count.data(), count.data() + count.size(), iterations);
  if (!salt || salt->empty() || r.ec != std::errc() || r.ptr != count.data() + count.size() ||
      iterations == 0 || iterations > kClientIterationsMax) {
    return scram_error("the server's salt");
  }
  std::string prepared = text::saslprep(password_), salted, client_key, stored_key, server_key;
  MS_TRY(crypto_.pbkdf2(digest_, prepared, *salt, iterations, salted));
  base::wipe(prepared);
  MS_TRY(crypto_.hmac(digest_, salted, "Client Key", client_key));
  MS_TRY(crypto_.hash(digest_, client_key, stored_key));
  MS_TRY(crypto_.hmac(digest_, salted, "Server Key", server_key));
  base::wipe(salted);
  std::string without_proof = "c=biws,r=" + std::string(nonce);
  std::string auth_message = first_bare_ + "," + std::string(server_first) + "," + without_proof;
  std::string proof;
  MS_TRY(crypto_.hmac(digest_, stored_key, auth_message, proof));
  xor_with(proof, client_key);
  base::wipe(client_key);
  MS_TRY(crypto_.hmac(digest_, server_key, auth_message, server_signature_));
  return without_proof + ",p=" + base::base64_encode(proof);
}

Status ScramClient::check(std::string_view server_last) {
  if (server_last.substr(0, 2) == "e=") return scram_error("the server refuses the login");
  auto signature =
      server_last.substr(0, 2) == "v=" ? base::base64_decode(server_last.substr(2)) : std::nullopt;
  if (!signature || !base::equals_in_constant_time(*signature, server_signature_)) {
    return scram_error("the server does not know the password");
  }
  return {};
}

}  // namespace millstream::queue::security
