// TLS of outgoing requests: the key store, trust store and revocation lists of the server, and the
// contexts made from them for what nodes and messages choose. A service of the deployment; without
// one, requests trust the certification authorities of the system and have no certificate.
// Contexts are read anew when a file has changed, at most every kRecheckNs.
// Thread: any. context_for() may read files, in the blocking pool when called in a fiber.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "net/deadline.h"
#include "net/tls_context.h"

namespace millstream::nodes::common {

// What the server says for all its outgoing requests.
struct HttpTlsSettings {
  net::TlsFile keystore;
  net::TlsFile truststore;
  std::vector<std::string> crl_files;
};

// What one node, or one message, wants.
struct HttpTlsChoice {
  net::TlsChoice choice;
  bool checks_host_name = false;
  bool checks_revocation = false;
  bool accepts_self_signed = false;
  bool operator==(const HttpTlsChoice&) const = default;
};

class HttpClientSecurity {
 public:
  static constexpr int64_t kRecheckNs = 2 * net::kSecond;
  static constexpr size_t kContextsMax = 200;  // messages choose too: beyond, all are made anew

  explicit HttpClientSecurity(HttpTlsSettings settings = {}) : settings_(std::move(settings)) {}
  const HttpTlsSettings& settings() const { return settings_; }

  Result<std::shared_ptr<const net::TlsContext>> context_for(const HttpTlsChoice& wanted);
  // Of a process that has none of its own.
  static HttpClientSecurity& system();

 private:
  using ContextPtr = std::shared_ptr<const net::TlsContext>;
  std::string stamps() const;
  ContextPtr find(const std::string& key);
  const HttpTlsSettings settings_;
  std::mutex mutex_;  // leaf lock, never held while files are read
  std::map<std::string, ContextPtr> contexts_;
  std::string known_stamps_;  // sizes and times of the files
  int64_t checked_ns_ = 0;
};

}  // namespace millstream::nodes::common
