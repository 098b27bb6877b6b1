// Cross-origin requests (the CORS protocol of the Fetch standard), for all flows of one connector:
// answers preflight requests and adds the headers to replies that let pages of other origins read
// them. Settings are those of ResourceManagers/HTTPConnector (and HTTPSConnector) in
// server.conf.yaml. Lifetime: shared by the listener and the requests on their way.
// Thread: made at start; any reactor.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "http/request.h"

namespace millstream::nodes::http {

struct CorsSettings {
  bool is_enabled = false;                   // CORSEnabled
  std::vector<std::string> allowed_origins;  // CORSAllowOrigins; "*" alone: all
  bool allows_credentials = false;           // CORSAllowCredentials
  std::string exposed_headers = "Content-Type";
  int64_t max_age_s = -1;  // CORSMaxAge; below 0: the header is left out
  std::string allowed_methods = "GET,HEAD,POST,PUT,PATCH,DELETE,OPTIONS";
  std::string allowed_headers =
      "Accept,Accept-Language,Content-Language,Content-Type,Authorization";
  bool operator==(const CorsSettings&) const = default;
};

class Cors final : public millstream::http::ReplyFilter {
 public:
  explicit Cors(CorsSettings settings) : settings_(std::move(settings)) {}
  // Null when it is not enabled.
  static std::shared_ptr<Cors> create(const CorsSettings& settings) {
    return settings.is_enabled ? std::make_shared<Cors>(settings) : nullptr;
  }

  // True when it was a preflight request and has been replied to: 204 when the origin, the method
  // and the headers are allowed, else 403.
  bool handle_preflight(millstream::http::RequestRef& request) const;
  void before_send(millstream::http::Request& request,
                   millstream::http::Response& response) override;

 private:
  bool allows_any() const;
  bool allows_origin(std::string_view origin) const;
  void add_origin(std::string_view origin, millstream::http::Response& response) const;

  const CorsSettings settings_;
};

}  // namespace millstream::nodes::http
