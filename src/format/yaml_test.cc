#include "format/yaml.h"

#include <doctest/doctest.h>

namespace format = millstream::format;

TEST_CASE("yaml: mappings, sequences, scalars and lines") {
  auto r = format::parse_yaml(
      "---\n"
      "# comment\n"
      "serverConfVersion: 1\n"
      "forceFlag: 'yes'\n"
      "ResourceManagers:\n"
      "  HTTPConnector:\n"
      "    ListenerPort: 0x1E78   # hex\n"
      "    Empty:\n"
      "list: [a, 'b', ~]\n"
      "text: |\n"
      "  line 1\n"
      "  line 2\n",
      "server.conf.yaml");
  REQUIRE(r.ok());
  const format::YamlNode& n = r.value();
  CHECK(n.find("serverConfVersion")->as_integer() == 1);
  CHECK(n.find("forceFlag")->is_quoted);
  CHECK(n.find("forceFlag")->as_bool() == true);
  auto* port = n.find_path({"ResourceManagers", "HTTPConnector", "ListenerPort"});
  REQUIRE(port);
  CHECK(port->as_integer() == 7800);
  CHECK(port->line == 7);
  CHECK(n.find_path({"ResourceManagers", "HTTPConnector", "Empty"})->is_null());
  CHECK(n.find_path({"ResourceManagers", "None", "X"}) == nullptr);
  REQUIRE(n.find("list")->items.size() == 3);
  CHECK(n.find("list")->items[2].is_null());
  CHECK(n.find("text")->text == "line 1\nline 2\n");
  CHECK(n.find("text")->as_integer() == std::nullopt);
}

TEST_CASE("yaml: an empty file is a null node") {
  CHECK(format::parse_yaml("", "f").value().is_null());
  CHECK(format::parse_yaml("# only a comment\n", "f").value().is_null());
}

TEST_CASE("yaml: errors name file, line and column") {
  auto r = format::parse_yaml("a: 1\nb: [1, 2\nc: 3\n", "conf.yaml");
  REQUIRE_FALSE(r.ok());
  CHECK(r.error().position.file == "conf.yaml");
  CHECK(r.error().position.line >= 2);
  r = format::parse_yaml("a: 1\nb: 2\na: 3\n", "conf.yaml");
  REQUIRE_FALSE(r.ok());
  CHECK(r.error().position.line == 3);
  CHECK(r.error().text.find("line 1") != std::string::npos);
  CHECK_FALSE(format::parse_yaml("? [a]\n: b\n", "f").ok());
  CHECK_FALSE(format::parse_yaml("a: *nowhere\n", "f").ok());
  CHECK_FALSE(format::parse_yaml("\xff\xfe\xff", "f").ok());
}

TEST_CASE("yaml: anchors, aliases and merge") {
  auto r = format::parse_yaml("base: &b {x: 1, y: 2}\ncopy: *b\nmore:\n  <<: *b\n  z: 3\n", "f");
  REQUIRE(r.ok());
  CHECK(r.value().find_path({"copy", "y"})->as_integer() == 2);
  CHECK(r.value().find_path({"more", "x"})->as_integer() == 1);
  CHECK(r.value().find_path({"more", "z"})->as_integer() == 3);
}

TEST_CASE("yaml: limits") {
  std::string bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n";
  for (int i = 1; i < 12; ++i) {
    std::string p = "*a" + std::to_string(i - 1);
    bomb += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + p;
    for (int k = 0; k < 9; ++k) bomb += "," + p;
    bomb += "]\n";
  }
  auto r = format::parse_yaml(bomb, "f");
  REQUIRE_FALSE(r.ok());
  CHECK(r.error().text.find("larger than the limit") != std::string::npos);
  CHECK_FALSE(format::parse_yaml(std::string(200, '['), "f").ok());
  CHECK_FALSE(format::parse_yaml(std::string(100'000, '['), "f").ok());
  CHECK_FALSE(format::parse_yaml("a: b", "f", {.bytes_max = 3}).ok());
}
