// Archives for tests: a ZIP writer of stored entries, and of entries that the test deflated itself.
// Thread: any.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace millstream::io {

struct TestZipEntry {
  std::string name, content;
  std::string deflated = {};  // raw DEFLATE of `content`; empty: the entry is stored
};

inline uint32_t zip_crc_for_test(std::string_view bytes) {
  uint32_t crc = 0xffffffff;
  for (char c : bytes) {
    crc ^= static_cast<uint8_t>(c);
    for (int i = 0; i < 8; ++i) crc = (crc >> 1) ^ (crc & 1 ? 0xedb88320u : 0u);
  }
  return ~crc;
}

inline void put_zip_number(std::string& s, uint64_t v, int bytes) {
  for (int i = 0; i < bytes; ++i) s += static_cast<char>(v >> (8 * i));
}

inline std::string make_test_zip(const std::vector<TestZipEntry>& entries) {
  std::string out, directory;
  for (const TestZipEntry& e : entries) {
    const std::string& data = e.deflated.empty() ? e.content : e.deflated;
    std::string common;
    put_zip_number(common, 20, 2);
    put_zip_number(common, 0, 2);
    put_zip_number(common, e.deflated.empty() ? 0 : 8, 2);
    put_zip_number(common, 0, 4);
    put_zip_number(common, zip_crc_for_test(e.content), 4);
    put_zip_number(common, data.size(), 4);
    put_zip_number(common, e.content.size(), 4);
    put_zip_number(common, e.name.size(), 2);
    put_zip_number(common, 0, 2);
    const size_t offset = out.size();
    put_zip_number(out, 0x04034b50, 4);
    out += common + e.name + data;
    put_zip_number(directory, 0x02014b50, 4);
    put_zip_number(directory, 20, 2);
    directory += common;
    put_zip_number(directory, 0, 2);
    put_zip_number(directory, 0, 2);
    put_zip_number(directory, 0, 2);
    put_zip_number(directory, 0, 4);
    put_zip_number(directory, offset, 4);
    directory += e.name;
  }
  const size_t start = out.size();
  out += directory;
  put_zip_number(out, 0x06054b50, 4);
  put_zip_number(out, 0, 4);
  put_zip_number(out, entries.size(), 2);
  put_zip_number(out, entries.size(), 2);
  put_zip_number(out, directory.size(), 4);
  put_zip_number(out, start, 4);
  put_zip_number(out, 0, 2);
  return out;
}

}  // namespace millstream::io
