// One stored message or record by its location, wherever it lies: in a block still in memory, in
// the journal (in one piece or in the chunks of a large unit), or in spill. The file is pinned
// while it is read: neither recycled nor removed. Checksums are verified. Thread: one a reader; any
// number of readers.
#pragma once
#include <memory>
#include <string>

#include "io/aligned_buffer.h"
#include "queue/store/journal_writer.h"
#include "queue/store/shared.h"

namespace millstream::queue::store {

struct ReadMessage {
  PutHead head;
  std::string header, body;
};

struct ReadRecord {
  RecordHead head;
  std::string key, value;
};

class EntryReader {
 public:
  // `window_bytes` is read at once from a file: what lies behind an entry comes for free.
  EntryReader(StoreShared& shared, const JournalWriter& writer, uint64_t window_bytes)
      : shared_(shared), writer_(writer), window_bytes_(window_bytes) {}

  Result<ReadMessage> message(Location location);
  Result<ReadRecord> record(Location location);
  // Only when nothing has to be read from a disk.
  bool message_in_memory(Location location, ReadMessage* message);
  // Content read before is not believed any more: files may have been used again.
  void forget() { window_file_ = nullptr; }

 private:
  // Where an entry's bytes are; holds the pin.
  class Source {
   public:
    Source(EntryReader& reader, Location location);
    ~Source();
    Source(const Source&) = delete;
    Source& operator=(const Source&) = delete;
    bool is_known() const { return is_known_; }
    uint64_t begin() const { return place_.offset; }
    Status read(uint64_t offset, void* out, size_t bytes);
    bool copy_recent(uint64_t offset, void* out, size_t bytes) const;
    // Whether a range can be there at all; asked before memory is made for it.
    bool holds(uint64_t offset, uint64_t bytes) const;
    Status corrupt(const char* what) const;

   private:
    Status read_file(uint32_t segment, uint64_t offset, void* out, size_t bytes);
    EntryReader& reader_;
    Location location_;
    bool is_known_ = false;
    bool is_spill_ = false;
    EntryPlace place_;
    std::shared_ptr<io::DiskFile> file_;
    uint64_t file_bytes_ = 0;
  };
  Status read_window(const std::shared_ptr<io::DiskFile>& file, uint64_t file_bytes,
                     uint64_t offset, size_t bytes);

  StoreShared& shared_;
  const JournalWriter& writer_;
  uint64_t window_bytes_;
  io::AlignedBuffer window_;
  std::shared_ptr<io::DiskFile> window_file_;
  uint64_t window_from_ = 0, window_to_ = 0;
};

}  // namespace millstream::queue::store
