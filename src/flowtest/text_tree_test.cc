#include "flowtest/text_tree.h"

#include <doctest/doctest.h>

#include "flowtest/flow_message.h"
#include "tree/assembly.h"
#include "tree/edit.h"

namespace millstream::flowtest {
namespace {

TextForest forest(std::string_view text) {
  Result<TextForest> r = parse_forest(text);
  REQUIRE_MESSAGE(r.ok(), r.error().describe());
  return std::move(r).take_value();
}

TextPath path(std::string_view text) {
  Result<TextPath> r = TextPath::parse(text);
  REQUIRE_MESSAGE(r.ok(), r.error().describe());
  return std::move(r).take_value();
}

std::string without(std::string_view text, std::vector<std::string_view> paths) {
  TextForest f = forest(text);
  std::vector<TextPath> list;
  for (std::string_view p : paths) list.push_back(path(p));
  remove_paths(f, list);
  return print_forest(f);
}

TEST_CASE("text tree: what is printed can be read again") {
  const std::string text =
      "Properties{\n"
      "  Topic=NULL\n"
      "  Created=GMTTIMESTAMP '2024-02-29 12:34:56.789012'\n"
      "  Age=INTERVAL '1 02:03' DAY TO MINUTE\n"
      "}\n"
      "XMLNSC{\n"
      "  {urn:a/b}order='text'{\n"
      "    @id=X'00ff'\n"
      "    %xmlns:o='urn:a/b'\n"
      "    item='it''s {a} \\n line'\n"
      "    empty{}\n"
      "    12\n"
      "    (0x03000001)note=TRUE\n"
      "  }\n"
      "}\n"
      "JSON{\n"
      "  []list{\n"
      "    Item=DECIMAL '1.50'\n"
      "    \"a name\"=-1\n"
      "  }\n"
      "}";
  CHECK(print_forest(forest(text)) == text);
  CHECK(print_forest(forest("a{b=1 c{} d}e='x'")) == "a{\n  b=1\n  c{}\n  d{}\n}\ne='x'");
  CHECK(print_forest(forest("a {urn:x}b { c = 1 }")) == "a{}\n{urn:x}b{\n  c=1\n}");
  CHECK(print_forest(forest("")).empty());
}

TEST_CASE("text tree: what cannot be read says where") {
  for (const char* bad : {"a{b", "a='x", "a=", "}", "{urn:x", "a}b", "(0x01", "\"a", "@"}) {
    CAPTURE(bad);
    Result<TextForest> r = parse_forest(bad);
    REQUIRE_FALSE(r.ok());
    CHECK(std::string(r.error().code->id) == "MS1647");
  }
  CHECK(parse_forest("a{\nb=1\nc=\n}").error().text.find("Line 4") != std::string::npos);
}

TEST_CASE("text tree: nesting has a limit") {
  std::string deep;
  for (int i = 0; i < kTextTreeDepthMax + 2; ++i) deep += "a{";
  CHECK_FALSE(parse_forest(deep).ok());
}

TEST_CASE("text tree: paths leave parts out") {
  const char* text = "a{b=1 b=2 @k='x'} c{d{e=1 f=2} b=3}";
  CHECK(without(text, {"a.b"}) == print_forest(forest("a{@k='x'} c{d{e=1 f=2} b=3}")));
  CHECK(without(text, {"a.b[2]"}) == print_forest(forest("a{b=1 @k='x'} c{d{e=1 f=2} b=3}")));
  CHECK(without(text, {"a.@k"}) == print_forest(forest("a{b=1 b=2} c{d{e=1 f=2} b=3}")));
  CHECK(without(text, {"*.b"}) == print_forest(forest("a{@k='x'} c{d{e=1 f=2}}")));
  CHECK(without(text, {"**.b"}) == print_forest(forest("a{@k='x'} c{d{e=1 f=2}}")));
  CHECK(without(text, {"**.e", "a"}) == print_forest(forest("c{d{f=2} b=3}")));
  CHECK(without(text, {"c.*.e"}) == print_forest(forest("a{b=1 b=2 @k='x'} c{d{f=2} b=3}")));
  CHECK(without("{urn:a}x=1 x=2", {"{urn:a}x"}) == "x=2");
  for (const char* bad : {"", "a..b", "a[0]", "a[x]", "a[1", "{urn", "a.", "\"a"}) {
    CAPTURE(bad);
    CHECK_FALSE(TextPath::parse(bad).ok());
  }
}

TEST_CASE("text tree: paths find") {
  const TextForest f = forest("a{b=1 b=2{@k='x'} \"c d\"=3}");
  CHECK(find_path(f, path("a.b"))->value == "1");
  CHECK(find_path(f, path("a.b[2]"))->value == "2");
  CHECK(find_path(f, path("a.b[2].@k"))->value == "'x'");
  CHECK(find_path(f, path("a.\"c d\""))->value == "3");
  CHECK(find_path(f, path("a.b[3]")) == nullptr);
  CHECK(find_path(f, path("b")) == nullptr);
}

bool same(DocumentKind kind, std::string_view a, std::string_view b) {
  TextForest x, y;
  REQUIRE(parse_document(kind, a, x));
  REQUIRE(parse_document(kind, b, y));
  return print_forest(x) == print_forest(y);
}

TEST_CASE("text tree: documents are equal when they say the same") {
  constexpr DocumentKind kXml = DocumentKind::kXml, kJson = DocumentKind::kJson;
  CHECK(same(kXml, "<a x='1' y='2'><b/>t</a>",
             "<?xml version='1.0'?>\n<a y=\"2\" x=\"1\"><b></b>t</a>"));
  CHECK(same(kXml, "<p:a xmlns:p='urn:x'/>", "<a xmlns='urn:x'/>"));
  CHECK(same(kXml, "<a>1 &lt; 2</a>", "<a><![CDATA[1 < 2]]></a>"));
  CHECK_FALSE(same(kXml, "<a><b/><c/></a>", "<a><c/><b/></a>"));
  CHECK_FALSE(same(kXml, "<a xmlns='urn:x'/>", "<a/>"));
  CHECK(same(kJson, R"({"a": 1, "b": [1, 2]})", R"({"b":[1,2],"a":1})"));
  CHECK_FALSE(same(kJson, R"({"b": [1, 2]})", R"({"b": [2, 1]})"));
  CHECK_FALSE(same(kJson, R"({"a": "1"})", R"({"a": 1})"));
  CHECK_FALSE(same(kJson, R"([1])", R"({"Item": 1})"));
  TextForest ignored;
  CHECK_FALSE(parse_document(kXml, "<a>", ignored));
  CHECK_FALSE(parse_document(kJson, "{", ignored));
}

TEST_CASE("text tree: differences with a little around them") {
  CHECK(diff_lines("a\nb", "a\nb").empty());
  CHECK(diff_lines("1\n2\n3\n4\n5\n6\n7", "1\n2\n3\n4\n5\nX\n7") ==
        "    ...\n    3\n    4\n    5\n  - 6\n  + X\n    7");
  CHECK(diff_lines("a", "") == "  - a");
  // Too long for the exact form, and still right.
  std::string a, b;
  for (int i = 0; i < 4000; ++i) {
    a += "a" + std::to_string(i) + "\n";
    b += "b" + std::to_string(i) + "\n";
  }
  const std::string shown = diff_lines(a, b);
  CHECK(shown.find("  - a3999") != std::string::npos);
  CHECK(shown.find("  + b0") != std::string::npos);
}

TEST_CASE("text tree: elements are made with their types and values") {
  tree::MessageArena arena(std::make_shared<base::NameTable>());
  esql::EvalContext context = test_context(arena.context());
  tree::MessageAssembly message = arena.make_assembly();
  const std::string text =
      "Properties{Priority=3 Topic=NULL} "
      "XMLNSC{order='t'{@id='7' {urn:x}n=DECIMAL '1.50' when=DATE '2024-02-29' raw=X'00ff'}}";
  REQUIRE(build_elements(context, message.root, forest(text), true).ok());
  CHECK(print_forest(forest_of(context, message.root)) == print_forest(forest(text)));
  CHECK(tree::body_of(message.root) != nullptr);
  Status bad = build_elements(context, message.root, forest("x=nonsense"), false);
  REQUIRE_FALSE(bad.ok());
  CHECK(std::string(bad.error().code->id) == "MS1649");
}

}  // namespace
}  // namespace millstream::flowtest
