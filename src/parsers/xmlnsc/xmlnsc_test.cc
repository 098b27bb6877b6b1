#include <doctest/doctest.h>

#include <string>

#include "parsers/common/xml_test_support.h"
#include "parsers/xmlnsc/xmlnsc_domain.h"

namespace millstream::parsers::xmlnsc {
namespace {

using tree::Element;
using value::Value;

struct Body : common::XmlBody {
  Body() : XmlBody(kDomain) {}
};

std::string pad(std::string_view xml) {  // enough text behind it for the fast loop
  return std::string(xml) + "<!--" + std::string(200, 'x') + "-->";
}

TEST_CASE("xmlnsc: the empty and null table") {
  for (bool is_padded : {false, true}) {
    Body b;
    std::string xml =
        "<r xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance'><a/><b></b><c><d/></c>"
        "<e xsi:nil=\"true\"/><f x=\"1\"/><g> </g><h>t</h></r>";
    b.parse(is_padded ? pad(xml) : xml);
    CHECK(b.value({"r", "a"}) == "");
    CHECK(b.value({"r", "b"}) == "");
    CHECK(b.value({"r", "c"}) == "(null)");
    CHECK(b.at({"r", "c"})->type == tree::xmlnsc::kFolder);
    CHECK(b.value({"r", "e"}) == "(null)");
    CHECK(b.value({"r", "e", "nil"}) == "true");
    CHECK(b.value({"r", "f"}) == "");
    CHECK(b.value({"r", "g"}) == " ");
    CHECK(b.value({"r", "h"}) == "t");
    CHECK(b.at({"r", "h"})->type == tree::xmlnsc::kField);
    CHECK(b.write() ==
          "<r xmlns:xsi='http://www.w3.org/2001/XMLSchema-instance'><a/><b/><c><d/></c>"
          "<e xsi:nil=\"true\"/><f x=\"1\"/><g> </g><h>t</h></r>");
  }
}

TEST_CASE("xmlnsc: attributes and declarations come first, in order, with their quotes") {
  Body b;
  b.parse("<p:a x='1' xmlns:p=\"urn:p\" p:y=\"2\"><p:b>v</p:b></p:a>");
  Element* a = tree::first_child(b.root);
  REQUIRE(a);
  CHECK(a->namespace_uri() == "urn:p");
  Element* x = tree::first_child(a);
  CHECK(x->type == tree::xmlnsc::kSingleAttribute);
  Element* decl = tree::next_sibling(x);
  CHECK(decl->type == tree::xmlnsc::kNamespaceDecl);
  CHECK(decl->namespace_uri() == "http://www.w3.org/2000/xmlns/");
  CHECK(decl->local_name() == "p");
  Element* y = tree::next_sibling(decl);
  CHECK(y->namespace_uri() == "urn:p");
  CHECK(tree::next_sibling(y)->local_name() == "b");
  CHECK(b.write() == "<p:a x='1' xmlns:p=\"urn:p\" p:y=\"2\"><p:b>v</p:b></p:a>");
}

TEST_CASE("xmlnsc: white space, mixed content, comments and PIs are dropped by default") {
  std::string xml = "<a>\n  one<b>x</b><!--c--> two\n<?p q?><c/></a>";
  Body b;
  CHECK(b.round(xml) == "<a><b>x</b><c/></a>");
  tree::ParseOptions all;
  all.retain_mixed_content = all.retain_comments = all.retain_processing_instructions = true;
  Body k;
  CHECK(k.round(xml, all) == xml);
  CHECK(k.round("<a>x<!--c-->y</a>", all) == "<a>xy<!--c--></a>");
  CHECK(b.round("<a>x<!--c-->y</a>") == "<a>xy</a>");
}

TEST_CASE("xmlnsc: retained mixed text keeps its place on the fast path") {
  tree::ParseOptions mixed;
  mixed.retain_mixed_content = mixed.retain_comments = true;
  for (const char* xml : {"<a>1<b>2</b>3</a>", "<a><b/>x<b/>y</a>", "<a> <b> <c/> </b>\n</a>",
                          "<a><b>1<c/>2</b>3<b>4</b></a>", "<a><b k='1'>t<c/>u</b></a>"}) {
    Body b;
    std::string padded = pad(xml);
    CHECK(b.round(padded, mixed) == padded);
  }
}

TEST_CASE("xmlnsc: what is read ahead does not bring an error forward") {
  Body b;
  b.parse(pad("<r><a><b>1</b><c>2</c></a><d>3</d><e>4</wrong></r>"));
  CHECK(b.value({"r", "a", "b"}) == "1");
  CHECK(b.value({"r", "d"}) == "3");
  CHECK(!b.context().has_parse_error());
  CHECK(b.at({"r", "f"}) == nullptr);
  CHECK(b.context().has_parse_error());
}

TEST_CASE("xmlnsc: navigation by steps finds what a whole parse finds") {
  std::string xml = "<r>";
  for (int i = 0; i < 100; ++i) {
    const std::string n = std::to_string(i);
    xml += "<x><y>" + n + "</y><z a='1'><y>" + n + "</y></z></x><y>t</y>";
  }
  xml += "</r>";
  Body whole, steps;
  REQUIRE(whole.parse_all(xml).empty());
  steps.parse(xml);
  int seen = 0;
  for (Element* x = tree::first_child(steps.at({"r"})); x; x = tree::next_sibling(x)) {
    for (Element* y = tree::first_child(x); y; y = tree::next_sibling(y)) ++seen;
  }
  CHECK(seen == 200);
  CHECK(!steps.context().has_parse_error());
  CHECK(steps.write() == whole.write());
}

TEST_CASE("xmlnsc: CDATA") {
  Body b;
  CHECK(b.round("<a><b><![CDATA[x<y]]></b><c>1<![CDATA[2]]>3</c></a>") ==
        "<a><b><![CDATA[x<y]]></b><c>123</c></a>");
  CHECK(b.at({"a", "b"})->type == tree::xmlnsc::kCDataField);
  CHECK(b.at({"a", "c"})->type == tree::xmlnsc::kHybridField);
  Element* e = b.at({"a", "b"});
  tree::set_value(e, value::Value::make_character("1]]>2"));
  CHECK(b.write() == "<a><b><![CDATA[1]]]]><![CDATA[>2]]></b><c>123</c></a>");
}

TEST_CASE("xmlnsc: references and line ends") {
  Body b;
  b.parse("<a>&lt;&#65;&#x42;&amp;\r\n\r&gt;</a>");
  CHECK(b.value({"a"}) == "<AB&\n\n>");
  CHECK(b.write() == "<a>&lt;AB&amp;\n\n&gt;</a>");
  b.parse("<a x=\"\t&#9;\r\n&quot;'\"/>");
  CHECK(b.value({"a", "x"}) == " \t \"'");
  CHECK(b.write() == "<a x=\" &#9; &quot;'\"/>");
}

TEST_CASE("xmlnsc: text that the fast loop meets") {
  struct {
    const char *text, *value;
  } cases[] = {{" \r\n x", " \n x"},
               {"\n\t", "\n\t"},
               {" \r ", " \n "},
               {"x\r\ny", "x\ny"},
               {"\xC3\xA9 x", "\xC3\xA9 x"},
               {"x\ny", "x\ny"},
               {"a]b", "a]b"},
               {" &lt;", " <"},
               {"", ""},
               {"\xE2\x82\xAC", "\xE2\x82\xAC"}};
  for (const char* attribute : {"", " k='1'"}) {
    for (const auto& c : cases) {
      Body b;
      std::string leaf = "<x" + std::string(attribute) + ">" + c.text + "</x>";
      b.parse(pad("<a><x/><b>" + leaf + leaf + "</b></a>"));
      CHECK(b.value({"a", "b", "x"}) == c.value);
      Element* last = tree::last_child(b.at({"a", "b"}));
      CHECK(tree::scalar_value(last).text() == c.value);
    }
  }
  for (const char* bad : {"\xC3", "\x01", " \x01", "x]]>", "\xEF\xBF\xBF", "\xED\xA0\x80"}) {
    Body b;
    CHECK(b.parse_all(pad("<a><x/><x>" + std::string(bad) + "</x></a>")) != "");
    CHECK(b.parse_all(pad("<a><x/><x k=''>" + std::string(bad) + "</x></a>")) != "");
  }
}

TEST_CASE("xmlnsc: XML declaration, DOCTYPE and entities") {
  Body b;
  std::string xml =
      "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone='yes'?>\n"
      "<!DOCTYPE a [<!ENTITY e 'v&#38;amp;'><!ENTITY m '<b>&e;</b>'>]><a>&m;<c>&e;x</c></a>";
  CHECK(b.round(xml) ==
        "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>"
        "<a><b>v&amp;</b><c>v&amp;x</c></a>");
  tree::ParseOptions keep;
  keep.retain_document_type = true;
  CHECK(b.round("<!DOCTYPE a SYSTEM 'x' [<!ELEMENT a ANY>]><a/>", keep) ==
        "<!DOCTYPE a SYSTEM 'x' [<!ELEMENT a ANY>]><a/>");
}

}  // namespace
}  // namespace millstream::parsers::xmlnsc
