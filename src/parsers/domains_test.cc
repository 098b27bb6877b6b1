#include "parsers/domains.h"

#include <doctest/doctest.h>

#include "parsers/blob/blob_domain.h"
#include "parsers/headers/http_headers.h"
#include "parsers/headers/properties.h"
#include "tree/assembly.h"

namespace headers = millstream::parsers::headers;
namespace parsers = millstream::parsers;
namespace tree = millstream::tree;
namespace value = millstream::value;

namespace {
struct DomainsFixture {
  std::shared_ptr<millstream::base::NameTable> table = [] {
    auto t = std::make_shared<millstream::base::NameTable>();
    headers::intern_header_names(*t);
    t->freeze();
    return t;
  }();
  tree::MessageArena arena{table};
  tree::TreeContext& context = arena.context();
  tree::Element* root = tree::make_root(context, "Root");
};
}  // namespace

TEST_CASE("domains: found by name, class and any case") {
  CHECK(parsers::find_domain("JSON")->name == std::string_view("JSON"));
  CHECK(parsers::find_domain("json")->name == std::string_view("JSON"));
  CHECK(parsers::find_domain("WSINPHDR") == &headers::kHttpInputHeader);
  CHECK(parsers::find_domain("Properties") == &headers::kProperties);
  CHECK(parsers::find_domain("XMLNSC")->name == std::string_view("XMLNSC"));
  CHECK(parsers::find_domain("XML")->name == std::string_view("XMLNS"));
  CHECK(parsers::find_domain("MQHRF2")->name == std::string_view("MQRFH2"));
  CHECK(parsers::find_domain("DFDL") == nullptr);
  CHECK(parsers::find_domain("") == nullptr);
  CHECK(parsers::unsupported_domain_reason("dfdl") ==
        "The message domain DFDL is not supported yet.");
  CHECK(parsers::unsupported_domain_reason("Foo").find("no message domain named 'Foo'") !=
        std::string::npos);
}

TEST_CASE("blob: the body is one value and goes out unchanged") {
  DomainsFixture f;
  auto* body =
      tree::make_domain_root(f.context, parsers::blob::kDomain, f.context.names.qname("BLOB"));
  tree::append_child(f.root, body);
  REQUIRE(parsers::blob::kDomain.parse(f.context, body, std::string_view("a\0b", 3), {}).ok());
  auto* e = tree::first_child(body);
  REQUIRE(e);
  CHECK(e->local_name() == "BLOB");
  CHECK(e->scalar.kind == value::Kind::kBlob);
  CHECK_FALSE(body->has_flag(tree::kFlagModified));
  std::string out;
  REQUIRE(tree::serialise_body(f.context, body, {}, out).ok());
  CHECK(out == std::string_view("a\0b", 3));
  tree::set_value(e, value::Value::make_character("\xc3\xa9"));
  out.clear();
  REQUIRE(tree::serialise_body(f.context, body, {.ccsid = 819}, out).ok());
  CHECK(out == "\xe9");
  tree::set_value(e, value::Value::make_integer(1));
  CHECK_FALSE(tree::serialise_body(f.context, body, {}, out).ok());
  auto copy = tree::deep_copy(f.context, f.root);
  REQUIRE(copy.ok());
}

TEST_CASE("properties: fields, order and defaults") {
  DomainsFixture f;
  headers::make_http_header(f.context, f.root, headers::kHttpInputHeader, {});
  auto* p = headers::make_properties(
      f.context, f.root,
      {.creation_time_micros = 1, .reply_protocol = "SOAP-HTTP", .content_type = "text/xml"});
  CHECK(tree::first_child(f.root) == p);
  std::string names;
  for (auto* c = tree::first_child(p); c; c = tree::next_sibling(c)) {
    names += std::string(c->local_name()) + ' ';
  }
  CHECK(names ==
        "MessageSet MessageType MessageFormat Encoding CodedCharSetId Transactional Persistence "
        "CreationTime ExpirationTime Priority ReplyIdentifier ReplyProtocol Topic ContentType "
        "IdentitySourceType IdentitySourceToken IdentitySourcePassword IdentitySourceIssuedBy "
        "IdentityMappedType IdentityMappedToken IdentityMappedPassword IdentityMappedIssuedBy ");
  CHECK(headers::property_integer(f.root, "Encoding", 0) == 546);
  CHECK(headers::property_integer(f.root, "ExpirationTime", 0) == -1);
  CHECK(headers::property_text(f.root, "ContentType") == "text/xml");
  CHECK(tree::find_child(p, "ReplyIdentifier")->scalar.size == 24);
  CHECK(tree::find_child(p, "Topic")->scalar.is_null());
  std::string out;
  CHECK_FALSE(tree::serialise_body(f.context, p, {}, out).ok());
}

TEST_CASE("http headers: order, notes and refusals") {
  DomainsFixture f;
  headers::HttpField fields[] = {{"Host", "h"},
                                 {"accept", "a"},
                                 {"Accept", "b"},
                                 {"X-Original-HTTP-Command", "POST / HTTP/1.1"}};
  auto* folder = headers::make_http_header(f.context, f.root, headers::kHttpReplyHeader, fields);
  CHECK(headers::http_field_text(f.context, folder, "ACCEPT") == "a");
  CHECK(headers::find_http_field(nullptr, "x") == nullptr);
  tree::set_child(f.context, folder, "X-N", value::Value::make_integer(5));
  tree::set_child(f.context, folder, "X-Null", value::Value::null());
  std::string out;
  REQUIRE(tree::serialise_body(f.context, folder, {}, out).ok());
  CHECK(out == "Host: h\r\naccept: a\r\nAccept: b\r\nX-N: 5\r\n");

  std::vector<headers::HttpField> list;
  tree::set_child(f.context, folder, "X-Bad", value::Value::make_character("a\r\nSet-Cookie: x"));
  CHECK_FALSE(headers::collect_http_fields(f.context, folder, list).ok());
  tree::set_child(f.context, folder, "X-Bad", value::Value::make_character("ok"));
  tree::set_child(f.context, folder, "bad name", value::Value::make_character("ok"));
  CHECK_FALSE(headers::collect_http_fields(f.context, folder, list).ok());
}

TEST_CASE("http headers: lines are parsed back") {
  DomainsFixture f;
  auto* folder = tree::make_domain_root(f.context, headers::kHttpRequestHeader,
                                        f.context.names.qname("HTTPRequestHeader"));
  REQUIRE(headers::kHttpRequestHeader.parse(f.context, folder, "A: 1\r\nB:  two \r\n\r\nrest", {})
              .ok());
  CHECK(tree::first_child(folder)->scalar.text() == "1");
  CHECK(tree::last_child(folder)->scalar.text() == "two");
  CHECK_FALSE(headers::kHttpRequestHeader.parse(f.context, folder, "no colon\r\n", {}).ok());
}
