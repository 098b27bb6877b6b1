#include "io/zip.h"

#include <doctest/doctest.h>
#include <zlib.h>

#include "io/zip_writer_for_test.h"

namespace millstream::io {
namespace {

struct TestEntry {
  std::string name, content;
  bool is_deflated = false;
};

std::string deflate_raw(const std::string& in) {
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  std::string out(deflateBound(&stream, in.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return out;
}

std::string make_zip(const std::vector<TestEntry>& entries) {
  std::vector<TestZipEntry> all;
  for (const TestEntry& e : entries) {
    all.push_back({e.name, e.content, e.is_deflated ? deflate_raw(e.content) : std::string()});
  }
  return make_test_zip(all);
}

TEST_CASE("stored and deflated entries, Windows separators, folders left out") {
  std::string zip =
      make_zip({{"a.txt", "hello"}, {"dir\\b.txt", std::string(5000, 'x'), true}, {"dir/", ""}});
  auto entries = read_zip(zip, "t.bar");
  REQUIRE(entries.ok());
  REQUIRE(entries.value().size() == 2);
  CHECK(entries.value()[0].content == "hello");
  CHECK(entries.value()[1].name == "dir/b.txt");
  CHECK(entries.value()[1].content == std::string(5000, 'x'));
  CHECK(is_zip(zip));
}

TEST_CASE("names that leave the archive are refused") {
  CHECK_FALSE(read_zip(make_zip({{"../a", "x"}}), "t").ok());
  CHECK_FALSE(read_zip(make_zip({{"a\\..\\..\\b", "x"}}), "t").ok());
  auto absolute = read_zip(make_zip({{"/etc/passwd", "x"}}), "t");
  REQUIRE(absolute.ok());
  CHECK(absolute.value()[0].name == "etc/passwd");
}

TEST_CASE("limits hold before memory is spent") {
  ZipLimits limits;
  limits.entry_bytes_max = 100;
  auto result = read_zip(make_zip({{"bomb", std::string(101, '0'), true}}), "t", limits);
  REQUIRE_FALSE(result.ok());
  CHECK(result.error().code->number == 1061);
}

TEST_CASE("every truncation and every flipped byte is an error or a whole archive, never a crash") {
  const std::string zip = make_zip({{"a.txt", "hello hello hello", true}, {"b", "2"}});
  for (size_t n = 0; n < zip.size(); ++n) CHECK_FALSE(read_zip(zip.substr(0, n), "t").ok());
  for (size_t i = 0; i < zip.size(); ++i) {
    std::string damaged = zip;
    damaged[i] = static_cast<char>(damaged[i] ^ 0xff);
    (void)read_zip(damaged, "t");
  }
}

}  // namespace
}  // namespace millstream::io
