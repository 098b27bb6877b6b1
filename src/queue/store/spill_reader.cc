#include "queue/store/spill_reader.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/assert.h"
#include "queue/store/errors_gen.h"

namespace millstream::queue::store {

namespace {
Status spill_corrupt(const std::string& file, uint64_t offset, std::string what) {
  return base::make_error(errors::kStoreCorrupt,
                          {file, static_cast<int64_t>(offset), std::move(what)});
}
}  // namespace

std::string spill_file_name(uint32_t number) {
  char name[40];
  std::snprintf(name, sizeof name, "%s/%08u.spl", kSpillFolder, number);
  return name;
}

uint32_t spill_file_number(const std::string& name) {
  const auto number = static_cast<uint32_t>(std::strtoul(name.c_str(), nullptr, 10));
  return spill_file_name(number) == std::string(kSpillFolder) + "/" + name ? number : 0;
}

Status check_spill_header(io::DiskFile& file, uint32_t number, SpillKind kind,
                          uint64_t incarnation) {
  io::AlignedBuffer page(kPageBytes);
  MS_TRY(file.read(0, page.data(), kPageBytes));
  BlockHeader header;
  const BlockState state = check_block(page.data(), kPageBytes, kSpillMagic, &header);
  if (state == BlockState::kNewerVersion) {
    return base::make_error(errors::kStoreVersion, {file.name(), header.version, kFormatVersion});
  }
  if (state != BlockState::kValid || header.segment != number ||
      header.kind != static_cast<uint16_t>(kind) || header.incarnation != incarnation) {
    return spill_corrupt(file.name(), 0, "it is not the file that the checkpoint names");
  }
  return {};
}

Result<bool> SpillBlocks::next(std::string_view* payload, uint64_t* offset, uint32_t* frames) {
  if (at_ >= end_) return false;
  MS_ASSERT(at_ % kPageBytes == 0);
  block_.reserve(kPageBytes);
  MS_TRY(file_->read(at_, block_.data(), kPageBytes));
  BlockHeader header;
  if (!has_block_header(block_.data(), magic_, &header) || header.incarnation != incarnation_) {
    return spill_corrupt(file_->name(), at_, "the header of a block is damaged");
  }
  const uint64_t padded = pad_page(sizeof header + uint64_t{header.payload_bytes});
  if (padded > end_ - at_) {
    return spill_corrupt(file_->name(), at_, "a block is longer than its section");
  }
  if (padded > kPageBytes) {
    if (block_.size() < padded) {
      block_ = io::AlignedBuffer(padded);
      MS_TRY(file_->read(at_, block_.data(), padded));
    } else {
      MS_TRY(file_->read(at_ + kPageBytes, block_.data() + kPageBytes, padded - kPageBytes));
    }
  }
  if (check_block(block_.data(), padded, magic_, &header) != BlockState::kValid) {
    return spill_corrupt(file_->name(), at_, "the checksum of a block is wrong");
  }
  *payload = {block_.data() + sizeof header, header.payload_bytes};
  *offset = at_ + sizeof header;
  *frames = header.frames;
  at_ += padded;
  return true;
}

IndexCursor::IndexCursor(SpillTable* table, const SpillSection& section)
    : table_(table),
      blocks_(table->file, kIndexMagic, table->incarnation, section.index_offset,
              section.index_offset + section.index_bytes) {}

Result<bool> IndexCursor::next() {
  while (at_ + sizeof row_ > payload_.size()) {
    if (at_ < payload_.size()) {
      return spill_corrupt(table_->file->name(), 0, "an index block ends within a row");
    }
    uint64_t offset;
    uint32_t frames;
    if (!MS_TRY(blocks_.next(&payload_, &offset, &frames))) return false;
    at_ = 0;
  }
  std::memcpy(&row_, payload_.data() + at_, sizeof row_);
  at_ += sizeof row_;
  if (row_.slot >= table_->at.size() || row_.offset % 8 != 0 ||
      row_.offset + row_.entry_bytes > table_->used_bytes) {
    return spill_corrupt(table_->file->name(), row_.offset, "a row of the index points nowhere");
  }
  return true;
}

Status scan_record_file(const SpillTable& table,
                        const std::function<Status(const RecordView&, uint64_t)>& visit) {
  MS_ASSERT(table.kind == SpillKind::kRecords);
  for (const SpillSection& section : table.sections) {
    SpillBlocks blocks(table.file, kSpillMagic, table.incarnation, section.index_offset,
                       section.index_offset + section.index_bytes);
    std::string_view payload;
    uint64_t offset;
    uint32_t frames;
    while (MS_TRY(blocks.next(&payload, &offset, &frames))) {
      uint64_t at = 0;
      for (uint32_t i = 0; i < frames; ++i) {
        RecordView record;
        uint64_t bytes = 0;
        if (!read_record(payload, at, &record, &bytes)) {
          return spill_corrupt(table.file->name(), offset + at, "a record does not fit its block");
        }
        MS_TRY(visit(record, offset + at));
        at += bytes;
      }
    }
  }
  return {};
}

}  // namespace millstream::queue::store
