// Cursors and matching below the statements.
#include "esql/path.h"

#include <doctest/doctest.h>

#include <random>
#include <vector>

#include "tree/assembly.h"

namespace millstream::esql {

namespace {

struct PathFixture {
  PathFixture() : message(std::make_shared<const base::NameTable>()) {
    parent = tree::make_root(message.context(), "p");
    a = message.context().names.qname("a");
    b = message.context().names.qname("b");
    match.mode = StepMatch::Mode::kExact;
    match.qname = a;
  }
  tree::Element* add(const base::QName* name, tree::FieldType type = tree::kNameValue) {
    tree::Element* e = tree::make_element(message.context(), name, type);
    tree::append_child(parent, e);
    return e;
  }
  tree::MessageArena message;
  tree::Element* parent;
  const base::QName* a;
  const base::QName* b;
  StepMatch match;
};

// What the cursor functions must agree with.
tree::Element* plain_nth(const StepMatch& m, tree::Element* parent, int64_t n) {
  for (tree::Element* e = parent->first; e; e = e->next) {
    if (step_matches(m, e) && --n == 0) return e;
  }
  return nullptr;
}

}  // namespace

TEST_CASE("path: cursors agree with a plain search through random changes") {
  PathFixture f;
  ChildCursor at, counter;
  std::mt19937 random(20240131);
  for (int round = 0; round < 20'000; ++round) {
    switch (random() % 8) {
      case 0:
      case 1:
        f.add(random() % 3 ? f.a : f.b);
        break;
      case 2:
        if (f.parent->first) {
          tree::insert_before(f.parent->first,
                              tree::make_element(f.message.context(), f.a, tree::kNameValue));
        }
        break;
      case 3:
        if (tree::Element* e = plain_nth(f.match, f.parent, 1 + random() % 5)) tree::detach(e);
        break;
      case 4:
        if (f.parent->last) tree::set_name(f.parent->last, random() % 2 ? f.a : f.b);
        break;
      default: {
        int64_t n = 1 + random() % 12;
        bool is_fixed = random() % 2;
        tree::Element* found = is_fixed ? nth_match_fixed(f.match, f.parent, n, at)
                                        : nth_match(f.match, f.parent, n, at);
        REQUIRE(found == plain_nth(f.match, f.parent, n));
        int64_t count = 0;
        while (plain_nth(f.match, f.parent, count + 1)) ++count;
        REQUIRE(count_matches_fixed(f.match, f.parent, counter) == count);
        REQUIRE(nth_match_from_end(f.match, f.parent, 1) == plain_nth(f.match, f.parent, count));
        // Keep the tree small, or the plain search dominates.
        while (count > 40) {
          tree::detach(plain_nth(f.match, f.parent, count--));
        }
        break;
      }
    }
  }
}

TEST_CASE("path: general type constants stand for all spellings") {
  CHECK(type_matches(tree::xmlnsc::kAttribute, tree::xmlnsc::kSingleAttribute));
  CHECK(type_matches(tree::xmlnsc::kField, tree::xmlnsc::kCDataField));
  CHECK(type_matches(tree::xmlnsc::kNamespaceDecl, tree::xmlnsc::kSingleNamespaceDecl));
  CHECK_FALSE(type_matches(tree::xmlnsc::kSingleAttribute, tree::xmlnsc::kAttribute));
  CHECK_FALSE(type_matches(tree::xmlnsc::kAttribute, tree::xmlnsc::kNamespaceDecl));
  CHECK_FALSE(type_matches(tree::xmlnsc::kField, tree::xmlnsc::kAttribute));
  CHECK_FALSE(type_matches(tree::json::kArray, tree::json::kObject));
}

TEST_CASE("path: matching by parts of the name") {
  PathFixture f;
  base::NameScope& names = f.message.context().names;
  tree::Element* plain = f.add(f.a);
  tree::Element* spaced = f.add(names.qname("urn:x", "a"));
  tree::Element* other = f.add(names.qname("urn:x", "c"));
  CHECK(first_match(f.match, f.parent) == plain);
  CHECK(next_match(f.match, plain) == nullptr);
  StepMatch local;
  local.mode = StepMatch::Mode::kLocalName;
  local.local = names.intern("a");
  CHECK(next_match(local, plain) == spaced);
  StepMatch ns;
  ns.mode = StepMatch::Mode::kNamespace;
  ns.ns = names.intern("urn:x");
  CHECK(first_match(ns, f.parent) == spaced);
  CHECK(next_match(ns, spaced) == other);
  CHECK(previous_match(StepMatch{}, other) == spaced);
}

TEST_CASE("path: deleted parts are disconnected, what hangs below them too") {
  PathFixture f;
  tree::Element* e = f.add(f.a);
  tree::Element* child = tree::make_element(f.message.context(), f.b, tree::kNameValue);
  tree::append_child(e, child);
  CHECK_FALSE(is_disconnected(child));
  tree::detach(e);
  CHECK(is_disconnected(child));
  tree::append_child(f.parent, e);
  CHECK_FALSE(is_disconnected(child));
}

TEST_CASE("path: attributes survive a new value of their element, in both XML domains") {
  for (const char* domain_name : {"XMLNS", "XMLNSC"}) {
    CAPTURE(domain_name);
    const bool is_xmlns = std::string_view(domain_name) == "XMLNS";
    const tree::Domain domain = {.name = domain_name,
                                 .parser_class = "x",
                                 .is_body = true,
                                 .parse = nullptr,
                                 .serialise = nullptr};
    PathFixture f;
    tree::DomainRoot* root = tree::make_domain_root(f.message.context(), domain, f.a);
    tree::Element* e = tree::make_element(f.message.context(), f.a, tree::kName);
    tree::append_child(root, e);
    auto add = [&](tree::FieldType type) {
      tree::Element* child = tree::make_element(f.message.context(), f.b, type);
      tree::append_child(e, child);
      return child;
    };
    tree::Element* attribute =
        add(is_xmlns ? tree::xmlns::kAttribute : tree::xmlnsc::kSingleAttribute);
    tree::Element* declaration =
        add(is_xmlns ? tree::xmlns::kNamespaceDecl : tree::xmlnsc::kNamespaceDecl);
    tree::Element* comment = add(is_xmlns ? tree::xmlns::kComment : tree::xmlnsc::kComment);
    tree::Element* child = add(is_xmlns ? tree::xmlns::kElement : tree::xmlnsc::kField);
    assign_scalar(e, value::Value::make_integer(1));
    CHECK(attribute->parent == e);
    CHECK(declaration->parent == e);
    CHECK(comment->parent == nullptr);
    CHECK(child->parent == nullptr);
  }
}

}  // namespace millstream::esql
