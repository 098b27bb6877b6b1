#include "queue/store/checkpoint.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "queue/store/errors_gen.h"
#include "queue/store/spill_reader.h"

namespace millstream::queue::store {

namespace {
constexpr uint64_t kCopyWindowBytes = 256 << 10;
constexpr uint64_t kCopyStepBytes = 1 << 20;
constexpr size_t kSwitchStepMoves = 256;
constexpr int64_t kRetryNs = 1'000'000'000;
}  // namespace

// A prepared unit that is written again, with its bytes until that is durable.
class Checkpoint::Relog final : public Pending {
 public:
  Relog(Checkpoint& owner, RedoUnit unit) : owner_(owner), unit_(std::move(unit)) {}
  void durable(std::span<const Location>) override {
    owner_.relogs_open_.fetch_sub(1);
    owner_.shared_.wake_checkpoint();
  }
  RedoUnit& unit() { return unit_; }
  std::deque<ReadMessage> messages;
  OwnedUnit content;

 private:
  Checkpoint& owner_;
  RedoUnit unit_;
};

Checkpoint::Checkpoint(StoreShared& shared, JournalWriter& writer)
    : shared_(shared),
      writer_(writer),
      reader_(shared, writer, kCopyWindowBytes),
      files_(shared),
      messages_(shared, files_, SpillKind::kMessages),
      records_(shared, files_, SpillKind::kRecords) {}

Checkpoint::~Checkpoint() = default;

Status Checkpoint::start(Recovered recovered) {
  Manifest& manifest = recovered.manifest;
  StoreState& state = shared_.state;
  MS_TRY(files_.start(manifest.last_spill_number));
  if (recovered.report.is_new) {
    Manifest first;
    first.generation = 1;
    first.key = shared_.key;
    first.epoch = shared_.epoch;
    first.start = {{state.applied_end.segment, 0}, state.next_sequence - 1};
    first.covered = first.floor = {state.applied_end, state.next_sequence};
    Status written = write_manifest(shared_.disk, 0, first);
    if (!written.ok()) return StoreShared::failure(manifest_name(0), 0, std::move(written));
    manifest = std::move(first);
    recovered.manifest_slot = 0;
    recovered.other_start = manifest.start;
  }
  generation_ = manifest.generation;
  slot_ = recovered.manifest_slot;
  start_ = manifest.start;
  floor_ = manifest.floor;
  other_start_ = recovered.other_start;
  last_begin_ns_ = shared_.clock.monotonic_ns();
  // Spill files that no manifest names were being written when the process ended; those that only
  // the older one names go when it has been replaced.
  for (const std::string& name : MS_TRY(shared_.disk.list(kSpillFolder))) {
    const uint32_t number = spill_file_number(name);
    if (number == 0 || state.spill.contains(number)) continue;
    const bool is_others = std::any_of(recovered.other_files.begin(), recovered.other_files.end(),
                                       [&](const ManifestFile& f) { return f.number == number; });
    removals_.push_back({number, is_others ? generation_ + 1 : 0, 0});
  }
  judge_space();
  if (shared_.segments.spares() < 2) is_requested_ = !recovered.report.is_new;
  return {};
}

bool Checkpoint::is_due() const {
  if (is_requested_.load() || shared_.wants_checkpoint.load()) return true;
  const uint64_t bytes = shared_.bytes_since_checkpoint.load();
  if (bytes == 0) return false;
  return bytes >= shared_.options.checkpoint_bytes ||
         shared_.clock.monotonic_ns() >= last_begin_ns_ + shared_.options.checkpoint_interval_ns;
}

bool Checkpoint::step() {
  if (shared_.has_failed.load()) return false;
  bool more = false;
  Status status = run_phase(&more);
  if (!status.ok() && io::is_disk_full(status.error()) && phase_ != Phase::kManifest) {
    abandon();
    return false;
  }
  if (!status.ok()) {
    if (status.error().code != &errors::kStoreFailed &&
        status.error().code != &errors::kStoreCorrupt) {
      status = StoreShared::failure(shared_.disk.path(), 0, std::move(status));
    }
    shared_.fail(status);
    return false;
  }
  return more;
}

Status Checkpoint::run_phase(bool* more) {
  *more = true;
  bool is_done = false;
  switch (phase_) {
    case Phase::kIdle:
      MS_TRY(maintain(more));
      if (*more) return {};
      if (is_due() && shared_.clock.monotonic_ns() >= retry_at_ns_) {
        begin();
        *more = true;
      } else {
        wait_idle();
      }
      return {};
    case Phase::kSweep:
      MS_TRY(sweep());
      phase_ = Phase::kCollect;
      return {};
    case Phase::kCollect:
      collect();
      phase_ = Phase::kCopy;
      return {};
    case Phase::kCopy:
      MS_TRY(copy(&is_done));
      if (is_done) phase_ = Phase::kSwitch;
      return {};
    case Phase::kSwitch:
      if (!knows_places()) {
        *more = false;
        return {};
      }
      switch_some(&is_done);
      if (is_done) phase_ = Phase::kRelog;
      return {};
    case Phase::kRelog:
      MS_TRY(relog());
      wait_for_ = shared_.appended.load();
      shared_.wake_when_durable = wait_for_;
      phase_ = Phase::kWait;
      return {};
    case Phase::kWait:
      if (!has_waited()) {
        *more = false;
        return {};
      }
      shared_.wake_when_durable = UINT64_MAX;
      relogs_.clear();
      // A prepared unit that was committed meanwhile has become messages that are too old.
      phase_ = has_old_entries() ? Phase::kCollect : Phase::kManifest;
      return {};
    case Phase::kManifest: {
      Status written = write(&is_done);
      if (!written.ok() && io::is_disk_full(written.error())) {
        shared_.lacks_space = true;
        judge_space();
        phase_ = Phase::kIdle;
        retry_at_ns_ = shared_.clock.monotonic_ns() + kRetryNs;
        is_requested_ = true;
        shared_.wake_checkpoint_at(retry_at_ns_);
        *more = false;
        return {};
      }
      MS_TRY(std::move(written));
      phase_ = is_done ? Phase::kIdle : Phase::kCollect;
      return {};
    }
  }
  return {};
}

void Checkpoint::begin() {
  is_requested_ = false;
  shared_.wants_checkpoint = false;
  last_begin_ns_ = shared_.clock.monotonic_ns();
  shared_.bytes_since_checkpoint = 0;
  work_.clear();
  moves_.clear();
  switched_ = 0;
  swept_.clear();
  appended_before_ = shared_.appended.load();
  relogged_ = relogged_bytes_ = 0;
  phase_ = Phase::kSweep;
}

// Messages of cleared and deleted queues leave spill by the listing; those in the journal are left
// out when they would be copied.
Status Checkpoint::sweep() {
  StoreState& state = shared_.state;
  std::vector<SpillTable*> tables;
  {
    std::lock_guard lock(state.mutex);
    for (const auto& [queue, mark] : state.cleared) swept_.emplace_back(queue, mark.at);
    if (swept_.empty()) return {};
    for (auto& [number, table] : state.spill) {
      if (table.kind != SpillKind::kMessages || table.live == 0) continue;
      const bool has_any = std::any_of(
          table.ranges.begin(), table.ranges.end(),
          [&](const SpillTable::Range& r) { return state.is_cleared(r.queue, r.lowest); });
      if (has_any) tables.push_back(&table);
    }
  }
  for (SpillTable* table : tables) {
    for (const SpillSection& section : table->sections) {
      IndexCursor cursor(table, section);
      while (MS_TRY(cursor.next())) {
        std::lock_guard lock(state.mutex);
        const PutHead& head = cursor.row().head;
        if (state.is_cleared(head.queue, head.sequence)) table->release(cursor.row().slot);
      }
    }
  }
  return {};
}

void Checkpoint::collect_table(JournalTable& table) {
  for (uint32_t slot = 0; slot < table.slots.size(); ++slot) {
    const JournalSlot& s = table.slots[slot];
    if (!(s.at & JournalSlot::kLive) || (s.at & JournalSlot::kHeld)) continue;
    if (table.segment == floor_.at.segment) {
      const EntryPlace place = table.place(slot);
      const uint64_t offset = place.chunks ? place.chunks->pieces.front().offset : place.offset;
      if (offset >= uint64_t{floor_.at.page} * kPageBytes) continue;
    }
    if (s.queue != 0 && shared_.state.is_cleared(s.queue, s.sequence)) {
      table.release(slot);
      continue;
    }
    work_.push_back(make_location(false, table.segment, slot));
  }
}

void Checkpoint::collect_sparse_spill() {
  const uint32_t percent = shared_.options.spill_live_percent;
  for (auto& [number, table] : shared_.state.spill) {
    if (table.is_open || table.retired_at != 0 || table.live == 0) continue;
    const uint64_t whole = std::min(table.file_bytes, shared_.options.spill_file_bytes);
    if (table.live_bytes * 100 >= whole * percent) continue;
    for (uint32_t slot = 0; slot < table.at.size(); ++slot) {
      if (table.is_live(slot)) work_.push_back(make_location(true, number, slot));
    }
  }
}

void Checkpoint::collect() {
  std::lock_guard lock(shared_.state.mutex);
  known_after_ = shared_.state.units_applied;
  for (JournalTable& table : shared_.state.journal) {
    if (table.segment > floor_.at.segment) break;
    if (table.live > 0) collect_table(table);
  }
  if (moves_.empty()) collect_sparse_spill();
}

// The core must know a place before it is told of another one: units that were applied when the
// places were collected may still be on their way to it.
bool Checkpoint::knows_places() {
  shared_.wake_when_durable = known_after_;
  if (shared_.units_durable.load() < known_after_) return false;
  shared_.wake_when_durable = UINT64_MAX;
  return true;
}

Status Checkpoint::copy_one(Location location) {
  StoreState& state = shared_.state;
  Move move;
  move.from = location;
  bool is_record = false;
  {
    std::lock_guard lock(state.mutex);
    if (!state.is_live(location)) return {};
    if (is_spill(location)) {
      is_record = state.find_spill(location_file(location))->kind == SpillKind::kRecords;
    } else {
      const JournalSlot& slot =
          state.find_segment(location_file(location))->slots[location_slot(location)];
      move.queue = slot.queue;
      move.sequence = slot.sequence;
      is_record = slot.queue == 0;
    }
  }
  if (is_record) {
    const ReadRecord record = MS_TRY(reader_.record(location));
    move.to = MS_TRY(records_.add_record(record.head, record.key, record.value));
    move.key = StoreState::record_key(record.head.kind, record.key);
    moves_.push_back(move);
    return {};
  }
  ReadMessage message = MS_TRY(reader_.message(location));
  if (is_spill(location)) {
    move.queue = message.head.queue;
    move.sequence = message.head.sequence;
  }
  message.head.sequence = move.sequence;  // a prepared put was written without
  {
    std::lock_guard lock(state.mutex);
    const auto count = state.backouts.find({move.queue, move.sequence});
    if (count != state.backouts.end()) message.head.backout_count = count->second;
  }
  move.backout_count = message.head.backout_count;
  move.to = MS_TRY(messages_.add_message(message.head, message.header, message.body));
  moves_.push_back(move);
  return {};
}

Status Checkpoint::copy(bool* is_done) {
  reader_.forget();
  uint64_t steps = 0;
  // Bounded by entries; each is at most a window or its own size.
  while (!work_.empty() && steps++ < kCopyStepBytes / 4096) {
    const Location location = work_.front();
    work_.pop_front();
    MS_TRY(copy_one(location));
  }
  if (!work_.empty()) return {};
  MS_TRY(messages_.seal());
  MS_TRY(records_.seal());
  *is_done = true;
  return {};
}

void Checkpoint::switch_one(const Move& move) {
  StoreState& state = shared_.state;
  bool was_live = false;
  {
    std::lock_guard lock(state.mutex);
    was_live = state.is_live(move.from);
    state.forward(move.from, move.to);
    if (!was_live) return;
    if (move.queue == 0) {
      const auto record = state.records.find(move.key);
      if (record != state.records.end() && state.resolve(record->second) == move.to) {
        record->second = move.to;
      }
      return;
    }
    const auto count = state.backouts.find({move.queue, move.sequence});
    if (count != state.backouts.end() && count->second == move.backout_count) {
      state.backouts.erase(count);
    }
  }
  shared_.listener.moved(move.queue, move.sequence, move.from, move.to);
}

void Checkpoint::switch_some(bool* is_done) {
  for (size_t n = 0; switched_ < moves_.size() && n < kSwitchStepMoves; ++n) {
    switch_one(moves_[switched_++]);
  }
  *is_done = switched_ == moves_.size();
}

// Prepares older than the floor would be lost with their segments.
Status Checkpoint::relog() {
  StoreState& state = shared_.state;
  std::vector<PreparedUnit> old;
  {
    std::lock_guard lock(state.mutex);
    for (const auto& [xid, entry] : state.prepared) {
      if (entry.at < floor_.at) old.push_back({entry.unit, entry.puts, entry.records, entry.at});
    }
  }
  for (PreparedUnit& entry : old) {
    auto relog = std::make_unique<Relog>(*this, RedoUnit{});
    relog->content = std::move(entry.unit);
    RedoUnit unit = relog->content.unit();
    bool is_gone = false;
    for (size_t i = 0; i < unit.puts.size(); ++i) {
      Result<ReadMessage> message = reader_.message(entry.puts[i]);
      if (!message.ok()) {
        std::lock_guard lock(state.mutex);
        is_gone = !state.prepared.contains(unit.xid);
        if (is_gone) break;
        return std::move(message).take_status();
      }
      ReadMessage& kept = relog->messages.emplace_back(std::move(message).take_value());
      unit.puts[i].header = kept.header;
      unit.puts[i].body = kept.body;
    }
    if (is_gone) continue;
    relogs_open_.fetch_add(1);
    if (!writer_.append_again(unit, *relog)) {
      relogs_open_.fetch_sub(1);
      continue;
    }
    ++relogged_;
    relogged_bytes_ += unit_image_bytes(unit);
    relogs_.push_back(std::move(relog));
  }
  return {};
}

bool Checkpoint::has_waited() {
  if (relogs_open_.load() > 0) return false;
  return shared_.units_durable.load() >= wait_for_ || !has_old_prepares();
}

bool Checkpoint::has_old_prepares() {
  std::lock_guard lock(shared_.state.mutex);
  return std::any_of(shared_.state.prepared.begin(), shared_.state.prepared.end(),
                     [&](const auto& entry) { return entry.second.at < floor_.at; });
}

bool Checkpoint::has_old_entries() {
  if (has_old_prepares()) return true;
  std::lock_guard lock(shared_.state.mutex);
  const size_t before = work_.size();
  for (JournalTable& table : shared_.state.journal) {
    if (table.segment > floor_.at.segment) break;
    if (table.live > 0) collect_table(table);
  }
  const bool has_any = work_.size() > before;
  work_.clear();
  return has_any;
}

// Under the state's mutex: between two blocks.
Manifest Checkpoint::snapshot() {
  const StoreState& state = shared_.state;
  Manifest m;
  m.generation = generation_ + 1;
  m.key = shared_.key;
  m.epoch = shared_.epoch;
  m.start = floor_;
  m.covered = {state.applied_end, state.next_sequence};
  m.floor = {state.floor, state.floor_sequence};
  m.last_spill_number = files_.last_number();
  for (const auto& [number, table] : state.spill) {
    if (table.retired_at != 0 || table.sections.empty()) continue;
    ManifestFile& f = m.files.emplace_back();
    f.number = number;
    f.kind = table.kind;
    f.incarnation = table.incarnation;
    f.used_bytes = table.used_bytes;
    f.data_bytes = table.data_bytes;
    f.live_bytes = table.live_bytes;
    f.slots = static_cast<uint32_t>(table.at.size());
    f.sections = table.sections;
    f.bits = table.bits;
  }
  m.highest = state.highest;
  m.heuristics = state.heuristics;
  m.backouts = state.backouts;
  m.cleared = state.cleared;
  for (const LateErase& late : state.late_erases) {
    if (late.prepared_at < m.start.at && m.start.at <= late.settled_at) {
      m.late_erases.push_back(late);
    }
  }
  for (const auto& [queue, at] : swept_) {
    const auto found = m.cleared.find(queue);
    if (found != m.cleared.end() && found->second.at == at && at < floor_.at) {
      m.cleared.erase(found);
    }
  }
  return m;
}

Status Checkpoint::write(bool* is_done) {
  Manifest manifest;
  if (has_old_entries()) return {};
  {
    std::lock_guard lock(shared_.state.mutex);
    retire_spill();
    manifest = snapshot();
  }
  MS_TRY(write_manifest(shared_.disk, 1 - slot_, manifest));
  slot_ = 1 - slot_;
  after_manifest(manifest);
  *is_done = true;
  return {};
}

// Files without anything alive are left out of this manifest, and go after the next.
void Checkpoint::retire_spill() {
  for (auto& [number, table] : shared_.state.spill) {
    if (table.is_open || table.retired_at != 0 || table.live > 0) continue;
    table.retired_at = generation_ + 1;
    removals_.push_back({number, generation_ + 2, shared_.appended.load()});
  }
}

// What a checkpoint wrote itself must not make the next one due: units in doubt would be written
// again and again.
void Checkpoint::discount_relogs() {
  std::atomic<uint64_t>& bytes = shared_.bytes_since_checkpoint;
  if (shared_.appended.load() == appended_before_ + relogged_) {
    bytes = 0;
  } else if (const uint64_t now = bytes.load(); now > 1 && relogged_bytes_ > 0) {
    bytes.fetch_sub(std::min(now - 1, relogged_bytes_));
  }
}

void Checkpoint::after_manifest(const Manifest& manifest) {
  MS_ASSERT(manifest.generation == generation_ + 1);
  generation_ = manifest.generation;
  other_start_ = start_;
  start_ = manifest.start;
  floor_ = manifest.floor;
  recycle_to_ = std::min(start_.at.segment, other_start_.at.segment);
  {
    std::lock_guard lock(shared_.state.mutex);
    std::erase_if(shared_.state.late_erases,
                  [&](const LateErase& late) { return late.settled_at < start_.at; });
    for (const auto& [queue, at] : swept_) {
      const auto found = shared_.state.cleared.find(queue);
      if (found != shared_.state.cleared.end() && found->second.at == at && at < start_.at) {
        shared_.state.cleared.erase(found);
      }
    }
  }
  barrier_before_ = std::exchange(barrier_, shared_.appended.load());
  discount_relogs();
  shared_.lacks_space = false;
  shared_.checkpoints.fetch_add(1);
  moves_.clear();
  recycle();
}

void Checkpoint::recycle() {
  StoreState& state = shared_.state;
  uint32_t lowest = 0;
  // Units that name a place of before the last but one checkpoint have to be applied first.
  if (shared_.units_durable.load() < barrier_before_) return;
  {
    std::lock_guard lock(state.mutex);
    while (!state.journal.empty() && state.journal.front().segment < recycle_to_) {
      const JournalTable& table = state.journal.front();
      MS_CHECK(table.live == 0);
      if (table.pins > 0) break;  // the next time
      state.drop_forwards_through(false, table.segment);
      state.journal.pop_front();
    }
    lowest = state.journal.empty() ? 0 : state.journal.front().segment;
  }
  shared_.segments.recycle_below(std::min(lowest, recycle_to_));
  judge_space();
  shared_.wake_log();
}

void Checkpoint::abandon() {
  shared_.lacks_space = true;
  {
    std::lock_guard lock(shared_.state.mutex);
    for (size_t i = switched_; i < moves_.size(); ++i) shared_.state.kill(moves_[i].to);
  }
  messages_.abandon();
  records_.abandon();
  moves_.clear();
  work_.clear();
  switched_ = 0;
  phase_ = Phase::kIdle;
  is_requested_ = true;
  retry_at_ns_ = shared_.clock.monotonic_ns() + kRetryNs;
  judge_space();
  shared_.wake_checkpoint_at(retry_at_ns_);
}

// Spares, and files that are not needed any more. One thing a call.
Status Checkpoint::maintain(bool* more) {
  *more = false;
  for (size_t i = 0; i < removals_.size(); ++i) {
    const Removal removal = removals_[i];
    if (removal.generation > generation_) continue;
    if (shared_.units_durable.load() < removal.barrier) continue;
    {
      std::lock_guard lock(shared_.state.mutex);
      if (const SpillTable* table = shared_.state.find_spill(removal.number)) {
        if (table->pins > 0) continue;
        shared_.state.drop_forwards_through(true, removal.number);
        shared_.state.spill.erase(removal.number);
      }
    }
    removals_.erase(removals_.begin() + static_cast<int64_t>(i));
    MS_TRY(files_.remove(removal.number));
    *more = true;
    judge_space();
    return {};
  }
  if (shared_.clock.monotonic_ns() < retry_at_ns_) return {};
  Status made;
  if (shared_.segments.has_work()) {
    made = shared_.segments.work();
    *more = made.ok();
  } else if (!files_.has_spare()) {
    made = files_.make_spare();
    *more = made.ok();
  }
  if (!made.ok() && io::is_disk_full(made.error())) {
    shared_.lacks_space = true;
    retry_at_ns_ = shared_.clock.monotonic_ns() + kRetryNs;
    shared_.wake_checkpoint_at(retry_at_ns_);
    made = {};
  } else if (!*more && made.ok()) {
    shared_.lacks_space = false;
  }
  judge_space();
  return made;
}

// Until the next checkpoint is due. Others fill the disk and make room on it: while there are puts
// to refuse or to take again, it is looked at before.
void Checkpoint::wait_idle() {
  const bool is_written = shared_.bytes_since_checkpoint.load() > 0;
  if (!is_written && admits_) return;
  int64_t at_ns =
      shared_.clock.monotonic_ns() + (admits_ ? shared_.options.disk_look_ns : kRetryNs);
  if (is_written) {
    at_ns = std::min(
        at_ns, std::max(retry_at_ns_, last_begin_ns_ + shared_.options.checkpoint_interval_ns));
  }
  shared_.wake_checkpoint_at(at_ns);
}

void Checkpoint::judge_space() {
  Result<uint64_t> free = shared_.disk.free_bytes();
  if (free.ok()) shared_.disk_free = free.value();
  const uint64_t used = shared_.segments.bytes_used();
  const bool has_journal = used < shared_.options.journal_bytes_max / 4 * 3;
  const bool has_disk = shared_.disk_free.load() >= shared_.options.disk_reserve_bytes;
  const bool admits = has_journal && has_disk && !shared_.lacks_space.load();
  if (!has_journal) is_requested_ = true;
  admits_ = admits;
  if (std::exchange(told_admits_, admits) != admits) shared_.listener.space_changed(admits);
}

bool Checkpoint::admits(uint64_t bytes) const {
  if (!admits_.load(std::memory_order_relaxed)) return false;
  const uint64_t free = shared_.disk_free.load(std::memory_order_relaxed);
  return bytes <= free && free - bytes >= shared_.options.disk_reserve_bytes;
}

StoreUsage Checkpoint::usage() const {
  StoreUsage usage;
  usage.journal_bytes = shared_.segments.bytes_used();
  usage.journal_bytes_max = shared_.options.journal_bytes_max;
  usage.disk_free_bytes = shared_.disk_free;
  usage.blocks_written = shared_.blocks_written;
  usage.units_written = shared_.units_durable;
  usage.checkpoints = shared_.checkpoints;
  usage.admits_puts = admits_;
  std::lock_guard lock(shared_.state.mutex);
  for (const auto& [number, table] : shared_.state.spill) {
    usage.spill_bytes += table.file_bytes;
    usage.spill_live_bytes += table.live_bytes;
  }
  return usage;
}

Status Checkpoint::finish() {
  if (phase_ == Phase::kIdle && shared_.bytes_since_checkpoint.load() == 0) return {};
  if (phase_ == Phase::kIdle) begin();
  while (phase_ != Phase::kIdle && !shared_.has_failed.load()) {
    if (step()) continue;
    if (phase_ == Phase::kWait && writer_.step()) continue;
    if (phase_ == Phase::kWait) break;  // the journal is out of room
  }
  return {};
}

}  // namespace millstream::queue::store
