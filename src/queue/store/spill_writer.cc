#include "queue/store/spill_writer.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/assert.h"
#include "queue/store/spill_reader.h"

namespace millstream::queue::store {

namespace {
constexpr size_t kIndexRowsABlock = 800;  // just below 64 KiB
constexpr size_t kSectionRowsMax = 65536;

Status sync_spill_folder(io::Disk& disk) {
#ifdef MS_SABOTAGE_SKIPPED_DIRECTORY_SYNC
  static_cast<void>(disk);
  return {};
#else
  return disk.sync_folder(kSpillFolder);
#endif
}

// The place exists already: when it cannot be written, the state of the file is unknown, and no
// lack of room that goes by.
Status spill_write(io::DiskFile& file, uint64_t offset, const char* bytes, size_t size) {
  Status status = file.write_later(offset, bytes, size);
  return status.ok() ? Status() : StoreShared::failure(file.name(), offset, std::move(status));
}

Status spill_sync(io::DiskFile& file) {
  Status status = file.sync();
  return status.ok() ? Status() : StoreShared::failure(file.name(), 0, std::move(status));
}
}  // namespace

Status SpillFiles::start(uint32_t last_number) {
  last_number_ = last_number;
  for (const std::string& name : MS_TRY(shared_.disk.list(kSpillFolder))) {
    last_number_ = std::max(last_number_, spill_file_number(name));
  }
  return {};
}

Result<std::shared_ptr<io::DiskFile>> SpillFiles::create(uint64_t bytes, uint32_t* number) {
  MS_ASSERT(bytes % kPageBytes == 0);
  if (spare_ && bytes == shared_.options.spill_file_bytes) {
    *number = spare_number_;
    return std::exchange(spare_, nullptr);
  }
  *number = ++last_number_;
  std::shared_ptr<io::DiskFile> file = MS_TRY(shared_.disk.create(spill_file_name(*number), bytes));
  MS_TRY(sync_spill_folder(shared_.disk));
  return file;
}

Status SpillFiles::make_spare() {
  MS_ASSERT(!spare_);
  spare_ = MS_TRY(create(shared_.options.spill_file_bytes, &spare_number_));
  return {};
}

Status SpillFiles::remove(uint32_t number) {
  MS_TRY(shared_.disk.remove(spill_file_name(number)));
  return sync_spill_folder(shared_.disk);
}

uint64_t SpillWriter::index_bytes(size_t rows) const {
  if (kind_ == SpillKind::kRecords) return 0;
  const size_t whole = rows / kIndexRowsABlock;
  const size_t rest = rows % kIndexRowsABlock;
  return whole * pad_page(sizeof(BlockHeader) + kIndexRowsABlock * sizeof(IndexRow)) +
         (rest > 0 ? pad_page(sizeof(BlockHeader) + rest * sizeof(IndexRow)) : 0);
}

Status SpillWriter::open_file(uint64_t bytes) {
  uint32_t number = 0;
  std::shared_ptr<io::DiskFile> file = MS_TRY(files_.create(bytes, &number));
  BlockHeader header;
  header.magic = kSpillMagic;
  header.kind = static_cast<uint16_t>(kind_);
  header.incarnation = make_incarnation(shared_.random.next_u64(), shared_.key);
  header.segment = number;
  header.epoch = shared_.epoch;
  block_.reserve(std::max<uint64_t>(block_limit(), kPageBytes));
  const size_t padded = seal_block(block_.data(), header, 0);
  MS_TRY(spill_write(*file, 0, block_.data(), padded));
  std::lock_guard lock(shared_.state.mutex);
  SpillTable& table = shared_.state.spill[number];
  table.number = number;
  table.kind = kind_;
  table.incarnation = header.incarnation;
  table.file_bytes = bytes;
  table.used_bytes = padded;
  table.is_open = true;
  table.file = std::move(file);
  table_ = &table;
  at_ = section_begin_ = padded;
  used_ = sizeof(BlockHeader);
  frames_ = 0;
  blocks_ = 0;
  return {};
}

Status SpillWriter::flush_block() {
  if (frames_ == 0) return {};
  BlockHeader header;
  header.magic = kSpillMagic;
  header.kind = static_cast<uint16_t>(kind_);
  header.incarnation = table_->incarnation;
  header.sequence = ++blocks_;
  header.epoch = shared_.epoch;
  header.frames = frames_;
  header.segment = table_->number;
  const size_t padded = seal_block(block_.data(), header, used_ - sizeof header);
  MS_CHECK(at_ + padded <= table_->file_bytes);
  MS_TRY(spill_write(*table_->file, at_, block_.data(), padded));
  at_ += padded;
  used_ = sizeof header;
  frames_ = 0;
  return {};
}

// Room for an entry of so many bytes in the block being filled; a new block, section or file when
// it does not fit.
Result<char*> SpillWriter::reserve(uint64_t bytes, uint64_t* offset) {
  MS_ASSERT(bytes % 8 == 0);
  const uint64_t alone = kPageBytes + pad_page(sizeof(BlockHeader) + bytes) + index_bytes(1);
  const bool is_large = alone > shared_.options.spill_file_bytes / 2;
  if (table_ && frames_ > 0 && used_ + bytes > block_limit()) MS_TRY(flush_block());
  if (rows_.size() >= kSectionRowsMax) MS_TRY(end_section());
  if (table_) {
    const uint64_t end = at_ + pad_page(used_ + bytes) + index_bytes(rows_.size() + 1);
    if (end > table_->file_bytes || is_large) {
      MS_TRY(end_section());
      close_file();
    }
  }
  if (!table_) MS_TRY(open_file(is_large ? alone : shared_.options.spill_file_bytes));
  if (block_.size() < pad_page(used_ + bytes)) {
    MS_ASSERT(frames_ == 0);
    block_ = io::AlignedBuffer(used_ + bytes);
  }
  *offset = at_ + used_;
  char* out = block_.data() + used_;
  used_ += bytes;
  ++frames_;
  return out;
}

Location SpillWriter::add_slot(uint64_t offset, uint64_t bytes) {
  std::lock_guard lock(shared_.state.mutex);
  const uint32_t slot = table_->add(offset);
  table_->data_bytes += bytes;
  table_->live_bytes += bytes;
  return make_location(true, table_->number, slot);
}

Result<Location> SpillWriter::add_message(const PutHead& head, std::string_view header,
                                          std::string_view body) {
  MS_ASSERT(kind_ == SpillKind::kMessages);
  const uint64_t bytes = pad8(sizeof head + header.size() + body.size());
  uint64_t offset = 0;
  char* out = MS_TRY(reserve(bytes, &offset));
  PutHead own = head;
  own.form = 0;
  own.crc = put_crc(own, header, body);
  std::memcpy(out, &own, sizeof own);
  std::memcpy(out + sizeof own, header.data(), header.size());
  std::memcpy(out + sizeof own + header.size(), body.data(), body.size());
  const uint64_t used = sizeof own + header.size() + body.size();
  std::memset(out + used, 0, bytes - used);
  const Location location = add_slot(offset, bytes);
  rows_.push_back({own, offset, location_slot(location), static_cast<uint32_t>(bytes)});
  return location;
}

Result<Location> SpillWriter::add_record(const RecordHead& head, std::string_view key,
                                         std::string_view value) {
  MS_ASSERT(kind_ == SpillKind::kRecords);
  const uint64_t bytes = pad8(sizeof head + key.size() + value.size());
  uint64_t offset = 0;
  char* out = MS_TRY(reserve(bytes, &offset));
  RecordHead own = head;
  own.crc = record_crc(own, key, value);
  std::memcpy(out, &own, sizeof own);
  std::memcpy(out + sizeof own, key.data(), key.size());
  std::memcpy(out + sizeof own + key.size(), value.data(), value.size());
  const uint64_t used = sizeof own + key.size() + value.size();
  std::memset(out + used, 0, bytes - used);
  ++records_;
  return add_slot(offset, bytes);
}

Status SpillWriter::write_index() {
  std::sort(rows_.begin(), rows_.end(), [](const IndexRow& a, const IndexRow& b) {
    return a.head.queue != b.head.queue ? a.head.queue < b.head.queue
                                        : a.head.sequence < b.head.sequence;
  });
  io::AlignedBuffer block(pad_page(sizeof(BlockHeader) + kIndexRowsABlock * sizeof(IndexRow)));
  for (size_t from = 0; from < rows_.size(); from += kIndexRowsABlock) {
    const size_t n = std::min(kIndexRowsABlock, rows_.size() - from);
    std::memcpy(block.data() + sizeof(BlockHeader), &rows_[from], n * sizeof(IndexRow));
    BlockHeader header;
    header.magic = kIndexMagic;
    header.kind = static_cast<uint16_t>(kind_);
    header.incarnation = table_->incarnation;
    header.sequence = ++blocks_;
    header.epoch = shared_.epoch;
    header.frames = static_cast<uint32_t>(n);
    header.segment = table_->number;
    const size_t padded = seal_block(block.data(), header, n * sizeof(IndexRow));
    MS_CHECK(at_ + padded <= table_->file_bytes);
    MS_TRY(spill_write(*table_->file, at_, block.data(), padded));
    at_ += padded;
  }
  return {};
}

Status SpillWriter::end_section() {
  if (!table_ || (rows_.empty() && records_ == 0)) return {};
  MS_TRY(flush_block());
  SpillSection section;
  section.index_offset = kind_ == SpillKind::kMessages ? at_ : section_begin_;
  section.rows = kind_ == SpillKind::kMessages ? static_cast<uint32_t>(rows_.size()) : records_;
  MS_TRY(write_index());
  section.index_bytes = at_ - section.index_offset;
  unsynced_.push_back(table_);
  {
    std::lock_guard lock(shared_.state.mutex);
    table_->sections.push_back(section);
    table_->used_bytes = at_;
    for (const IndexRow& row : rows_) table_->extend_range(row.head.queue, row.head.sequence);
  }
  section_begin_ = at_;
  rows_.clear();
  records_ = 0;
  return {};
}

Status SpillWriter::seal() {
  MS_TRY(end_section());
  std::sort(unsynced_.begin(), unsynced_.end());
  unsynced_.erase(std::unique(unsynced_.begin(), unsynced_.end()), unsynced_.end());
#ifndef MS_SABOTAGE_SKIPPED_FLUSH
  for (SpillTable* table : unsynced_) MS_TRY(spill_sync(*table->file));
#endif
  unsynced_.clear();
  return {};
}

void SpillWriter::abandon() {
  std::lock_guard lock(shared_.state.mutex);
  if (table_) {
    // Slots of the open section are taken back; nobody knows them yet.
    size_t kept = 0;
    for (const SpillSection& section : table_->sections) kept += section.rows;
    for (auto slot = static_cast<uint32_t>(kept); slot < table_->at.size(); ++slot) {
      table_->release(slot);
    }
    table_->at.resize(kept);
    table_->bits.resize((kept + 63) / 64);
    at_ = section_begin_;
  }
  used_ = sizeof(BlockHeader);
  frames_ = 0;
  rows_.clear();
  records_ = 0;
}

void SpillWriter::close_file() {
  std::lock_guard lock(shared_.state.mutex);
  if (table_) table_->is_open = false;
  table_ = nullptr;
}

}  // namespace millstream::queue::store
