#include <doctest/doctest.h>

#include "base/json_value.h"
#include "nodes/http/fault.h"
#include "nodes/http/listener.h"

namespace millstream::nodes::http {
namespace {

TEST_CASE("http: URL specifiers become paths and prefixes") {
  struct Case {
    const char* text;
    const char* path;
    bool is_prefix;
  };
  for (const Case& c :
       {Case{"/a", "/a", false}, Case{"a/b", "/a/b", false}, Case{"/a/*", "/a/", true},
        Case{"/a*", "/a", true}, Case{"/*", "/", true}, Case{"*", "/", true},
        Case{" /a ", "/a", false}, Case{"http://host:7800/x/*", "/x/", true},
        Case{"https://host", "/", false}}) {
    CAPTURE(c.text);
    Result<UrlPattern> pattern = parse_url_specifier(c.text);
    REQUIRE(pattern.ok());
    CHECK(pattern.value().path == c.path);
    CHECK(pattern.value().is_prefix == c.is_prefix);
  }
  for (const char* bad : {"", "  ", "/a*/b", "/**"}) {
    CAPTURE(bad);
    CHECK_FALSE(parse_url_specifier(bad).ok());
  }
}

class SilentHandler final : public UrlHandler {
 public:
  explicit SilentHandler(std::string flow) : flow_(std::move(flow)) {}
  void handle(millstream::http::RequestRef) override {}
  std::string node_label() const override { return "HTTP Input"; }
  std::string flow_name() const override { return flow_; }
  std::string application_name() const override { return "App" + flow_; }

 private:
  std::string flow_;
};

TEST_CASE("http: a URL belongs to one node; the same text as path and prefix are two") {
  HttpListener listener;
  auto first = std::make_shared<SilentHandler>("First");
  CHECK(listener.add({"/a", false}, first).ok());
  CHECK(listener.add({"/a", true}, std::make_shared<SilentHandler>("Prefix")).ok());
  Status status = listener.add({"/a", false}, std::make_shared<SilentHandler>("Second"));
  REQUIRE_FALSE(status.ok());
  CHECK(status.error().text ==
        "The URL '/a' of node 'HTTP Input' in flow 'Second' of application 'AppSecond' is already "
        "that of node 'HTTP Input' in flow 'First' of application 'AppFirst'.");
  listener.remove(first.get());
  CHECK(listener.add({"/a", false}, std::make_shared<SilentHandler>("Second")).ok());
}

TEST_CASE("http: a URL on HTTPS is another one than that on HTTP, and needs a port") {
  HttpListener listener;
  Status status = listener.add({"/a", false}, std::make_shared<SilentHandler>("S"), true);
  REQUIRE_FALSE(status.ok());
  CHECK(status.error().id_with_letter() == "MS1370E");
  int opened = 0;
  listener.set_secure_opener([&] {
    ++opened;
    return Status();
  });
  auto secure = std::make_shared<SilentHandler>("Secure");
  CHECK(listener.add({"/a", false}, secure, true).ok());
  CHECK(opened == 1);
  CHECK(listener.add({"/a", false}, std::make_shared<SilentHandler>("Plain")).ok());
  CHECK_FALSE(listener.add({"/a", false}, std::make_shared<SilentHandler>("Third"), true).ok());
  listener.remove(secure.get());
  CHECK(listener.add({"/a", false}, std::make_shared<SilentHandler>("Third"), true).ok());
}

constexpr base::ErrorCode kTestFault = {"BIP2951", 2951, base::ExceptionKind::kUser,
                                        base::Severity::kInfo, "user said {0}"};
constexpr base::ErrorCode kTestNode = {"BIP2230", 2230, base::ExceptionKind::kRecoverable,
                                       base::Severity::kError, "Node throwing exception"};

Status test_chain() {
  Status outer = base::make_error(kTestNode);
  outer.error().node_label = "F.Compute";
  return base::wrap_error(std::move(outer), base::make_error(kTestFault, {"<a> & \"b\"", "more"}));
}

TEST_CASE("http: the chain of a fault names nodes and inserts, outermost first") {
  Status status = test_chain();
  CHECK(describe_chain(status.error()) ==
        "BIP2230E: Node throwing exception in node 'F.Compute' : "
        "BIP2951I: user said <a> & \"b\" 'more'");
}

TEST_CASE("http: a fault is well-formed in each of its forms") {
  Status status = test_chain();
  const std::string escaped = "&lt;a&gt; &amp; \"b\"";
  struct Case {
    FaultFormat format;
    const char* type;
    const char* part;
  };
  for (const Case& c :
       {Case{FaultFormat::kSoap11, "text/xml; charset=utf-8", "<faultcode>SOAP-ENV:Server<"},
        Case{FaultFormat::kSoap12, "application/soap+xml; charset=utf-8",
             "<SOAP-ENV:Value>SOAP-ENV:Receiver<"},
        Case{FaultFormat::kHtml, "text/html; charset=utf-8", "<h1>BIP3113E: x &lt;</h1>"}}) {
    const Fault fault = make_fault(c.format, "BIP3113E: x <", &status.error());
    CHECK(fault.content_type == c.type);
    CHECK(fault.body.find(c.part) != std::string::npos);
    CHECK(fault.body.find(escaped) != std::string::npos);
  }
  const Fault fault = make_fault(FaultFormat::kJson, "BIP3113E: \"x\"", &status.error());
  Result<base::json::Value> document = base::json::parse(fault.body);
  REQUIRE(document.ok());
  CHECK(document.value().get("error").get("message").as_string() == "BIP3113E: \"x\"");
  CHECK(make_fault(FaultFormat::kJson, "m", nullptr).body.find("detail") == std::string::npos);
}

TEST_CASE("http: a chain without end is cut") {
  Status status = base::make_error(kTestFault, {std::string(30'000, 'x')});
  CHECK(describe_chain(status.error()).size() < 17'000);
}

}  // namespace
}  // namespace millstream::nodes::http
