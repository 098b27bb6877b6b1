// The bytes of the store's files, version 1. docs/internals/queue-store.md draws them.
//
// A block is a header of 64 bytes and a payload, padded with zeros to the page; it begins on a
// fresh page, and no page of a block is ever written again while it counts. The journal's payload
// is frames; that of spill files, put entries or record entries, or index entries; a manifest is
// one block. Everything is little-endian and starts at a multiple of 8 bytes. Thread: any; nothing
// here has state.
#pragma once
#include <compare>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "queue/store/store.h"

namespace millstream::queue::store {

inline constexpr size_t kPageBytes = 4096;
inline constexpr uint16_t kFormatVersion = 1;
inline constexpr uint32_t kJournalMagic = 0x424A534D;   // "MSJB"
inline constexpr uint32_t kSpillMagic = 0x4253534D;     // "MSSB": data
inline constexpr uint32_t kIndexMagic = 0x4249534D;     // "MSIB": index of spilled messages
inline constexpr uint32_t kManifestMagic = 0x464D534D;  // "MSMF"
inline constexpr uint64_t kBlockBytesMax = 1ull << 32;  // of any file
inline constexpr uint64_t kUnitBytesMax = 3ull << 30;
inline constexpr size_t kXidBytesMax = 140;

struct BlockHeader {
  uint32_t magic = 0;
  uint16_t version = kFormatVersion;
  uint16_t kind = 0;         // of a spill file: SpillKind
  uint64_t incarnation = 0;  // random at each use of a file
  uint64_t sequence = 0;     // of the journal: grows by one for ever; else counts within the file
  uint32_t epoch = 0;        // one a start of the store
  uint32_t frames = 0;       // frames or entries of the payload
  uint32_t payload_bytes = 0;
  uint32_t payload_crc = 0;
  uint64_t previous = 0;      // Position::packed() of the block before, 0: none
  uint64_t durable_upto = 0;  // highest sequence known durable when this one was built
  uint32_t segment = 0;       // the file's number in its order of use, from 1
  uint32_t header_crc = 0;    // with 0 here
};
static_assert(sizeof(BlockHeader) == 64);

// A page of the journal.
struct Position {
  uint32_t segment = 0;
  uint32_t page = 0;
  auto operator<=>(const Position&) const = default;
  uint64_t packed() const { return static_cast<uint64_t>(segment) << 32 | page; }
  static Position unpack(uint64_t v) {
    return {static_cast<uint32_t>(v >> 32), static_cast<uint32_t>(v)};
  }
};

enum class FrameType : uint8_t { kUnit = 1, kChunk = 2, kChunkedUnit = 3, kEpoch = 4 };

inline constexpr uint8_t kFrameHasExtra = 0x80;  // in `type`: UnitExtra follows
inline constexpr uint8_t kFrameRelogged = 0x40;  // a prepare that the checkpoint wrote again

struct FrameHeader {
  uint32_t bytes = 0;  // with this header and the padding
  uint8_t type = 0;
  uint8_t kind = 0;  // RedoKind
  uint8_t outcome = 0;
  uint8_t xid_bytes = 0;
  uint32_t puts = 0;  // of kChunk: number of the chunk, from 0
  uint32_t gets = 0;
};
static_assert(sizeof(FrameHeader) == 16);

struct UnitExtra {
  uint32_t backouts = 0, records = 0, clears = 0, sequences = 0;
};
static_assert(sizeof(UnitExtra) == 16);

inline constexpr uint16_t kPutSharesBody = 1;  // 8 bytes follow: how far before this head it lies

// Also an entry of a spill file. `crc` is of the head with 0 here, the header and the body.
struct PutHead {
  uint32_t queue = 0;
  uint32_t crc = 0;
  uint64_t sequence = 0;
  uint64_t message_id_hash = 0, correlation_id_hash = 0, group_id_hash = 0;
  int64_t expires_gmt_ms = 0;
  uint32_t header_bytes = 0, body_bytes = 0;
  uint32_t backout_count = 0;
  uint8_t priority = 0, flags = 0;
  uint16_t form = 0;  // kPut...

