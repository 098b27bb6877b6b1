#include "server/cors_conf.h"

#include <doctest/doctest.h>

namespace millstream::server {
namespace {

nodes::http::CorsSettings read_cors(const std::string& keys, std::string* problem = nullptr) {
  auto root = format::parse_yaml("ResourceManagers:\n  HTTPConnector:\n" + keys, "c.yaml");
  REQUIRE(root.ok());
  nodes::http::CorsSettings out;
  base::Diagnostics diagnostics;
  apply_cors("c.yaml", root.value(), "HTTPConnector", out, diagnostics);
  if (problem && !diagnostics.all().empty()) *problem = diagnostics.all()[0].format();
  return out;
}

TEST_CASE("CORS settings: what is not there keeps its default") {
  const nodes::http::CorsSettings none = read_cors("    ListenerPort: 1\n");
  CHECK_FALSE(none.is_enabled);
  CHECK(none.allowed_origins.empty());
  CHECK(none.max_age_s == -1);
  CHECK(nodes::http::Cors::create(none) == nullptr);
  const nodes::http::CorsSettings all = read_cors(
      "    CORSEnabled: true\n    CORSAllowOrigins: 'https://a, ,https://b '\n"
      "    CORSAllowCredentials: yes\n    CORSMaxAge: 10\n    CORSAllowMethods: GET\n"
      "    CORSAllowHeaders: X-A\n    CORSExposeHeaders: ''\n");
  CHECK(all.is_enabled);
  CHECK(all.allowed_origins == std::vector<std::string>{"https://a", "https://b"});
  CHECK(all.allows_credentials);
  CHECK(all.max_age_s == 10);
  CHECK(all.allowed_methods == "GET");
  CHECK(all.allowed_headers == "X-A");
  CHECK(all.exposed_headers.empty());
  CHECK(nodes::http::Cors::create(all) != nullptr);
}

TEST_CASE("CORS settings: wrong values are refused where they stand") {
  std::string problem;
  read_cors("    CORSEnabled: maybe\n", &problem);
  CHECK(problem.find("c.yaml:3:") == 0);
  CHECK(problem.find("CORSEnabled") != std::string::npos);
  read_cors("    CORSMaxAge: long\n", &problem);
  CHECK(problem.find("number of seconds") != std::string::npos);
  read_cors("    CORSAllowHeaders: [a]\n", &problem);
  CHECK(problem.find("commas") != std::string::npos);
}

}  // namespace
}  // namespace millstream::server
