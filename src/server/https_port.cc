#include "server/https_port.h"

#include "server/port_error.h"

namespace millstream::server {

void HttpsPort::configure(nodes::http::HttpListener& listener, const HttpsConf& conf, int port,
                          const std::string& address) {
  std::lock_guard lock(mutex_);
  listener_ = &listener;
  settings_ = conf.tls;
  address_ = address.empty() ? conf.address : address;
  // In the product's file 0 stands for the usual port.
  const bool has_port_in_file = conf.port.value_or(0) > 0;
  if (has_port_in_file) wanted_port_ = *conf.port;
  if (port != kPortFromSettings) wanted_port_ = port;
  is_wanted_ = port != kPortFromSettings || has_port_in_file;
  listener.set_secure_port(wanted_port_);
  listener.set_forces_secure(conf.forces_https);
  listener.set_secure_opener([this] { return want(); });
}

Status HttpsPort::reconfigure(const HttpsConf& conf) {
  std::lock_guard lock(mutex_);
  if (conf.tls == settings_) return {};
  if (tls_) {
    if (conf.tls.keystore.path.empty()) return base::make_error(errors::kNoKeystore);
    MS_TRY(tls_->configure(conf.tls));
  }
  settings_ = conf.tls;
  return {};
}

Status HttpsPort::want() {
  std::lock_guard lock(mutex_);
  is_wanted_ = true;
  // A bad key store is found while loading, where there are file and flow to blame.
  if (!tls_) {
    if (settings_.keystore.path.empty()) return base::make_error(errors::kNoKeystore);
    tls_ = MS_TRY(net::TlsServer::create(settings_));
  }
  return server_ ? open() : Status();
}

Status HttpsPort::start(http::Server& server, const std::string& default_address) {
  {
    std::lock_guard lock(mutex_);
    server_ = &server;
    if (address_.empty() || address_ == "*") address_ = default_address;
    if (!is_wanted_) return {};
  }
  return want();
}

Status HttpsPort::open() {
  if (is_open_) return {};
  Result<int> port = server_->listen(address_, wanted_port_, {tls_, true});
  if (!port.ok()) return port_in_use(address_, wanted_port_, port.error());
  is_open_ = true;
  listener_->set_secure_port(port.value());
  return {};
}

}  // namespace millstream::server
