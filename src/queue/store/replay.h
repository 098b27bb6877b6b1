// What recovery learns from the journal: messages by queue and sequence, and values of records.
// Thread: one.
#pragma once
#include <map>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "queue/store/journal_reader.h"
#include "queue/store/state.h"

namespace millstream::queue::store {

class Replay final : public ReplaySink, public BlockVisitor {
 public:
  struct Row {
    IndexEntry index;
    Location location;
    bool is_dead = false;
  };
  explicit Replay(StoreState& state) : state_(state) {}

  Status block(const BlockHeader& header, Position at, const std::string& file,
               std::string_view payload) override;

  bool put(QueueId queue, const IndexEntry& index, Location location) override;
  void get(QueueId queue, Sequence sequence) override;
  bool backout(QueueId queue, Sequence sequence, uint32_t count) override;
  void clear(QueueId queue, Sequence upto, bool is_deleted) override;
  void record(const std::string& key, std::string_view value, bool is_erased) override;

  Row* find(QueueId queue, Sequence sequence);
  const std::map<QueueId, std::vector<Row>>& rows() const { return rows_; }
  bool is_dead_in_spill(QueueId queue, Sequence sequence) const {
    return dead_.contains({queue, sequence});
  }
  const std::unordered_map<std::string, std::string>& records() const { return records_; }
  uint64_t units() const { return units_; }
  bool has_open_chunks() const { return chunks_ != nullptr; }

 private:
  Status frame(const FrameHeader& frame, std::string_view bytes, uint64_t offset);
  Status chunk(const FrameHeader& frame, std::string_view bytes, uint64_t offset);
  Status unit(std::string_view image, const EntryPlace& place, uint64_t offset);
  Status corrupt(uint64_t offset, const char* what) const;
  std::vector<Row>& rows_of(QueueId queue);

  StoreState& state_;
  std::map<QueueId, std::vector<Row>> rows_;
  QueueId last_queue_ = 0;
  std::vector<Row>* last_rows_ = nullptr;
  std::unordered_set<MessageKey, MessageKeyHash> dead_;
  std::unordered_map<std::string, std::string> records_;
  std::vector<Location> scratch_;
  std::string file_;
  Position at_;
  std::shared_ptr<ChunkList> chunks_;
  std::string image_;
  uint64_t units_ = 0;
  // The replay may begin in a block whose first frames end a unit that began before: the manifest
  // has that one.
  bool is_at_begin_ = true;
};

}  // namespace millstream::queue::store
