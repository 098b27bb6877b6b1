// Properties beside and in bodies, MQRFH2 of applications, PROPCTL, MQGMO_CONVERT.
#include <doctest/doctest.h>

#include "mqi/property_body.h"
#include "mqi/rfh2.h"
#include "queue/core/queue_for_test.h"
#include "text/ccsid.h"

namespace millstream::queue {
namespace {

namespace oo = mqi::oo;
namespace gmo = mqi::gmo;
namespace reason = mqi::reason;
using mqi::PropertyControl;
using mqi::PropertyView;

std::string rfh2(const std::vector<std::string>& folders, std::string_view text) {
  mqi::Rfh2Layout layout;
  layout.format = "MQSTR";
  std::string out;
  REQUIRE(mqi::encode_rfh2(layout, folders, out).ok());
  out += text;
  return out;
}

mqi::MessageDescriptor format_md(std::string_view format, int32_t persistence = 0,
                                 int32_t ccsid = 1208) {
  mqi::MessageDescriptor md;
  md.format = format;
  md.persistence = persistence;
  md.ccsid = ccsid;
  return md;
}

Outcome put_with(QueueWorld& w, Hobj h, std::string body,
                 const std::vector<std::pair<std::string, PropertyView>>& properties,
                 std::string_view format = "MQSTR") {
  mqi::PropertyList list;
  for (const auto& [name, value] : properties) {
    REQUIRE(list.set_unchecked_name(name, value).ok());
  }
  w.put_call = PutCall();
  w.put_call.md = format_md(format);
  w.put_call.body = Body::copy(body);
  w.put_call.properties = list.bytes();
  return w.wait([&](Done done) { return w.a->put(h, w.put_call, std::move(done)); });
}

struct Form {
  std::string body;
  std::string format;
  uint32_t beside = 0;                // properties
  std::vector<std::string> in_front;  // names of the properties in an MQRFH2
  bool operator==(const Form&) const = default;
};

// What a get shows; the message stays.
Form look(QueueWorld& w, Hobj h, int32_t options, bool has_handle) {
  w.got = GetCall();
  w.got.options = options | gmo::kBrowseFirst;
  w.got.takes_properties = has_handle;
  w.last = w.get(*w.a, h, w.got);
  Form form;
  if (w.last.is_failed()) {
    form.body = "#" + std::to_string(w.last.reason);
    return form;
  }
  form.format = w.got.md.format.view();
  if (!w.got.message->properties.empty()) {
    form.beside = mqi::PropertyListView::trusted(w.got.message->properties).count();
  }
  std::string_view body = w.got.body.view();
  CHECK(w.got.data_bytes == body.size());
  if (form.format == "MQHRF2") {
    auto split = mqi::split_rfh2(body, static_cast<uint32_t>(w.got.md.ccsid));
    REQUIRE(split.ok());
    split.value().properties.view().for_each(
        [&](std::string_view name, const PropertyView&) { form.in_front.emplace_back(name); });
    body.remove_prefix(split.value().size);
  }
  form.body = body;
  return form;
}

TEST_CASE("properties: PROPCTL of the queue, without and with a message handle") {
  struct Case {
    PropertyControl control;
    int usr_without;    // 'r'fh2, 'd'ropped
    int other_without;  // no property that COMPAT knows
    int with;           // 'h'andle
  };
  const Case cases[] = {{PropertyControl::kCompat, 'r', 'd', 'h'},
                        {PropertyControl::kV6Compat, 'r', 'd', 'h'},
                        {PropertyControl::kNone, 'd', 'd', 'h'},
                        {PropertyControl::kAll, 'r', 'r', 'h'},
                        {PropertyControl::kForce, 'r', 'r', 'r'}};
  for (const Case& c : cases) {
    CAPTURE(static_cast<int>(c.control));
    for (bool is_usr : {true, false}) {
      QueueWorld w;
      w.define("Q", {.property_control = c.control});
      Hobj h = w.open(*w.a, "Q", oo::kOutput | oo::kBrowse);
      std::string name = is_usr ? "colour" : "other.colour";
      REQUIRE(put_with(w, h, "text", {{name, PropertyView::string("red")}}).is_ok());
      auto expected = [&](int form) {
        if (form == 'r') return Form{"text", "MQHRF2", 0, {name}};
        return Form{"text", "MQSTR", form == 'h' ? 1u : 0u, {}};
      };
      CHECK(look(w, h, 0, false) == expected(is_usr ? c.usr_without : c.other_without));
      CHECK(look(w, h, 0, true) == expected(c.with));
      // What the get says goes before what the queue says.
      CHECK(look(w, h, gmo::kNoProperties, true) == expected('d'));
      CHECK(look(w, h, gmo::kNoProperties, false) == expected('d'));
      CHECK(look(w, h, gmo::kPropertiesForceRfh2, true) == expected('r'));
      CHECK(look(w, h, gmo::kPropertiesForceRfh2, false) == expected('r'));
      CHECK(look(w, h, gmo::kPropertiesInHandle, true) == expected('h'));
      CHECK(look(w, h, gmo::kPropertiesInHandle, false).body == "#2460");
      CHECK(look(w, h, gmo::kPropertiesCompatibility, true) == expected(is_usr ? 'r' : 'd'));
      CHECK(look(w, h, gmo::kPropertiesForceRfh2 | gmo::kNoProperties, true).body == "#2046");
    }
  }
}

TEST_CASE("properties: the PROPCTL of the alias that was opened counts") {
  QueueWorld w;
  w.define("Q", {.property_control = PropertyControl::kNone});
  objects::Definition alias(objects::ObjectType::kQalias, "A");
  alias.set_text(objects::Attr::kTarget, "Q");
  alias.set_number(objects::Attr::kPropctl, static_cast<int64_t>(objects::PropertyControl::kAll));
  w.manager->admin().define(std::move(alias), false, nullptr);
  Hobj h = w.open(*w.a, "A", oo::kOutput | oo::kBrowse);
  REQUIRE(put_with(w, h, "text", {{"n", PropertyView::int32(1)}}).is_ok());
  CHECK(look(w, h, 0, false).format == "MQHRF2");
  Hobj q = w.open(*w.a, "Q", oo::kBrowse);
  CHECK(look(w, q, 0, false).format == "MQSTR");
}

TEST_CASE("properties: the length of a get counts the MQRFH2") {
  QueueWorld w;
  w.define("Q");
  Hobj h = w.open(*w.a, "Q", oo::kOutput | oo::kInputShared);
  REQUIRE(put_with(w, h, "text", {{"n", PropertyView::int32(1)}}).is_ok());
  GetCall call;
  call.takes_properties = false;
  call.buffer_bytes = 10;
  CHECK(w.get(*w.a, h, call) == Outcome::warning(reason::kTruncatedMsgFailed));
  CHECK(call.data_bytes > 40);
  CHECK(w.depth("Q") == 1);
  call.buffer_bytes = call.data_bytes;
  CHECK(w.get(*w.a, h, call).is_ok());
  CHECK(w.depth("Q") == 0);
}

TEST_CASE("MQRFH2 of an application: selectors see its properties, and a handle gets them") {
  for (int32_t persistence : {0, 1}) {
    QueueWorld w;
    w.define("Q");
    Hobj h = w.open(*w.a, "Q", oo::kOutput | oo::kBrowse | oo::kInputShared);
    std::string one =
        rfh2({"<mcd><Msd>jms_text</Msd></mcd>", "<jms><Dst>queue:///Q</Dst><Cid>C1</Cid></jms>",
              "<usr><colour>red</colour><n dt='i4'>7</n></usr>"},
             "one");
    std::string two = rfh2({"<usr><colour>blue</colour></usr>"}, "two");
    REQUIRE(w.put(*w.a, h, one, 0, format_md("MQHRF2", persistence)).is_ok());
    CHECK(w.put_call.md.format.view() == "MQHRF2");  // the caller's descriptor stays
    REQUIRE(w.put(*w.a, h, two, 0, format_md("MQHRF2", persistence)).is_ok());
    if (persistence == 1) {
      w.restart();
      h = w.open(*w.a, "Q", oo::kOutput | oo::kBrowse | oo::kInputShared);
    }
    for (const auto& [selector, body] :
         std::vector<std::pair<std::string, std::string>>{{"colour = 'red' AND n = 7", "one"},
                                                          {"colour = 'blue'", "two"},
                                                          {"JMSCorrelationID = 'C1'", "one"},
                                                          {"mcd.Msd = 'jms_text'", "one"},
                                                          {"n > 7", "#2033"}}) {
      CAPTURE(selector);
      OpenCall call;
      call.object_name = "Q";
      call.options = oo::kBrowse;
      call.selection_string = selector;
      REQUIRE(w.a->open(call).is_ok());
      CHECK(look(w, call.handle, 0, true).body == body);
    }
    CHECK(look(w, h, 0, true) == Form{"one", "MQSTR", 5, {}});
    // Without a handle it is there as it was put, but for the order of its folders.
    Form raw = look(w, h, 0, false);
    CHECK(raw.body == "one");
    CHECK(raw.format == "MQHRF2");
    CHECK(raw.in_front.size() == 5);
    CHECK(look(w, h, gmo::kNoProperties, false) == Form{"one", "MQSTR", 0, {}});
  }
}

TEST_CASE("MQRFH2 of an application: folders that are no properties stay in the body") {
  QueueWorld w;
  w.define("Q");
  Hobj h = w.open(*w.a, "Q", oo::kOutput | oo::kBrowse);
  std::string body = rfh2({"<psc><Command>Publish</Command></psc>", "<usr><a>1</a></usr>"}, "x");
  REQUIRE(w.put(*w.a, h, body, 0, format_md("MQHRF2")).is_ok());
  Form form = look(w, h, 0, true);
  CHECK(form.format == "MQHRF2");
  CHECK(form.beside == 1);
  CHECK(form.in_front.empty());
  CHECK(w.got.body.view().find("<psc>") != std::string_view::npos);
  form = look(w, h, 0, false);
  CHECK(form.in_front == std::vector<std::string>{"a"});
  CHECK(w.got.body.view().find("<psc>") != std::string_view::npos);
}

TEST_CASE("MQRFH2 of an application: a broken one is data, but not to who deals with properties") {
  QueueWorld w;
  w.define("Q");
  Hobj h = w.open(*w.a, "Q", oo::kOutput | oo::kBrowse | oo::kInputShared);
  for (const std::string& broken :
       {std::string("RFH "), std::string("no header"), rfh2({"<usr><a>1</b></usr>"}, "x")}) {
    CHECK(w.put(*w.a, h, broken, 0, format_md("MQHRF2")).is_ok());
    CHECK(w.get(*w.a, h) == broken);
    CHECK(put_with(w, h, broken, {{"a", PropertyView::int32(1)}}, "MQHRF2") ==
          Outcome::failed(reason::kRfhFormatError));
  }
  CHECK(w.depth("Q") == 0);
}

TEST_CASE("convert: text as the descriptor of the get asks, and what it says when it cannot") {
  QueueWorld w;
  w.define("Q");
  Hobj h = w.open(*w.a, "Q", oo::kOutput | oo::kInputShared);
  std::string german =
      "Gr\xC3\xBC\xC3\x9F"
      "e";
  auto get = [&](int32_t ccsid, int32_t encoding = 546, size_t room = SIZE_MAX,
                 int32_t options = 0) {
    w.got = GetCall();
    w.got.options = gmo::kConvert | options;
    w.got.match_options = 0;
    w.got.md.ccsid = ccsid;
    w.got.md.encoding = encoding;
    w.got.buffer_bytes = room;
    w.last = w.get(*w.a, h, w.got);
    return std::string(w.got.body.view());
  };
  std::string latin;
  REQUIRE(text::from_utf8(german, 819, latin).ok());
  CHECK(w.put(*w.a, h, german, 0, format_md("MQSTR")).is_ok());
  CHECK(get(819) == latin);
  CHECK(w.last.is_ok());
  CHECK(w.got.md.ccsid == 819);
  CHECK(w.got.data_bytes == latin.size());
  // CCSID 0 is the queue manager's.
  CHECK(w.put(*w.a, h, latin, 0, format_md("MQSTR", 0, 819)).is_ok());
  CHECK(get(0) == german);
  CHECK(w.got.md.ccsid == 1208);
  // Formats that say nothing about the bytes.
  for (std::string_view format : {"", "MINE"}) {
    CHECK(w.put(*w.a, h, latin, 0, format_md(format, 0, 819)).is_ok());
    CHECK(get(0) == latin);
    CHECK(w.last == Outcome::warning(reason::kFormatError));
    CHECK(w.got.md.ccsid == 819);
  }
  CHECK(w.put(*w.a, h, latin, 0, format_md("", 0, 1208)).is_ok());
  CHECK(get(0) == latin);
  CHECK(w.last.is_ok());
  CHECK(w.put(*w.a, h, "\xFF", 0, format_md("MQSTR")).is_ok());
  CHECK(get(819) == "\xFF");
  CHECK(w.last == Outcome::warning(reason::kNotConverted));
  CHECK(w.put(*w.a, h, "x", 0, format_md("MQSTR", 0, 64999)).is_ok());
  get(819);
  CHECK(w.last == Outcome::warning(reason::kSourceCcsidError));
  CHECK(w.put(*w.a, h, "x", 0, format_md("MQSTR")).is_ok());
  get(64999);
  CHECK(w.last == Outcome::warning(reason::kTargetCcsidError));
  // It fitted, and does not any more: it comes as it was.
  CHECK(w.put(*w.a, h, latin, 0, format_md("MQSTR", 0, 819)).is_ok());
  CHECK(get(1208, 546, latin.size()) == latin);
  CHECK(w.last == Outcome::warning(reason::kConvertedMsgTooBig));
  CHECK(w.depth("Q") == 0);
  // Cut: what is there is converted, and 2079 says that it was cut.
  CHECK(w.put(*w.a, h, german, 0, format_md("MQSTR")).is_ok());
  CHECK(get(819, 546, 3, gmo::kAcceptTruncated) == "Gr");
  CHECK(w.last == Outcome::warning(reason::kTruncatedMsgAccepted));
  CHECK(w.got.md.ccsid == 819);
  CHECK(w.got.data_bytes == german.size());
}

TEST_CASE("convert: a trigger message and a dead letter, numbers and texts") {
  QueueWorld w;
  w.define("Q");
  Hobj h = w.open(*w.a, "Q", oo::kOutput | oo::kInputShared);
  REQUIRE(put_with(w, h, "text", {{"n", PropertyView::int32(1)}}).is_ok());
  GetCall call;
  call.takes_properties = false;
  call.options = gmo::kConvert;
  call.md.ccsid = 500;
  call.md.encoding = 273;
  CHECK(w.get(*w.a, h, call).is_ok());
  CHECK(call.md.format.view() == "MQHRF2");
  CHECK(call.md.encoding == 273);
  auto split = mqi::split_rfh2(call.body.view(), 500);
  REQUIRE(split.ok());
  CHECK(split.value().ccsid == 500);
  CHECK(split.value().properties.find("n").integer == 1);
  std::string body;
  REQUIRE(text::to_utf8(call.body.view().substr(split.value().size), 500, body).ok());
  CHECK(body == "text");
}

}  // namespace
}  // namespace millstream::queue
