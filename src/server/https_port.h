// The HTTPS port of a server: opened when the first flow wants it, or at start when its number was
// given. Flows that come later, by redeployment, open it then.
// Thread: any but a reactor's; one caller at a time is let through.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "http/server.h"
#include "nodes/http/listener.h"
#include "server/https_conf.h"

namespace millstream::server {

class HttpsPort {
 public:
  static constexpr int kDefaultPort = 7843;
  static constexpr int kPortFromSettings = -1;

  // Before anything is deployed. `port` is that of the command line, or kPortFromSettings;
  // `address` likewise, or empty.
  void configure(nodes::http::HttpListener& listener, const HttpsConf& conf, int port,
                 const std::string& address);
  // Other keys, certificates and demands on clients, for new connections. After an error the former
  // ones hold. Port and address stay.
  Status reconfigure(const HttpsConf& conf);
  // The server that listens is there: opens the port if somebody wants it.
  Status start(http::Server& server, const std::string& default_address);
  int port() const { return listener_ ? listener_->secure_port() : 0; }
  bool is_open() const { return is_open_; }

 private:
  Status want();  // a flow has a URL on HTTPS
  Status open();

  std::mutex mutex_;
  nodes::http::HttpListener* listener_ = nullptr;
  net::TlsServerSettings settings_;
  std::shared_ptr<net::TlsServer> tls_;
  http::Server* server_ = nullptr;
  std::string address_;
  int wanted_port_ = kDefaultPort;
  bool is_wanted_ = false;
  std::atomic<bool> is_open_{false};  // read by any thread
};

}  // namespace millstream::server
