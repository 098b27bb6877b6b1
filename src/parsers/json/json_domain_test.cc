#include "parsers/json/json_domain.h"

#include <doctest/doctest.h>

#include <random>

#include "format/json_token.h"
#include "tree/assembly.h"
#include "value/decimal.h"

namespace json = millstream::parsers::json;
namespace tree = millstream::tree;
namespace value = millstream::value;

namespace {

struct JsonFixture {
  std::shared_ptr<millstream::base::NameTable> table = [] {
    auto t = std::make_shared<millstream::base::NameTable>();
    t->freeze();
    return t;
  }();
  tree::MessageArena arena{table};
  tree::TreeContext& context = arena.context();

  tree::DomainRoot* parse(std::string_view bytes, tree::ParseOptions options = {}) {
    tree::DomainRoot* root =
        tree::make_domain_root(context, json::kDomain, context.names.qname("JSON"));
    CHECK(json::kDomain.parse(context, root, context.arena.copy(bytes), options).ok());
    return root;
  }
  std::string dump(tree::Element* e) {
    std::string out;
    tree::dump(e, out);
    return out;
  }
  std::string write(tree::Element* e, tree::SerialiseOptions options = {}) {
    std::string out;
    auto status = json::kDomain.serialise(context, e, options, out);
    return status.ok() ? out : "error: " + status.error().describe();
  }
  // Parsed, touched and written again.
  std::string round_trip(std::string_view bytes) {
    tree::DomainRoot* root = parse(bytes);
    tree::complete(root);
    if (context.has_parse_error()) return context.take_parse_error().error().describe();
    return write(root);
  }
  tree::Element* at(tree::Element* e, std::initializer_list<std::string_view> path) {
    for (auto name : path) e = e ? tree::find_child(e, name) : nullptr;
    REQUIRE(e);
    return e;
  }
};

}  // namespace

TEST_CASE("json domain: types of the tree") {
  JsonFixture f;
  auto* root =
      f.parse(R"({"i":-1,"d":1.50,"t":true,"n":null,"s":"x","a":[1,{"k":"v"},[]],"o":{}})");
  CHECK(root->is_open());
  auto* data = tree::first_child(root);
  CHECK_FALSE(root->is_open());
  CHECK(data->local_name() == "Data");
  CHECK(data->type == tree::json::kObject);
  CHECK(f.at(data, {"i"})->scalar.kind == value::Kind::kInteger);
  CHECK(f.at(data, {"i"})->scalar.integer == -1);
  auto d = f.at(data, {"d"})->scalar;
  CHECK(d.kind == value::Kind::kDecimal);
  CHECK(d.integer == 150);
  CHECK(d.inline_exponent() == -2);
  CHECK(f.at(data, {"t"})->scalar.kind == value::Kind::kBoolean);
  CHECK(f.at(data, {"n"})->scalar.is_null());
  CHECK(f.at(data, {"n"})->type == tree::kNameValue);
  CHECK(f.at(data, {"s"})->scalar.text() == "x");
  auto* a = f.at(data, {"a"});
  CHECK(a->type == tree::json::kArray);
  CHECK(f.at(a, {"Item"})->scalar.integer == 1);
  CHECK(tree::last_child(a)->type == tree::json::kArray);
  CHECK(f.at(data, {"o"})->type == tree::json::kObject);
}

TEST_CASE("json domain: nothing is read before the first navigation") {
  JsonFixture f;
  auto* root = f.parse("{bad");
  CHECK_FALSE(f.context.has_parse_error());
  CHECK(tree::first_child(root) == nullptr);
  REQUIRE(f.context.has_parse_error());
  auto error = f.context.take_parse_error();
  CHECK(error.error().number == 5705);
  CHECK(error.error().kind == millstream::base::ExceptionKind::kParser);
  REQUIRE(error.error().causes.size() == 1);
  CHECK(error.error().causes[0]->number == 5701);
  CHECK(error.error().causes[0]->inserts[1].text == "2");
  // Navigating again neither fails again nor hangs.
  CHECK(tree::first_child(root) == nullptr);
  CHECK_FALSE(f.context.has_parse_error());

  tree::DomainRoot* now =
      tree::make_domain_root(f.context, json::kDomain, f.context.names.qname("JSON"));
  CHECK_FALSE(json::kDomain.parse(f.context, now, "{bad", {.is_immediate = true}).ok());
}

