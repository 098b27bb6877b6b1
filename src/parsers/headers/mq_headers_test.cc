#include "parsers/headers/mq_headers.h"

#include <doctest/doctest.h>

#include "mqi/constants.h"
#include "mqi/structures.h"
#include "text/ccsid.h"
#include "tree/assembly.h"

namespace headers = millstream::parsers::headers;
namespace mqi = millstream::mqi;
namespace tree = millstream::tree;
namespace value = millstream::value;

namespace {

struct MqFixture {
  std::shared_ptr<millstream::base::NameTable> table = [] {
    auto t = std::make_shared<millstream::base::NameTable>();
    t->freeze();
    return t;
  }();
  tree::MessageArena arena{table};
  tree::TreeContext& context = arena.context();
  tree::Element* root = tree::make_root(context, "Root");

  tree::DomainRoot* make(const tree::Domain& domain) {
    auto* e = tree::make_domain_root(context, domain, context.names.qname(domain.name));
    tree::append_child(root, e);
    return e;
  }
  void set(tree::Element* e, std::string_view name, const value::Value& v) {
    tree::set_child(context, e, name, v);
  }
  std::string write(tree::DomainRoot* e, uint32_t encoding = 0, uint32_t ccsid = 0) {
    std::string out;
    auto s = e->domain->serialise(context, e, {.ccsid = ccsid, .encoding = encoding}, out);
    return s.ok() ? out : "error: " + s.error().text;
  }
  std::string_view text(tree::Element* e, std::string_view name) {
    auto* c = tree::find_child(e, name);
    REQUIRE(c);
    return tree::scalar_value(c).text();
  }
  int64_t number(tree::Element* e, std::string_view name) {
    auto* c = tree::find_child(e, name);
    REQUIRE(c);
    return tree::scalar_value(c).integer;
  }
};

}  // namespace

