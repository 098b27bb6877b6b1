#include "ace/config_xml.h"

#include <doctest/doctest.h>

namespace millstream::ace {
namespace {

TEST_CASE("elements and attributes know their line and column, from 1") {
  auto document =
      parse_config_xml("<a x=\"1\">\n  <p:b xmlns:p=\"urn:p\"\n     y='2'/>\n</a>\n", "f");
  REQUIRE(document.ok());
  const ConfigElement& root = *document.value().root;
  CHECK(root.position.line == 1);
  CHECK(root.position.column == 1);
  CHECK(root.find_attribute("x")->position.column == 4);
  const ConfigElement* b = root.child("b");
  REQUIRE(b);
  CHECK(b->name == "p:b");
  CHECK(b->name_space == "urn:p");
  CHECK(b->position.line == 2);
  CHECK(b->position.column == 3);
  CHECK(b->position.file == "f");
  CHECK(b->find_attribute("y")->position.line == 3);
  CHECK(b->find_attribute("y")->position.column == 6);
  CHECK(b->attribute("none") == "");
}

TEST_CASE("text, CDATA, references, and a byte order mark") {
  auto document = parse_config_xml("\xef\xbb\xbf<a>x<![CDATA[<y>]]>&amp;&#xD;<b/>z</a>", "f");
  REQUIRE(document.ok());
  CHECK(document.value().root->text == "x<y>&\rz");
}

TEST_CASE("an inner declaration ends with its element") {
  auto document = parse_config_xml("<a xmlns=\"urn:1\"><b xmlns=\"urn:2\"><c/></b><d/></a>", "f");
  REQUIRE(document.ok());
  const ConfigElement& root = *document.value().root;
  CHECK(root.child("b")->child("c")->name_space == "urn:2");
  CHECK(root.child("d")->name_space == "urn:1");
  CHECK(document.value().namespace_of("") == "urn:1");
}

TEST_CASE("what is not XML has a place") {
  for (const char* text : {"", "   ", "<a>", "<a></b>", "text", "<a/><b/>", "<a x=1/>"}) {
    auto document = parse_config_xml(text, "bad.xml");
    REQUIRE_FALSE(document.ok());
    CHECK(document.error().position.file == "bad.xml");
    CHECK(document.error().code->number == 1900);
  }
  auto late = parse_config_xml("<a>\n<b>\n</a>", "bad.xml");
  REQUIRE_FALSE(late.ok());
  CHECK(late.error().position.line == 3);
}

TEST_CASE("a million levels and an entity bomb are errors") {
  std::string deep;
  for (int i = 0; i < 1'000'000; ++i) deep += "<a>";
  CHECK_FALSE(parse_config_xml(deep, "deep.xml").ok());
  std::string bomb = "<!DOCTYPE a [<!ENTITY e0 \"xxxxxxxxxx\">";
  for (int i = 1; i < 12; ++i) {
    bomb += "<!ENTITY e" + std::to_string(i) + " \"";
    for (int j = 0; j < 10; ++j) bomb += "&e" + std::to_string(i - 1) + ";";
    bomb += "\">";
  }
  auto result = parse_config_xml(bomb + "]><a>&e11;</a>", "bomb.xml");
  // Refused, or not expanded; never ten to the twelfth characters.
  CHECK((!result.ok() || result.value().root->text.size() < 1'000'000));
}

}  // namespace
}  // namespace millstream::ace
