#include "nodes/common/identity.h"

#include <doctest/doctest.h>

#include "nodes/common/http_send.h"
#include "parsers/headers/properties.h"
#include "tree/assembly.h"

namespace millstream::nodes::common {
namespace {

TEST_CASE("http_send: words for compression") {
  using millstream::http::Coding;
  CHECK(parse_compression("") == Coding::kIdentity);
  CHECK(parse_compression("none") == Coding::kIdentity);
  CHECK(parse_compression("GZIP") == Coding::kGzip);
  CHECK(parse_compression("zlib") == Coding::kZlib);
  CHECK(parse_compression("deflate") == Coding::kRawDeflate);
  CHECK_FALSE(parse_compression("br").has_value());
}

TEST_CASE("http_send: what can be known before a message is checked while loading") {
  flow::Services services;
  auto problem = [&](HttpSendSettings settings) {
    auto made = HttpSender::create(std::move(settings), services);
    return made.ok() ? std::string() : made.error().id_with_letter();
  };
  CHECK(problem({}).empty());
  HttpSendSettings s;
  s.compression = "br";
  CHECK(problem(s) == "MS1032E");
  s = {};
  s.proxy_location = "http://host:99999";
  CHECK(problem(s) == "MS1353E");
  s.proxy_location = "https://host:1";
  CHECK(problem(s) == "MS1032E");
  s = {};
  s.tls.choice.protocol = "SSLv3";
  CHECK(problem(s).empty());  // the URL is not https
  s.likely_url = "HTTPS://host/";
  CHECK(problem(s) == "MS1359E");
  s.tls.choice = {"TLS", "", "alias"};
  CHECK(problem(s) == "MS1362E");
  s.tls.choice = {};
  s.tls.checks_revocation = true;
  CHECK(problem(s) == "MS1368E");
  s = {};
  s.security_identity = "nobody";
  CHECK(problem(s) == "MS1369E");
  Credentials credentials;
  credentials.add("http", "nobody", {"u", "p", "", ""});
  services.set(&credentials);
  CHECK(problem(s).empty());
  s.api_key_name = "X-Key";
  CHECK(problem(s) == "MS1372E");
}

}  // namespace
}  // namespace millstream::nodes::common