TEST_CASE("mq headers: MQMD in both byte orders, versions and character sets") {
  for (uint32_t encoding : {546u, 273u}) {
    for (uint32_t ccsid : {1208u, 500u, 1047u}) {
      for (int version : {1, 2}) {
        CAPTURE(encoding);
        CAPTURE(ccsid);
        CAPTURE(version);
        MqFixture f;
        auto* md = f.make(headers::kMqmd);
        f.set(md, "Version", value::Value::make_integer(version));
        f.set(md, "Format", value::Value::make_character("MQSTR"));
        f.set(md, "ReplyToQ", value::Value::make_character("REPLY.Q"));
        f.set(md, "MsgId", value::Value::make_blob("\x01\x02"));
        f.set(md, "Expiry", value::Value::make_character("300"));
        f.set(md, "PutDate", value::Value::make_date(19'723));  // 2024-01-01
        f.set(md, "PutTime",
              value::Value::make_time(value::Kind::kGmtTime, 45'296'780'000));  // 12:34:56.78
        f.set(md, "MsgSeqNumber", value::Value::make_integer(7));
        std::string bytes = f.write(md, encoding, ccsid);
        CHECK(bytes.size() == (version == 1 ? 324u : 364u));
        MqFixture g;
        headers::MqFollowing following;
        auto back = headers::parse_mqmd(g.context, g.root, bytes, following);
        REQUIRE(back.ok());
        auto* e = back.value();
        CHECK(following.format == "MQSTR   ");
        CHECK(g.text(e, "ReplyToQ") == "REPLY.Q" + std::string(41, ' '));
        CHECK(g.text(e, "MsgId") == "\x01\x02" + std::string(22, '\0'));
        CHECK(g.number(e, "Expiry") == 300);
        CHECK(g.number(e, "MsgType") == 8);
        CHECK(g.number(e, "Version") == version);
        CHECK(g.number(e, "PutDate") == 19'723);
        CHECK(g.number(e, "PutTime") == 45'296'780'000);
        CHECK(g.number(e, "MsgSeqNumber") == (version == 1 ? 1 : 7));
        CHECK(g.write(e, encoding, ccsid) == bytes);
      }
    }
  }
}

TEST_CASE("mq headers: MQMD refuses what does not fit") {
  MqFixture f;
  auto* md = f.make(headers::kMqmd);
  f.set(md, "Format", value::Value::make_character("TOOLONGNAME"));
  CHECK(f.write(md).find("too long") != std::string::npos);
  f.set(md, "Format", value::Value::make_character("MQSTR        "));
  f.set(md, "Priority", value::Value::make_character("high"));
  CHECK(f.write(md).find("no integer") != std::string::npos);
  headers::MqFollowing following;
  CHECK_FALSE(headers::parse_mqmd(f.context, f.root, "MD  ", following).ok());
  CHECK_FALSE(headers::parse_mqmd(f.context, f.root, std::string(364, 'x'), following).ok());
  CHECK_FALSE(
      headers::parse_mqmd(f.context, f.root, "MD  " + std::string(360, '\x7f'), following).ok());
}

TEST_CASE("mq headers: MQRFH2 folders keep types") {
  for (uint32_t encoding : {546u, 273u}) {
    MqFixture f;
    auto* rf = f.make(headers::kMqrfh2);
    f.set(rf, "Format", value::Value::make_character("MQSTR"));
    auto* mcd = tree::ensure_child(f.context, rf, "mcd");
    f.set(mcd, "Msd", value::Value::make_character("jms_text"));
    auto* usr = tree::ensure_child(f.context, rf, "usr");
    f.set(usr, "i", value::Value::make_integer(5));
    f.set(usr, "l", value::Value::make_integer(5'000'000'000));
    f.set(usr, "f", value::Value::make_float(1.5));
    f.set(usr, "b", value::Value::make_boolean(true));
    f.set(usr, "x", value::Value::make_blob("\xab\xcd"));
    f.set(usr, "s", value::Value::make_character("a<&>\xc3\xa9"));
    f.set(usr, "n", value::Value::null());
    std::string bytes = f.write(rf, encoding);
    CHECK(bytes.size() % 4 == 0);
    CHECK(mqi::read_int32(bytes.data() + 8, encoding == 546) == static_cast<int32_t>(bytes.size()));
    CHECK(bytes.find("<i dt=\"i4\">5</i><l dt=\"i8\">5000000000</l>") != std::string::npos);

    MqFixture g;
    headers::MqFollowing following{.format = "MQHRF2  ", .ccsid = 1208, .encoding = encoding};
    std::string message = bytes + "body";
    auto body = headers::parse_mq_headers(g.context, g.root, message, following);
    REQUIRE(body.ok());
    CHECK(body.value() == "body");
    CHECK(following.format == "MQSTR   ");
    auto* e = tree::find_domain(g.root, "MQRFH2");
    REQUIRE(e);
    CHECK(g.text(tree::find_child(e, "mcd"), "Msd") == "jms_text");
    auto* u = tree::find_child(e, "usr");
    CHECK(g.number(u, "l") == 5'000'000'000);
    CHECK(tree::find_child(u, "f")->scalar.real == 1.5);
    CHECK(tree::find_child(u, "b")->scalar.kind == value::Kind::kBoolean);
    CHECK(g.text(u, "x") == "\xab\xcd");
    CHECK(g.text(u, "s") == "a<&>\xc3\xa9");
    CHECK(tree::find_child(u, "n")->scalar.is_null());
    CHECK(g.write(e, encoding) == bytes);
  }
}

TEST_CASE("mq headers: broken MQRFH2 is refused") {
  auto parse = [](std::string_view folder, int32_t stated = -1) {
    MqFixture f;
    auto* rf = f.make(headers::kMqrfh2);
    std::string bytes = f.write(rf);
    std::string padded(folder);
    while (padded.size() % 4) padded += ' ';
    mqi::append_int32(bytes, stated < 0 ? static_cast<int32_t>(padded.size()) : stated, true);
    bytes += padded;
    mqi::write_int32(bytes.data() + 8, static_cast<int32_t>(bytes.size()), true);
    MqFixture g;
    headers::MqFollowing following{.format = "MQHRF2"};
    return headers::parse_mq_headers(g.context, g.root, bytes, following).ok();
  };
  CHECK(parse("<usr><a>1</a></usr>"));
  CHECK(parse("<usr/>"));
  CHECK(parse("<usr><a dt='i4'>&#65;&lt;</a></usr>"));
  CHECK_FALSE(parse("<usr><a>1</b></usr>"));
  CHECK_FALSE(parse("<usr><a>1</a>"));
  CHECK_FALSE(parse("<usr>&nope;</usr>"));
  CHECK_FALSE(parse("<usr a>x</usr>"));
  CHECK_FALSE(parse("text"));
  CHECK_FALSE(parse("<usr></usr>", 1000));
  std::string deep;
  for (int i = 0; i < 100'000; ++i) deep += "<a>";
  CHECK_FALSE(parse(deep));
}

TEST_CASE("mq headers: a chain of headers, and its repair") {
  MqFixture f;
  auto* md = f.make(headers::kMqmd);
  auto* dlh = f.make(headers::kMqdlh);
  f.set(dlh, "Reason", value::Value::make_integer(2053));
  auto* rf = f.make(headers::kMqrfh2);
  headers::repair_mq_chain(f.context, f.root, "MQSTR");
  CHECK(f.text(md, "Format") == "MQDEAD  ");
  CHECK(f.text(dlh, "Format") == "MQHRF2  ");
  CHECK(f.text(rf, "Format") == "MQSTR   ");
  std::string bytes = f.write(dlh) + f.write(rf) + "x";
  MqFixture g;
  headers::MqFollowing following{.format = "MQDEAD  "};
  auto body = headers::parse_mq_headers(g.context, g.root, bytes, following);
  REQUIRE(body.ok());
  CHECK(body.value() == "x");
  CHECK(g.number(tree::find_domain(g.root, "MQDLH"), "Reason") == 2053);
  tree::detach(rf);
  headers::repair_mq_chain(f.context, f.root, "");
  CHECK(f.text(dlh, "Format") == "        ");
}

TEST_CASE("mq constants") {
  value::Value v;
  REQUIRE(mqi::find_mq_constant("MQFMT_RF_HEADER_2", v));
  CHECK(v.text() == "MQHRF2  ");
  REQUIRE(mqi::find_mq_constant("MQEI_UNLIMITED", v));
  CHECK(v.integer == -1);
  REQUIRE(mqi::find_mq_constant("MQMI_NONE", v));
  CHECK(v.kind == value::Kind::kBlob);
  CHECK(v.size == 24);
  REQUIRE(mqi::find_mq_constant("MQRO_COPY_MSG_ID_TO_CORREL_ID", v));
  CHECK(v.integer == 0);
  REQUIRE(mqi::find_mq_constant("MQRC_Q_FULL", v));
  CHECK(v.integer == 2053);
  CHECK(mqi::reason_code_name(2033) == "MQRC_NO_MSG_AVAILABLE");
  CHECK_FALSE(mqi::find_mq_constant("MQFMT_", v));
  CHECK_FALSE(mqi::find_mq_constant("X", v));
}
