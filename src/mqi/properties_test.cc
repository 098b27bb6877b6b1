#include "mqi/properties.h"

#include <doctest/doctest.h>

#include "base/random.h"
#include "mqi/property_names.h"
#include "mqi/rfh2.h"

namespace millstream::mqi {
namespace {

int property_number(const Status& s) { return s.ok() ? 0 : s.error().number; }

TEST_CASE("properties: set, find, replace and remove") {
  PropertyList list;
  CHECK(list.bytes().empty());
  REQUIRE(list.set("color", PropertyView::string("red")).ok());
  REQUIRE(list.set("usr.count", PropertyView::int32(-5)).ok());
  REQUIRE(list.set("small", PropertyView::make(PropertyType::kInt8, -128)).ok());
  REQUIRE(list.set("big", PropertyView::int64(INT64_MIN)).ok());
  REQUIRE(list.set("ratio", PropertyView::float32(1.5f)).ok());
  REQUIRE(list.set("nothing", PropertyView::null()).ok());
  REQUIRE(list.set("bits", PropertyView::bytes(std::string_view("\0\xFF", 2))).ok());
  REQUIRE(list.set("JMSType", PropertyView::string("order")).ok());
  CHECK(list.count() == 8);
  CHECK(list.find("usr.color").text() == "red");
  CHECK(list.find("count").integer == -5);
  CHECK(list.find("small").equals(PropertyView::make(PropertyType::kInt8, -128)));
  CHECK(list.find("big").integer == INT64_MIN);
  CHECK(list.find("ratio").equals(PropertyView::float32(1.5f)));
  CHECK(list.find("bits").text() == std::string_view("\0\xFF", 2));
  CHECK(list.find("JMSType").text() == "order");
  CHECK(list.find("mcd.Type").text() == "order");
  bool is_there = false;
  CHECK((list.find("nothing", &is_there).is_null() && is_there));
  CHECK((list.find("Color", &is_there).is_null() && !is_there));
  REQUIRE(list.set("color", PropertyView::boolean(true)).ok());
  CHECK(list.count() == 8);
  CHECK(list.find("color").equals(PropertyView::boolean(true)));
  CHECK(list.remove("usr.color"));
  CHECK_FALSE(list.remove("color"));
  auto copy = PropertyList::from_bytes(list.bytes());
  REQUIRE(copy.ok());
  CHECK(copy.value().count() == 7);
  CHECK(copy.value().find("count").integer == -5);
  for (const char* name : {"count", "small", "big", "ratio", "nothing", "bits", "JMSType"}) {
    CHECK(list.remove(name));
  }
  CHECK(list.bytes().empty());
}

TEST_CASE("properties: names") {
  for (const char* name : {"a", "_a", "$a", "a1.b2", "\xC3\xBC", "mq_usr.a.b", "mqx.a", "myJMS",
                           "JMSType", "Root.MQMD.Priority", "notable"}) {
    CAPTURE(name);
    CHECK(check_property_name(name).ok());
  }
  for (const char* name : {"",         "1a",          "a b",      "a-b",
                           "a..b",     ".a",          "a.",       "a.1",
                           "JMSFoo",   "usr.JMSType", "usr.JMSx", "Not",
                           "usr.null", "ESCAPE",      "Body",     "Root.MQMD.Nothing",
                           "Root.x",   "mq.a.b",      "MQx.a.b",  "\xF0\x9F\x98\x80",
                           "\xFF"}) {
    CAPTURE(name);
    CHECK(property_number(check_property_name(name)) == 2442);
  }
  PropertyList list;
  CHECK(property_number(list.set("JMSPriority", PropertyView::int32(1))) == 2442);
  CHECK(property_number(list.set("Root.MQMD.Priority", PropertyView::int32(1))) == 2442);
  CHECK(resolve_property("Root.MQMD.CorrelId").id == PropertyId::kMqmdCorrelId);
  CHECK(resolve_property("JMS_IBM_MQMD_CorrelId").id == PropertyId::kMqmdCorrelId);
  CHECK(resolve_property("JMSXGroupSeq").id == PropertyId::kJmsxGroupSeq);
  CHECK(resolve_property("usr.a").name == "a");
  CHECK(resolve_property("usr.a.b").name == "usr.a.b");
  CHECK(folder_of_property("a") == "usr");
  CHECK(folder_of_property("jms.Dst") == "jms");
}

TEST_CASE("properties: limits and bad values") {
  PropertyList list;
  CHECK(property_number(list.set("a", PropertyView::string("\xFF"))) == 2473);
  CHECK(property_number(list.set("a", PropertyView::make(PropertyType::kInt8, 128))) == 2473);
  CHECK(property_number(list.set("a", PropertyView::int32(INT32_MAX))) == 0);
  std::string longest(PropertyList::kNameBytesMax, 'n');
  CHECK(list.set(longest, PropertyView::null()).ok());
  CHECK(property_number(list.set(longest + "n", PropertyView::null())) == 2442);
  std::string big(PropertyList::kBytesMax - 10'000, 'x');
  CHECK(list.set("big", PropertyView::string(big)).ok());
  CHECK(property_number(list.set("more", PropertyView::string(std::string(10'000, 'x')))) == 2478);
  list.clear();
  for (uint32_t i = 0; i < PropertyList::kCountMax; ++i) {
    REQUIRE(list.set("p" + std::to_string(i), PropertyView::null()).ok());
  }
  CHECK(property_number(list.set("one_more", PropertyView::null())) == 2478);
  CHECK(list.set("p7", PropertyView::boolean(true)).ok());  // replaces
  CHECK(list.count() == PropertyList::kCountMax);
}

TEST_CASE("properties: stored bytes are checked") {
  // Version 1 as it was written first: this sample has to stay readable.
  std::string sample = std::string("\x01", 1) + std::string("\x05\x01\x00\x04\x00\x00\x00", 7) +
                       "a" + std::string("\x2A\x00\x00\x00", 4) +
                       std::string("\x09\x01\x00\x02\x00\x00\x00", 7) + "bhi";
  auto old = PropertyList::from_bytes(sample);
  REQUIRE(old.ok());
  CHECK(old.value().find("a").equals(PropertyView::int32(42)));
  CHECK(old.value().find("b").text() == "hi");
  CHECK(old.value().bytes() == sample);
  for (size_t n = 1; n < sample.size(); ++n) {  // every cut but those between entries
    bool is_whole = n == 1 || n == 13;
    CHECK(PropertyListView::view(std::string_view(sample).substr(0, n)).ok() == is_whole);
  }
  auto broken = [&](size_t at, char c) {
    std::string s = sample;
    s[at] = c;
    return !PropertyListView::view(s).ok();
  };
  CHECK(broken(0, 2));
  CHECK(broken(1, 10));       // a type
  CHECK(broken(2, 0));        // no name
  CHECK(broken(4, 5));        // the size of an integer
  CHECK(broken(22, '\xFF'));  // UTF-8
  base::SeededRandom random(99);
  for (int i = 0; i < 20'000; ++i) {  // whatever is accepted can be read
    std::string s = sample;
    for (int n = 0; n < 3; ++n)
      s[random.next_u64() % s.size()] = static_cast<char>(random.next_u64());
    auto v = PropertyListView::view(s);
    if (!v.ok()) continue;
    size_t bytes = 0;
    v.value().for_each([&](std::string_view name, const PropertyView&) { bytes += name.size(); });
    REQUIRE(bytes > 0);
  }
}

TEST_CASE("properties: how a get delivers them") {
  using Control = PropertyControl;
  using Request = PropertyRequest;
  using Delivery = PropertyDelivery;
  PropertyList user, other, none;
  REQUIRE(user.set("color", PropertyView::string("red")).ok());
  REQUIRE(other.set("abc.x", PropertyView::string("y")).ok());
  auto decide = [](Control c, Request r, bool has_handle, const PropertyList& p) {
    return decide_delivery(c, r, has_handle, p.view());
  };
  CHECK(decide(Control::kAll, Request::kAsQueue, false, none) == Delivery::kDropped);
  CHECK(decide(Control::kAll, Request::kAsQueue, false, other) == Delivery::kRfh2);
  CHECK(decide(Control::kNone, Request::kAsQueue, false, user) == Delivery::kDropped);
  CHECK(decide(Control::kCompat, Request::kAsQueue, false, user) == Delivery::kRfh2);
  CHECK(decide(Control::kCompat, Request::kAsQueue, false, other) == Delivery::kDropped);
  CHECK(decide(Control::kV6Compat, Request::kAsQueue, false, user) == Delivery::kRfh2);
  CHECK(decide(Control::kForce, Request::kAsQueue, true, user) == Delivery::kRfh2);
  for (Control c : {Control::kAll, Control::kNone, Control::kCompat, Control::kV6Compat}) {
    CHECK(decide(c, Request::kAsQueue, true, other) == Delivery::kHandle);
    CHECK(decide(c, Request::kInHandle, true, other) == Delivery::kHandle);
    CHECK(decide(c, Request::kForce, true, other) == Delivery::kRfh2);
    CHECK(decide(c, Request::kNone, true, user) == Delivery::kDropped);
    CHECK(decide(c, Request::kCompat, false, other) == Delivery::kDropped);
  }
  CHECK(property_request_of(0).value() == Request::kAsQueue);
  CHECK(property_request_of(0x02000000 | 1).value() == Request::kForce);
  CHECK(property_request_of(0x08000000).value() == Request::kInHandle);
  CHECK(property_request_of(0x06000000).error().number == 2046);
}

TEST_CASE("properties: MQRFH2 takes them there and back") {
  PropertyList list;
  REQUIRE(list.set("text", PropertyView::string("a < b & \"c\"")).ok());
  REQUIRE(list.set("n8", PropertyView::make(PropertyType::kInt8, 7)).ok());
  REQUIRE(list.set("n16", PropertyView::make(PropertyType::kInt16, -300)).ok());
  REQUIRE(list.set("n32", PropertyView::int32(70'000)).ok());
  REQUIRE(list.set("n64", PropertyView::int64(INT64_MIN)).ok());
  REQUIRE(list.set("f32", PropertyView::float32(0.1f)).ok());
  REQUIRE(list.set("f64", PropertyView::float64(0.1)).ok());
  REQUIRE(list.set("yes", PropertyView::boolean(true)).ok());
  REQUIRE(list.set("none", PropertyView::null()).ok());
  REQUIRE(list.set("bits", PropertyView::bytes("\x01\xAB")).ok());
  REQUIRE(list.set("abc.x.y", PropertyView::string("deep")).ok());
  REQUIRE(list.set("usr.p.q", PropertyView::string("in usr")).ok());
  REQUIRE(list.set_unchecked_name("mcd.Msd", PropertyView::string("jms_text")).ok());
  REQUIRE(list.set_unchecked_name("jms.Tms", PropertyView::int64(1'700'000'000'000)).ok());
  REQUIRE(list.set_unchecked_name("jms.Dst", PropertyView::string("queue:///Q1")).ok());
  std::vector<std::string> folders = property_folders(list.view());
  REQUIRE(folders.size() == 4);
  CHECK(folders[0] == "<mcd><Msd>jms_text</Msd></mcd>");
  CHECK(folders[1] == "<jms><Tms>1700000000000</Tms><Dst>queue:///Q1</Dst></jms>");
  CHECK(folders[3] == "<abc content='properties'><x><y>deep</y></x></abc>");
  CHECK(folders[2].find("<n8 dt='i1'>7</n8>") != std::string::npos);
  CHECK(folders[2].find("<none xsi:nil='true'></none>") != std::string::npos);
  CHECK(folders[2].find("<p><q>in usr</q></p>") != std::string::npos);
  folders.insert(folders.begin(), "<psc><Command>RegSub</Command></psc>");
  for (uint32_t encoding : {546u, 273u}) {
    std::string header;
    REQUIRE(
        encode_rfh2({.own_encoding = encoding, .encoding = 273, .ccsid = 819, .format = "MQSTR"},
                    folders, header)
            .ok());
    CHECK(header.size() % 4 == 0);
    auto split = split_rfh2(header + "body", 1208);
    REQUIRE(split.ok());
    CHECK(split.value().size == header.size());
    CHECK(split.value().encoding == 273);
    CHECK(split.value().ccsid == 819);
    CHECK(split.value().format == "MQSTR   ");
    CHECK(split.value().other_folders ==
          std::vector<std::string>{"<psc><Command>RegSub</Command></psc>"});
    CHECK(split.value().properties.count() == list.count());
    list.view().for_each([&](std::string_view name, const PropertyView& v) {
      CAPTURE(name);
      CHECK(split.value().properties.find(name).equals(v));
    });
  }
}

TEST_CASE("properties: folders as other programs write them") {
  auto split = [](const std::string& folder) {
    std::string header;
    REQUIRE(encode_rfh2({}, {folder}, header).ok());
    return split_rfh2(header, 1208);
  };
  auto s = split(
      "<usr><a dt=\"i4\">5</a><b dt='boolean'>TRUE</b><c dt='i1'>300</c>"
      "<d dt='i4'>x</d><e/><f>&#65;&#x42;&lt;</f></usr>");
  REQUIRE(s.ok());
  const PropertyList& p = s.value().properties;
  CHECK(p.find("a").equals(PropertyView::int32(5)));
  CHECK(p.find("b").equals(PropertyView::boolean(true)));
  CHECK(p.find("c").equals(PropertyView::make(PropertyType::kInt16, 300)));  // as wide as it needs
  CHECK(p.find("d").text() == "x");
  CHECK(p.find("e").equals(PropertyView::string("")));
  CHECK(p.find("f").text() == "AB<");
  CHECK(split("<other><x>1</x></other>").value().other_folders.size() == 1);
  CHECK(split("<usr></usr>").value().properties.empty());
  CHECK_FALSE(split("<usr><a>1</b></usr>").ok());
  CHECK_FALSE(split("<usr><a>1</a>").ok());
  CHECK_FALSE(split("<usr>&x;</usr>").ok());
  CHECK_FALSE(split("<usr><a..b>1</a..b></usr>").ok());
  CHECK_FALSE(split("<usr/><usr/>").ok());
  std::string deep;
  for (uint32_t i = 0; i < kRfh2DepthMax; ++i) deep += "<a>";
  for (uint32_t i = 0; i < kRfh2DepthMax; ++i) deep += "</a>";
  CHECK(split(deep).ok());
  CHECK_FALSE(split("<a>" + deep + "</a>").ok());
  std::vector<std::string> many(kRfh2FoldersMax + 1, "<x/>");
  std::string header;
  REQUIRE(encode_rfh2({}, many, header).ok());
  CHECK_FALSE(split_rfh2(header, 1208).ok());
  CHECK_FALSE(split_rfh2(header.substr(0, 35), 1208).ok());
  header[8] = '\x01';
  CHECK_FALSE(split_rfh2(header, 1208).ok());
}

}  // namespace
}  // namespace millstream::mqi
