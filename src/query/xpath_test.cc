#include "query/xpath.h"

#include <doctest/doctest.h>

#include <cmath>

#include "query/errors_gen.h"
#include "query/location.h"
#include "tree/domain.h"
#include "tree/edit.h"

namespace query = millstream::query;
namespace tree = millstream::tree;
namespace value = millstream::value;

namespace {

constexpr tree::Domain kXmlnscLike = {
    .name = "XMLNSC", .parser_class = "x", .is_body = true, .parse = nullptr, .serialise = nullptr};
constexpr tree::Domain kJsonLike = {
    .name = "JSON", .parser_class = "j", .is_body = true, .parse = nullptr, .serialise = nullptr};

// order(@id='7'): customer 'Ann', three lines with qty and price (one in a namespace), note.
struct XPathFixture {
  std::shared_ptr<millstream::base::NameTable> table = [] {
    auto t = std::make_shared<millstream::base::NameTable>();
    t->freeze();
    return t;
  }();
  tree::MessageArena arena{table};
  tree::TreeContext& context = arena.context();
  tree::MessageAssembly assembly = arena.make_assembly();
  tree::Element* body = nullptr;

  XPathFixture() {
    auto* properties = tree::ensure_child(context, assembly.root, "Properties");
    tree::set_child(context, properties, "Encoding", value::Value::make_integer(546));
    auto* root = tree::make_domain_root(context, kXmlnscLike, context.names.qname("XMLNSC"));
    tree::append_child(assembly.root, root);
    body = root;
    auto* declaration = add(root, "XmlDeclaration", tree::xmlnsc::kXmlDeclaration);
    add(declaration, "Version", tree::xmlnsc::kAttribute, "1.0");
    auto* order = add(root, "order", tree::kName);
    add(order, "id", tree::xmlnsc::kAttribute, "7");
    add(order, "p", tree::xmlnsc::kNamespaceDecl, "urn:p");
    add(order, "customer", tree::kNameValue, "Ann");
    for (int i = 1; i <= 3; ++i) {
      auto* line = add(order, "line", tree::kName);
      add(line, "n", tree::xmlnsc::kAttribute, std::to_string(i));
      auto* qty = add(line, "qty", tree::kNameValue);
      qty->scalar = value::Value::make_integer(i * 10);
      auto* price = add(line, "price", tree::kNameValue);
      price->scalar = value::Value::make_inline_decimal(150 * i, -2);
    }
    add(order, "remark", tree::xmlnsc::kComment, "a comment");
    auto* note =
        tree::make_element(context, context.names.qname("urn:p", "note"), tree::kNameValue);
    note->scalar = value::Value::make_character("  some   text ");
    tree::append_child(order, note);
  }
  tree::Element* add(tree::Element* parent, std::string_view name, tree::FieldType type,
                     std::string_view text = {}) {
    auto* e = tree::make_element(context, context.names.qname(name), type);
    if (!text.empty()) e->scalar = value::Value::make_character(context.arena.copy(text));
    tree::append_child(parent, e);
    return e;
  }
  std::string eval(std::string_view text) {
    auto xpath = query::XPath::compile(text, {{"p", "urn:p"}, {"q", "urn:q"}});
    if (!xpath.ok()) return "compile: " + xpath.error().text;
    query::XPathVariables variables = query::assembly_variables(
        assembly, nullptr, [](std::string_view name, query::XPathValue& v) {
          if (name != "limit") return false;
          v = query::XPathValue::of(15.0);
          return true;
        });
    auto r = xpath.value().evaluate({.context = &context, .node = body, .variables = &variables});
    if (!r.ok()) return "error: " + r.error().text;
    if (r.value().kind != query::XPathValue::Kind::kNodes) return r.value().to_string();
    std::string out;
    for (const auto& n : r.value().nodes) {
      if (!out.empty()) out += '|';
      out += query::XPathValue{.nodes = {n}}.to_string();
    }
    return out;
  }
};

}  // namespace

