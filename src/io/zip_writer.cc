#include "io/zip_writer.h"

#include <zlib.h>

#include "io/errors_gen.h"

namespace millstream::io {
namespace {

constexpr uint64_t kArchiveBytesMax = 0xffffffffull;
constexpr size_t kArchiveEntriesMax = 65'535;
constexpr uint32_t kFixedTime = 0x00210000;  // 1980-01-01 00:00, the first the format can say

void put_number(std::string& out, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i));
}

// Empty when it would not be shorter.
std::string deflate_bytes(std::string_view content) {
  z_stream stream{};
  if (::deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8,
                     Z_DEFAULT_STRATEGY) != Z_OK) {
    return {};
  }
  std::string out(content.size(), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
  stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const bool is_done = ::deflate(&stream, Z_FINISH) == Z_STREAM_END;
  out.resize(is_done ? stream.total_out : 0);
  ::deflateEnd(&stream);
  return out;
}

}  // namespace

void ZipWriter::add(std::string_view name, std::string_view content) {
  ++count_;
  if (out_.size() + content.size() > kArchiveBytesMax) {
    out_.resize(kArchiveBytesMax + 1);  // finish() refuses it
    return;
  }
  const std::string deflated = deflate_bytes(content);
  const std::string_view data = deflated.empty() ? content : std::string_view(deflated);
  std::string common;
  put_number(common, 20, 2);      // version 2.0
  put_number(common, 0x0800, 2);  // names are UTF-8
  put_number(common, deflated.empty() ? 0 : 8, 2);
  put_number(common, kFixedTime, 4);
  put_number(common, ::crc32_z(0, reinterpret_cast<const Bytef*>(content.data()), content.size()),
             4);
  put_number(common, data.size(), 4);
  put_number(common, content.size(), 4);
  put_number(common, name.size(), 2);
  put_number(common, 0, 2);
  put_number(directory_, 0x02014b50, 4);
  put_number(directory_, 20, 2);
  directory_ += common;
  put_number(directory_, 0, 2);  // comment
  put_number(directory_, 0, 2);  // disk
  put_number(directory_, 0, 2);  // internal attributes
  put_number(directory_, 0, 4);  // external attributes
  put_number(directory_, out_.size(), 4);
  directory_ += name;
  put_number(out_, 0x04034b50, 4);
  out_ += common;
  out_ += name;
  out_ += data;
}

Result<std::string> ZipWriter::finish(const std::string& archive_name) && {
  const uint64_t start = out_.size();
  if (start + directory_.size() > kArchiveBytesMax || count_ > kArchiveEntriesMax) {
    return base::make_error(errors::kFileTooLarge,
                            {archive_name, static_cast<int64_t>(start + directory_.size()),
                             static_cast<int64_t>(kArchiveBytesMax)});
  }
  out_ += directory_;
  put_number(out_, 0x06054b50, 4);
  put_number(out_, 0, 4);
  put_number(out_, count_, 2);
  put_number(out_, count_, 2);
  put_number(out_, directory_.size(), 4);
  put_number(out_, start, 4);
  put_number(out_, 0, 2);
  return std::move(out_);
}

}  // namespace millstream::io
