// TLS of one connection, without input or output: ciphertext goes in by feed() and comes out of
// output(), through memory. Whoever owns it moves the bytes (net/tls_stream.h for fibers,
// net/tls_channel.h for state machines).
// Thread: one at a time. Memory between messages: OpenSSL gives its record buffers back.
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/tls_context.h"

struct ssl_st;
struct ssl_session_st;

namespace millstream::net {

// The other side as it has shown itself.
struct TlsPeer {
  bool has_certificate = false;  // and it was verified
  std::string subject;           // RFC 2253: "CN=client,O=Example"
  std::string issuer;
  std::string serial;  // hexadecimal
  std::string common_name;
  std::string not_after;  // "Nov 30 12:00:00 2027 GMT"
};

struct TlsSessionFree {
  void operator()(ssl_session_st* session) const;
};
using TlsSession = std::unique_ptr<ssl_session_st, TlsSessionFree>;

class TlsEngine {
 public:
  enum class Outcome : uint8_t { kDone, kWantInput, kClosed, kFailed };
  static constexpr size_t kRecordBytesMax = 16 * 1024;  // of plain text
  static constexpr size_t kOutputKeptMax = 64 * 1024;   // capacity that is kept for the next use

  static std::unique_ptr<TlsEngine> accept(std::shared_ptr<const TlsContext> context);
  // `host` is what the certificate must be for; `session`, when given, is resumed if the server
  // likes.
  static std::unique_ptr<TlsEngine> connect(std::shared_ptr<const TlsContext> context,
                                            const std::string& host, ssl_session_st* session);
  ~TlsEngine();
  TlsEngine(const TlsEngine&) = delete;
  TlsEngine& operator=(const TlsEngine&) = delete;

  // Received bytes; a view that must live until keep_input(), unless earlier ones are left.
  void feed(std::string_view bytes);
  // Copies what no call has consumed yet, so that the view may go.
  void keep_input();

  Outcome handshake();
  // kDone with *got > 0. Also completes the handshake.
  Outcome read(char* data, size_t size, size_t* got);
  Outcome write(std::string_view data);
  // True when read() has something without more input.
  bool has_pending() const;
  void close_notify();  // what says that we have finished; goes to output()

  // Ciphertext to send: [0, size) of it; consumed from the front.
  std::string_view output() const { return std::string_view(output_).substr(output_at_); }
  void consume_output(size_t bytes);

  bool is_established() const { return is_established_; }
  std::string_view protocol_chosen() const;  // ALPN; empty when none
  std::string version() const;               // "TLSv1.3"
  std::string cipher() const;
  bool is_resumed() const;
  const TlsPeer& peer();
  // Why the outcome was kFailed, in words.
  const std::string& failure() const { return failure_; }
  // The newest session that the server has offered, for a later connect().
  TlsSession take_session() { return std::move(session_); }
  static int keep_session(ssl_st* ssl, ssl_session_st* session);  // callback of OpenSSL

 private:
  explicit TlsEngine(std::shared_ptr<const TlsContext> context);
  Outcome outcome_of(int code);
  struct Bio;  // the two ends of the memory, as OpenSSL calls them

  std::shared_ptr<const TlsContext> context_;
  ssl_st* ssl_ = nullptr;
  std::string_view input_;
  std::string kept_;
  std::string output_;
  size_t output_at_ = 0;
  bool is_established_ = false;
  bool has_failed_ = false;
  std::string failure_;
  TlsSession session_;
  std::unique_ptr<TlsPeer> peer_;
};

}  // namespace millstream::net
