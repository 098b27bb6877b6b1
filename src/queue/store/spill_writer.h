// Appends survivors to files of their kind. A section is a run of data blocks and then its index;
// sections are immutable, the file takes new ones until it is full. A message too large for a
// shared file gets one of its own.
//
// Nothing counts before seal() has synced it and a manifest names it, so a crash or a full disk in
// the middle leaves only bytes that nobody refers to.
// Thread: the checkpoint worker; tables are changed under the state's mutex.
#pragma once
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "io/aligned_buffer.h"
#include "queue/store/shared.h"

namespace millstream::queue::store {

// The files themselves: numbers, one spare, removal. Shared by the writers of both kinds.
class SpillFiles {
 public:
  explicit SpillFiles(StoreShared& shared) : shared_(shared) {}
  Status start(uint32_t last_number);
  // A new file of zeros, its entry in the folder durable.
  Result<std::shared_ptr<io::DiskFile>> create(uint64_t bytes, uint32_t* number);
  Status make_spare();
  bool has_spare() const { return spare_ != nullptr; }
  Status remove(uint32_t number);
  uint32_t last_number() const { return last_number_; }

 private:
  StoreShared& shared_;
  uint32_t last_number_ = 0;
  std::shared_ptr<io::DiskFile> spare_;
  uint32_t spare_number_ = 0;
};

class SpillWriter {
 public:
  SpillWriter(StoreShared& shared, SpillFiles& files, SpillKind kind)
      : shared_(shared), files_(files), kind_(kind) {}

  // kDiskFull: the caller calls abandon().
  Result<Location> add_message(const PutHead& head, std::string_view header, std::string_view body);
  Result<Location> add_record(const RecordHead& head, std::string_view key, std::string_view value);
  // Ends the open section and makes all since the last seal durable.
  Status seal();
  // Forgets the open section; what was sealed stays.
  void abandon();
  // No more sections for the open file, so that it can be rewritten.
  void close_file();

 private:
  Result<char*> reserve(uint64_t bytes, uint64_t* offset);
  Status open_file(uint64_t bytes);
  Status flush_block();
  Status write_index();
  Status end_section();
  Location add_slot(uint64_t offset, uint64_t bytes);
  uint64_t index_bytes(size_t rows) const;
  uint64_t block_limit() const { return shared_.options.spill_block_bytes; }

  StoreShared& shared_;
  SpillFiles& files_;
  SpillKind kind_;
  SpillTable* table_ = nullptr;  // the open file's; map nodes stay where they are
  uint64_t at_ = 0;              // where the block being filled will be
  uint64_t section_begin_ = 0;
  io::AlignedBuffer block_;
  uint64_t used_ = 0;
  uint32_t frames_ = 0;
  uint64_t blocks_ = 0;
  std::vector<IndexRow> rows_;
  uint32_t records_ = 0;
  std::vector<SpillTable*> unsynced_;
};

}  // namespace millstream::queue::store
