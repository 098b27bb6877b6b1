// A stand-in for the queue manager's core above a journal store on a simulated disk, with an
// oracle: the units appended, in order. After a crash the store must hold exactly what some number
// of them leaves, at least the acknowledged ones. For tests.
#pragma once
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/sim_executor.h"
#include "io/sim_disk.h"
#include "queue/store/journal_store.h"
#include "queue/store/memory_image.h"

namespace millstream::queue {

// Small files, so that every boundary is met often.
StoreOptions small_store_options();

// What a start told, with bodies once they were read.
struct StoreContent {
  struct Message {
    IndexEntry index;
    Location location;
    std::string header, body;
  };
  std::map<std::pair<QueueId, Sequence>, Message> messages;
  std::map<std::pair<uint8_t, std::string>, std::string> records;
  std::map<QueueId, Sequence> highest;
  struct Prepared {
    OwnedUnit unit;
    std::vector<Location> puts;
    std::vector<StoredMessage> bodies;
  };
  std::map<std::string, Prepared> prepared;
  std::map<std::string, uint8_t> heuristics;
  std::string order_error;
};

class ContentHandler final : public RecoveryHandler {
 public:
  explicit ContentHandler(StoreContent& content) : content_(content) {}
  Status record(uint8_t kind, std::string_view key, std::string_view value) override;
  Status message(QueueId queue, const IndexEntry& index, Location location) override;
  Status sequence(QueueId queue, Sequence highest) override;
  Status prepared(const RedoUnit& unit, std::span<const Location> puts) override;
  Status heuristic(std::string_view xid, uint8_t outcome) override;

 private:
  void stage(int now);
  StoreContent& content_;
  int stage_ = 0;
  std::pair<QueueId, Sequence> last_{0, 0};
};

// "" or what differs between the store's content and the oracle's.
std::string compare_content(const StoreContent& content, const MemoryImage& image);

class StoreRig final : public StoreListener {
 public:
  StoreRig(io::SimDisk& disk, uint64_t seed, StoreOptions options = small_store_options());
  ~StoreRig() override;

  // Opens the store, reads every body. On failure `open_error` says why.
  bool open();
  // The power goes, or only the process dies; the store object is destroyed without close().
  void drop(bool is_power_cut = true);
  Status close();
  // The content after open() against the oracle: "" when it is what the first k units leave, for a
  // k between those acknowledged and those appended. The oracle then goes on from there.
  std::string check();

  // The core's side. A unit's texts are copied.
  void append(RedoUnit unit);
  RedoPut make_put(QueueId queue, size_t header_bytes, size_t body_bytes);
  // A message of the queue that is there, durable and not locked: taken from the index.
  bool take(QueueId queue, RedoGet* get);
  void assign_sequences(RedoUnit* unit);
  std::string read_error(QueueId queue, Sequence sequence);  // reads and compares one message
  size_t depth(QueueId queue) const;
  std::vector<std::string> prepared_xids() const;  // durable, without outcome
  RedoUnit settle(const std::string& xid, bool is_commit);
  // One random unit or event.
  void random_step();
  void run() { sim.run_ready(); }
  bool settled() const { return acknowledged_ == units_.size(); }

  base::SimScheduler sim;
  std::unique_ptr<JournalStore> store;
  std::string open_error;
  std::string failure;  // what failed() said
  bool is_admitting = true;
  uint64_t moves = 0;
  StoreContent content;
  MemoryImage image;  // of what is acknowledged for sure

 private:
  struct Sent;
  bool moved(QueueId queue, Sequence sequence, Location from, Location to) override;
  void failed(const base::Error& error) override;
  void space_changed(bool admits_puts) override { is_admitting = admits_puts; }
  void acknowledge(Sent& sent, std::span<const Location> puts);
  bool read_bodies();
  QueueId random_queue();
  size_t random_size();
  RedoRecord random_record();
  void random_puts();
  void random_gets();
  void random_backout();
  void random_records();
  void random_clear(bool is_short_lived);
  void random_prepare();
  void random_settle();
  void random_forget();
  void build_index();

  io::SimDisk& disk_;
  StoreOptions options_;
  base::SeededRandom random_;
  base::SimWorkerFactory workers_;
  std::deque<std::unique_ptr<Sent>> units_;
  size_t acknowledged_ = 0;
  std::map<QueueId, std::map<Sequence, Location>> index_;
  std::map<std::pair<QueueId, Sequence>, Location> locked_;  // by prepared gets
  std::map<QueueId, Sequence> next_;
  std::map<std::string, RedoUnit> prepared_;  // content without texts
  size_t prepares_open_ = 0;
  std::set<std::string> heuristics_;
  std::deque<std::string> texts_;
  uint64_t last_id_ = 0;
  QueueId last_queue_ = 5;
  std::set<QueueId> deleted_;
  std::vector<QueueId> settling_;  // of the last settle()
  std::map<const Sent*, std::vector<QueueId>> settled_queues_;
};

}  // namespace millstream::queue
