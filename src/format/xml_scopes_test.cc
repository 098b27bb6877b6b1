#include "format/xml_scopes.h"

#include <doctest/doctest.h>

namespace millstream::format {
namespace {

TEST_CASE("xml scopes: declarations hold inside their element, and the inner one wins") {
  XmlScopes scopes;
  const XmlAttribute outer[] = {{"xmlns", "urn:a"}, {"xmlns:p", "urn:p"}, {"xmlnsx", "no"}};
  const XmlAttribute inner[] = {{"xmlns", ""}, {"xmlns:p", "urn:q"}, {"id", "1"}};
  CHECK(scopes.resolve("") == "");
  CHECK(!scopes.resolve("p"));
  scopes.enter(outer);
  CHECK(scopes.resolve("") == "urn:a");
  CHECK(scopes.resolve("p") == "urn:p");
  CHECK(!scopes.resolve("xmlnsx"));
  scopes.enter(inner);
  CHECK(scopes.resolve("") == "");
  CHECK(scopes.resolve("p") == "urn:q");
  scopes.leave();
  CHECK(scopes.resolve("p") == "urn:p");
  scopes.leave();
  CHECK(!scopes.resolve("p"));
  CHECK(scopes.resolve("xml") == "http://www.w3.org/XML/1998/namespace");
}

TEST_CASE("xml scopes: parts of names") {
  CHECK(split_xml_name("a:b").prefix == "a");
  CHECK(split_xml_name("a:b").local == "b");
  CHECK(split_xml_name("b").prefix.empty());
  CHECK(split_xml_name("b").local == "b");
  CHECK(is_xml_declaration("xmlns"));
  CHECK(is_xml_declaration("xmlns:x"));
  CHECK(!is_xml_declaration("xmlnsx"));
}

}  // namespace
}  // namespace millstream::format
