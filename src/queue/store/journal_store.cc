#include "queue/store/journal_store.h"

#include <atomic>
#include <deque>
#include <mutex>
#include <utility>

#include "base/assert.h"
#include "base/log.h"
#include "io/disk.h"
#include "queue/store/checkpoint.h"
#include "queue/store/entry_reader.h"
#include "queue/store/errors_gen.h"
#include "queue/store/journal_writer.h"
#include "queue/store/shared.h"
#include "queue/store/spill_reader.h"

namespace millstream::queue {
namespace {

constexpr uint64_t kColdReadBytes = 8 << 10;

class JournalStoreImpl final : public JournalStore {
 public:
  JournalStoreImpl(const StoreOptions& options, const StoreEnvironment& env,
                   StoreListener& listener)
      : env_(env),
        shared_(options, env.disk, env.clock, env.random, listener),
        teller_(shared_),
        writer_(shared_, teller_),
        checkpoint_(shared_, writer_),
        cold_reader_(shared_, writer_, kColdReadBytes) {}

  ~JournalStoreImpl() override {
    stop_workers();
    // Whoever waits for a read owns itself until it is told.
    for (const ColdRead& read : std::exchange(reads_, {})) {
      read.done->read(base::make_error(store::errors::kStoreClosed));
    }
  }

  Status start(RecoveryHandler& handler) {
    MS_TRY(env_.disk.lock());
    const int64_t begin_ns = env_.clock.monotonic_ns();
    store::Recovered recovered = MS_TRY(store::recover_store(shared_, handler));
    report_ = recovered.report;
    if (report_.is_new) MS_TRY(make_folders());
    shared_.epoch = recovered.end.epoch + 1;
    report_.epoch = shared_.epoch;
    if (report_.is_new) shared_.key = env_.random.next_u64() | 1;
    store::EpochBody body;
    body.end_sequence = recovered.end.next_sequence - 1;
    body.end_position = recovered.end.at.packed();
    for (const store::CutTail& tail : recovered.end.tails) body.cut_bytes += tail.bytes;
    const uint32_t segment = std::max(recovered.end.highest_segment, recovered.end.at.segment) + 1;
    shared_.state.next_sequence = recovered.end.next_sequence;
    Status begun = writer_.begin_epoch(segment, body);
    if (!begun.ok()) {
      return store::StoreShared::failure(store::kJournalFolder, 0, std::move(begun));
    }
    MS_TRY(checkpoint_.start(std::move(recovered)));
    report_.elapsed_ns = env_.clock.monotonic_ns() - begin_ns;
    log_report();
    tell_worker_ = env_.workers.start("ms-tell", [this] { return teller_.step(); });
    teller_.set_worker(tell_worker_.get());
    log_worker_ = env_.workers.start("ms-log", [this] { return writer_.step(); });
    writer_.set_worker(log_worker_.get());
    copy_worker_ = env_.workers.start("ms-checkpoint", [this] { return checkpoint_.step(); });
    read_worker_ = env_.workers.start("ms-read", [this] { return read_step(); });
    shared_.set_workers(log_worker_.get(), copy_worker_.get());
    shared_.wake_checkpoint();
    return {};
  }

  void append(const RedoUnit& unit, Pending& pending) override { writer_.append(unit, pending); }

  void read(Location location, ReadDone& done) override {
    store::ReadMessage message;
    store::EntryReader reader(shared_, writer_, 0);
    if (reader.message_in_memory(location, &message)) {
      done.read(StoredMessage{std::move(message.header), std::move(message.body)});
      return;
    }
    std::lock_guard lock(reads_mutex_);
    reads_.push_back({location, &done});
    if (read_worker_) read_worker_->wake();
  }

  bool admit(uint64_t bytes) const override {
    if (checkpoint_.admits(bytes)) return true;
    puts_refused_.fetch_add(1, std::memory_order_relaxed);
    return false;
  }
  uint64_t puts_refused() const override { return puts_refused_.load(std::memory_order_relaxed); }
  StoreUsage usage() const override { return checkpoint_.usage(); }

  void checkpoint() override {
    checkpoint_.request();
    shared_.wake_checkpoint();
  }

  Status close() override {
    stop_workers();
    teller_.finish();
    while (read_step()) {
    }
    // Twice, when the journal had to wait for the room that the checkpoint makes.
    for (int round = 0; round < 3 && !shared_.has_failed; ++round) {
      while (writer_.step()) {
      }
      MS_TRY(checkpoint_.finish());
      if (shared_.units_durable == shared_.appended) break;
    }
    if (shared_.has_failed) return base::make_error(store::errors::kStoreClosed);
    if (shared_.units_durable != shared_.appended) {
      return base::make_error(store::errors::kStoreFull, {"the journal has no room"});
    }
    return writer_.cover();
  }

  const store::RecoveryReport& recovery() const override { return report_; }

 private:
  struct ColdRead {
    Location location;
    ReadDone* done;
  };

  Status make_folders() {
    MS_TRY(env_.disk.make_folder(store::kJournalFolder));
    MS_TRY(env_.disk.make_folder(store::kSpillFolder));
    MS_TRY(env_.disk.make_folder(store::kCheckpointFolder));
    return env_.disk.sync_folder("");
  }

  void stop_workers() {
    shared_.set_workers(nullptr, nullptr);
    copy_worker_.reset();
    log_worker_.reset();
    writer_.set_worker(nullptr);
    tell_worker_.reset();
    teller_.set_worker(nullptr);
    read_worker_.reset();
  }

  bool read_step() {
    ColdRead next{};
    {
      std::lock_guard lock(reads_mutex_);
      if (reads_.empty()) return false;
      next = reads_.front();
      reads_.pop_front();
    }
    cold_reader_.forget();
    Result<store::ReadMessage> message = cold_reader_.message(next.location);
    if (message.ok()) {
      next.done->read(
          StoredMessage{std::move(message.value().header), std::move(message.value().body)});
    } else {
      next.done->read(std::move(message).take_status());
    }
    return true;
  }

  void log_report() const {
    for (const store::CutTail& tail : report_.tails) {
      base::log_warning("queue store " + env_.disk.path() + ": cut the torn block " +
                        std::to_string(tail.sequence) + " (" + std::to_string(tail.bytes) +
                        " bytes) in " + tail.file + " at offset " + std::to_string(tail.offset) +
                        "; it was never acknowledged");
    }
    if (!report_.damaged_manifest.empty()) {
      base::log_warning("queue store " + env_.disk.path() + ": " + report_.damaged_manifest +
                        " is not whole; the other checkpoint and its journal were used");
    }
  }

  StoreEnvironment env_;
  store::StoreShared shared_;
  store::Teller teller_;
  store::JournalWriter writer_;
  store::Checkpoint checkpoint_;
  store::EntryReader cold_reader_;
  store::RecoveryReport report_;
  std::mutex reads_mutex_;
  std::deque<ColdRead> reads_;
  mutable std::atomic<uint64_t> puts_refused_{0};
  std::unique_ptr<base::Worker> log_worker_, tell_worker_, copy_worker_, read_worker_;
};

}  // namespace

Result<std::unique_ptr<JournalStore>> JournalStore::open(const StoreOptions& options,
                                                         const StoreEnvironment& environment,
                                                         StoreListener& listener,
                                                         RecoveryHandler& handler) {
  MS_TRY(check_options(options));
  auto opened = std::make_unique<JournalStoreImpl>(options, environment, listener);
  MS_TRY(opened->start(handler));
  return std::unique_ptr<JournalStore>(std::move(opened));
}

}  // namespace millstream::queue
