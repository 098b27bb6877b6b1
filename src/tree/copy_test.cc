#include <doctest/doctest.h>

#include "tree/edit.h"
#include "tree/tree_test_util.h"

namespace millstream::tree {
namespace {

using test::TreeFixture;
using value::Value;

Element* copied(TreeFixture& f, Element* source, CopyMode mode = CopyMode::kSameContext) {
  Result<Element*> copy = deep_copy(f.context(), source, mode);
  REQUIRE(copy.ok());
  return copy.value();
}

TEST_CASE("tree copy: an unmodified body is copied by a second parse that has not begun") {
  TreeFixture f;
  Element* top = make_root(f.context(), "Root");
  DomainRoot* body = f.parse_into(top, "ab1..c2.");
  top->clear_flag(kFlagModified);
  Element* copy = copied(f, top);
  CHECK(f.steps(0) == 0);
  REQUIRE(f.parsers.size() == 2);
  CHECK(f.steps(1) == 0);
  auto* copied_body = static_cast<DomainRoot*>(copy->first);
  CHECK(copied_body->domain == body->domain);
  CHECK_FALSE(copied_body->has_flag(kFlagModified));
  CHECK(f.written(copied_body) == "ab1..c2.");
  CHECK(f.steps(0) == 0);
  set_value(first_child(copied_body), Value::make_integer(5));
  CHECK_FALSE(body->has_flag(kFlagModified));
}

TEST_CASE("tree copy: a modified body is copied element by element") {
  TreeFixture f;
  DomainRoot* body = f.parse("ab1..c2.");
  set_value(first_child(first_child(body)), Value::make_integer(7));
  Element* copy = copied(f, body);
  CHECK(f.parsers.size() == 1);
  CHECK(static_cast<DomainRoot*>(copy)->parser == nullptr);
  CHECK(f.written(copy) == "ab7..c2.");
  CHECK(copy->first != body->first);
}

TEST_CASE("tree copy: within a message texts and names are shared") {
  TreeFixture f;
  Element* e = f.element("e", kName);
  Element* t = set_child(f.context(), e, "t", Value::make_character("text"));
  Element* copy = copied(f, e);
  CHECK(copy->name == e->name);
  CHECK(scalar_value(copy->first).text().data() == scalar_value(t).text().data());
}

TEST_CASE("tree copy: what goes to another message survives its own") {
  TreeFixture target;
  Element* copy = nullptr;
  {
    TreeFixture source;
    DomainRoot* body = source.parse("ab1..");
    std::string text = "kept";
    set_child(source.context(), first_child(body), "t", Value::make_character(text));
    Element* spaced =
        make_element(source.context(), source.context().names.qname("urn:x", "n"), kNameValue);
    append_child(body, spaced);
    copy = copied(target, body, CopyMode::kAcross);
  }
  CHECK(target.written(copy) == "ab1.tkept..n.");
  CHECK(last_child(copy)->name == target.context().names.qname("urn:x", "n"));
}

TEST_CASE("tree copy: content replaces content, the target keeps its name") {
  TreeFixture f;
  DomainRoot* body = f.parse("a1.bc2..");
  Element* a = first_child(body);
  Element* b = next_sibling(a);
  REQUIRE(copy_content(f.context(), a, b).ok());
  CHECK(f.written(body) == "ac2..bc2..");
  REQUIRE(copy_content(f.context(), a, a).ok());
  CHECK(f.written(body) == "ac2..bc2..");
}

TEST_CASE("tree copy: source and target may hold each other") {
  TreeFixture f;
  DomainRoot* body = f.parse("ab1.c2..");
  Element* a = first_child(body);
  REQUIRE(copy_content(f.context(), first_child(a), a).ok());  // SET a.b = a
  CHECK(f.written(body) == "abb1.c2..c2..");
  REQUIRE(copy_content(f.context(), a, first_child(a)).ok());  // SET a = a.b
  CHECK(f.written(body) == "ab1.c2..");
}

TEST_CASE("tree copy: types survive within a domain, only their class across") {
  TreeFixture f;
  DomainRoot* from = f.parse("");
  Element* attribute = f.element("x", xmlnsc::kAttribute);
  append_child(from, attribute);
  DomainRoot* same = f.parse("");
  DomainRoot* other = f.parse("", test::kOtherDomain);
  for (DomainRoot* to : {same, other}) {
    Element* target = f.element("t", kName);
    append_child(to, target);
    REQUIRE(copy_content(f.context(), target, attribute).ok());
    CHECK(target->type == (to == same ? xmlnsc::kAttribute : kNameValue));
  }
}

TEST_CASE("tree copy: a body onto a body of its domain stays unparsed") {
  TreeFixture f;
  Element* in = make_root(f.context(), "Root");
  Element* out = make_root(f.context(), "Root");
  DomainRoot* source = f.parse_into(in, "a1.");
  DomainRoot* target = f.parse_into(out, "z9.");
  REQUIRE(copy_content(f.context(), target, source).ok());
  CHECK(f.steps(0) == 0);
  CHECK_FALSE(target->has_flag(kFlagModified));
  CHECK(out->has_flag(kFlagModified));
  CHECK(f.written(target) == "a1.");
}

TEST_CASE("tree copy: a body below a field becomes a folder") {
  TreeFixture f;
  DomainRoot* body = f.parse("a1.");
  Element* environment = make_root(f.context(), "Environment");
  Element* kept = ensure_child(f.context(), environment, "kept", kNameValue);
  REQUIRE(copy_content(f.context(), kept, body).ok());
  CHECK(kept->type == kName);
  CHECK_FALSE(kept->has_flag(kFlagDomainRoot));
  CHECK(f.written(environment) == "kepta1..");
}

TEST_CASE("tree copy: a malformed source is an error") {
  TreeFixture f;
  DomainRoot* body = f.parse("ab1.!");
  Element* a = first_child(body);
  Result<Element*> copy = deep_copy(f.context(), a);
  REQUIRE_FALSE(copy.ok());
  CHECK(copy.error().number == 1999);
  CHECK_FALSE(f.context().has_parse_error());
  DomainRoot* second = f.parse("ab1.!");
  Element* target = f.element("t", kName);
  Status status = copy_content(f.context(), target, first_child(second));
  CHECK_FALSE(status.ok());
}

TEST_CASE("tree copy: nesting deeper than any stack") {
  TreeFixture f;
  constexpr int kDepth = 1'000'000;
  Element* top = f.element("a");
  Element* e = top;
  for (int i = 1; i < kDepth; ++i) {
    Element* inner = f.element("a");
    link_child(e, inner);
    e = inner;
  }
  Element* copy = copied(f, top);
  int depth = 0;
  for (Element* c = copy; c; c = c->first) ++depth;
  CHECK(depth == kDepth);
}

}  // namespace
}  // namespace millstream::tree
