#include "server/callable_conf.h"

#include <doctest/doctest.h>

#include <cstdlib>

#include "format/yaml.h"
#include "nodes/callable/errors_gen.h"

namespace millstream::server {
namespace {

using nodes::callable::RemoteCallSettings;

std::string problems_of(const std::string& text, RemoteCallSettings& settings) {
  base::Diagnostics diagnostics;
  Result<format::YamlNode> root = format::parse_yaml(text, "server.conf.yaml");
  REQUIRE(root.ok());
  apply_callable_conf("server.conf.yaml", root.value(), settings, diagnostics);
  std::string out;
  for (const base::Diagnostic& d : diagnostics.all()) out += d.code + " " + d.text + "; ";
  return out;
}

TEST_CASE("callable settings: secret and servers") {
  RemoteCallSettings s;
  CHECK(problems_of("Other: 1\n", s) == "");
  CHECK(s.is_empty());
  ::setenv("MS_TEST_SECRET", "sixteen letters!", 1);
  CHECK(problems_of("Millstream:\n  CallableFlows:\n    Secret: '${MS_TEST_SECRET}'\n    Remote:\n"
                    "      Stock/price: http://a:7800/\n      Orders/*: https://b\n",
                    s) == "");
  CHECK(s.secret == "sixteen letters!");
  CHECK(s.servers.at("Stock/price") == "http://a:7800");
  CHECK(s.servers.at("Orders/*") == "https://b");
  CHECK_FALSE(s.comes_by_https);
  CHECK(s.checks_host_name);
  CHECK(
      problems_of("Millstream:\n  CallableFlows:\n    UseHTTPS: true\n    HostnameChecking: false\n"
                  "    KeyAlias: shop\n",
                  s) == "");
  CHECK(s.comes_by_https);
  CHECK_FALSE(s.checks_host_name);
  CHECK(s.key_alias == "shop");
}

TEST_CASE("callable settings: what cannot be meant is an error, and no secret is shown") {
  struct Case {
    const char *text, *part;
  };
  for (const Case& c : {
           Case{"Secret: short-secret",
                "MS2003 The setting Millstream/CallableFlows/Secret is '...'"},
           Case{"Remote: {Stock/price: 'http://a'}", "Millstream/CallableFlows/Secret"},
           Case{"Remote: {price: 'http://a'}", "Millstream/CallableFlows/Remote/price"},
           Case{"Remote: {Stock/price: 'http://a/path'}", "Remote/Stock/price is 'http://a/path'"},
           Case{"Remote: {Stock/price: 'ftp://a'}", "Remote/Stock/price"},
           Case{"Remote: x", "Millstream/CallableFlows/Remote is 'x'"},
           Case{"Sekret: x", "MS2005"},
           Case{"UseHTTPS: perhaps", "Millstream/CallableFlows/UseHTTPS is 'perhaps'"},
       }) {
    CAPTURE(c.text);
    RemoteCallSettings s;
    const std::string problems =
        problems_of(std::string("Millstream:\n  CallableFlows:\n    ") + c.text + "\n", s);
    CHECK(problems.find(c.part) != std::string::npos);
    CHECK(problems.find("short-secret") == std::string::npos);
  }
}

TEST_CASE("remote calls: exceptions come back with their chain, numbers and inserts") {
  Status inner = base::make_error(nodes::callable::errors::kNoCaller, {"<why>"});
  inner.error().node_label = "F.Reply";
  inner.error().position = {"a.esql", 7, 0};
  Status outer = base::wrap_error(
      base::make_error(nodes::callable::errors::kCallTimedOut, {"App", "e", int64_t{5}}),
      std::move(inner));
  Result<std::string> bytes = nodes::callable::encode_exception(outer.error());
  REQUIRE(bytes.ok());
  Status back = nodes::callable::decode_exception(bytes.value());
  REQUIRE_FALSE(back.ok());
  CHECK(back.error().number == outer.error().number);
  CHECK(back.error().text == outer.error().text);
  CHECK(back.error().inserts.at(2).type == base::InsertType::kInteger);
  REQUIRE(back.error().causes.size() == 1);
  const base::Error& cause = *back.error().causes[0];
  CHECK(cause.number == 1931);
  CHECK(cause.kind == base::ExceptionKind::kMessage);
  CHECK(cause.node_label == "F.Reply");
  CHECK(cause.position.file == "a.esql");
  CHECK(cause.position.line == 7);
  for (size_t size = 0; size < bytes.value().size(); ++size) {
    CHECK_FALSE(nodes::callable::decode_exception(bytes.value().substr(0, size)).ok());
  }
}

}  // namespace
}  // namespace millstream::server
