// Writing trees that were built, not parsed.
#include <doctest/doctest.h>

#include <string>

#include "parsers/common/xml_test_support.h"
#include "parsers/xmlnsc/xmlnsc_domain.h"
#include "value/decimal.h"

namespace millstream::parsers::xmlnsc {
namespace {

namespace types = tree::xmlnsc;
using tree::Element;
using value::Kind;
using value::Value;

constexpr std::string_view kXmlns = "http://www.w3.org/2000/xmlns/";

struct Built : common::XmlBody {
  Built() : XmlBody(kDomain) {
    empty();
    doc = add(root, "", "doc", tree::kName);
  }
  Element* text(Element* parent, std::string_view name, std::string_view s) {
    return add(parent, "", name, tree::kNameValue, Value::make_character(s));
  }
  std::string one(const Value& v) {
    Built b;
    b.add(b.doc, "", "v", tree::kNameValue, v);
    std::string out = b.write();
    return out.starts_with("<doc><v>") ? out.substr(8, out.size() - 18) : out;
  }
  Element* doc;
};

TEST_CASE("xmlnsc writer: values by type") {
  Built b;
  CHECK(b.one(Value::make_integer(-42)) == "-42");
  CHECK(b.one(Value::make_boolean(true)) == "true");
  CHECK(b.one(Value::make_boolean(false)) == "false");
  CHECK(b.one(Value::make_inline_decimal(1250, -2)) == "12.50");
  CHECK(b.one(Value::make_float(1.5)) == "1.5E+0");
  CHECK(b.one(Value::make_date(0)) == "1970-01-01");
  CHECK(b.one(Value::make_date(20'422)) == "2025-11-30");
  CHECK(b.one(Value::make_date(-719'162)) == "0001-01-01");
  CHECK(b.one(Value::make_time(Kind::kTime, 3'723'000'000)) == "01:02:03");
  CHECK(b.one(Value::make_time(Kind::kGmtTime, 1)) == "00:00:00.000001Z");
  CHECK(b.one(Value::make_timestamp(Kind::kTimestamp, 1'500'000)) == "1970-01-01T00:00:01.500000");
  CHECK(b.one(Value::make_timestamp(Kind::kGmtTimestamp, -1)) == "1969-12-31T23:59:59.999999Z");
  CHECK(b.one(Value::make_blob("\x01\xFFz")) == "01ff7a");
  CHECK(b.one(Value::make_bit("\xA0", 4)) == "1010");
  using Q = value::IntervalQualifier;
  CHECK(b.one(Value::make_interval(14, Q::kYearToMonth)) == "P1Y2M");
  CHECK(b.one(Value::make_interval(0, Q::kMonth)) == "P0M");
  CHECK(b.one(Value::make_interval(-90'061'500'000, Q::kDayToSecond)) == "-P1DT1H1M1.5S");
  CHECK(b.one(Value::make_interval(0, Q::kSecond)) == "PT0S");
  CHECK(b.one(Value::make_interval(86'400'000'000, Q::kDay)) == "P1D");
}

TEST_CASE("xmlnsc writer: NULL, empty, folder") {
  Built b;
  b.add(b.doc, "", "null", tree::kNameValue);
  b.text(b.doc, "empty", "");
  Element* folder = b.add(b.doc, "", "folder", types::kFolder);
  b.text(folder, "x", "1");
  b.add(b.doc, "", "nothing", types::kFolder);
  b.add(b.doc, "", "", tree::kValue, Value::make_character("text"));
  CHECK(b.write() == "<doc><null/><empty/><folder><x>1</x></folder><nothing/>text</doc>");
  CHECK(b.write({.mode = tree::BitStreamMode::kFolder}, folder) == "<folder><x>1</x></folder>");
}

TEST_CASE("xmlnsc writer: escaping by place") {
  Built b;
  std::string odd = "a<b>c&d\"e'f\tg\nh\ri]]>";
  b.add(b.doc, "", "s", types::kSingleAttribute, Value::make_character(odd));
  b.add(b.doc, "", "d", types::kAttribute, Value::make_character(odd));
  b.text(b.doc, "t", odd);
  std::string out = b.write();
  CHECK(out ==
        "<doc s='a&lt;b&gt;c&amp;d\"e&apos;f&#9;g&#10;h&#13;i]]&gt;'"
        " d=\"a&lt;b&gt;c&amp;d&quot;e'f&#9;g&#10;h&#13;i]]&gt;\">"
        "<t>a&lt;b&gt;c&amp;d\"e'f\tg\nh&#13;i]]&gt;</t></doc>");
  Built again;
  again.parse(out);
  CHECK(again.value({"doc", "s"}) == odd);
  CHECK(again.value({"doc", "d"}) == odd);
  CHECK(again.value({"doc", "t"}) == odd);
}

TEST_CASE("xmlnsc writer: generated and declared prefixes") {
  Built b;
  b.add(b.doc, "", "k", types::kAttribute, Value::make_integer(1));
  Element* one = b.add(b.doc, "urn:1", "one", types::kFolder);
  b.add(one, "urn:1", "in", types::kField, Value::make_character("x"));
  b.add(one, "urn:2", "a", types::kAttribute, Value::make_character("y"));
  CHECK(b.write() ==
        "<doc k=\"1\"><NS1:one NS2:a=\"y\" xmlns:NS1=\"urn:1\" xmlns:NS2=\"urn:2\">"
        "<NS1:in>x</NS1:in></NS1:one></doc>");
  b.add(b.doc, kXmlns, "p", types::kNamespaceDecl, Value::make_character("urn:1"));
  b.add(b.doc, kXmlns, "NS1", types::kSingleNamespaceDecl, Value::make_character("urn:other"));
  CHECK(b.write() ==
        "<doc k=\"1\" xmlns:p=\"urn:1\" xmlns:NS1='urn:other'>"
        "<p:one NS2:a=\"y\" xmlns:NS2=\"urn:2\"><p:in>x</p:in></p:one></doc>");
}

TEST_CASE("xmlnsc writer: default namespaces") {
  Built b;
  Element* in = b.add(b.doc, "urn:d", "in", types::kFolder);
  b.add(in, "", "xmlns", types::kNamespaceDecl, Value::make_character("urn:d"));
  b.add(in, "urn:d", "same", types::kField, Value::make_character("1"));
  b.add(in, "", "none", types::kField, Value::make_character("2"));
  b.add(in, "urn:d", "a", types::kAttribute, Value::make_character("3"));
  CHECK(b.write() ==
        "<doc><in xmlns=\"urn:d\" NS1:a=\"3\" xmlns:NS1=\"urn:d\"><same>1</same>"
        "<none xmlns=\"\">2</none></in></doc>");
  Built c;  // a declaration on an element without namespace is taken as written
  c.add(c.doc, "", "xmlns", types::kNamespaceDecl, Value::make_character("urn:d"));
  c.text(c.doc, "x", "1");
  CHECK(c.write() == "<doc xmlns=\"urn:d\"><x>1</x></doc>");
  Built s;  // an inner declaration hides an outer one of the same prefix
  s.add(s.doc, kXmlns, "p", types::kNamespaceDecl, Value::make_character("urn:1"));
  Element* f = s.add(s.doc, "", "f", types::kFolder);
  s.add(f, kXmlns, "p", types::kNamespaceDecl, Value::make_character("urn:2"));
  s.add(f, "urn:1", "x", types::kField, Value::make_character("1"));
  CHECK(
      s.write() ==
      "<doc xmlns:p=\"urn:1\"><f xmlns:p=\"urn:2\"><NS1:x xmlns:NS1=\"urn:1\">1</NS1:x></f></doc>");
  Built x;
  x.add(x.doc, "http://www.w3.org/XML/1998/namespace", "lang", types::kAttribute,
        Value::make_character("en"));
  CHECK(x.write() == "<doc xml:lang=\"en\"/>");
}

TEST_CASE("xmlnsc writer: declaration, document type, comments, verbatim text") {
  Built b;
  Element* decl = b.add(b.root, "", "XmlDeclaration", types::kXmlDeclaration);
  b.add(decl, "", "Version", types::kAttribute, Value::make_character("1.0"));
  b.add(decl, "", "Encoding", types::kAttribute, Value::make_character("UTF-8"));
  Element* type = b.add(b.root, "", "doc", types::kDocumentType);
  b.add(type, "", "e", types::kEntityDefinition, Value::make_character("v"));
  tree::detach(type);
  tree::insert_before(b.doc, type);
  b.add(b.doc, "", "", types::kComment, Value::make_character(" c "));
  b.add(b.doc, "", "pi", types::kProcessingInstruction, Value::make_character("d"));
  b.add(b.doc, "", "", types::kAsisElementContent, Value::make_character("<raw>&lt;</raw>"));
  b.add(b.doc, "", "", types::kBitStream, Value::make_blob("<b/>"));
  b.add(b.doc, "", "", types::kEntityReference, Value::make_character("e"));
  b.add(b.doc, "", "c", types::kCDataField, Value::make_character("x<y]]>z"));
  b.add(b.doc, "", "h", types::kHybridField, Value::make_character("x<y"));
  CHECK(b.write() ==
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?><!DOCTYPE doc [<!ENTITY e \"v\">]>"
        "<doc><!-- c --><?pi d?><raw>&lt;</raw><b/>&e;<c><![CDATA[x<y]]]]><![CDATA[>z]]></c>"
        "<h>x&lt;y</h></doc>");
}

TEST_CASE("xmlnsc writer: what cannot be written is an error with its reason") {
  auto error_of = [](auto change) {
    Built b;
    change(b);
    return b.write();
  };
  CHECK(error_of([](Built& b) { b.text(b.root, "second", "x"); }).find("has 2") !=
        std::string::npos);
  CHECK(error_of([](Built& b) { tree::detach(b.doc); }).find("has 0") != std::string::npos);
  CHECK(error_of([](Built& b) { b.text(b.doc, "a b", "x"); }).find("'a b'") != std::string::npos);
  CHECK(error_of([](Built& b) { b.text(b.doc, "", "x"); }).find("legal XML name") !=
        std::string::npos);
  CHECK(error_of([](Built& b) { b.text(b.doc, "a", "x\x01"); }).find("U+0001") !=
        std::string::npos);
  CHECK(error_of([](Built& b) { b.text(b.doc, "a", "\xEF\xBF\xBF"); }).find("U+FFFF") !=
        std::string::npos);
  CHECK(error_of([](Built& b) {
          b.add(b.doc, "", "k", types::kAttribute, Value::make_integer(1));
          b.add(b.doc, "", "k", types::kAttribute, Value::make_integer(2));
        }).find("two attributes") != std::string::npos);
  CHECK(error_of([](Built& b) {
          b.add(b.doc, "", "", types::kComment, Value::make_character("a--b"));
        }).find("comment") != std::string::npos);
  CHECK(error_of([](Built& b) {
          b.add(b.root, "", "", tree::kValue, Value::make_character("text"));
        }).find("outside the root") != std::string::npos);
}

TEST_CASE("xmlnsc: opaque elements are kept as text") {
  Built b;
  tree::ParseOptions options;
  options.opaque_elements = "//big other";
  b.parse("<r xmlns:p='u'><p:big a='1'><x> y </x><!--c--></p:big><s/><big/></r>", options);
  Element* big = b.at({"r", "big"});
  REQUIRE(big);
  CHECK(tree::last_child(big)->type == types::kAsisElementContent);
  CHECK(tree::last_child(big)->scalar.text() == "<x> y </x><!--c-->");
  CHECK(b.write() == "<r xmlns:p='u'><p:big a='1'><x> y </x><!--c--></p:big><s/><big/></r>");
  CHECK(b.parse_all("<r><big><x></big></r>", options) != "");
}

}  // namespace
}  // namespace millstream::parsers::xmlnsc
