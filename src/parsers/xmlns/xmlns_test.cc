#include <doctest/doctest.h>

#include <string>

#include "parsers/common/xml_test_support.h"
#include "parsers/xmlns/xmlns_domain.h"

namespace millstream::parsers::xmlns {
namespace {

using tree::Element;
using value::Value;

struct Body : common::XmlBody {
  Body() : XmlBody(kDomain) {}
};

TEST_CASE("xmlns: everything is kept and written back") {
  for (const char* xml : {
           "<a>\n  one<b>x</b><!--c--> two\n<?p q?><c/></a>",
           "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!--x-->\n<a x=\"1\"/>\n<?end?>\n",
           "<!DOCTYPE a PUBLIC \"p\" \"s\" [<!ELEMENT a ANY>\n]>\n<a>t</a>",
           "<a><![CDATA[x<]]>y<![CDATA[z]]></a>",
           "<p:a xmlns:p=\"urn:p\" xmlns=\"urn:d\" p:x=\"1\"><b/><p:c>&lt;</p:c> </p:a>",
       }) {
    Body b;
    CHECK(b.round(xml) == xml);
  }
}

TEST_CASE("xmlns: a reference to an element yields its text, and setting it replaces the text") {
  Body b;
  b.parse("<a><b x=\"1\">old</b><c> <d/> </c><e/><f>1<![CDATA[2]]>3</f></a>");
  CHECK(b.value({"a", "b"}) == "old");
  CHECK(b.value({"a", "b", "x"}) == "1");
  CHECK(b.value({"a", "c"}) == "(null)");
  CHECK(b.value({"a", "e"}) == "");
  CHECK(b.value({"a", "f"}) == "123");
  CHECK(b.at({"a", "b"})->type == tree::xmlns::kElement);
  CHECK(tree::last_child(b.at({"a", "b"}))->type == tree::xmlns::kContent);
  tree::set_value(b.at({"a", "b"}), Value::make_character("new"));
  CHECK(b.write() == "<a><b x=\"1\">new</b><c> <d/> </c><e/><f>1<![CDATA[2]]>3</f></a>");
  tree::set_value(tree::last_child(b.at({"a", "f"})), Value::make_character("4"));
  CHECK(b.write() == "<a><b x=\"1\">new</b><c> <d/> </c><e/><f>1<![CDATA[2]]>4</f></a>");
}

TEST_CASE("xmlns: entities are expanded in text, CDATA, comments keep their place") {
  Body b;
  CHECK(b.round("<!DOCTYPE a [<!ENTITY e '1<b>2</b>3'>]><a>0&e;4</a>") ==
        "<!DOCTYPE a [<!ENTITY e '1<b>2</b>3'>]><a>01<b>2</b>34</a>");
}

TEST_CASE("xmlns: a tree made by hand") {
  Body b;
  b.empty();
  Element* decl = b.add(b.root, "", "", tree::xmlns::kXmlDecl);
  b.add(decl, "", "", tree::xmlns::kVersion, Value::make_character("1.0"));
  Element* a = b.add(b.root, "urn:x", "a", tree::xmlns::kElement);
  b.add(a, "", "k", tree::xmlns::kAttribute, Value::make_integer(5));
  b.add(a, "", "b", tree::kName, Value::make_character("t"));
  b.add(a, "", "", tree::xmlns::kContent, Value::make_character("u"));
  CHECK(b.write() == "<?xml version=\"1.0\"?><NS1:a k=\"5\" xmlns:NS1=\"urn:x\"><b>t</b>u</NS1:a>");
}

}  // namespace
}  // namespace millstream::parsers::xmlns
