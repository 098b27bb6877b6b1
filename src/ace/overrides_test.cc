#include "ace/overrides.h"

#include <doctest/doctest.h>

#include "ace/fixtures_for_test.h"

namespace millstream::ace {
namespace {

std::string value_of(Overrides& overrides, const std::vector<Overrides::Address>& addresses,
                     const std::string& property) {
  flow::PropertySet set;
  overrides.apply(addresses, set);
  const flow::Property* p = set.find(property);
  return p ? p->value : "(none)";
}

TEST_CASE("lines: comments, blanks, equal signs and hashes in values") {
  Overrides overrides;
  base::Diagnostics diagnostics;
  overrides.add_lines(
      "# a comment\n; another = one\n// and this\n\n"
      "  Flow#Node.url = http://h/?a=b#c \r\n"
      "Flow#additionalInstances=4\n"
      "com.acme.Flow#My Node (1.0).pattern=\n"
      "Flow#x=1",
      "o.txt", diagnostics);
  CHECK_FALSE(diagnostics.has_errors());
  CHECK(value_of(overrides, {{{"Flow"}, "Node"}}, "url") == "http://h/?a=b#c");
  CHECK(value_of(overrides, {{{"Flow"}, ""}}, "additionalInstances") == "4");
  CHECK(value_of(overrides, {{{"Flow"}, ""}}, "x") == "1");
  CHECK(value_of(overrides, {{{"com.acme.Flow", "Flow"}, "My Node (1.0)"}}, "pattern") == "");
  CHECK(value_of(overrides, {{{"Flow"}, "Other"}}, "url") == "(none)");
  CHECK(value_of(overrides, {{{"flow"}, "Node"}}, "url") == "(none)");  // case-sensitive
}

TEST_CASE("a line that is none has file and line") {
  Overrides overrides;
  base::Diagnostics diagnostics;
  overrides.add_lines("Flow#a=1\nFlow.a=1\nFlow#a\n#=x", "o.txt", diagnostics);
  CHECK(diagnostics.error_count() == 2);
  CHECK(has_said(diagnostics, "o.txt:2:1: error: MS1909"));
  CHECK(has_said(diagnostics, "o.txt:3:1: error: MS1909"));
}

TEST_CASE("broker.xml: only properties with an override attribute, an empty one too") {
  Overrides overrides;
  REQUIRE(
      overrides
          .add_broker_xml("<Broker><CompiledApplication><CompiledMessageFlow name=\"gen.Api\">\n"
                          "<ConfigurableProperty uri=\"gen.Api#In.URLSpecifier\" override=\"/x\"/>"
                          "<ConfigurableProperty uri=\"gen.Api#In.useHTTPS\"/>"
                          "<ConfigurableProperty override=\"\" uri=\"gen.Api#udp\"/>"
                          "</CompiledMessageFlow></CompiledApplication></Broker>",
                          "a.bar!/META-INF/broker.xml")
          .ok());
  flow::PropertySet set;
  overrides.apply({{{"gen.Api"}, "In"}}, set);
  REQUIRE(set.values().size() == 1);
  CHECK(set.find("URLSpecifier")->origin == "BAR override");
  CHECK(set.find("URLSpecifier")->position.line == 2);
  CHECK(value_of(overrides, {{{"gen.Api"}, ""}}, "udp") == "");
  CHECK_FALSE(overrides.add_broker_xml("<Broker>", "b").ok());
}

TEST_CASE("a file beats a BAR in whatever order they come; within one the later wins") {
  Overrides overrides;
  overrides.add("F#N.p", "file", OverrideRank::kOverridesFile, {}, "f");
  overrides.add("F#N.p", "bar", OverrideRank::kBar, {}, "b");
  CHECK(value_of(overrides, {{{"F"}, "N"}}, "p") == "file");
  overrides.add("F#N.p", "file 2", OverrideRank::kOverridesFile, {}, "f");
  CHECK(value_of(overrides, {{{"F"}, "N"}}, "p") == "file 2");
  // Also when the two address the node differently: rank before address.
  Overrides mixed;
  mixed.add("Sub#N.p", "file", OverrideRank::kOverridesFile, {}, "f");
  mixed.add("Main#S.N.p", "bar", OverrideRank::kBar, {}, "b");
  CHECK(value_of(mixed, {{{"Sub"}, "N"}, {{"Main"}, "S.N"}}, "p") == "file");
  mixed.add("Main#S.N.p", "outer", OverrideRank::kOverridesFile, {}, "f");
  CHECK(value_of(mixed, {{{"Sub"}, "N"}, {{"Main"}, "S.N"}}, "p") == "outer");
}

TEST_CASE("a property of a flow is used when somebody knows it") {
  Overrides overrides;
  base::Diagnostics diagnostics;
  overrides.add_lines("F#known=1\nF#udp=3\nF#known.x=4\n", "o.txt", diagnostics);
  CHECK(value_of(overrides, {{{"F"}, ""}}, "udp") == "3");
  overrides.note_known({"F"}, [](std::string_view name) { return name == "known"; });
  overrides.report_unused(diagnostics);
  CHECK(said(diagnostics) ==
        "o.txt:3:1: warning: MS1910: The override 'F#known.x' matches no flow, node or property.\n"
        "o.txt:2:1: warning: MS1910: The override 'F#udp' matches no flow, node or property.\n");
}

TEST_CASE("a set of one application gives back what it used; the rest is reported") {
  Overrides all;
  base::Diagnostics diagnostics;
  all.add_lines("F#N.p=1\nF#Typo.p=2\n", "o.txt", diagnostics);
  Overrides copy = all;
  value_of(copy, {{{"F"}, "N"}}, "p");
  all.note_used(copy);
  all.report_unused(diagnostics);
  CHECK(said(diagnostics) ==
        "o.txt:2:1: warning: MS1910: The override 'F#Typo.p' matches no flow, node or property.\n");
}

}  // namespace
}  // namespace millstream::ace
