#include "net/tls_engine.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <algorithm>
#include <cstring>
#include <utility>

namespace millstream::net {

void TlsSessionFree::operator()(ssl_session_st* session) const { SSL_SESSION_free(session); }

// OpenSSL reads from input_ and appends to output_. An own BIO instead of BIO_s_mem: nothing is
// copied twice, and nothing is allocated for each record.
struct TlsEngine::Bio {
  static int read(BIO* bio, char* data, size_t size, size_t* got) {
    auto& engine = *static_cast<TlsEngine*>(BIO_get_data(bio));
    BIO_clear_retry_flags(bio);
    if (engine.input_.empty()) {
      BIO_set_retry_read(bio);
      return 0;
    }
    *got = std::min(size, engine.input_.size());
    std::memcpy(data, engine.input_.data(), *got);
    engine.input_.remove_prefix(*got);
    return 1;
  }
  static int write(BIO* bio, const char* data, size_t size, size_t* put) {
    static_cast<TlsEngine*>(BIO_get_data(bio))->output_.append(data, size);
    BIO_clear_retry_flags(bio);
    *put = size;
    return 1;
  }
  static long control(BIO*, int command, long, void*) {
    return command == BIO_CTRL_FLUSH || command == BIO_CTRL_DUP ? 1 : 0;
  }
  static int create(BIO* bio) {
    BIO_set_init(bio, 1);
    return 1;
  }
  static BIO_METHOD* method() {
    static BIO_METHOD* const kMethod = [] {
      BIO_METHOD* made = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "memory");
      BIO_meth_set_read_ex(made, read);
      BIO_meth_set_write_ex(made, write);
      BIO_meth_set_ctrl(made, control);
      BIO_meth_set_create(made, create);
      return made;
    }();
    return kMethod;
  }
};

TlsEngine::TlsEngine(std::shared_ptr<const TlsContext> context) : context_(std::move(context)) {
  ssl_ = SSL_new(context_->get());
  if (!ssl_) return;
  SSL_set_app_data(ssl_, this);
  BIO* bio = BIO_new(Bio::method());
  BIO_set_data(bio, this);
  SSL_set_bio(ssl_, bio, bio);
}

TlsEngine::~TlsEngine() { SSL_free(ssl_); }

std::unique_ptr<TlsEngine> TlsEngine::accept(std::shared_ptr<const TlsContext> context) {
  std::unique_ptr<TlsEngine> engine(new TlsEngine(std::move(context)));
  if (!engine->ssl_) return nullptr;
  SSL_set_accept_state(engine->ssl_);
  return engine;
}

