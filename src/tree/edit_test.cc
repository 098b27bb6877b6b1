#include "tree/edit.h"

#include <doctest/doctest.h>

#include "tree/tree_test_util.h"

namespace millstream::tree {
namespace {

using test::TreeFixture;
using value::Value;

// Links in both directions, parents, first and last, all the way down.
void check_links(Element* e) {
  Element* previous = nullptr;
  for (Element* c = e->first; c; c = c->next) {
    CHECK(c->parent == e);
    CHECK(c->prev == previous);
    previous = c;
    check_links(c);
  }
  CHECK(e->last == previous);
}

TEST_CASE("tree edit: new children come after everything the parser still has") {
  TreeFixture f;
  DomainRoot* root = f.parse("a1.b2.");
  first_child(root);
  append_child(root, f.element("z"));
  CHECK(f.written(root) == "a1.b2.z.");
  check_links(root);
}

TEST_CASE("tree edit: positions around a sibling keep the order of the bytes") {
  TreeFixture f;
  DomainRoot* root = f.parse("a1.b2.c3.");
  Element* a = first_child(root);
  insert_after(a, f.element("x"));
  insert_before(a, f.element("w"));
  prepend_child(root, f.element("v"));
  CHECK(f.written(root) == "v.w.a1.x.b2.c3.");
  insert_after(last_child(root), f.element("y"));
  CHECK(f.written(root) == "v.w.a1.x.b2.c3.y.");
  check_links(root);
}

TEST_CASE("tree edit: prepend to an empty and to an open parent") {
  TreeFixture f;
  Element* empty = f.element("e");
  prepend_child(empty, f.element("x"));
  CHECK(f.written(empty) == "x.");
  DomainRoot* root = f.parse("a1.");
  prepend_child(root, f.element("x"));
  CHECK(f.written(root) == "x.a1.");
}

TEST_CASE("tree edit: stamps change when a child moves or is renamed, not on append") {
  TreeFixture f;
  DomainRoot* root = f.parse("a1.b2.");
  complete(root);
  uint32_t stamp = root->stamp;
  append_child(root, f.element("c"));
  set_value(root->first, Value::make_integer(7));
  CHECK(root->stamp == stamp);
  auto changed = [&] { return std::exchange(stamp, root->stamp) != root->stamp; };
  insert_before(root->first, f.element("x"));
  CHECK(changed());
  insert_after(root->first, f.element("y"));
  CHECK(changed());
  set_name(root->first, f.name("q"));
  CHECK(changed());
  set_type(root->first, kName);
  CHECK(changed());
  detach(root->first);
  CHECK(changed());
  detach_children(root);
  CHECK(changed());
  detach_children(root);
  CHECK_FALSE(changed());  // nothing was there
}

TEST_CASE("tree edit: a change marks everything up to the top, and only that") {
  TreeFixture f;
  Element* top = make_root(f.context(), "Root");
  DomainRoot* first = f.parse_into(top, "ab1..");
  DomainRoot* second = f.parse_into(top, "c1.");
  top->clear_flag(kFlagModified);
  Element* b = first_child(first_child(first));
  CHECK_FALSE(first->has_flag(kFlagModified));
  set_value(b, Value::make_integer(2));
  for (Element* e = b; e; e = e->parent) CHECK(e->has_flag(kFlagModified));
  CHECK_FALSE(second->has_flag(kFlagModified));
  // What was detached and changed marks the tree it comes into.
  Element* loose = f.element("x");
  set_value(loose, Value::make_integer(1));
  append_child(second, loose);
  CHECK(second->has_flag(kFlagModified));
}

TEST_CASE("tree edit: a detached element keeps its content and is marked") {
  TreeFixture f;
  DomainRoot* root = f.parse("ab1.c2..d3.");
  Element* a = first_child(root);
  detach(a);
  CHECK(a->has_flag(kFlagDetached));
  CHECK(a->parent == nullptr);
  CHECK(f.written(a) == "b1.c2.");
  CHECK(f.written(root) == "d3.");
  append_child(root, a);
  CHECK_FALSE(a->has_flag(kFlagDetached));
  CHECK(f.written(root) == "d3.ab1.c2..");
  check_links(root);
}

TEST_CASE("tree edit: a domain root that is detached takes its parser along") {
  TreeFixture f;
  Element* top = make_root(f.context(), "Root");
  DomainRoot* body = f.parse_into(top, "a1.b2.!");
  detach(body);
  CHECK(f.steps() == 0);  // nobody needed it
  CHECK_FALSE(f.context().has_parse_error());
  CHECK(top->first == nullptr);
  CHECK(first_child(body)->local_name() == "a");
  CHECK(f.steps() == 1);
}

TEST_CASE("tree edit: removing all children leaves each of them alone") {
  TreeFixture f;
  DomainRoot* root = f.parse("a1.b2.");
  Element* a = first_child(root);
  detach_children(root);
  CHECK(root->first == nullptr);
  CHECK(root->last == nullptr);
  CHECK(a->parent == nullptr);
  CHECK(a->next == nullptr);
  CHECK(a->has_flag(kFlagDetached));
  CHECK(first_child(root) == nullptr);
}

TEST_CASE("tree edit: setting a value keeps flags and finishes the element") {
  TreeFixture f;
  DomainRoot* root = f.parse("a1b2..c3.");
  Element* a = first_child(root);
  set_value(a, Value::make_integer(9));
  CHECK_FALSE(a->is_open());
  CHECK(a->has_flag(kFlagModified));
  CHECK(scalar_value(a).spare == 0);
  CHECK(f.written(root) == "a9b2..c3.");
}

TEST_CASE("tree edit: finding children by name") {
  TreeFixture f;
  DomainRoot* root = f.parse("a1.b2.a3.");
  Element* first = find_child(root, f.name("a"));
  REQUIRE(first != nullptr);
  CHECK(f.steps() == 1);
  Element* second = find_child(root, f.name("a"), next_sibling(first));
  REQUIRE(second != nullptr);
  CHECK(scalar_value(second).integer == 3);
  CHECK(find_child(root, f.name("z")) == nullptr);
  CHECK(scalar_value(find_child(root, "b")).integer == 2);
  // A name in a namespace is another one for the expanded search, but not for that by local name.
  Element* spaced = make_element(f.context(), f.context().names.qname("urn:x", "z"), kNameValue);
  append_child(root, spaced);
  CHECK(find_child(root, f.name("z")) == nullptr);
  CHECK(find_child(root, "z") == spaced);
}

TEST_CASE("tree edit: ensure_child and set_child make what is missing once") {
  TreeFixture f;
  Element* e = f.element("e", kName);
  Element* made = ensure_child(f.context(), e, "x");
  CHECK(made->type == kName);
  CHECK(ensure_child(f.context(), e, "x") == made);
  std::string text = "a text that moves away";
  Element* field = set_child(f.context(), e, "t", Value::make_character(text));
  text.assign(text.size(), '#');
  CHECK(scalar_value(field).text() == "a text that moves away");
  CHECK(set_child(f.context(), e, "t", Value::make_integer(1)) == field);
  CHECK(scalar_value(field).integer == 1);
}

}  // namespace
}  // namespace millstream::tree
