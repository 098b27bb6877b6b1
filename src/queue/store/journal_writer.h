// The journal's end: units go in from any thread, one worker writes them in blocks, one write in
// flight, no timer. While a block is written the next one fills: that is all of group commit.
//
// append() reserves room and order under a short lock, copies outside of it and marks the frame
// ready; a block is sealed at the last frame before which all are ready, so that a producer that
// lost its processor holds up nobody but those behind it. A unit larger than a chunk is written as
// chunks that follow each other, then a frame that makes them count.
// Thread: append() any; the rest on the log worker, or before it starts and after it has stopped.
#pragma once
#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "base/executor.h"
#include "io/aligned_buffer.h"
#include "queue/store/shared.h"
#include "queue/store/teller.h"

namespace millstream::queue::store {

class JournalWriter {
 public:
  JournalWriter(StoreShared& shared, Teller& teller) : shared_(shared), teller_(teller) {}

  // Writes the first block of a new epoch into a fresh segment; blocks.
  Status begin_epoch(uint32_t segment, const EpochBody& body);
  void set_worker(base::Worker* worker) { worker_ = worker; }
  void append(const RedoUnit& unit, Pending& pending);
  // For the checkpoint: writes a prepare again, unless its outcome is on the way. False then.
  bool append_again(const RedoUnit& prepare, Pending& pending);
  // Writes one block, if there is anything to write. True: there may be more.
  bool step();
  // Writes the empty block that covers the last one.
  Status cover();
  // From a block that is still in memory; false: it is not. `offset` is of the segment.
  bool copy_recent(uint32_t segment, uint64_t offset, void* out, size_t bytes) const;
  Position end() const { return position_; }

 private:
  struct Entry {
    uint32_t offset = 0;
    uint32_t bytes = 0;
    FrameType type = FrameType::kUnit;
    Pending* pending = nullptr;
    std::shared_ptr<const std::string> image;  // of kChunkedUnit: shared by no one else for long
    std::atomic<bool> is_ready{false};
  };
  struct Block {
    explicit Block(size_t bytes) : memory(bytes), entries(new Entry[kEntriesMax]) {}
    static constexpr uint32_t kEntriesMax = 4096;
    io::AlignedBuffer memory;
    std::unique_ptr<Entry[]> entries;
    uint32_t count = 0;  // reserved
    uint32_t first = 0;  // not yet written
    uint32_t used = sizeof(BlockHeader);
    Position position;  // once written as a whole
  };
  using BlockPtr = std::unique_ptr<Block>;

  Block& block_for(size_t bytes);
  Entry& reserve(Block** block, size_t bytes, FrameType type, Pending* pending);
  bool append_image(const RedoUnit& unit, Pending& pending, size_t bytes, uint8_t flags,
                    bool is_again);
  bool note_outcome(const RedoUnit& unit, bool is_again);
  BlockPtr new_block();
  Status write_block(char* memory, size_t payload_bytes, uint32_t frames, Position at,
                     uint64_t sequence);
  Status ensure_segment(size_t padded_bytes, bool* is_stalled);
  // `memory` holds the block whose first frame is that of entry `from`; it lies at `at`.
  struct Batch {
    Block* block = nullptr;
    uint32_t from = 0, to = 0;
    char* memory = nullptr;
    size_t first_frame = 0;    // offset in `memory` of the batch's first frame
    size_t payload_bytes = 0;  // of the block
    Position at;
    uint64_t sequence = 0;
  };
  bool next_batch(Batch* batch);
  void gather(Batch* batch);
  void apply(const Batch& batch);
  void apply_entry(const Entry& entry, const char* frame, uint64_t offset, const Batch& batch);
  void forget_outcome(std::string_view image);
  void complete(const Batch& batch);
  void retire(const Batch& batch);
  void plan_cover();

  StoreShared& shared_;
  Teller& teller_;
  base::Worker* worker_ = nullptr;
  std::mutex append_mutex_;
  std::deque<BlockPtr> blocks_;  // the last one fills
  std::vector<BlockPtr> pool_;
  std::multiset<std::string, std::less<>> outcomes_on_the_way_;
  mutable std::mutex recent_mutex_;
  std::deque<BlockPtr> recent_;

  // The worker's own.
  SegmentFile file_;
  uint64_t incarnation_ = 0;
  Position position_;
  Position previous_;
  io::AlignedBuffer bounce_;
  std::shared_ptr<ChunkList> open_chunks_;
  Position open_chunks_at_;
  uint64_t open_chunks_sequence_ = 0;
  Teller::Told told_;
  int64_t last_write_ns_ = 0;
  bool is_covered_ = true;
#ifdef MS_SABOTAGE_REWRITTEN_PAGE
  std::string last_payload_;
  Position last_at_;
#endif
};

}  // namespace millstream::queue::store