TEST_CASE("json domain: numbers come back as they were read") {
  JsonFixture f;
  const char* text =
      "[0,-0,-0.0,0.10,1e3,1E+2,1.5e-7,9223372036854775807,-9223372036854775808,"
      "9223372036854775808,123456789012345678901234567890.12345,0.0000000000000000000001,"
      "1234567890123456789012345678901234567890,1e400,-1.0]";
  CHECK(f.round_trip(text) == text);
  auto* root = f.parse("[1e3, 9223372036854775807, 9223372036854775808]");
  auto* first = tree::first_child(tree::first_child(root));
  tree::set_value(first, value::Value::make_inline_decimal(1, 2));
  CHECK(f.write(root) == "[100,9223372036854775807,9223372036854775808]");
  CHECK(first->next->scalar.kind == value::Kind::kInteger);
  CHECK(first->next->next->scalar.kind == value::Kind::kDecimal);
}

TEST_CASE("json domain: writing") {
  JsonFixture f;
  CHECK(f.round_trip(" { \"a\" : [ 1 , \"x/y\" ] , \"a\":2, \"e\":[], \"o\":{}, \"n\":null } ") ==
        R"({"a":[1,"x\/y"],"a":2,"e":[],"o":{},"n":null})");
  json::write_settings().escapes_slash = false;
  CHECK(f.round_trip("[\"a\\/b\\u00e9\\u0001\"]") == "[\"a/b\xc3\xa9\\u0001\"]");
  json::write_settings().escapes_slash = true;

  auto* root = tree::make_domain_root(f.context, json::kDomain, f.context.names.qname("JSON"));
  CHECK(f.write(root) == "");
  auto* data = tree::ensure_child(f.context, root, "Data");
  CHECK(f.write(root) == "{}");
  tree::set_child(f.context, data, "b", value::Value::make_blob("\x01\xff"));
  tree::set_child(f.context, data, "d", value::Value::make_date(0));
  tree::set_child(f.context, data, "f", value::Value::make_float(1.5));
  auto* mixed = tree::set_child(f.context, data, "m", value::Value::make_character("text"));
  tree::set_child(f.context, mixed, "id", value::Value::make_integer(7));
  CHECK(f.write(root) == R"({"b":"Af8=","d":"1970-01-01","f":1.5,"m":{"":"text","id":7}})");
  CHECK(f.write(mixed, {.mode = tree::BitStreamMode::kFolder}) == R"({"":"text","id":7})");
  tree::set_child(f.context, data, "inf", value::Value::make_float(1.0 / 0.0));
  CHECK(f.write(root).find("MS1453") != std::string::npos);
}

TEST_CASE("json domain: the root needs Data, which is an object or array") {
  JsonFixture f;
  auto* root = tree::make_domain_root(f.context, json::kDomain, f.context.names.qname("JSON"));
  auto* other = tree::ensure_child(f.context, root, "Other");
  CHECK(f.write(root).find("MS1451") != std::string::npos);
  tree::detach(other);
  tree::set_child(f.context, root, "Data", value::Value::make_integer(1));
  CHECK(f.write(root).find("MS1452") != std::string::npos);
  CHECK(f.round_trip("12").find("outermost") != std::string::npos);
}

