#include "nodes/common/tree_codec.h"

#include <doctest/doctest.h>

#include "base/random.h"
#include "parsers/domains.h"
#include "parsers/headers/properties.h"
#include "tree/assembly.h"
#include "value/decimal.h"

namespace millstream::nodes::common {
namespace {

using value::Kind;
using value::Value;

std::shared_ptr<base::NameTable> codec_names() {
  auto names = std::make_shared<base::NameTable>();
  names->freeze();
  return names;
}

std::string dump_of(tree::Element* e) {
  std::string out;
  tree::dump(e, out);
  return out;
}

// A tree with a value of every kind, namespaces, repeated names and a body with types of its own.
tree::Element* full_tree(tree::MessageArena& arena) {
  tree::TreeContext& context = arena.context();
  tree::MessageAssembly message = arena.make_assembly();
  parsers::headers::make_properties(context, message.root, {});
  tree::DomainRoot* body = tree::make_domain_root(context, *parsers::find_domain("XMLNSC"),
                                                  context.names.qname("XMLNSC"));
  tree::append_child(message.root, body);
  tree::Element* top =
      tree::make_element(context, context.names.qname("urn:a", "Top"), tree::xmlnsc::kFolder);
  tree::append_child(body, top);
  value::Decimal large;
  REQUIRE(value::Decimal::parse("-1234567890123456789012345678.9012", large));
  const Value values[] = {Value::null(),
                          Value::make_boolean(true),
                          Value::make_integer(INT64_MIN),
                          Value::make_float(-0.1),
                          Value::make_inline_decimal(150, -2),
                          Value::make_decimal(large, context.arena),
                          Value::make_character("gr\xc3\xbc\xc3\x9f"),
                          Value::make_character(""),
                          Value::make_blob(std::string_view("\0\xff", 2)),
                          Value::make_bit("\xa0", 3),
                          Value::make_date(-719'162),
                          Value::make_time(Kind::kTime, 86'399'999'999),
                          Value::make_time(Kind::kGmtTime, 0),
                          Value::make_timestamp(Kind::kTimestamp, -1),
                          Value::make_timestamp(Kind::kGmtTimestamp, 1'700'000'000'000'000),
                          Value::make_interval(-14, value::IntervalQualifier::kYearToMonth)};
  for (const Value& v : values) {
    tree::Element* e = tree::make_element(context, context.names.qname("v"), tree::kNameValue);
    tree::append_child(top, e);
    tree::set_value(e, v);
  }
  tree::Element* attribute =
      tree::make_element(context, context.names.qname("id"), tree::xmlnsc::kAttribute);
  tree::append_child(top, attribute);
  tree::set_value(attribute, Value::make_character("7"));
  return message.root;
}

TEST_CASE("tree codec: names, types, values and domains come back") {
  tree::MessageArena from(codec_names()), to(codec_names());
  tree::Element* root = full_tree(from);
  std::string bytes;
  tree::Element* const trees[] = {root, nullptr};
  REQUIRE(encode_trees(from.context(), trees, bytes).ok());
  auto back = decode_trees(to.context(), bytes);
  REQUIRE(back.ok());
  REQUIRE(back.value().size() == 2);
  CHECK(back.value()[1] == nullptr);
  CHECK(dump_of(back.value()[0]) == dump_of(root));
  tree::DomainRoot* body = tree::body_of(back.value()[0]);
  REQUIRE(body != nullptr);
  CHECK(std::string(body->domain->name) == "XMLNSC");
  std::string again;
  tree::Element* const once_more[] = {back.value()[0], nullptr};
  REQUIRE(encode_trees(to.context(), once_more, again).ok());
  CHECK(again == bytes);
}

TEST_CASE("tree codec: what version 1 wrote stays readable") {
  // Root with a NameValue urn:a n = 5 (INTEGER) and a NameValue b = 'x' (CHARACTER).
  const std::string sample(
      "MST\x01\x01"
      "\x80\x00\x04Root\x80\x80\x80\x08"
      "\x86\x00\x05urn:a\x00\x01n\x80\x80\x80\x18\x02\x0a\x00"
      "\x84\x00\x01"
      "b\x80\x80\x80\x18\x05\x01x\x00\x00",
      47);
  tree::MessageArena arena(codec_names());
  auto trees = decode_trees(arena.context(), sample);
  if (!trees.ok()) FAIL(trees.error().describe());
  REQUIRE(trees.value().size() == 1);
  tree::Element* root = trees.value()[0];
  CHECK(root->local_name() == "Root");
  tree::Element* n = tree::first_child(root);
  CHECK(n->namespace_uri() == "urn:a");
  CHECK(tree::scalar_value(n).integer == 5);
  CHECK(tree::scalar_value(tree::find_child(root, "b")).text() == "x");
}

TEST_CASE("tree codec: damaged bytes are an error, whatever is damaged") {
  tree::MessageArena from(codec_names());
  tree::Element* root = full_tree(from);
  std::string bytes;
  tree::Element* const trees[] = {root};
  REQUIRE(encode_trees(from.context(), trees, bytes).ok());
  tree::MessageArena to(codec_names());
  for (size_t size = 0; size < bytes.size(); ++size) {
    CHECK_FALSE(decode_trees(to.context(), std::string_view(bytes).substr(0, size)).ok());
  }
  CHECK_FALSE(decode_trees(to.context(), bytes + "x").ok());
  std::string newer = bytes;
  newer[3] = 2;
  auto refused = decode_trees(to.context(), newer);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().text.find("version is 2") != std::string::npos);
  // Anything may come out of a flipped byte but a crash or a tree that cannot be written again.
  base::SeededRandom random(11);
  for (int i = 0; i < 5000; ++i) {
    std::string changed = bytes;
    for (int k = 0; k < 3; ++k) {
      changed[random.next_u64() % changed.size()] = static_cast<char>(random.next_u64());
    }
    to.reset(codec_names());
    auto result = decode_trees(to.context(), changed);
    if (!result.ok()) continue;
    std::string again;
    CHECK(encode_trees(to.context(), result.value(), again).ok());
  }
}

TEST_CASE("tree codec: depth and text are bounded and checked") {
  std::string deep("MST\x01\x01", 5);
  deep += std::string("\x80\x00\x01", 3) + std::string("a\x01", 2);
  for (size_t i = 0; i < kTreeFormDepthMax; ++i) deep += std::string("\x80\x01\x01", 3);
  tree::MessageArena arena(codec_names());
  auto refused = decode_trees(arena.context(), deep);
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().text.find("too deeply") != std::string::npos);
  tree::MessageAssembly message = arena.make_assembly();
  tree::set_child(arena.context(), message.environment, "a", Value::make_character("\xff"));
  std::string bytes;
  tree::Element* const trees[] = {message.environment};
  CHECK_FALSE(encode_trees(arena.context(), trees, bytes).ok());
}

TEST_CASE("tree codec: a body that cannot be parsed is the error of its parser") {
  tree::MessageArena arena(codec_names());
  tree::MessageAssembly message = arena.make_assembly();
  const tree::Domain& domain = *parsers::find_domain("XMLNSC");
  tree::DomainRoot* body =
      tree::make_domain_root(arena.context(), domain, arena.context().names.qname("XMLNSC"));
  tree::append_child(message.root, body);
  const std::string text = "<a><b></a>" + std::string(64, '\0');
  REQUIRE(domain.parse(arena.context(), body, std::string_view(text).substr(0, 10), {}).ok());
  std::string bytes;
  tree::Element* const trees[] = {message.root};
  Status status = encode_trees(arena.context(), trees, bytes);
  REQUIRE_FALSE(status.ok());
  CHECK(status.error().kind == base::ExceptionKind::kParser);
}

}  // namespace
}  // namespace millstream::nodes::common
