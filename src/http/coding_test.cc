#include "http/coding.h"

#include <doctest/doctest.h>
#include <zlib.h>

#include "http/errors_gen.h"

namespace millstream::http {
namespace {

constexpr size_t kLimit = 1 << 20;

std::string unpacked(Coding coding, std::string_view packed, size_t limit = kLimit) {
  net::BufferPool pool;
  net::Buffer out;
  auto size = decompress(coding, packed, pool, out, limit);
  return size.ok() ? std::string(out.data(), size.value()) : "error " + size.error().text;
}

TEST_CASE("coding: what is packed is unpacked, in every coding and size") {
  for (size_t size : {size_t{0}, size_t{1}, size_t{1000}, size_t{300'000}}) {
    std::string text;
    while (text.size() < size) text += "some text " + std::to_string(text.size() * 7919 % 1009);
    text.resize(size);
    for (Coding coding : {Coding::kGzip, Coding::kZlib, Coding::kRawDeflate}) {
      std::string packed;
      REQUIRE(compress(coding, text, packed).ok());
      CHECK((unpacked(coding, packed) == text));
      // Both forms go by the name of deflate.
      if (coding == Coding::kRawDeflate) CHECK((unpacked(Coding::kZlib, packed) == text));
      for (size_t cut : {size_t{0}, size_t{1}, packed.size() / 2, packed.size() - 1}) {
        CHECK(unpacked(coding, std::string_view(packed).substr(0, cut)).substr(0, 5) == "error");
      }
      CHECK(unpacked(coding, packed + "x").substr(0, 5) == "error");
    }
  }
}

TEST_CASE("coding: a bomb stops at the limit, before the memory is spent") {
  std::string packed;
  REQUIRE(compress(Coding::kGzip, std::string(200 << 20, '\0'), packed).ok());
  CHECK(packed.size() < 300'000);
  net::BufferPool pool;
  net::Buffer out;
  auto size = decompress(Coding::kGzip, packed, pool, out, kLimit);
  REQUIRE_FALSE(size.ok());
  CHECK(size.error().code == &errors::kDecompressedTooLarge);
  CHECK(pool.mapped_bytes() < 8 * kLimit);
  // Exactly the limit is not too much.
  REQUIRE(compress(Coding::kGzip, std::string(kLimit, 'a'), packed).ok());
  CHECK(unpacked(Coding::kGzip, packed).size() == kLimit);
  REQUIRE(compress(Coding::kGzip, std::string(kLimit + 1, 'a'), packed).ok());
  CHECK(unpacked(Coding::kGzip, packed).substr(0, 5) == "error");
}

TEST_CASE("coding: several gzip members are one body, up to a number") {
  std::string one, two, empty;
  REQUIRE(compress(Coding::kGzip, "one", one).ok());
  REQUIRE(compress(Coding::kGzip, "two", two).ok());
  CHECK(unpacked(Coding::kGzip, one + two) == "onetwo");
  REQUIRE(compress(Coding::kGzip, "", empty).ok());
  std::string many;
  for (int i = 0; i < 10'001; ++i) many += empty;
  CHECK(unpacked(Coding::kGzip, many).find("too many gzip members") != std::string::npos);
}

TEST_CASE("coding: damaged input is an error") {
  std::string packed;
  REQUIRE(compress(Coding::kGzip, std::string(5000, 'a') + "the end", packed).ok());
  for (size_t i = 0; i < packed.size(); ++i) {
    std::string bad = packed;
    bad[i] = static_cast<char>(bad[i] ^ 0x55);
    // Some bits of the gzip header mean nothing; never more comes out than went in.
    const std::string out = unpacked(Coding::kGzip, bad);
    CHECK((out.substr(0, 5) == "error" || out.size() == 5007));
  }
}

TEST_CASE("coding: names and what a client accepts") {
  CHECK(parse_coding("GZIP") == Coding::kGzip);
  CHECK(parse_coding(" x-gzip ") == Coding::kGzip);
  CHECK(parse_coding("deflate") == Coding::kZlib);
  CHECK(parse_coding("identity") == Coding::kIdentity);
  CHECK(parse_coding("") == Coding::kIdentity);
  CHECK(parse_coding("br") == Coding::kUnknown);
  CHECK(parse_coding("gzip, deflate") == Coding::kUnknown);
  struct Case {
    const char* accept;
    bool gzip;
  };
  for (const Case& c :
       {Case{"", true}, Case{"gzip", true}, Case{"deflate, GZIP;q=0.5", true},
        Case{"deflate", false}, Case{"gzip;q=0", false}, Case{"gzip; q=0.000", false},
        Case{"*", true}, Case{"*;q=0", false}, Case{"gzip;q=0, *", false}, Case{"identity", false},
        Case{",,gzip,", true}}) {
    CAPTURE(c.accept);
    CHECK(is_coding_accepted(c.accept, Coding::kGzip) == c.gzip);
  }
}

}  // namespace
}  // namespace millstream::http
