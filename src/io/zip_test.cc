#include "io/zip.h"

#include <doctest/doctest.h>
#include <zlib.h>

#include <cstring>

namespace millstream::io {
namespace {

void put(std::string& s, uint64_t v, int bytes) {
  for (int i = 0; i < bytes; ++i) s += static_cast<char>(v >> (8 * i));
}

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
  std::string out, directory;
  for (const TestEntry& e : entries) {
    const std::string data = e.is_deflated ? deflate_raw(e.content) : e.content;
    const uint32_t crc = static_cast<uint32_t>(crc32(
        0, reinterpret_cast<const Bytef*>(e.content.data()), static_cast<uInt>(e.content.size())));
    std::string common;
    put(common, 20, 2);
    put(common, 0, 2);
    put(common, e.is_deflated ? 8 : 0, 2);
    put(common, 0, 4);
    put(common, crc, 4);
    put(common, data.size(), 4);
    put(common, e.content.size(), 4);
    put(common, e.name.size(), 2);
    put(common, 0, 2);
    const size_t offset = out.size();
    put(out, 0x04034b50, 4);
    out += common + e.name + data;
    put(directory, 0x02014b50, 4);
    put(directory, 20, 2);
    directory += common;
    put(directory, 0, 2);
    put(directory, 0, 2);
    put(directory, 0, 2);
    put(directory, 0, 4);
    put(directory, offset, 4);
    directory += e.name;
  }
  const size_t start = out.size();
  out += directory;
  put(out, 0x06054b50, 4);
  put(out, 0, 4);
  put(out, entries.size(), 2);
  put(out, entries.size(), 2);
  put(out, directory.size(), 4);
  put(out, start, 4);
  put(out, 0, 2);
  return out;
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