TEST_CASE("json domain: character sets") {
  JsonFixture f;
  std::string utf16le("\xff\xfe{\0\"\0a\0\"\0:\0\"\0\xe9\0\"\0}\0", 20);
  auto* root = f.parse(utf16le);
  CHECK(f.at(root, {"Data", "a"})->scalar.text() == "\xc3\xa9");
  CHECK(root->parser->ccsid() == 1202);
  CHECK(f.round_trip("\xef\xbb\xbf[1]") == "[1]");
  root = f.parse("{\"a\":\"\xe9\"}", {.ccsid = 819});
  CHECK(f.at(root, {"Data", "a"})->scalar.text() == "\xc3\xa9");
  CHECK(f.write(root, {.ccsid = 819}) == "{\"a\":\"\xe9\"}");
  CHECK(f.round_trip("[\"\xe9\"]").find("UTF-8") != std::string::npos);
}

TEST_CASE("json domain: an empty body is a root without Data") {
  JsonFixture f;
  auto* root = f.parse("");
  CHECK(tree::first_child(root) == nullptr);
  CHECK_FALSE(f.context.has_parse_error());
}

TEST_CASE("json domain: depth is limited without recursion") {
  JsonFixture f;
  std::string deep(10'000, '[');
  deep.append(10'000, ']');
  CHECK(f.round_trip(deep) == deep);
  deep = '[' + deep + ']';
  CHECK(f.round_trip(deep).find("nesting") != std::string::npos);
  CHECK(f.round_trip(std::string(3'000'000, '[')).find("JSON") != std::string::npos);
}

TEST_CASE("json domain: a clone parses the same bytes again") {
  JsonFixture f;
  auto* root = f.parse("{\"a\":1e2}");
  auto copy = tree::deep_copy(f.context, root);
  REQUIRE(copy.ok());
  CHECK(copy.value()->is_open());
  tree::complete(copy.value());
  CHECK(f.write(copy.value()) == "{\"a\":1e2}");
}

TEST_CASE("json domain: an escape in a name is decoded before names are compared") {
  JsonFixture f;
  CHECK(f.round_trip(R"([{"a\\id":1},{"a\\id":2},{"a\u0069d":3}])") ==
        R"([{"a\\id":1},{"a\\id":2},{"aid":3}])");
  // Found by fuzzing: the raw text of the last name equals the decoded one before it.
  CHECK(f.round_trip(R"([{"a\\id":1},{"a\\id":2},{"a\\id":3},{"a\id":4}])").find("escape") !=
        std::string::npos);
}

// The fast builder and the plain checker must agree on every document: generated ones and ones
// with a random byte changed.
TEST_CASE("json domain: builder and checker agree on damaged documents") {
  uint32_t seed = 20261130;
  CAPTURE(seed);
  std::mt19937 random(seed);
  const std::string base =
      R"({"list":[{"id":1,"name":"a","v":1.25},{"id":2,"name":"b\u00e9","x":null,"v":-3e5},)"
      R"({"id":3,"v":[true,false,[],{}]}],"k":"long enough to cross a block: )"
      "\xc3\xa9\xe2\x82\xac"
      R"(","k":"\"\\"})";
  const std::string alphabet = "{}[]:,\"\\ \n\t0123456789.eE+-truefalsn\xc3\xff\x01/u";
  for (int round = 0; round < 20'000; ++round) {
    std::string s = base;
    int edits = 1 + static_cast<int>(random() % 2);
    for (int i = 0; i < edits; ++i) {
      size_t at = random() % s.size();
      char c = alphabet[random() % alphabet.size()];
      switch (random() % 3) {
        case 0:
          s[at] = c;
          break;
        case 1:
          s.erase(at, 1 + random() % 3);
          break;
        default:
          s.insert(at, 1, c);
          break;
      }
    }
    JsonFixture f;
    auto* root = f.parse(s);
    tree::complete(root);
    bool is_built = !f.context.has_parse_error();
    bool is_valid = !millstream::format::check_json(s, {});
    if (is_built != is_valid) FAIL("disagree on: ", s);
    if (is_built) {
      std::string once = f.write(root);
      CHECK(f.round_trip(once) == once);
    }
  }
}