TEST_CASE("xpath: paths and axes") {
  XPathFixture f;
  CHECK(f.eval("order/customer") == "Ann");
  CHECK(f.eval("/order/@id") == "7");
  CHECK(f.eval("$Body/order/line[2]/qty") == "20");
  CHECK(f.eval("$Root/XMLNSC/order/line[last()]/@n") == "3");
  CHECK(f.eval("$Root/Properties/Encoding + 1") == "547");
  CHECK(f.eval("$InputBody/order/customer") == "Ann");
  CHECK(f.eval("//qty") == "10|20|30");
  CHECK(f.eval("//line[1]/qty") == "10");
  CHECK(f.eval("(//line)[2]/@n") == "2");
  CHECK(f.eval("//line[qty > $limit]/@n") == "2|3");
  CHECK(f.eval("//price") == "1.50|3.00|4.50");
  CHECK(f.eval("//line[@n='2']/following-sibling::line/@n") == "3");
  CHECK(f.eval("//line[@n='3']/preceding-sibling::line[1]/@n") == "2");
  CHECK(f.eval("//line[@n='3']/preceding-sibling::*[last()]") == "Ann");
  CHECK(f.eval("//qty[. = 20]/../@n") == "2");
  CHECK(f.eval("//qty[. = 20]/ancestor::order/@id") == "7");
  CHECK(f.eval("count(//qty[1]/ancestor::node())") == "5");
  CHECK(f.eval("//p:note") == "  some   text ");
  CHECK(f.eval("//note") == "");
  CHECK(f.eval("//p:*") == "  some   text ");
  CHECK(f.eval("//q:*") == "");
  CHECK(f.eval("order/comment()") == "a comment");
  CHECK(f.eval("count(order/node())") == "6");
  CHECK(f.eval("order/customer/text()") == "Ann");
  CHECK(f.eval("order/customer/text()/..") == "Ann");
  CHECK(f.eval("count(/*)") == "1");
  CHECK(f.eval("count(order/@*)") == "1");
  CHECK(f.eval("count(order/namespace::*)") == "1");
  CHECK(f.eval("order/customer | //qty | order/@id") == "7|Ann|10|20|30");
  CHECK(f.eval("//qty[2]") == "");
  CHECK(f.eval("count(//@*)") == "4");
  CHECK(f.eval("//qty[. = 20]/following::qty") == "30");
  CHECK(f.eval("//qty[. = 20]/preceding::qty") == "10");
  CHECK(f.eval("name(//qty[. = 20]/preceding::*[1])") == "price");
  CHECK(f.eval("string(order/line[1])") == "101.50");
}

TEST_CASE("xpath: operators and functions") {
  XPathFixture f;
  CHECK(f.eval("1 + 2 * 3 - 4 div 2") == "5");
  CHECK(f.eval("7 mod 4 + -3 mod 2") == "2");
  CHECK(f.eval("- -3") == "3");
  CHECK(f.eval("'a' = 'a' and not(1 > 2) or false()") == "true");
  CHECK(f.eval("sum(//qty) * 2") == "120");
  CHECK(f.eval("sum(//price)") == "9");
  CHECK(f.eval("//qty = 30") == "true");
  CHECK(f.eval("//qty != 30") == "true");
  CHECK(f.eval("//qty < //price") == "false");
  CHECK(f.eval("//nothing = //nothing") == "false");
  CHECK(f.eval("1 div 0") == "Infinity");
  CHECK(f.eval("0 div 0") == "NaN");
  CHECK(f.eval("concat('a', 1.0, true())") == "a1true");
  CHECK(f.eval("starts-with('abc','ab')") == "true");
  CHECK(f.eval("contains(order/customer,'nn')") == "true");
  CHECK(f.eval("substring-before('1999/04/01','/')") == "1999");
  CHECK(f.eval("substring-after('1999/04/01','/')") == "04/01");
  CHECK(f.eval("substring('12345', 1.5, 2.6)") == "234");
  CHECK(f.eval("substring('12345', 0, 3)") == "12");
  CHECK(f.eval("substring('12345', 0 div 0, 3)") == "");
  CHECK(f.eval("substring('12345', -42, 1 div 0)") == "12345");
  CHECK(f.eval("substring('12345', -1 div 0, 1 div 0)") == "");
  CHECK(f.eval("string-length('a\xc3\xa9')") == "2");
  CHECK(f.eval("normalize-space(//p:note)") == "some text");
  CHECK(f.eval("translate('bar','abc','AB')") == "BAr");
  CHECK(f.eval("translate('--aaa--','abc-','ABC')") == "AAA");
  CHECK(f.eval("round(2.5) + round(-2.5)") == "1");
  CHECK(f.eval("floor(-1.5)") == "-2");
  CHECK(f.eval("ceiling(1.2)") == "2");
  CHECK(f.eval("number(' -12.50 ')") == "-12.5");
  CHECK(f.eval("number('1e3')") == "NaN");
  CHECK(f.eval("boolean('')") == "false");
  CHECK(f.eval("local-name(//p:note)") == "note");
  CHECK(f.eval("namespace-uri(//p:note)") == "urn:p");
  CHECK(f.eval("count(//line[position() < last()])") == "2");
  CHECK(f.eval("string(1000000000000000000000)") == "1000000000000000000000");
  CHECK(f.eval("0.1") == "0.1");
  CHECK(f.eval("//div = 1 or div div div = 1") == "false");
}