std::unique_ptr<TlsEngine> TlsEngine::connect(std::shared_ptr<const TlsContext> context,
                                              const std::string& host, ssl_session_st* session) {
  std::unique_ptr<TlsEngine> engine(new TlsEngine(std::move(context)));
  SSL* ssl = engine->ssl_;
  if (!ssl) return nullptr;
  SSL_set_connect_state(ssl);
  unsigned char address[sizeof(in6_addr)];
  const bool is_address = inet_pton(AF_INET, host.c_str(), address) == 1 ||
                          inet_pton(AF_INET6, host.c_str(), address) == 1;
  if (!is_address) SSL_set_tlsext_host_name(ssl, host.c_str());
  if (engine->context_->checks_host_name()) {
    X509_VERIFY_PARAM* wanted = SSL_get0_param(ssl);
    if (is_address) {
      X509_VERIFY_PARAM_set1_ip_asc(wanted, host.c_str());
    } else {
      X509_VERIFY_PARAM_set_hostflags(wanted, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
      X509_VERIFY_PARAM_set1_host(wanted, host.data(), host.size());
    }
  }
  if (session) SSL_set_session(ssl, session);
  return engine;
}

int TlsEngine::keep_session(ssl_st* ssl, ssl_session_st* session) {
  auto* engine = static_cast<TlsEngine*>(SSL_get_app_data(ssl));
  engine->session_.reset(session);
  return 1;  // the reference is ours now
}

void TlsEngine::feed(std::string_view bytes) {
  if (input_.empty()) {
    input_ = bytes;
    return;
  }
  std::string all(input_);
  all.append(bytes);
  kept_.swap(all);
  input_ = kept_;
}

void TlsEngine::keep_input() {
  if (input_.empty()) {
    kept_.clear();
    return;
  }
  if (input_.data() >= kept_.data() && input_.data() < kept_.data() + kept_.size()) return;
  std::string rest(input_);
  kept_.swap(rest);
  input_ = kept_;
}

TlsEngine::Outcome TlsEngine::outcome_of(int code) {
  switch (SSL_get_error(ssl_, code)) {
    case SSL_ERROR_WANT_READ:
    case SSL_ERROR_WANT_WRITE:
      return Outcome::kWantInput;
    case SSL_ERROR_ZERO_RETURN:
      return Outcome::kClosed;
    default:
      break;
  }
  has_failed_ = true;
  const long verified = SSL_get_verify_result(ssl_);
  failure_ = take_openssl_error();
  if (!is_established_ && verified != X509_V_OK) {
    failure_ += std::string(": ") + X509_verify_cert_error_string(verified);
  }
  return Outcome::kFailed;
}

namespace {
// What an earlier call of anybody on this thread has left would be taken for our own.
void clear_openssl_errors() {
  if (ERR_peek_error() != 0) ERR_clear_error();
}
}  // namespace

TlsEngine::Outcome TlsEngine::handshake() {
  if (is_established_) return Outcome::kDone;
  if (has_failed_) return Outcome::kFailed;
  clear_openssl_errors();
  const int code = SSL_do_handshake(ssl_);
  if (code != 1) return outcome_of(code);
  is_established_ = true;
  return Outcome::kDone;
}

TlsEngine::Outcome TlsEngine::read(char* data, size_t size, size_t* got) {
  if (has_failed_) return Outcome::kFailed;
  if (!is_established_) {
    const Outcome outcome = handshake();
    if (outcome != Outcome::kDone) return outcome;
  }
  clear_openssl_errors();
  const int code = SSL_read_ex(ssl_, data, size, got);
  return code == 1 ? Outcome::kDone : outcome_of(code);
}

TlsEngine::Outcome TlsEngine::write(std::string_view data) {
  if (has_failed_) return Outcome::kFailed;
  clear_openssl_errors();
  while (!data.empty()) {
    size_t put = 0;
    const int code = SSL_write_ex(ssl_, data.data(), data.size(), &put);
    if (code != 1) return outcome_of(code);
    data.remove_prefix(put);
  }
  return Outcome::kDone;
}

bool TlsEngine::has_pending() const { return !input_.empty() || SSL_has_pending(ssl_) != 0; }

void TlsEngine::close_notify() {
  if (has_failed_ || !is_established_) return;
  clear_openssl_errors();
  SSL_shutdown(ssl_);
}

void TlsEngine::consume_output(size_t bytes) {
  output_at_ += bytes;
  if (output_at_ < output_.size()) return;
  output_at_ = 0;
  if (output_.capacity() > kOutputKeptMax) {
    std::string().swap(output_);
  } else {
    output_.clear();
  }
}

std::string_view TlsEngine::protocol_chosen() const {
  const unsigned char* name = nullptr;
  unsigned size = 0;
  SSL_get0_alpn_selected(ssl_, &name, &size);
  return {reinterpret_cast<const char*>(name), size};
}

std::string TlsEngine::version() const { return SSL_get_version(ssl_); }
std::string TlsEngine::cipher() const { return SSL_get_cipher_name(ssl_); }
bool TlsEngine::is_resumed() const { return SSL_session_reused(ssl_) == 1; }

namespace {
std::string name_text(const X509_NAME* name) {
  std::unique_ptr<BIO, decltype(&BIO_free)> bio(BIO_new(BIO_s_mem()), BIO_free);
  X509_NAME_print_ex(bio.get(), name, 0, XN_FLAG_RFC2253 & ~ASN1_STRFLGS_ESC_MSB);
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return {data, static_cast<size_t>(size)};
}

std::string time_text(const ASN1_TIME* time) {
  std::unique_ptr<BIO, decltype(&BIO_free)> bio(BIO_new(BIO_s_mem()), BIO_free);
  ASN1_TIME_print(bio.get(), time);
  char* data = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &data);
  return {data, static_cast<size_t>(size)};
}

std::string serial_text(const ASN1_INTEGER* serial) {
  std::unique_ptr<BIGNUM, decltype(&BN_free)> number(ASN1_INTEGER_to_BN(serial, nullptr), BN_free);
  std::unique_ptr<char, void (*)(char*)> text(BN_bn2hex(number.get()),
                                              [](char* p) { OPENSSL_free(p); });
  return text ? text.get() : "";
}
}  // namespace

const TlsPeer& TlsEngine::peer() {
  if (peer_) return *peer_;
  peer_ = std::make_unique<TlsPeer>();
  X509* certificate = SSL_get0_peer_certificate(ssl_);
  if (!certificate || SSL_get_verify_result(ssl_) != X509_V_OK) return *peer_;
  peer_->has_certificate = true;
  peer_->subject = name_text(X509_get_subject_name(certificate));
  peer_->issuer = name_text(X509_get_issuer_name(certificate));
  peer_->serial = serial_text(X509_get0_serialNumber(certificate));
  peer_->not_after = time_text(X509_get0_notAfter(certificate));
  char name[256] = {};
  X509_NAME_get_text_by_NID(X509_get_subject_name(certificate), NID_commonName, name, sizeof name);
  peer_->common_name = name;
  ERR_clear_error();
  return *peer_;
}

}  // namespace millstream::net
