#include "io/zip.h"

#include <zlib.h>

#include <algorithm>
#include <cstring>

#include "io/errors_gen.h"

namespace millstream::io {
namespace {

constexpr size_t kEndRecordBytes = 22;
constexpr size_t kCommentBytesMax = 65535;
constexpr size_t kDirectoryHeaderBytes = 46;
constexpr size_t kLocalHeaderBytes = 30;
constexpr uint16_t kStored = 0;
constexpr uint16_t kDeflate = 8;

uint16_t zip_u16(std::string_view s, size_t at) {
  return static_cast<uint16_t>(static_cast<uint8_t>(s[at]) | static_cast<uint8_t>(s[at + 1]) << 8);
}
uint32_t zip_u32(std::string_view s, size_t at) {
  return static_cast<uint32_t>(zip_u16(s, at)) | static_cast<uint32_t>(zip_u16(s, at + 2)) << 16;
}

Status not_a_zip(const std::string& name, std::string why) {
  return base::make_error(errors::kNotAZip, {name, std::move(why)});
}

Result<size_t> find_end_record(std::string_view archive, const std::string& name) {
  if (archive.size() >= kEndRecordBytes) {
    const size_t lowest =
        archive.size() - std::min(archive.size(), kEndRecordBytes + kCommentBytesMax);
    for (size_t at = archive.size() - kEndRecordBytes + 1; at-- > lowest;) {
      if (zip_u32(archive, at) == 0x06054b50) return at;
    }
  }
  return not_a_zip(name, "it has no end-of-directory record");
}

// The entry's name inside the archive, or an error when it would leave it.
Result<std::string> safe_name(std::string_view raw, const std::string& archive) {
  std::string name(raw);
  std::replace(name.begin(), name.end(), '\\', '/');
  while (!name.empty() && name.front() == '/') name.erase(0, 1);
  for (size_t at = 0; at <= name.size();) {
    size_t slash = std::min(name.find('/', at), name.size());
    if (std::string_view(name).substr(at, slash - at) == "..") {
      return not_a_zip(archive, "entry '" + name + "' points outside of it");
    }
    at = slash + 1;
  }
  if (name.find('\0') != std::string::npos) return not_a_zip(archive, "an entry name holds a NUL");
  return name;
}

Result<std::string> inflate_entry(std::string_view packed, size_t size, uint32_t crc,
                                  const std::string& where) {
  std::string out(size, '\0');
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) return not_a_zip(where, "zlib does not start");
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<uInt>(packed.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int result = inflate(&stream, Z_FINISH);
  const bool is_whole = result == Z_STREAM_END && stream.total_out == size;
  inflateEnd(&stream);
  if (!is_whole) return not_a_zip(where, "its compressed data is damaged");
  if (crc32(0, reinterpret_cast<const Bytef*>(out.data()), static_cast<uInt>(out.size())) != crc) {
    return not_a_zip(where, "its checksum does not match");
  }
  return out;
}

struct DirectoryHeader {
  uint16_t flags, method;
  uint32_t crc, packed_size, size, local_offset;
  std::string_view raw_name;
};

Result<std::string> read_entry(std::string_view archive, const DirectoryHeader& header,
                               const std::string& where) {
  const size_t local = header.local_offset;
  if (local > archive.size() || archive.size() - local < kLocalHeaderBytes ||
      zip_u32(archive, local) != 0x04034b50) {
    return not_a_zip(where, "its local header is missing");
  }
  const size_t data =
      local + kLocalHeaderBytes + zip_u16(archive, local + 26) + zip_u16(archive, local + 28);
  if (data > archive.size() || archive.size() - data < header.packed_size) {
    return not_a_zip(where, "its data is cut off");
  }
  std::string_view packed = archive.substr(data, header.packed_size);
  if (header.flags & 1) return not_a_zip(where, "it is encrypted");
  if (header.method == kStored && header.packed_size == header.size) return std::string(packed);
  if (header.method == kDeflate) return inflate_entry(packed, header.size, header.crc, where);
  return not_a_zip(where, "it uses compression method " + std::to_string(header.method));
}

// Calls visit(header, name of the entry) for each file of the archive, in the order of its
// directory.
template <typename Visit>
Status visit_directory(std::string_view archive, const std::string& name, const ZipLimits& limits,
                       Visit visit) {
  const size_t end = MS_TRY(find_end_record(archive, name));
  const size_t count = zip_u16(archive, end + 10);
  size_t at = zip_u32(archive, end + 16);
  if (count > limits.entries_max) {
    return base::make_error(errors::kZipLimit,
                            {name, "more than " + std::to_string(limits.entries_max) + " entries"});
  }
  uint64_t total = 0;
  for (size_t i = 0; i < count; ++i) {
    if (at > end || end - at < kDirectoryHeaderBytes || zip_u32(archive, at) != 0x02014b50) {
      return not_a_zip(name, "its directory is damaged");
    }
    const size_t name_size = zip_u16(archive, at + 28);
    const size_t rest = zip_u16(archive, at + 30) + zip_u16(archive, at + 32);
    if (end - at < kDirectoryHeaderBytes + name_size + rest) {
      return not_a_zip(name, "its directory is cut off");
    }
    DirectoryHeader header{zip_u16(archive, at + 8),
                           zip_u16(archive, at + 10),
                           zip_u32(archive, at + 16),
                           zip_u32(archive, at + 20),
                           zip_u32(archive, at + 24),
                           zip_u32(archive, at + 42),
                           archive.substr(at + kDirectoryHeaderBytes, name_size)};
    at += kDirectoryHeaderBytes + name_size + rest;
    std::string entry_name = MS_TRY(safe_name(header.raw_name, name));
    if (entry_name.empty() || entry_name.back() == '/') continue;
    total += header.size;
    if (header.size > limits.entry_bytes_max || total > limits.archive_bytes_max) {
      return base::make_error(errors::kZipLimit,
                              {name, "entry '" + entry_name + "' unpacks to too many bytes"});
    }
    MS_TRY(visit(header, std::move(entry_name)));
  }
  return {};
}

}  // namespace

bool is_zip(std::string_view bytes) {
  return bytes.size() >= kEndRecordBytes &&
         (bytes.substr(0, 4) == "PK\x03\x04" || bytes.substr(0, 4) == "PK\x05\x06");
}

Result<std::vector<ZipEntry>> read_zip(std::string_view archive, const std::string& name,
                                       const ZipLimits& limits) {
  std::vector<ZipEntry> entries;
  MS_TRY(visit_directory(
      archive, name, limits, [&](const DirectoryHeader& header, std::string entry_name) -> Status {
        std::string content = MS_TRY(read_entry(archive, header, name + "!/" + entry_name));
        entries.push_back({std::move(entry_name), std::move(content)});
        return {};
      }));
  return entries;
}

Result<std::vector<std::string>> list_zip(std::string_view archive, const std::string& name,
                                          const ZipLimits& limits) {
  std::vector<std::string> names;
  MS_TRY(visit_directory(archive, name, limits, [&](const DirectoryHeader&, std::string entry) {
    names.push_back(std::move(entry));
    return Status();
  }));
  return names;
}

}  // namespace millstream::io