  IndexEntry index() const {
    return {sequence,     message_id_hash, correlation_id_hash, group_id_hash, expires_gmt_ms,
            header_bytes, body_bytes,      backout_count,       priority,      flags};
  }
};
static_assert(sizeof(PutHead) == 64);

struct GetEntry {
  uint32_t queue = 0;
  uint32_t backout_count = 0;  // of a backout; a get has 0
  uint64_t sequence = 0;
  uint64_t location = 0;  // of use to the process that wrote it alone
};
static_assert(sizeof(GetEntry) == 24);

// Also an entry of a spill file. `crc` as in PutHead, over key and value.
struct RecordHead {
  uint32_t key_bytes = 0, value_bytes = 0;
  uint8_t kind = 0, is_erased = 0;
  uint16_t reserved = 0;
  uint32_t crc = 0;
};
static_assert(sizeof(RecordHead) == 16);

struct ClearEntry {
  uint32_t queue = 0, is_deleted = 0;
  uint64_t upto = 0;
};
static_assert(sizeof(ClearEntry) == 16);

// After the FrameHeader of a kChunk comes data alone; chunks of a unit follow each other in the
// journal without other frames between, and this ends them.
inline constexpr size_t kChunkBytes = 256 << 10;
struct ChunkedUnitBody {
  uint64_t image_bytes = 0;
  uint32_t chunks = 0;
  uint32_t crc = 0;  // of the image
};
static_assert(sizeof(ChunkedUnitBody) == 16);

// First frame of an epoch: where its predecessor ended, so that what lies behind that place is
// known for the torn tail it is.
struct EpochBody {
  uint64_t end_sequence = 0;  // last block that counts; 0 in a new store
  uint64_t end_position = 0;  // Position::packed() of the page after it
  uint64_t cut_bytes = 0;
};
static_assert(sizeof(EpochBody) == 24);

enum class SpillKind : uint16_t { kMessages = 1, kRecords = 2 };

struct IndexRow {
  PutHead head;
  uint64_t offset = 0;  // of the put entry in the file
  uint32_t slot = 0;    // number of the entry among those of the file
  uint32_t entry_bytes = 0;
};
static_assert(sizeof(IndexRow) == 80);

constexpr uint64_t pad8(uint64_t n) { return (n + 7) & ~uint64_t{7}; }
constexpr uint64_t pad_page(uint64_t n) { return (n + kPageBytes - 1) & ~uint64_t{kPageBytes - 1}; }

// Fills the checksums; `block` has the header and, behind it, the payload; zeroes the padding.
// Returns the padded size. The header's fields but payload_bytes and the checksums are set.
size_t seal_block(char* block, BlockHeader header, size_t payload_bytes);

enum class BlockState : uint8_t { kValid, kNoHeader, kTornHeader, kTornPayload, kNewerVersion };
// What the bytes at a page are. `available` counts from there; a payload beyond it is torn.
BlockState check_block(const char* block, uint64_t available, uint32_t magic, BlockHeader* header);
// Header alone.
bool has_block_header(const char* page, uint32_t magic, BlockHeader* header);

// An incarnation is random and, to those who know the store's key, recognisable as its own: bytes
// of a message that look like a block's header do not pass for one.
uint64_t make_incarnation(uint64_t random, uint64_t key);
bool is_own_incarnation(uint64_t incarnation, uint64_t key);

uint32_t put_crc(const PutHead& head, std::string_view header, std::string_view body);
uint32_t record_crc(const RecordHead& head, std::string_view key, std::string_view value);

// False in the sabotage build that ignores checksums: whether two checksums have to be equal.
constexpr bool crc_differs(uint32_t a, uint32_t b) {
#ifdef MS_SABOTAGE_IGNORED_CHECKSUM
  static_cast<void>(a);
  static_cast<void>(b);
  return false;
#else
  return a != b;
#endif
}

}  // namespace millstream::queue::store
