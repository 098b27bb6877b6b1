#include "http/coding.h"

#include <zlib.h>

#include <algorithm>

#include "http/errors_gen.h"
#include "http/headers.h"

namespace millstream::http {

namespace {
constexpr int kGzipWindow = 15 + 16;
constexpr int kZlibWindow = 15;
constexpr int kRawWindow = -15;
constexpr size_t kFirstBytes = 16 * 1024;
constexpr size_t kGuessedRatio = 4;
constexpr int kMembersMax = 10'000;  // of a gzip file, each with a cost of its own

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

int window_of(Coding coding, std::string_view packed) {
  if (coding == Coding::kGzip) return kGzipWindow;
  if (coding == Coding::kRawDeflate || packed.size() < 2) return kRawWindow;
  // RFC 1950 2.2: the first two bytes of the zlib format.
  const unsigned first = static_cast<uint8_t>(packed[0]), second = static_cast<uint8_t>(packed[1]);
  const bool is_zlib = (first & 15) == 8 && (first << 8 | second) % 31 == 0;
  return is_zlib ? kZlibWindow : kRawWindow;
}

// Frees the state of zlib on every way out.
struct Inflater {
  z_stream stream{};
  bool is_open = false;
  ~Inflater() {
    if (is_open) inflateEnd(&stream);
  }
};

Status bad_coding(const char* why) { return base::make_error(errors::kBadCoding, {why}); }
}  // namespace

Coding parse_coding(std::string_view value) {
  value = trim(value);
  if (value.empty() || equals_ignore_case(value, "identity")) return Coding::kIdentity;
  if (equals_ignore_case(value, "gzip") || equals_ignore_case(value, "x-gzip")) {
    return Coding::kGzip;
  }
  if (equals_ignore_case(value, "deflate")) return Coding::kZlib;
  return Coding::kUnknown;
}

std::string_view coding_name(Coding coding) {
  switch (coding) {
    case Coding::kGzip:
      return "gzip";
    case Coding::kZlib:
    case Coding::kRawDeflate:
      return "deflate";
    default:
      return {};
  }
}

// RFC 9110 12.5.3, as far as the two codings need it.
bool is_coding_accepted(std::string_view accept_encoding, Coding coding) {
  if (trim(accept_encoding).empty()) return true;
  bool accepts_rest = false;
  while (!accept_encoding.empty()) {
    const size_t end = std::min(accept_encoding.find(','), accept_encoding.size());
    std::string_view item = accept_encoding.substr(0, end);
    accept_encoding.remove_prefix(std::min(end + 1, accept_encoding.size()));
    const size_t semicolon = std::min(item.find(';'), item.size());
    std::string_view weight = trim(item.substr(semicolon));
    if (!weight.empty()) weight = trim(weight.substr(1));
    bool is_zero = weight.size() >= 3 && (weight[0] | 0x20) == 'q';
    for (char c : weight.substr(std::min<size_t>(2, weight.size()))) {
      if (c != '0' && c != '.') is_zero = false;
    }
    const std::string_view name = trim(item.substr(0, semicolon));
    if (name == "*") accepts_rest = !is_zero;
    if (equals_ignore_case(name, coding_name(coding))) return !is_zero;
  }
  return accepts_rest;
}

Status compress(Coding coding, std::string_view plain, std::string& out) {
  const int window = coding == Coding::kGzip   ? kGzipWindow
                     : coding == Coding::kZlib ? kZlibWindow
                                               : kRawWindow;
  z_stream stream{};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, window, 8, Z_DEFAULT_STRATEGY) !=
      Z_OK) {
    return bad_coding("out of memory");
  }
  out.resize(deflateBound(&stream, plain.size()));
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(plain.data()));
  stream.avail_in = static_cast<uInt>(plain.size());  // bodies are far below 4 GiB
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int code = deflate(&stream, Z_FINISH);
  out.resize(stream.total_out);
  deflateEnd(&stream);
  return code == Z_STREAM_END ? Status() : bad_coding("it cannot be compressed");
}

Result<size_t> decompress(Coding coding, std::string_view packed, net::BufferPool& pool,
                          net::Buffer& out, size_t bytes_max) {
  if (coding != Coding::kGzip && coding != Coding::kZlib && coding != Coding::kRawDeflate) {
    return bad_coding("the coding is not known");
  }
  Inflater inflater;
  z_stream& stream = inflater.stream;
  if (inflateInit2(&stream, window_of(coding, packed)) != Z_OK) return bad_coding("out of memory");
  inflater.is_open = true;
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  size_t used = 0;
  size_t target = std::min(bytes_max + 1, std::max(kFirstBytes, packed.size() * kGuessedRatio));
  for (int members = 1;;) {
    if (!out || out.capacity() < target) {
      if (!pool.grow(out, used, target)) return bad_coding("out of memory");
    }
    const size_t room = std::min(out.capacity(), bytes_max + 1) - used;
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + used);
    stream.avail_out = static_cast<uInt>(room);
    const int code = inflate(&stream, Z_NO_FLUSH);
    used += room - stream.avail_out;
    if (used > bytes_max) return base::make_error(errors::kDecompressedTooLarge, {bytes_max});
    if (code == Z_STREAM_END) {
      // RFC 1952 2.2: a gzip file may have several members.
      if (coding != Coding::kGzip || stream.avail_in == 0) break;
      if (++members > kMembersMax) return bad_coding("it has too many gzip members");
      if (inflateReset(&stream) != Z_OK) return bad_coding("it is damaged");
      continue;
    }
    if (code != Z_OK && code != Z_BUF_ERROR) return bad_coding("it is damaged");
    if (stream.avail_out > 0 && stream.avail_in == 0) return bad_coding("its end is missing");
    target = std::min(bytes_max + 1, out.capacity() * 2);
  }
  if (stream.avail_in > 0) return bad_coding("there is something behind its end");
  return used;
}

}  // namespace millstream::http
