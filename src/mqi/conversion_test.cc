// MQGMO_CONVERT, and properties into and out of bodies.
#include "mqi/conversion.h"

#include <doctest/doctest.h>

#include "mqi/message_descriptor.h"
#include "mqi/property_body.h"
#include "mqi/reasons.h"
#include "mqi/rfh2.h"
#include "mqi/structures.h"
#include "text/ccsid.h"

namespace millstream::mqi {
namespace {

std::string in_ccsid(std::string_view utf8, int32_t ccsid) {
  std::string out;
  REQUIRE(text::from_utf8(utf8, ccsid, out).ok());
  return out;
}

std::string convert(std::string_view body, const BodyCoding& from, int32_t encoding, int32_t ccsid,
                    int32_t reason = 0, bool is_cut = false) {
  std::string out;
  CHECK(convert_body(body, from, encoding, ccsid, is_cut, out) == reason);
  return out;
}

constexpr int32_t kBig = 273;
constexpr int32_t kLittle = 546;

std::string dead_letter_header(int32_t encoding, int32_t ccsid, int32_t next_ccsid,
                               std::string_view format) {
  bool little = encoding == kLittle;
  std::string out = in_ccsid("DLH ", ccsid);
  append_int32(out, 1, little);
  append_int32(out, 2053, little);
  out += in_ccsid(FixedText<48>("QUEUE").padded(), ccsid);
  out += in_ccsid(FixedText<48>("QM1").padded(), ccsid);
  append_int32(out, encoding, little);
  append_int32(out, next_ccsid, little);
  out += in_ccsid(FixedText<8>(format).padded(), ccsid);
  append_int32(out, 6, little);
  out += in_ccsid(FixedText<28>("application").padded(), ccsid);
  out += in_ccsid("2026120112345678", ccsid);
  REQUIRE(out.size() == 172);
  return out;
}

TEST_CASE("conversion: text from and to EBCDIC and UTF-16, by byte order") {
  std::string german =
      "Gr\xC3\xBC\xC3\x9F"
      "e";
  std::string ebcdic = in_ccsid(german, 273);
  CHECK(convert(german, {kLittle, 1208, "MQSTR"}, kLittle, 273) == ebcdic);
  CHECK(convert(ebcdic, {kBig, 273, "MQSTR"}, kLittle, 1208) == german);
  CHECK(convert("AB", {kLittle, 1208, "MQSTR"}, kLittle, 1200) == std::string("A\0B\0", 4));
  CHECK(convert("AB", {kLittle, 1208, "MQSTR"}, kBig, 1200) == std::string("\0A\0B", 4));
  CHECK(convert(std::string_view("A\0B\0", 4), {kLittle, 1200, "MQSTR"}, kLittle, 819) == "AB");
  CHECK(convert(std::string_view("\0A\0B", 4), {kBig, 1200, "MQSTR"}, kLittle, 819) == "AB");
}

TEST_CASE("conversion: what cannot be, and why") {
  CHECK(convert("x", {kLittle, 819, ""}, kLittle, 1208, reason::kFormatError).empty());
  CHECK(convert("x", {kLittle, 819, "MYFORMAT"}, kLittle, 1208, reason::kFormatError).empty());
  CHECK(convert("x", {kLittle, 819, ""}, kLittle, 819) == "x");
  CHECK(convert("", {kLittle, 819, ""}, kLittle, 1208).empty());
  CHECK(convert("x", {kLittle, 64999, "MQSTR"}, kLittle, 1208, reason::kSourceCcsidError).empty());
  CHECK(convert("x", {kLittle, 819, "MQSTR"}, kLittle, 64999, reason::kTargetCcsidError).empty());
  CHECK(convert("a\xFF"
                "b",
                {kLittle, 1208, "MQSTR"}, kLittle, 819, reason::kNotConverted)
            .empty());
  CHECK(convert("short", {kLittle, 819, "MQDEAD"}, kLittle, 1208, reason::kFormatError).empty());
  std::string header = dead_letter_header(kLittle, 819, 819, "MQSTR");
  CHECK(convert(header, {0x333, 819, "MQDEAD"}, kLittle, 1208, reason::kSourceIntegerEncError)
            .empty());
  convert(header, {kLittle, 819, "MQDEAD"}, 0x333, 1208, reason::kTargetIntegerEncError);
}

TEST_CASE("conversion: what the target has not becomes SUB; a cut character is left out") {
  CHECK(convert("a\xE2\x82\xAC"
                "b",
                {kLittle, 1208, "MQSTR"}, kLittle, 819) ==
        "a\x1A"
        "b");
  CHECK(convert("ab\xE2\x82", {kLittle, 1208, "MQSTR"}, kLittle, 819, 0, true) == "ab");
  convert("ab\xE2\x82", {kLittle, 1208, "MQSTR"}, kLittle, 819, reason::kNotConverted);
}

TEST_CASE("conversion: a chain of headers, each part by its own coding") {
  Rfh2Layout layout;
  layout.own_encoding = kBig;
  layout.own_ccsid = 500;
  layout.encoding = kBig;
  layout.ccsid = 500;
  layout.format = "MQSTR";
  std::string body = dead_letter_header(kBig, 500, 500, "MQHRF2");
  REQUIRE(encode_rfh2(layout, {"<usr><a>1</a></usr>"}, body).ok());
  body += in_ccsid("text", 500);
  std::string there = convert(body, {kBig, 500, "MQDEAD"}, kLittle, 1208);
  CHECK(there.starts_with("DLH "));
  CHECK(read_int32(there.data() + 8, true) == 2053);
  CHECK(there.substr(12, 8) == "QUEUE   ");
  CHECK(read_int32(there.data() + 108, true) == kLittle);
  CHECK(read_int32(there.data() + 112, true) == 1208);
  CHECK(there.substr(116, 8) == "MQHRF2  ");
  auto split = split_rfh2(std::string_view(there).substr(172), 1208);
  REQUIRE(split.ok());
  CHECK(split.value().ccsid == 1208);
  CHECK(split.value().encoding == kLittle);
  CHECK(split.value().properties.find("a").text() == "1");
  CHECK(there.ends_with("text"));
  // And back: byte for byte what it was.
  CHECK(convert(there, {kLittle, 1208, "MQDEAD"}, kBig, 500) == body);
}

TEST_CASE("conversion: bytes behind a header stay, and so does what the header says of them") {
  std::string body = dead_letter_header(kBig, 500, 500, "") + "\x01\x02";
  std::string there = convert(body, {kBig, 500, "MQDEAD"}, kLittle, 1208);
  CHECK(there.ends_with("\x01\x02"));
  CHECK(read_int32(there.data() + 108, true) == kBig);
  CHECK(read_int32(there.data() + 112, true) == 500);
  convert(dead_letter_header(kBig, 500, 500, "UNKNOWN") + "x", {kBig, 500, "MQDEAD"}, kLittle, 1208,
          reason::kFormatError);
}

TEST_CASE("conversion: PCF with numbers, texts and lists") {
  std::string body;
  for (int32_t n : {7, 36, 1, 45, 1, 1, 1, 2224, 3}) append_int32(body, n, false);
  for (int32_t n : {4, 32, 2016, 500, 9}) append_int32(body, n, false);
  body += in_ccsid("MY.QUEUE1", 500) + std::string(3, '\0');
  for (int32_t n : {3, 16, 36, 77}) append_int32(body, n, false);
  for (int32_t n : {5, 24, 1, 2, 5, 6}) append_int32(body, n, false);
  std::string there = convert(body, {kBig, 500, "MQEVENT"}, kLittle, 819);
  REQUIRE(there.size() == body.size());
  CHECK(read_int32(there.data() + 28, true) == 2224);
  CHECK(read_int32(there.data() + 36 + 12, true) == 819);
  CHECK(there.substr(36 + 20, 9) == "MY.QUEUE1");
  CHECK(read_int32(there.data() + 68 + 12, true) == 77);
  CHECK(read_int32(there.data() + 84 + 20, true) == 6);
  CHECK(convert(there, {kLittle, 819, "MQEVENT"}, kBig, 500) == body);
  convert(body.substr(0, 60), {kBig, 500, "MQPCF"}, kLittle, 819, reason::kFormatError);
}

TEST_CASE("conversion: hostile headers are refused, not read past their end") {
  std::string body = dead_letter_header(kLittle, 819, 819, "MQHRF2");
  for (int32_t length : {-1, 0, 35, 37, 1000, INT32_MAX}) {
    std::string rfh = "RFH ";
    for (int32_t n : {2, length, 546, 819}) append_int32(rfh, n, true);
    rfh += "MQSTR   ";
    for (int32_t n : {0, 1208}) append_int32(rfh, n, true);
    convert(body + rfh, {kLittle, 819, "MQDEAD"}, kBig, 500, reason::kFormatError);
  }
  std::string endless;
  for (int i = 0; i < kConvertHeadersMax + 1; ++i) {
    endless += dead_letter_header(kLittle, 819, 819, "MQDEAD");
  }
  convert(endless, {kLittle, 819, "MQDEAD"}, kBig, 500, reason::kFormatError);
}

TEST_CASE("property body: taken out, put back, behind an MQDLH as well") {
  for (bool is_dead : {false, true}) {
    Rfh2Layout layout;
    layout.format = "MQSTR";
    layout.ccsid = 819;
    std::string body = is_dead ? dead_letter_header(kLittle, 1208, 1208, "MQHRF2") : "";
    REQUIRE(encode_rfh2(layout,
                        {"<mcd><Msd>jms_text</Msd></mcd>", "<psc><Command>Publish</Command></psc>",
                         "<usr><n dt='i4'>7</n><own>body</own></usr>"},
                        body)
                .ok());
    body += "text";
    BodyCoding coding{kLittle, 1208, is_dead ? "MQDEAD" : "MQHRF2"};
    PropertyList properties;
    REQUIRE(properties.set("own", PropertyView::string("handle")).ok());
    PropertyBody out;
    auto taken = take_properties(body, coding, properties, out);
    REQUIRE(taken.ok());
    REQUIRE(taken.value());
    CHECK(properties.find("n").integer == 7);
    CHECK(properties.find("own").text() == "handle");
    CHECK(properties.find("mcd.Msd").text() == "jms_text");
    // What is no property stays in a header of its own.
    CHECK(out.coding.format == coding.format);
    size_t at = is_dead ? 172 : 0;
    auto rest = split_rfh2(std::string_view(out.body).substr(at), 1208);
    REQUIRE(rest.ok());
    CHECK(rest.value().other_folders.size() == 1);
    CHECK(rest.value().properties.empty());
    CHECK(out.body.ends_with("text"));
    PropertyBody again;
    REQUIRE(insert_properties(out.body, out.coding, properties.view(), again).ok());
    auto whole = split_rfh2(std::string_view(again.body).substr(at), 1208);
    REQUIRE(whole.ok());
    CHECK(whole.value().other_folders.size() == 1);
    CHECK(whole.value().properties.count() == 3);
    CHECK(whole.value().ccsid == 819);
    CHECK(whole.value().format == "MQSTR   ");
    CHECK(again.body.substr(at + whole.value().size) == "text");
  }
}

TEST_CASE("property body: without other folders the header goes whole") {
  std::string body;
  Rfh2Layout layout;
  layout.format = "MQSTR";
  layout.ccsid = 1208;
  REQUIRE(encode_rfh2(layout, {"<usr><a>1</a></usr>"}, body).ok());
  body += "text";
  PropertyList properties;
  PropertyBody out;
  auto taken = take_properties(body, {kLittle, 1208, "MQHRF2"}, properties, out);
  REQUIRE(taken.ok());
  CHECK(out.body == "text");
  CHECK(out.coding.format == "MQSTR");
  // No properties: nothing changes.
  auto none = take_properties("text", {kLittle, 1208, "MQSTR"}, properties, out);
  REQUIRE(none.ok());
  CHECK_FALSE(none.value());
  CHECK_FALSE(take_properties("RFH broken", {kLittle, 1208, "MQHRF2"}, properties, out).ok());
}

}  // namespace
}  // namespace millstream::mqi