TEST_CASE("xpath: what is wrong is said with its place") {
  XPathFixture f;
  for (const char* bad :
       {"",     "1 +",         "order[",  "order[1", "foo(", "foo(1)", "count()", "x:y",
        "'abc", "order/",      "child::", "bad::x",  "@",    "1 2",    "//",      "a b",
        "$",    "concat('a')", "[1]",     "a[1]]",   "..x",  "#"}) {
    CAPTURE(bad);
    CHECK_FALSE(query::XPath::compile(bad).ok());
  }
  auto r = query::XPath::compile("order/x:y");
  REQUIRE_FALSE(r.ok());
  CHECK(r.error().inserts[0].text == "7");
  CHECK_FALSE(query::XPath::compile("$Nope", {}, query::is_assembly_name).ok());
  CHECK(f.eval("$Nope") == "error: The XPath variable '$Nope' does not exist here.");
  CHECK(f.eval("count(1)").find("error: XPath column") == 0);
}

TEST_CASE("xpath: limits") {
  XPathFixture f;
  std::string deep;
  for (int i = 0; i < 100'00; ++i) deep += '(';
  CHECK_FALSE(query::XPath::compile(deep).ok());
  std::string chain = "1";
  for (int i = 0; i < 900; ++i) chain += "+1";
  CHECK(f.eval(chain) == "901");
  for (int i = 0; i < 5000; ++i) chain += "+1";
  CHECK_FALSE(query::XPath::compile(chain).ok());
  auto xpath = query::XPath::compile("//*[count(//*[count(//*) > 0]) > 0]");
  REQUIRE(xpath.ok());
  auto r = xpath.value().evaluate({.context = &f.context, .node = f.body, .steps_max = 500});
  REQUIRE_FALSE(r.ok());
  CHECK(r.error().number == 1473);
}

int pauses = 0;

TEST_CASE("xpath: a long evaluation lets others run, and ends when one of its pauses says so") {
  XPathFixture f;
  auto xpath = query::XPath::compile(
      "count(//*[count(//*[count(//*[count(//*) > 0]) > 0]) > 0]) + count(//* | //*)");
  REQUIRE(xpath.ok());
  pauses = 0;
  auto count = [] {
    ++pauses;
    return millstream::Status();
  };
  auto r = xpath.value().evaluate({.context = &f.context, .node = f.body, .pause = count});
  CHECK(pauses >= 2);
  auto quick = query::XPath::compile("count(//*)");
  pauses = 0;
  CHECK(quick.value().evaluate({.context = &f.context, .node = f.body, .pause = count}).ok());
  CHECK(pauses == 0);
  auto stop = [] {
    return ++pauses == 2 ? millstream::base::make_error(query::errors::kXPathType, {1})
                         : millstream::Status();
  };
  r = xpath.value().evaluate({.context = &f.context, .node = f.body, .pause = stop});
  REQUIRE_FALSE(r.ok());
  CHECK(r.error().code == &query::errors::kXPathType);
  CHECK(pauses == 2);
}

TEST_CASE("xpath: no context node is an empty set") {
  XPathFixture f;
  auto xpath = query::XPath::compile("count(a/b) + count(/x) + count(.//*)");
  auto r = xpath.value().evaluate({.context = &f.context});
  REQUIRE(r.ok());
  CHECK(r.value().number == 0);
}

TEST_CASE("location: found and created, in both spellings") {
  XPathFixture f;
  auto domains = [](std::string_view name) { return name == "JSON" ? &kJsonLike : nullptr; };
  for (const char* text :
       {"$OutputRoot/JSON/Data/x", "OutputRoot.JSON.Data.x", "outputroot.JSON.\"Data\".x"}) {
    CAPTURE(text);
    auto l = query::Location::parse(text);
    REQUIRE(l.ok());
    CHECK(l.value().tree_name() == "OutputRoot");
    auto output = f.arena.make_assembly();
    auto* top = query::assembly_tree(l.value().tree_name(), f.assembly, &output);
    REQUIRE(top == output.root);
    CHECK(l.value().find(top) == nullptr);
    auto made = l.value().ensure(f.context, top, domains);
    REQUIRE(made.ok());
    CHECK(made.value()->local_name() == "x");
    CHECK(made.value()->type == tree::kNameValue);
    CHECK(tree::first_child(top)->has_flag(tree::kFlagDomainRoot));
    CHECK(l.value().find(top) == made.value());
    CHECK(l.value().ensure(f.context, top, domains).value() == made.value());
  }
  auto line = query::Location::parse("$Root/XMLNSC/order/line[3]/@n");
  REQUIRE(line.ok());
  REQUIRE(line.value().find(f.assembly.root));
  CHECK(line.value().find(f.assembly.root)->scalar.text() == "3");
  auto dotted = query::Location::parse("Root.XMLNSC.order.line[>].(XMLNSC.Attribute)n");
  CHECK(dotted.value().find(f.assembly.root) == line.value().find(f.assembly.root));
  auto next = query::Location::parse("$Root/XMLNSC/order/line[4]/@n");
  REQUIRE(next.value().ensure(f.context, f.assembly.root, domains).ok());
  CHECK(next.value().find(f.assembly.root)->type == tree::xmlnsc::kAttribute);
  CHECK_FALSE(query::Location::parse("$Root/XMLNSC/order/line[9]")
                  .value()
                  .ensure(f.context, f.assembly.root, domains)
                  .ok());
  CHECK_FALSE(query::Location::parse("$Root/Nope/x")
                  .value()
                  .ensure(f.context, f.assembly.root, domains)
                  .ok());
  CHECK(query::Location::parse("a/b").value().tree_name() == "");
  for (const char* bad : {"", "$Root//x", "count(x)", "a..b", "a[0]", "a[x]", "\"a", "$Root/x[y=1]",
                          "p:x/y", "a.*"}) {
    CAPTURE(bad);
    CHECK_FALSE(query::Location::parse(bad).ok());
  }
}

TEST_CASE("xpath: order among deeply nested nodes costs steps") {
  XPathFixture f;
  auto* at = f.add(f.body, "deep", tree::kName);
  for (int i = 0; i < 9'000; ++i) at = f.add(at, "deep", tree::kName);
  auto flat = query::XPath::compile("count(//*[count(*) > 0])");
  REQUIRE(flat.ok());
  auto r = flat.value().evaluate({.context = &f.context, .node = f.body});
  REQUIRE(r.ok());
  CHECK(r.value().number >= 9'000);
  auto ordered = query::XPath::compile("count(//*[count(.//*/..) > 0])");
  REQUIRE(ordered.ok());
  r = ordered.value().evaluate({.context = &f.context, .node = f.body, .steps_max = 5'000'000});
  REQUIRE_FALSE(r.ok());
  CHECK(r.error().number == 1473);
}
