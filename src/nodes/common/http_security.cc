#include "nodes/common/http_security.h"

#include "base/clock.h"
#include "net/blocking_pool.h"
#include "net/tls_reload.h"

namespace millstream::nodes::common {

HttpClientSecurity& HttpClientSecurity::system() {
  static HttpClientSecurity security;
  return security;
}

std::string HttpClientSecurity::stamps() const {
  std::vector<std::string> files = settings_.crl_files;
  files.push_back(settings_.keystore.path);
  files.push_back(settings_.truststore.path);
  return net::file_stamps(files);
}

HttpClientSecurity::ContextPtr HttpClientSecurity::find(const std::string& key) {
  const int64_t now_ns = base::system_clock().monotonic_ns();
  bool is_due = false;
  {
    std::lock_guard lock(mutex_);
    is_due = now_ns - checked_ns_ >= kRecheckNs;
    if (is_due) checked_ns_ = now_ns;
  }
  std::string found = is_due ? stamps() : std::string();
  std::lock_guard lock(mutex_);
  if (is_due && found != known_stamps_) {
    contexts_.clear();
    known_stamps_ = std::move(found);
  }
  auto it = contexts_.find(key);
  return it == contexts_.end() ? nullptr : it->second;
}

Result<std::shared_ptr<const net::TlsContext>> HttpClientSecurity::context_for(
    const HttpTlsChoice& wanted) {
  const std::string key = wanted.choice.protocol + '\n' + wanted.choice.ciphers + '\n' +
                          wanted.choice.key_alias + '\n' + (wanted.checks_host_name ? 'h' : '-') +
                          (wanted.checks_revocation ? 'r' : '-') +
                          (wanted.accepts_self_signed ? 's' : '-');
  if (ContextPtr known = find(key)) return known;
  net::TlsClientSettings settings;
  settings.keystore = settings_.keystore;
  settings.truststore = settings_.truststore;
  settings.choice = wanted.choice;
  settings.checks_host_name = wanted.checks_host_name;
  settings.checks_revocation = wanted.checks_revocation;
  settings.accepts_self_signed = wanted.accepts_self_signed;
  settings.crl_files = settings_.crl_files;
  Result<ContextPtr> made = ContextPtr();
  net::run_blocking([&] { made = net::TlsContext::create_client(settings); });
  if (!made.ok()) return made;
  std::lock_guard lock(mutex_);
  if (contexts_.size() >= kContextsMax) contexts_.clear();
  contexts_[key] = made.value();
  return made;
}

}  // namespace millstream::nodes::common
