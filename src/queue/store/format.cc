#include "queue/store/format.h"

#include <cstring>

#include "base/assert.h"
#include "io/crc32c.h"

namespace millstream::queue::store {
namespace {

uint32_t header_crc(BlockHeader header) {
  header.header_crc = 0;
  return io::crc32c(&header, sizeof header);
}

}  // namespace

size_t seal_block(char* block, BlockHeader header, size_t payload_bytes) {
  MS_ASSERT(header.magic != 0);
  MS_CHECK(payload_bytes < kBlockBytesMax);
  header.payload_bytes = static_cast<uint32_t>(payload_bytes);
  header.payload_crc = io::crc32c(block + sizeof header, payload_bytes);
  header.header_crc = header_crc(header);
  std::memcpy(block, &header, sizeof header);
  const size_t used = sizeof header + payload_bytes;
  const size_t padded = pad_page(used);
  std::memset(block + used, 0, padded - used);
  return padded;
}

bool has_block_header(const char* page, uint32_t magic, BlockHeader* header) {
  std::memcpy(header, page, sizeof *header);
  return header->magic == magic && !crc_differs(header_crc(*header), header->header_crc);
}

BlockState check_block(const char* block, uint64_t available, uint32_t magic, BlockHeader* header) {
  MS_ASSERT(available >= sizeof *header);
  if (!has_block_header(block, magic, header)) {
    return header->magic == magic ? BlockState::kTornHeader : BlockState::kNoHeader;
  }
  if (header->version > kFormatVersion) return BlockState::kNewerVersion;
  if (header->payload_bytes > available - sizeof *header) return BlockState::kTornPayload;
  const uint32_t crc = io::crc32c(block + sizeof *header, header->payload_bytes);
  return crc_differs(crc, header->payload_crc) ? BlockState::kTornPayload : BlockState::kValid;
}

uint64_t make_incarnation(uint64_t random, uint64_t key) {
  const uint64_t high = random >> 32;
  const uint64_t both[2] = {high, key};
  return high << 32 | io::crc32c(both, sizeof both);
}

bool is_own_incarnation(uint64_t incarnation, uint64_t key) {
  return make_incarnation(incarnation, key) == incarnation;
}

uint32_t put_crc(const PutHead& head, std::string_view header, std::string_view body) {
  MS_ASSERT(head.header_bytes == header.size());
  MS_ASSERT(head.body_bytes == body.size());
  PutHead plain = head;
  plain.crc = 0;
  plain.form = 0;  // where the body lies is no part of the message
  uint32_t crc = io::crc32c(&plain, sizeof plain);
  crc = io::crc32c(header.data(), header.size(), crc);
  return io::crc32c(body.data(), body.size(), crc);
}

uint32_t record_crc(const RecordHead& head, std::string_view key, std::string_view value) {
  MS_ASSERT(head.key_bytes == key.size());
  RecordHead plain = head;
  plain.crc = 0;
  uint32_t crc = io::crc32c(&plain, sizeof plain);
  crc = io::crc32c(key.data(), key.size(), crc);
  return io::crc32c(value.data(), value.size(), crc);
}

}  // namespace millstream::queue::store
