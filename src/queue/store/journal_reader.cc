#include "queue/store/journal_reader.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/assert.h"
#include "queue/store/errors_gen.h"

namespace millstream::queue::store {

namespace {
constexpr uint64_t kReadBytes = 4 << 20;
}

Status JournalReader::corrupt(const Scanned& scanned, uint64_t offset, std::string what) const {
  return base::make_error(errors::kStoreCorrupt, {segment_file_name(scanned.file.name_number),
                                                  static_cast<int64_t>(offset), std::move(what)});
}

Status JournalReader::index() {
  io::AlignedBuffer page(kPageBytes);
  for (size_t i = 0; i < files_.size(); ++i) {
    Scanned& scanned = files_[i];
    if (scanned.file.bytes < kPageBytes) continue;
    MS_TRY(scanned.file.file->read(0, page.data(), kPageBytes));
    if (!has_block_header(page.data(), kJournalMagic, &scanned.first)) continue;
    if (scanned.first.version > kFormatVersion) {
      return base::make_error(errors::kStoreVersion, {segment_file_name(scanned.file.name_number),
                                                      scanned.first.version, kFormatVersion});
    }
    scanned.has_header = true;
    const auto [found, is_new] = segments_.emplace(scanned.first.segment, i);
    if (is_new) continue;
    // A torn first block may share its number with the segment that was written instead.
    if (files_[found->second].first.sequence < scanned.first.sequence) found->second = i;
  }
  return {};
}

uint64_t JournalReader::first_sequence(uint32_t segment) const {
  const auto found = segments_.find(segment);
  MS_CHECK(found != segments_.end());
  return files_[found->second].first.sequence;
}

Status JournalReader::read_window(const Scanned& scanned, uint64_t offset, uint64_t bytes) {
  MS_ASSERT(offset % kPageBytes == 0);
  const uint64_t end = std::min(scanned.file.bytes, offset + bytes);
  if (window_of_ == &scanned && window_from_ <= offset && end <= window_to_) return {};
  const uint64_t to = std::min(scanned.file.bytes, offset + std::max(bytes, kReadBytes));
  MS_ASSERT(to > offset);
  window_.reserve(to - offset);
  window_of_ = nullptr;
  MS_TRY(scanned.file.file->read(offset, window_.data(), to - offset));
  window_of_ = &scanned;
  window_from_ = offset;
  window_to_ = to;
  return {};
}

Status JournalReader::read_segment(const Scanned& scanned, Cursor* cursor, BlockVisitor& visitor) {
  JournalEnd& end = cursor->end;
  const std::string name = segment_file_name(scanned.file.name_number);
  for (;;) {
    const uint64_t offset = uint64_t{end.at.page} * kPageBytes;
    if (offset + kPageBytes > scanned.file.bytes) return {};
    MS_TRY(read_window(scanned, offset, kPageBytes));
    BlockHeader header;
    if (!has_block_header(window_at(offset), kJournalMagic, &header)) return {};
    if (header.version > kFormatVersion) {
      return base::make_error(errors::kStoreVersion, {name, header.version, kFormatVersion});
    }
    const uint64_t padded = pad_page(sizeof header + uint64_t{header.payload_bytes});
    if (header.sequence != end.next_sequence || header.segment != scanned.first.segment ||
        header.incarnation != scanned.first.incarnation || padded > scanned.file.bytes - offset) {
      return {};
    }
    MS_TRY(read_window(scanned, offset, padded));
    const char* block = window_at(offset);
    if (check_block(block, padded, kJournalMagic, &header) != BlockState::kValid) return {};
    if (header.durable_upto >= header.sequence) {
      return corrupt(scanned, offset, "a block claims that a later one is durable");
    }
    MS_TRY(visitor.block(header, end.at, name, {block + sizeof header, header.payload_bytes}));
    cursor->epoch = header.epoch;
    end.epoch = std::max(end.epoch, header.epoch);
    ++end.next_sequence;
    ++end.blocks;
    end.bytes += padded;
    end.at.page += static_cast<uint32_t>(padded / kPageBytes);
  }
}

// What a crash left at the end, when it can be told from older content of the file.
Status JournalReader::note_tail(const Scanned& scanned, Cursor* cursor, uint64_t* torn_pages) {
  *torn_pages = 0;
  const uint64_t offset = uint64_t{cursor->end.at.page} * kPageBytes;
  if (offset + kPageBytes > scanned.file.bytes) return {};
  MS_TRY(read_window(scanned, offset, kPageBytes));
  BlockHeader header;
  const bool has_header = has_block_header(window_at(offset), kJournalMagic, &header);
  if (has_header && header.sequence == cursor->end.next_sequence) {
    const uint64_t bytes = pad_page(sizeof header + uint64_t{header.payload_bytes});
    *torn_pages = bytes / kPageBytes;
    cursor->end.tails.push_back(
        {segment_file_name(scanned.file.name_number), offset, bytes, header.sequence});
  } else if (!has_header && header.magic == kJournalMagic) {
    *torn_pages = 1;
    cursor->end.tails.push_back({segment_file_name(scanned.file.name_number), offset, kPageBytes,
                                 cursor->end.next_sequence});
  } else if (has_header && header.sequence > cursor->end.next_sequence) {
    return corrupt(scanned, offset,
                   "block " + std::to_string(cursor->end.next_sequence) + " is missing, block " +
                       std::to_string(header.sequence) + " is in its place");
  }
  return {};
}

Status JournalReader::refuse_later_blocks(const Scanned& scanned, uint64_t from, uint64_t to,
                                          uint64_t sequence_min, const Cursor& cursor) {
  to = std::min(to, scanned.file.bytes);
  for (uint64_t offset = from; offset + kPageBytes <= to; offset += kPageBytes) {
    MS_TRY(read_window(scanned, offset, kPageBytes));
    BlockHeader header;
    std::memcpy(&header, window_at(offset), sizeof header);
    if (header.magic != kJournalMagic) continue;
    if (!has_block_header(window_at(offset), kJournalMagic, &header)) continue;
    if (header.sequence < sequence_min) continue;
    if (scanned.has_header && header.incarnation != scanned.first.incarnation) continue;
    if (!is_own_incarnation(header.incarnation, key_)) continue;
    const uint64_t bad = uint64_t{cursor.end.at.page} * kPageBytes;
    const bool is_same = scanned.has_header && scanned.first.segment == cursor.end.at.segment;
    return corrupt(scanned, is_same ? bad : 0,
                   "block " + std::to_string(cursor.end.next_sequence) +
                       " cannot be read, but block " + std::to_string(header.sequence) +
                       " at offset " + std::to_string(offset) + " is there");
  }
  return {};
}

// Whether the segment goes on where the log stands.
Result<bool> JournalReader::continues(const Scanned& scanned, Cursor* cursor, bool* is_torn) {
  JournalEnd& end = cursor->end;
  *is_torn = false;
  const uint64_t padded = pad_page(sizeof(BlockHeader) + uint64_t{scanned.first.payload_bytes});
  bool is_whole = padded <= scanned.file.bytes;
  BlockHeader header;
  if (is_whole) {
    MS_TRY(read_window(scanned, 0, padded));
    is_whole = check_block(window_at(0), padded, kJournalMagic, &header) == BlockState::kValid;
  }
  if (scanned.first.sequence != end.next_sequence) return false;
  if (!is_whole) {
    *is_torn = true;
    return false;
  }
  if (header.epoch == cursor->epoch) return true;
  FrameHeader frame;
  EpochBody body;
  if (header.payload_bytes < sizeof frame + sizeof body) return false;
  std::memcpy(&frame, window_at(0) + sizeof header, sizeof frame);
  std::memcpy(&body, window_at(0) + sizeof header + sizeof frame, sizeof body);
  return frame.type == static_cast<uint8_t>(FrameType::kEpoch) &&
         body.end_sequence == end.next_sequence - 1 && body.end_position == end.at.packed();
}

// Null: the log ends here.
Result<const JournalReader::Scanned*> JournalReader::next_segment(Cursor* cursor) {
  JournalEnd& end = cursor->end;
  const Scanned* here = nullptr;
  if (const auto found = segments_.find(end.at.segment); found != segments_.end()) {
    here = &files_[found->second];
  }
  const Scanned* torn = nullptr;
  for (auto next = segments_.upper_bound(end.at.segment); next != segments_.end(); ++next) {
    const Scanned& scanned = files_[next->second];
    bool is_torn = false;
    if (MS_TRY(continues(scanned, cursor, &is_torn))) return &scanned;
    if (is_torn && !torn) {
      torn = &scanned;
      const uint64_t bytes = pad_page(sizeof(BlockHeader) + uint64_t{scanned.first.payload_bytes});
      end.tails.push_back(
          {segment_file_name(scanned.file.name_number), 0, bytes, end.next_sequence});
      MS_TRY(refuse_later_blocks(scanned, bytes, scanned.file.bytes, end.next_sequence, *cursor));
      continue;
    }
    if (scanned.first.sequence < end.next_sequence) continue;  // torn by a crash before this epoch
    return corrupt(here ? *here : scanned, here ? uint64_t{end.at.page} * kPageBytes : 0,
                   "blocks from " + std::to_string(end.next_sequence) + " to " +
                       std::to_string(scanned.first.sequence - 1) + " cannot be read, but block " +
                       std::to_string(scanned.first.sequence) + " in " +
                       segment_file_name(scanned.file.name_number) + " is there");
  }
  MS_TRY(check_spares(cursor));
  return nullptr;
}

// The first block of a fresh segment may be the torn one; a whole one behind it is not lost by any
// crash.
Status JournalReader::check_spares(Cursor* cursor) {
  for (const Scanned& scanned : files_) {
    if (scanned.has_header && scanned.first.sequence >= cursor->end.next_sequence) continue;
    if (scanned.file.bytes < kPageBytes) continue;
    const bool is_used = scanned.has_header && scanned.first.segment == cursor->end.at.segment;
    if (is_used) continue;
    Scanned as_unknown{scanned.file, {}, false};
    window_of_ = nullptr;
    MS_TRY(refuse_later_blocks(as_unknown, 0, block_bytes_max_ + 2 * kPageBytes,
                               cursor->end.next_sequence, *cursor));
    window_of_ = nullptr;
  }
  return {};
}

Result<JournalEnd> JournalReader::replay(JournalPoint start, BlockVisitor& visitor) {
  Cursor cursor;
  cursor.end.at = start.at;
  cursor.end.next_sequence = start.sequence;
  const auto first = segments_.find(start.at.segment);
  if (first == segments_.end()) {
    return base::make_error(errors::kStoreCorrupt,
                            {kJournalFolder, 0,
                             "segment " + std::to_string(start.at.segment) +
                                 ", where the checkpoint begins, is missing"});
  }
  const Scanned* scanned = &files_[first->second];
  cursor.epoch = scanned->first.epoch;
  cursor.end.epoch = cursor.epoch;
  while (scanned) {
    MS_TRY(read_segment(*scanned, &cursor, visitor));
    uint64_t torn_pages = 0;
    MS_TRY(note_tail(*scanned, &cursor, &torn_pages));
    const uint64_t from = (cursor.end.at.page + std::max<uint64_t>(torn_pages, 1)) * kPageBytes;
    MS_TRY(
        refuse_later_blocks(*scanned, from, scanned->file.bytes, cursor.end.next_sequence, cursor));
    scanned = MS_TRY(next_segment(&cursor));
    if (scanned) cursor.end.at = {scanned->first.segment, 0};
  }
  for (const auto& [segment, i] : segments_) {
    cursor.end.highest_segment = std::max(cursor.end.highest_segment, segment);
  }
  return std::move(cursor.end);
}

}  // namespace millstream::queue::store
