#include "text/ccsid.h"

#include <doctest/doctest.h>

#include "text/errors_gen.h"

namespace millstream::text {
namespace {

std::string ccsid_decode(std::string_view bytes, int32_t ccsid) {
  std::string out;
  Status s = to_utf8(bytes, ccsid, out);
  return s.ok() ? out : s.error().code->id + std::string(":") + s.error().text;
}

std::string ccsid_encode(std::string_view text, int32_t ccsid) {
  std::string out;
  Status s = from_utf8(text, ccsid, out);
  return s.ok() ? out : s.error().code->id + std::string(":") + s.error().text;
}

}  // namespace

TEST_CASE("ccsid: known samples both ways") {
  using namespace std::string_view_literals;
  struct Case {
    int32_t ccsid;
    std::string_view bytes;
    std::string_view text;
  };
  const Case cases[] = {
      {1208, "\xC3\xA4", "\xC3\xA4"},
      {1209, "\xC3\xA4", "\xC3\xA4"},
      {819, "\xE4\xFC!", "\xC3\xA4\xC3\xBC!"},
      {923, "\xA4", "\xE2\x82\xAC"},
      {367, "abc", "abc"},
      {1200, "\0A\0B"sv, "AB"},
      {1201, "\xD8\x3D\xDE\x00"sv, "\xF0\x9F\x98\x80"},
      {1202, "A\0\x3D\xD8\x00\xDE"sv, "A\xF0\x9F\x98\x80"},
      {1233, "\0\1\xF6\0"sv, "\xF0\x9F\x98\x80"},
      {1234, "A\0\0\0"sv, "A"},
      {37, "\xC1\xC2\xF1\x40\x5A", "AB1 !"},
      {500, "\xC1\x4F", "A!"},
      {1047, "\xAD\xBD", "[]"},
      {273, "\x4A\xC0\xA1", "\xC3\x84\xC3\xA4\xC3\x9F"},
      {1140, "\x9F", "\xE2\x82\xAC"},
      {1141, "\x9F", "\xE2\x82\xAC"},
      {1148, "\x9F", "\xE2\x82\xAC"},
      {437, "\x84", "\xC3\xA4"},
      {850, "\x84", "\xC3\xA4"},
      {858, "\xD5", "\xE2\x82\xAC"},
      {1252, "\x80", "\xE2\x82\xAC"},
      {5348, "\x80", "\xE2\x82\xAC"},
      {1251, "\xCF", "\xD0\x9F"},
      {943, "\x83\x65\x5C", "\xE3\x83\x86\\"},
      {954, "\xA4\xA2", "\xE3\x81\x82"},
      {1386, "\xC4\xE3", "\xE4\xBD\xA0"},
      {54936, "\xC4\xE3", "\xE4\xBD\xA0"},
      {950, "\xA7\x41", "\xE4\xBD\xA0"},
      {970, "\xB0\xA1", "\xEA\xB0\x80"},
      {949, "\xB0\xA1", "\xEA\xB0\x80"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.ccsid);
    CHECK(ccsid_decode(c.bytes, c.ccsid) == c.text);
    CHECK(ccsid_encode(c.text, c.ccsid) == c.bytes);
  }
}

TEST_CASE("ccsid: a byte order mark is honoured on input only") {
  using namespace std::string_view_literals;
  CHECK(ccsid_decode("\xFE\xFF\0A"sv, 1200) == "A");
  CHECK(ccsid_decode("\xFF\xFE"
                     "A\0"sv,
                     1200) == "A");
  CHECK(ccsid_encode("A", 1200) == "\0A"sv);
}

TEST_CASE("ccsid: errors name the place") {
  using namespace std::string_view_literals;
  CHECK(ccsid_decode("ab\xFF", 1208) ==
        "MS1251:The byte X'FF' at offset 2 is not valid text in the coded character set 1208.");
  CHECK(ccsid_decode("ab\x80", 367).substr(0, 6) == "MS1251");
  CHECK(ccsid_decode("\xD8\x00"sv, 1201).substr(0, 6) == "MS1253");
  CHECK(ccsid_decode("\xDC\x00\0A"sv, 1201).substr(0, 6) == "MS1251");
  CHECK(ccsid_decode("\0A\0"sv, 1200).substr(0, 6) == "MS1253");
  CHECK(ccsid_decode("A\x83", 943).substr(0, 6) == "MS1253");
  CHECK(
      ccsid_encode("ab\xE2\x82\xAC", 819) ==
      "MS1252:The character U+20AC at offset 2 cannot be written in the coded character set 819.");
  CHECK(ccsid_encode("x\xF0\x9F\x98\x80", 37).substr(0, 36) ==
        "MS1252:The character U+1F600 at offs");
  CHECK(ccsid_encode("\xE2\x82\xAC", 99999).substr(0, 6) == "MS1250");
  CHECK(ccsid_decode("a", -1).substr(0, 6) == "MS1250");
}

TEST_CASE("ccsid: which are known") {
  const int32_t known[] = {1208, 1200, 1201, 1202,  1209, 1232, 1233, 1234, 819,  923,  437,
                           850,  858,  37,   500,   273,  277,  278,  280,  284,  285,  297,
                           1047, 1140, 1141, 1142,  1143, 1144, 1145, 1146, 1147, 1148, 1250,
                           1251, 1252, 1253, 1254,  1255, 1256, 1257, 1258, 5348, 943,  932,
                           1381, 1383, 1386, 54936, 950,  949,  970,  954,  367};
  for (int32_t c : known) {
    CAPTURE(c);
    CHECK(is_known_ccsid(c));
    CHECK_FALSE(encoding_of_ccsid(c).empty());
    CHECK(ccsid_encode("abc 123", c).size() >= 7);
  }
  CHECK_FALSE(is_known_ccsid(0));
  CHECK_FALSE(is_known_ccsid(-5));
  CHECK_FALSE(is_known_ccsid(12345));
  CHECK_FALSE(is_known_ccsid(1000000));
}

TEST_CASE("ccsid: every byte of the one-byte sets comes back") {
  const int32_t one_byte[] = {819, 437,  850,  858,  37,   500,  273,  277,  278,  280,  284, 285,
                              297, 1047, 1140, 1141, 1142, 1143, 1144, 1145, 1146, 1147, 1148};
  for (int32_t c : one_byte) {
    for (int b = 0; b < 256; ++b) {
      std::string byte(1, static_cast<char>(b));
      std::string text = ccsid_decode(byte, c);
      if (text.substr(0, 2) == "MS" || ccsid_encode(text, c) != byte) FAIL(c << " byte " << b);
    }
  }
}

TEST_CASE("ccsid: encoding names") {
  struct Case {
    std::string_view name;
    int32_t ccsid;
  };
  const Case cases[] = {
      {"UTF-8", 1208},     {"utf8", 1208},      {"utf-16", 1200},    {"UTF-16LE", 1202},
      {"ISO-8859-1", 819}, {"latin1", 819},     {"us-ascii", 367},   {"windows-1252", 1252},
      {"cp1252", 1252},    {"IBM-1047", 1047},  {"ibm037", 37},      {"cp037", 37},
      {"IBM01140", 1140},  {"Shift_JIS", 943},  {"EUC-JP", 954},     {"gb18030", 54936},
      {"Big5", 950},       {"CCSID1208", 1208}, {"iso-8859-15", 923}};
  for (const Case& c : cases) {
    CAPTURE(c.name);
    CHECK(ccsid_of_encoding(c.name) == c.ccsid);
  }
  CHECK_FALSE(ccsid_of_encoding("").has_value());
  CHECK_FALSE(ccsid_of_encoding("klingon").has_value());
  CHECK_FALSE(ccsid_of_encoding("ibm-99999999").has_value());
  CHECK_FALSE(ccsid_of_encoding("cp").has_value());
  CHECK(encoding_of_ccsid(1208) == "UTF-8");
  CHECK(encoding_of_ccsid(1209) == "UTF-8");
  CHECK(encoding_of_ccsid(4711).empty());
}

TEST_CASE("ccsid: into an arena without a copy where no byte changes") {
  base::Arena arena;
  std::string_view ascii = "plain";
  auto a = to_utf8(ascii, 819, arena);
  REQUIRE(a.ok());
  CHECK(a.value().data() == ascii.data());
  auto b = to_utf8("\xE4", 819, arena);
  REQUIRE(b.ok());
  CHECK(b.value() == "\xC3\xA4");
  CHECK_FALSE(to_utf8("\xFF", 1208, arena).ok());
  auto c = from_utf8(ascii, 1208, arena);
  REQUIRE(c.ok());
  CHECK(c.value().data() == ascii.data());
  auto d = from_utf8("A", 37, arena);
  REQUIRE(d.ok());
  CHECK(d.value() == "\xC1");
}

TEST_CASE("ccsid: the shortcut for ASCII agrees with the conversion") {
  base::Arena arena;
  for (int32_t ccsid : {367,  437,  813,  819,  850,  852,  855,  857,  858,  866,  912,  913,
                        914,  915,  916,  920,  921,  923,  1089, 1250, 1251, 1252, 1253, 1254,
                        1255, 1256, 1257, 1258, 5346, 5347, 5348, 5349, 5350, 37,   1047, 943}) {
    for (int b = 0; b < 128; ++b) {
      std::string byte(1, static_cast<char>(b)), slow;
      auto fast = to_utf8(byte, ccsid, arena);
      REQUIRE(to_utf8(byte, ccsid, slow).ok());
      if (!fast.ok() || fast.value() != slow) FAIL(ccsid << " byte " << b);
      auto fast_back = from_utf8(slow, ccsid, arena);
      std::string back;
      REQUIRE(from_utf8(slow, ccsid, back).ok());
      if (!fast_back.ok() || fast_back.value() != back) FAIL(ccsid << " back " << b);
    }
  }
}

}  // namespace millstream::text
