#include "tree/element.h"

#include <doctest/doctest.h>

#include "tree/tree_test_util.h"

namespace millstream::tree {
namespace {

using test::TreeFixture;

TEST_CASE("tree: navigation parses no further than it needs") {
  TreeFixture f;
  DomainRoot* root = f.parse("a1.bc2..d3.");
  CHECK(f.steps() == 0);
  Element* a = first_child(root);
  REQUIRE(a != nullptr);
  CHECK(a->local_name() == "a");
  CHECK(f.steps() == 1);
  CHECK(scalar_value(a).integer == 1);
  CHECK(f.steps() == 3);  // the value may not be complete before the end of the element
  Element* b = next_sibling(a);
  CHECK(f.steps() == 4);
  CHECK(first_child(b)->local_name() == "c");
  CHECK(f.steps() == 5);
  Element* d = next_sibling(b);  // passes over what is left of b
  CHECK(d->local_name() == "d");
  CHECK(root->is_open());
  CHECK(last_child(root) == d);
  CHECK_FALSE(root->is_open());
  CHECK(next_sibling(d) == nullptr);
  CHECK(previous_sibling(d) == b);
  CHECK(scalar_value(d).integer == 3);
  const size_t all = f.steps();
  complete(root);
  first_child(b);
  CHECK(f.steps() == all);
}

TEST_CASE("tree: the value of a folder is NULL and costs only its first child") {
  TreeFixture f;
  DomainRoot* root = f.parse("ab1.c2.d3..");
  Element* a = first_child(root);
  CHECK(scalar_value(a).is_null());
  CHECK(f.steps() == 2);
  CHECK(a->is_open());
}

TEST_CASE("tree: empty documents and empty elements have no children") {
  TreeFixture f;
  CHECK(first_child(f.parse("")) == nullptr);
  DomainRoot* root = f.parse("a.");
  CHECK(first_child(first_child(root)) == nullptr);
  CHECK(last_child(f.parse("")) == nullptr);
  CHECK_FALSE(f.context().has_parse_error());
}

TEST_CASE("tree: a parse error ends navigation and stays until it is taken") {
  TreeFixture f;
  DomainRoot* root = f.parse("a1.b2!c3.");
  Element* a = first_child(root);
  CHECK_FALSE(f.context().has_parse_error());
  Element* b = next_sibling(a);
  REQUIRE(b != nullptr);
  CHECK_FALSE(f.context().has_parse_error());
  CHECK(next_sibling(b) == nullptr);
  REQUIRE(f.context().has_parse_error());
  CHECK(f.context().parse_error.error().number == 1999);
  CHECK_FALSE(root->is_open());
  CHECK_FALSE(b->is_open());
  CHECK(first_child(b) == nullptr);
  Status taken = f.context().take_parse_error();
  CHECK_FALSE(taken.ok());
  CHECK_FALSE(f.context().has_parse_error());
  CHECK(last_child(root) == b);
}

TEST_CASE("tree: domain_root_of finds the nearest one") {
  TreeFixture f;
  Element* top = make_root(f.context(), "Root");
  DomainRoot* outer = f.parse_into(top, "ab..");
  Element* b = first_child(first_child(outer));
  CHECK(domain_root_of(b) == outer);
  CHECK(domain_root_of(outer) == outer);
  CHECK(domain_root_of(top) == nullptr);
  CHECK(domain_root_of(nullptr) == nullptr);
}

TEST_CASE("tree: an open element without a parser closes itself") {
  TreeFixture f;
  Element* e = f.element("x");
  e->set_flag(kFlagOpen);
  CHECK(first_child(e) == nullptr);
  CHECK_FALSE(e->is_open());
}

}  // namespace
}  // namespace millstream::tree
