#include "tree/assembly.h"

#include <doctest/doctest.h>

#include "tree/tree_test_util.h"

namespace millstream::tree {
namespace {

using test::TreeFixture;
using value::Value;

constexpr base::ErrorCode kOuter = {"BIP2230", 2230, base::ExceptionKind::kRecoverable,
                                    base::Severity::kError, "Node throwing exception"};
constexpr base::ErrorCode kInner = {"BIP2951", 2951, base::ExceptionKind::kUser,
                                    base::Severity::kInfo, "user"};

TEST_CASE("assembly: body and headers of a message") {
  TreeFixture f;
  MessageAssembly message = f.arena.make_assembly();
  CHECK(body_of(message.root) == nullptr);
  CHECK(body_of(nullptr) == nullptr);
  DomainRoot* head = f.parse_into(message.root, "h1.", test::kFakeHeader);
  CHECK(body_of(message.root) == nullptr);  // a header is no body
  DomainRoot* body = f.parse_into(message.root, "a1.");
  CHECK(body_of(message.root) == body);
  CHECK(find_domain(message.root, "HEAD") == head);
  CHECK(find_domain(message.root, "FAKE") == body);
  CHECK(find_domain(message.root, "fake") == nullptr);
  append_child(message.root, f.element("FAKE"));  // a plain field of that name
  CHECK(find_domain(message.root, "FAKE") == body);
}

TEST_CASE("assembly: what was added behind the body does not hide it") {
  TreeFixture f;
  Element* top = make_root(f.context(), "Root");
  f.parse_into(top, "h1.", test::kFakeHeader);
  DomainRoot* first = f.parse_into(top, "a1.");
  f.parse_into(top, "h2.", test::kFakeHeader);
  f.parse_into(top, "h3.", test::kFakeHeader);
  CHECK(body_of(top) == first);
  append_child(top, f.element("typo"));
  CHECK(body_of(top) == first);
  DomainRoot* second = f.parse_into(top, "b2.");
  f.parse_into(top, "h4.", test::kFakeHeader);
  CHECK(body_of(top) == second);  // of two bodies the last one
  detach(second);
  detach(first);
  CHECK(body_of(top) == nullptr);
}

TEST_CASE("assembly: original bytes go out until something changes") {
  TreeFixture f;
  Element* top = make_root(f.context(), "Root");
  DomainRoot* body = f.parse_into(top, "(a1.)(b2.)");
  auto bytes = [&](uint32_t ccsid) {
    SerialiseOptions options;
    options.ccsid = ccsid;
    std::string out = ">";
    REQUIRE(serialise_body(f.context(), body, options, out).ok());
    return out;
  };
  CHECK(bytes(0) == ">(a1.)(b2.)");
  CHECK(bytes(1208) == ">(a1.)(b2.)");
  CHECK(f.steps() == 0);
  CHECK(bytes(819) == ">a1.b2.");  // another encoding: written anew
  set_value(first_child(body), Value::make_integer(5));
  CHECK(bytes(0) == ">a5.b2.");
}

TEST_CASE("assembly: a malformed body fails when it has to be written") {
  TreeFixture f;
  Element* top = make_root(f.context(), "Root");
  DomainRoot* body = f.parse_into(top, "a1.b2.!");
  std::string out;
  REQUIRE(serialise_body(f.context(), body, {}, out).ok());
  CHECK(out == "a1.b2.!");
  set_value(first_child(body), Value::make_integer(5));
  Status status = serialise_body(f.context(), body, {}, out);
  REQUIRE_FALSE(status.ok());
  CHECK(status.error().number == 1999);
  DomainRoot* unwritable = f.parse_into(top, "", test::kOtherDomain);
  append_child(unwritable, f.element("x"));
  status = serialise_body(f.context(), unwritable, {}, out);
  REQUIRE_FALSE(status.ok());
  CHECK(std::string(status.error().code->id) == "MS1100");
}

TEST_CASE("assembly: an error becomes nested exception elements") {
  TreeFixture f;
  Status inner = base::make_error(kInner, {"one", 42});
  inner.error().position = {"F.esql", 12, 3};
  inner.error().function = "M.Main";
  inner.error().sql_state = "U2951";
  Status outer = base::make_error(kOuter);
  outer.error().node_type = "ComIbmComputeNode";
  outer.error().node_name = "F#FCMComposite_1_2";
  outer.error().node_label = "F.Compute";
  outer.error().causes.push_back(inner.take_error());
  outer.error().causes.push_back(base::make_error(kInner).take_error());
  Element* list = make_root(f.context(), "ExceptionList");
  append_exception(f.context(), list, outer.error());
  std::string text;
  dump(list, text);
  CHECK(text ==
        "(0x01000000:Name):ExceptionList = (\n"
        "  (0x01000000:Name):RecoverableException = (\n"
        "    (0x03000000:NameValue):File = '' (CHARACTER)\n"
        "    (0x03000000:NameValue):Line = 0 (INTEGER)\n"
        "    (0x03000000:NameValue):Function = '' (CHARACTER)\n"
        "    (0x03000000:NameValue):Type = 'ComIbmComputeNode' (CHARACTER)\n"
        "    (0x03000000:NameValue):Name = 'F#FCMComposite_1_2' (CHARACTER)\n"
        "    (0x03000000:NameValue):Label = 'F.Compute' (CHARACTER)\n"
        "    (0x03000000:NameValue):Catalog = 'BIPmsgs' (CHARACTER)\n"
        "    (0x03000000:NameValue):Severity = 3 (INTEGER)\n"
        "    (0x03000000:NameValue):Number = 2230 (INTEGER)\n"
        "    (0x03000000:NameValue):Text = 'Node throwing exception' (CHARACTER)\n"
        "    (0x01000000:Name):UserException = (\n"
        "      (0x03000000:NameValue):File = 'F.esql' (CHARACTER)\n"
        "      (0x03000000:NameValue):Line = 12 (INTEGER)\n"
        "      (0x03000000:NameValue):Function = 'M.Main' (CHARACTER)\n"
        "      (0x03000000:NameValue):Type = '' (CHARACTER)\n"
        "      (0x03000000:NameValue):Name = '' (CHARACTER)\n"
        "      (0x03000000:NameValue):Label = '' (CHARACTER)\n"
        "      (0x03000000:NameValue):Catalog = 'BIPmsgs' (CHARACTER)\n"
        "      (0x03000000:NameValue):Severity = 1 (INTEGER)\n"
        "      (0x03000000:NameValue):Number = 2951 (INTEGER)\n"
        "      (0x03000000:NameValue):Text = 'user' (CHARACTER)\n"
        "      (0x01000000:Name):Insert = (\n"
        "        (0x03000000:NameValue):Type = 5 (INTEGER)\n"
        "        (0x03000000:NameValue):Text = 'one' (CHARACTER)\n"
        "      )\n"
        "      (0x01000000:Name):Insert = (\n"
        "        (0x03000000:NameValue):Type = 2 (INTEGER)\n"
        "        (0x03000000:NameValue):Text = '42' (CHARACTER)\n"
        "      )\n"
        "    )\n"
        "    (0x01000000:Name):UserException = (\n"
        "      (0x03000000:NameValue):File = '' (CHARACTER)\n"
        "      (0x03000000:NameValue):Line = 0 (INTEGER)\n"
        "      (0x03000000:NameValue):Function = '' (CHARACTER)\n"
        "      (0x03000000:NameValue):Type = '' (CHARACTER)\n"
        "      (0x03000000:NameValue):Name = '' (CHARACTER)\n"
        "      (0x03000000:NameValue):Label = '' (CHARACTER)\n"
        "      (0x03000000:NameValue):Catalog = 'BIPmsgs' (CHARACTER)\n"
        "      (0x03000000:NameValue):Severity = 1 (INTEGER)\n"
        "      (0x03000000:NameValue):Number = 2951 (INTEGER)\n"
        "      (0x03000000:NameValue):Text = 'user' (CHARACTER)\n"
        "    )\n"
        "  )\n"
        ")\n");
}

TEST_CASE("assembly: dump of scalars, namespaces and domain roots") {
  TreeFixture f;
  Element* top = make_root(f.context(), "Root");
  DomainRoot* body = f.parse_into(top, "a1.");
  TreeContext& c = f.context();
  auto add = [&](std::string_view name, Value v) {
    Element* e = f.element(name);
    append_child(body, e);
    set_value(e, v);
  };
  add("text", Value::make_character("it's"));
  add("blob", Value::make_blob(std::string_view("\x01\xff", 2)));
  add("bit", Value::make_bit("\xa0", 3));
  add("flag", Value::make_boolean(true));
  add("real", Value::make_float(1.5));
  add("none", Value::null());
  append_child(body, make_element(c, c.names.qname("urn:x", "n"), kName));
  std::string text;
  dump(top, text);
  CHECK(text ==
        "(0x01000000:Name):Root = (\n"
        "  (0x01000000:Name):FAKE = ( ['fake']\n"
        "    (0x03000000:NameValue):a = 1 (INTEGER)\n"
        "    (0x03000000:NameValue):text = 'it's' (CHARACTER)\n"
        "    (0x03000000:NameValue):blob = X'01ff' (BLOB)\n"
        "    (0x03000000:NameValue):bit = B'101' (BIT)\n"
        "    (0x03000000:NameValue):flag = TRUE (BOOLEAN)\n"
        "    (0x03000000:NameValue):real = 1.5E+0 (FLOAT)\n"
        "    (0x03000000:NameValue):none = NULL\n"
        "    (0x01000000:Name):urn:x:n = (\n"
        "    )\n"
        "  )\n"
        ")\n");
}

TEST_CASE("assembly: an arena forgets everything between messages") {
  TreeFixture f;
  MessageAssembly message = f.arena.make_assembly();
  f.parse_into(message.root, "a1.!");
  complete(message.root->first);
  CHECK(f.context().has_parse_error());
  const size_t reserved = f.arena.arena().reserved_bytes();
  f.arena.reset(f.table);
  CHECK_FALSE(f.context().has_parse_error());
  CHECK(f.arena.arena().used_bytes() < 1024);
  CHECK(f.arena.arena().reserved_bytes() == reserved);
  for (int i = 0; i < 1000; ++i) {
    MessageAssembly next = f.arena.make_assembly();
    f.parse_into(next.root, "a1.b2.c3.");
    complete(next.root->first);
    f.arena.reset(f.table);
    f.parsers.clear();
  }
  CHECK(f.arena.arena().reserved_bytes() == reserved);
}

}  // namespace
}  // namespace millstream::tree
