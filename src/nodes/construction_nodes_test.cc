#include <doctest/doctest.h>

#include "nodes/node_test_support.h"
#include "parsers/headers/http_headers.h"

namespace millstream::nodes::construction {
namespace {

using test::NodeFixture;

TEST_CASE("flow order: first to its end, then second, with the same message") {
  NodeFixture f;
  f.node("ComIbmFlowOrder", "O");
  f.node("ComIbmPassthru", "P");
  f.wires({"In.out -> O", "O.second -> b", "O.first -> P", "P.out -> a"});
  REQUIRE(f.build());
  CHECK(f.run("XMLNSC", "<x/>") == "a<<x/>> b<<x/>>");
}

TEST_CASE("flow order: an exception in first keeps second from running") {
  NodeFixture f;
  f.node("ComIbmFlowOrder", "O");
  f.node("ComIbmThrow", "T");
  f.wires(
      {"In.out -> O", "O.first -> T", "O.second -> b", "O.failure -> own", "In.catch -> catch"});
  REQUIRE(f.build());
  CHECK(f.run("XMLNSC", "<x/>") == "catch<<x/>>[2230>3001]");
}

TEST_CASE("throw: a user exception with number, text and label") {
  NodeFixture f;
  f.node("ComIbmThrow", "T",
         {{"messageNumber", "3042"}, {"messageText", "no stock"}, {"messageCatalog", "shop"}});
  f.wires({"In.out -> T", "In.catch -> catch"});
  REQUIRE(f.build());
  std::string seen;
  f.observed.look = [&](const std::string&, flow::Invocation&, const tree::MessageAssembly& m) {
    tree::dump(m.exception_list, seen);
  };
  CHECK(f.run("XMLNSC", "<x/>") == "catch<<x/>>[2230>3042]");
  for (const char* part : {"UserException = (", "Catalog = 'shop'", "Severity = 1", "Number = 3042",
                           "Text = 'no stock'", "Label = 'F.T'", "Type = 'ComIbmThrowNode'",
                           "Text = 'User exception thrown by throw node'"}) {
    CAPTURE(part);
    CHECK(seen.find(part) != std::string::npos);
  }
}

TEST_CASE("try catch: nested, and an exception thrown in catch goes on up") {
  NodeFixture f;
  f.node("ComIbmTryCatch", "Outer");
  f.node("ComIbmTryCatch", "Inner");
  f.node("ComIbmThrow", "T", {{"messageNumber", "3001"}});
  f.node("ComIbmThrow", "U", {{"messageNumber", "3002"}});
  f.wires({"In.out -> Outer", "Outer.try -> Inner", "Inner.try -> T", "Inner.catch -> U",
           "Outer.catch -> caught"});
  REQUIRE(f.build());
  CHECK(f.run("XMLNSC", "<x/>") == "caught<<x/>>[2230>3002]");
}

TEST_CASE("try catch: with catch not wired the exception passes") {
  NodeFixture f;
  f.node("ComIbmTryCatch", "C");
  f.node("ComIbmThrow", "T");
  f.wires({"In.out -> C", "C.try -> T", "C.failure -> own"});
  REQUIRE(f.build());
  CHECK(f.run("XMLNSC", "<x/>") == "=> 3001");
}

TEST_CASE("subflow ends pass the message on") {
  NodeFixture f;
  f.node("eflow:FCMSource", "S.Input");
  f.node("eflow:FCMSink", "S.Output");
  f.wires({"In.out -> S.Input.in", "S.Input.out -> S.Output.in", "S.Output.out -> end"});
  REQUIRE(f.build());
  CHECK(f.run("XMLNSC", "<x/>") == "end<<x/>>");
}

// A ResetContentDescriptor node; the sink shows the folders of Root.
struct ResetFixture : NodeFixture {
  explicit ResetFixture(const test::TestProperties& properties) {
    node("ComIbmResetContentDescriptor", "R", properties);
    wires({"In.out -> R", "R.out -> out", "R.failure -> failure"});
    REQUIRE(build());
    observed.look = [this](const std::string&, flow::Invocation&, const tree::MessageAssembly& m) {
      folders.clear();
      for (tree::Element* e = tree::first_child(m.root); e; e = tree::next_sibling(e)) {
        folders += std::string(e->local_name()) + " ";
      }
      message_type = parsers::headers::property_text(m.root, "MessageType");
      is_original_there = tree::body_of(m.root) && tree::body_of(m.root)->parser;
    };
  }
  std::string folders, message_type;
  bool is_original_there = false;
};

TEST_CASE("reset content descriptor: the bytes go to another parser, which may fail later") {
  ResetFixture f({{"resetMessageDomain", "true"}, {"messageDomain", "XMLNSC"}});
  CHECK(f.run("BLOB", "<a>1</a>") == "out<<a>1</a>>");
  CHECK(f.folders == "Properties XMLNSC ");
  CHECK(f.run("BLOB", "<a>1</b>") == "out<<a>1</b>>");
  ResetFixture to_bytes({{"resetMessageDomain", "true"}, {"messageDomain", ""}});
  CHECK(to_bytes.run("XMLNSC", "<a><<") == "out<<a><<>");
  CHECK(to_bytes.folders == "Properties BLOB ");
}

TEST_CASE("reset content descriptor: at once when the timing says so") {
  ResetFixture f(
      {{"resetMessageDomain", "true"}, {"messageDomain", "JSON"}, {"validateTiming", "immediate"}});
  CHECK(f.run("BLOB", "{\"a\":1}") == "out<{\"a\":1}>");
  CHECK(f.run("BLOB", "{").find("failure<{>[2230>") == 0);
}

TEST_CASE("reset content descriptor: a changed body is written before") {
  ResetFixture f({{"resetMessageDomain", "true"}, {"messageDomain", "BLOB"}});
  const std::string out =
      f.run("XMLNSC", "<a>1</a>", [](tree::TreeContext&, tree::MessageAssembly& m) {
        tree::set_value(tree::first_child(tree::body_of(m.root)), value::Value::make_integer(2));
      });
  CHECK(out == "out<<a>2</a>>");
}

TEST_CASE("reset content descriptor: a header behind the body stays, and the body is reset") {
  ResetFixture f({{"resetMessageDomain", "true"}, {"messageDomain", "BLOB"}});
  const std::string out =
      f.run("XMLNSC", "<a>1</a>", [](tree::TreeContext& context, tree::MessageAssembly& m) {
        const parsers::headers::HttpField fields[] = {{"X-A", "b"}};
        parsers::headers::make_http_header(context, m.root, parsers::headers::kHttpReplyHeader,
                                           fields);
      });
  CHECK(out == "out<<a>1</a>>");
  CHECK(f.folders == "Properties HTTPReplyHeader BLOB ");
}

TEST_CASE("reset content descriptor: without a flag nothing is touched") {
  ResetFixture f({{"messageDomain", "JSON"}, {"messageType", "T"}});
  CHECK(f.run("XMLNSC", "<a>1</a>") == "out<<a>1</a>>");
  CHECK(f.folders == "Properties XMLNSC ");
  CHECK(f.message_type == "");
  ResetFixture typed({{"resetMessageType", "true"}, {"messageType", "T"}});
  CHECK(typed.run("XMLNSC", "<a>1</a>") == "out<<a>1</a>>");
  CHECK(typed.message_type == "T");
}

TEST_CASE("reset content descriptor: XMLNS by the compact parser is XMLNSC") {
  ResetFixture f({{"resetMessageDomain", "true"},
                  {"messageDomain", "XMLNS"},
                  {"parserXmlnscUseForXmlnsDomain", "true"}});
  CHECK(f.run("BLOB", "<a>1</a>") == "out<<a>1</a>>");
  CHECK(f.folders == "Properties XMLNSC ");
}

TEST_CASE("opaque elements stay text") {
  NodeFixture f;
  flow::NodeDefinition& n = f.node("ComIbmResetContentDescriptor", "R",
                                   {{"resetMessageDomain", "true"}, {"messageDomain", "XMLNSC"}});
  flow::PropertyRow row;
  row.columns = {{"elements", "//big"}};
  n.properties.add_row("parserXmlnscOpaqueElements", row);
  f.wires({"In.out -> R", "R.out -> out"});
  REQUIRE(f.build());
  std::string seen;
  f.observed.look = [&](const std::string&, flow::Invocation&, const tree::MessageAssembly& m) {
    tree::dump(tree::body_of(m.root), seen);
  };
  f.run("BLOB", "<a><big><x>1</x></big></a>");
  CHECK(seen.find("<x>1</x>") != std::string::npos);
}

}  // namespace
}  // namespace millstream::nodes::construction
