#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "queue/store/store_rig_for_test.h"

namespace millstream::queue {
namespace {

std::string rig_text(uint64_t id, size_t bytes) {
  std::string text = std::to_string(id) + ":";
  text.resize(std::max(bytes, text.size()), static_cast<char>('a' + id % 26));
  for (size_t i = text.size() / 2; i < text.size(); i += 97) {
    text[i] = static_cast<char>('A' + (id + i) % 26);
  }
  return text;
}

bool same_index(const IndexEntry& a, const IndexEntry& b) {
  return a.sequence == b.sequence && a.message_id_hash == b.message_id_hash &&
         a.correlation_id_hash == b.correlation_id_hash && a.group_id_hash == b.group_id_hash &&
         a.expires_gmt_ms == b.expires_gmt_ms && a.backout_count == b.backout_count &&
         a.priority == b.priority && a.flags == b.flags;
}

std::string rig_name(QueueId queue, Sequence sequence) {
  return "message " + std::to_string(queue) + "/" + std::to_string(sequence);
}

class RigRead final : public ReadDone {
 public:
  void read(Result<StoredMessage> message) override {
    is_done = true;
    if (message.ok()) {
      stored = std::move(message).take_value();
    } else {
      error = message.error().text;
    }
  }
  bool is_done = false;
  StoredMessage stored;
  std::string error;
};

}  // namespace

StoreOptions small_store_options() {
  StoreOptions o;
  o.segment_bytes = 64 << 10;
  o.first_segment_bytes = 32 << 10;
  o.segments_spare = 2;
  o.block_bytes_max = 16 << 10;
  o.chunk_bytes = 4 << 10;
  o.spill_file_bytes = 64 << 10;
  o.spill_block_bytes = 8 << 10;
  o.checkpoint_bytes = 96 << 10;
  o.journal_bytes_max = 4 << 20;
  o.disk_reserve_bytes = 64 << 10;
  o.units_told_at_once = 2;
  o.blocks_recent = 2;
  return o;
}

void ContentHandler::stage(int now) {
  if (now < stage_) content_.order_error = "recovery told things out of order";
  stage_ = now;
}

Status ContentHandler::record(uint8_t kind, std::string_view key, std::string_view value) {
  stage(0);
  if (!content_.records.emplace(std::pair(kind, std::string(key)), value).second) {
    content_.order_error = "a record was told twice";
  }
  return {};
}

Status ContentHandler::message(QueueId queue, const IndexEntry& index, Location location) {
  stage(1);
  const std::pair key(queue, index.sequence);
  if (!(last_ < key)) content_.order_error = rig_name(queue, index.sequence) + " out of order";
  last_ = key;
  content_.messages[key] = {index, location, {}, {}};
  return {};
}

Status ContentHandler::sequence(QueueId queue, Sequence highest) {
  stage(2);
  content_.highest[queue] = highest;
  return {};
}

Status ContentHandler::prepared(const RedoUnit& unit, std::span<const Location> puts) {
  stage(3);
  StoreContent::Prepared& entry = content_.prepared[std::string(unit.xid)];
  entry.unit = OwnedUnit(unit);
  entry.puts.assign(puts.begin(), puts.end());
  return {};
}

Status ContentHandler::heuristic(std::string_view xid, uint8_t outcome) {
  stage(4);
  content_.heuristics[std::string(xid)] = outcome;
  return {};
}

namespace {
std::string compare_prepared(const StoreContent& content, const MemoryImage& image) {
  if (content.prepared.size() != image.prepared.size()) return "the number of prepared units";
  for (const auto& [xid, wanted] : image.prepared) {
    const auto found = content.prepared.find(xid);
    if (found == content.prepared.end()) return "prepared " + xid + " is missing";
    const RedoUnit& a = found->second.unit.unit();
    const RedoUnit& b = wanted.unit.unit();
    if (a.puts.size() != b.puts.size() || a.gets.size() != b.gets.size() ||
        a.records.size() != b.records.size() || a.clears.size() != b.clears.size()) {
      return "prepared " + xid + " has another size";
    }
    for (size_t i = 0; i < b.puts.size(); ++i) {
      const StoredMessage& body = image.bodies.at(wanted.puts[i].at);
      if (found->second.bodies[i].body != body.body ||
          found->second.bodies[i].header != body.header || a.puts[i].queue != b.puts[i].queue ||
          !same_index(a.puts[i].index, b.puts[i].index)) {
        return "prepared " + xid + " put " + std::to_string(i);
      }
    }
    for (size_t i = 0; i < b.gets.size(); ++i) {
      if (a.gets[i].queue != b.gets[i].queue || a.gets[i].sequence != b.gets[i].sequence) {
        return "prepared " + xid + " get " + std::to_string(i);
      }
      const auto message = content.messages.find({b.gets[i].queue, b.gets[i].sequence});
      if (message != content.messages.end() && message->second.location != a.gets[i].location) {
        return "prepared " + xid + " get " + std::to_string(i) + " has another location";
      }
    }
    for (size_t i = 0; i < b.records.size(); ++i) {
      if (a.records[i].key != b.records[i].key || a.records[i].value != b.records[i].value) {
        return "prepared " + xid + " record";
      }
    }
  }
  return {};
}
}  // namespace

std::string compare_content(const StoreContent& content, const MemoryImage& image) {
  if (!content.order_error.empty()) return content.order_error;
  size_t count = 0;
  for (const auto& [queue, messages] : image.queues) {
    for (const auto& [sequence, wanted] : messages) {
      ++count;
      const auto found = content.messages.find({queue, sequence});
      if (found == content.messages.end()) return rig_name(queue, sequence) + " is missing";
      if (!same_index(found->second.index, wanted.index)) {
        return rig_name(queue, sequence) + " has another index entry";
      }
      const StoredMessage& body = image.bodies.at(wanted.location.at);
      if (found->second.body != body.body) return rig_name(queue, sequence) + " has another body";
      if (found->second.header != body.header) return rig_name(queue, sequence) + " header";
    }
  }
  for (const auto& [key, message] : content.messages) {
    const auto queue = image.queues.find(key.first);
    if (queue == image.queues.end() || !queue->second.contains(key.second)) {
      return rig_name(key.first, key.second) + " was got, or never put";
    }
  }
  static_cast<void>(count);
  for (const auto& [key, value] : image.records) {
    const auto found = content.records.find(key);
    if (found == content.records.end()) return "record " + key.second + " is missing";
    if (found->second != value) return "record " + key.second + " has another value";
  }
  if (content.records != image.records) return "records that were erased";
  if (content.highest != image.highest) return "highest sequences";
  if (!std::equal(content.heuristics.begin(), content.heuristics.end(), image.heuristics.begin(),
                  image.heuristics.end())) {
    return "heuristic outcomes";
  }
  return compare_prepared(content, image);
}

struct StoreRig::Sent final : public Pending {
  Sent(StoreRig& r, const RedoUnit& u) : rig(r), unit(u) {}
  void durable(std::span<const Location> puts) override { rig.acknowledge(*this, puts); }
  StoreRig& rig;
  OwnedUnit unit;
  bool is_done = false;
};

StoreRig::StoreRig(io::SimDisk& disk, uint64_t seed, StoreOptions options)
    : sim(seed), disk_(disk), options_(options), random_(seed + 1), workers_(sim) {}

StoreRig::~StoreRig() = default;

bool StoreRig::open() {
  content = {};
  failure.clear();
  open_error.clear();
  ContentHandler handler(content);
  auto opened =
      JournalStore::open(options_, {disk_, sim.clock(), sim.random(), workers_}, *this, handler);
  if (!opened.ok()) {
    open_error = opened.error().describe();
    return false;
  }
  store = std::move(opened).take_value();
  build_index();
  return read_bodies();
}

bool StoreRig::read_bodies() {
  std::deque<RigRead> reads;
  for (auto& [key, message] : content.messages) store->read(message.location, reads.emplace_back());
  for (auto& [xid, entry] : content.prepared) {
    for (const Location put : entry.puts) store->read(put, reads.emplace_back());
  }
  const bool all = sim.run_until(
      [&] { return std::all_of(reads.begin(), reads.end(), [](auto& r) { return r.is_done; }); });
  if (!all) {
    if (!disk_.has_crashed()) open_error = "reads do not end";
    return false;
  }
  size_t i = 0;
  auto next = [&]() -> StoredMessage& {
    if (!reads[i].error.empty()) open_error = reads[i].error;
    return reads[i++].stored;
  };
  for (auto& [key, message] : content.messages) {
    StoredMessage& stored = next();
    message.header = std::move(stored.header);
    message.body = std::move(stored.body);
  }
  for (auto& [xid, entry] : content.prepared) {
    for (size_t n = 0; n < entry.puts.size(); ++n) entry.bodies.push_back(std::move(next()));
  }
  return open_error.empty();
}

void StoreRig::drop(bool is_power_cut) {
  store.reset();
  sim.drop_all();
  if (is_power_cut) {
    disk_.restart();
  } else {
    disk_.restart_process();
  }
}

Status StoreRig::close() {
  Status status = store->close();
  store.reset();
  return status;
}

std::string StoreRig::check() {
  // What some prefix of the units leaves.
  std::string first_difference;
  size_t k = acknowledged_;
  for (;; ++k) {
    std::string difference = compare_content(content, image);
    if (difference.empty()) break;
    if (first_difference.empty()) first_difference = difference;
    if (k == units_.size()) {
      return "after " + std::to_string(acknowledged_) + " acknowledged units of " +
             std::to_string(units_.size()) + ": " + first_difference +
             (k == acknowledged_ ? "" : "; after all of them: " + difference);
    }
    image.apply(units_[k]->unit.unit());
  }
  units_.clear();
  acknowledged_ = 0;
  return {};
}

void StoreRig::build_index() {
  index_.clear();
  locked_.clear();
  prepared_.clear();
  heuristics_.clear();
  for (const auto& [key, message] : content.messages) {
    index_[key.first][key.second] = message.location;
  }
  for (auto& [xid, entry] : content.prepared) {
    RedoUnit unit = entry.unit.unit();
    for (const RedoGet& get : unit.gets) {
      if (index_[get.queue].erase(get.sequence) > 0) {
        locked_[{get.queue, get.sequence}] = get.location;
      }
    }
    prepared_[xid] = std::move(unit);
  }
  prepares_open_ = prepared_.size();
  for (const auto& [xid, outcome] : content.heuristics) heuristics_.insert(xid);
  next_.clear();
  for (const auto& [queue, sequence] : content.highest) next_[queue] = sequence;
}

RedoPut StoreRig::make_put(QueueId queue, size_t header_bytes, size_t body_bytes) {
  const uint64_t id = ++last_id_;
  RedoPut put;
  put.queue = queue;
  put.index.message_id_hash = id * 77;
  put.index.correlation_id_hash = id % 5;
  put.index.group_id_hash = id % 3;
  put.index.expires_gmt_ms = static_cast<int64_t>(id);
  put.index.priority = static_cast<uint8_t>(id % 10);
  put.index.flags = static_cast<uint8_t>(id);
  texts_.push_back(rig_text(id, header_bytes));
  put.header = texts_.back();
  texts_.push_back(rig_text(id + 1, body_bytes));
  put.body = texts_.back();
  return put;
}

void StoreRig::assign_sequences(RedoUnit* unit) {
  if (unit->kind != RedoKind::kCommit) return;
  for (RedoPut& put : unit->puts) put.index.sequence = ++next_[put.queue];
}

void StoreRig::append(RedoUnit unit) {
  assign_sequences(&unit);
  units_.push_back(std::make_unique<Sent>(*this, unit));
  store->append(units_.back()->unit.unit(), *units_.back());
  if (texts_.size() > 4096) texts_.clear();
}

void StoreRig::acknowledge(Sent& sent, std::span<const Location> puts) {
  MS_CHECK(!sent.is_done);
  MS_CHECK(units_[acknowledged_].get() == &sent);  // in the order of append()
  sent.is_done = true;
  ++acknowledged_;
  const RedoUnit& unit = sent.unit.unit();
  image.apply(unit);
  if (unit.kind == RedoKind::kPrepare) {
    prepared_[std::string(unit.xid)] = unit;
    return;
  }
  if (unit.kind == RedoKind::kCommit) {
    MS_CHECK(puts.size() == unit.puts.size());
    for (size_t i = 0; i < puts.size(); ++i) {
      const RedoPut& put = unit.puts[i];
      if (!deleted_.contains(put.queue)) index_[put.queue][put.index.sequence] = puts[i];
    }
  }
  if (unit.kind == RedoKind::kCommitPrepared) {
    MS_CHECK(puts.size() == unit.prepared_sequences.size());
    const std::vector<QueueId>& queues = settled_queues_[&sent];
    for (size_t i = 0; i < puts.size() && i < queues.size(); ++i) {
      index_[queues[i]][unit.prepared_sequences[i]] = puts[i];
    }
    settled_queues_.erase(&sent);
  }
}

bool StoreRig::moved(QueueId queue, Sequence sequence, Location from, Location to) {
  ++moves;
  if (const auto locked = locked_.find({queue, sequence}); locked != locked_.end()) {
    MS_CHECK(locked->second == from);
    locked->second = to;
    return true;
  }
  const auto messages = index_.find(queue);
  if (messages == index_.end()) return false;
  const auto message = messages->second.find(sequence);
  if (message == messages->second.end()) return false;
  MS_CHECK(message->second == from);
  message->second = to;
  return true;
}

void StoreRig::failed(const base::Error& error) {
  MS_CHECK(failure.empty());
  failure = error.describe();
}

bool StoreRig::take(QueueId queue, RedoGet* get) {
  const auto messages = index_.find(queue);
  if (messages == index_.end() || messages->second.empty()) return false;
  auto it = messages->second.begin();
  std::advance(it, random_.next_u64() % std::min<size_t>(messages->second.size(), 20));
  *get = {queue, it->first, it->second};
  messages->second.erase(it);
  return true;
}

size_t StoreRig::depth(QueueId queue) const {
  const auto found = index_.find(queue);
  return found == index_.end() ? 0 : found->second.size();
}

std::string StoreRig::read_error(QueueId queue, Sequence sequence) {
  RigRead read;
  store->read(index_.at(queue).at(sequence), read);
  sim.run_until([&] { return read.is_done; });
  if (!read.is_done) return "the read does not end";
  if (!read.error.empty()) return read.error;
  const StoredMessage& wanted = image.bodies.at(image.queues.at(queue).at(sequence).location.at);
  return read.stored.body == wanted.body && read.stored.header == wanted.header ? ""
                                                                                : "another body";
}

std::vector<std::string> StoreRig::prepared_xids() const {
  std::vector<std::string> xids;
  for (const auto& [xid, unit] : prepared_) xids.push_back(xid);
  return xids;
}

RedoUnit StoreRig::settle(const std::string& xid, bool is_commit) {
  auto node = prepared_.extract(xid);
  MS_CHECK(!node.empty());
  --prepares_open_;
  RedoUnit unit;
  unit.kind = is_commit ? RedoKind::kCommitPrepared : RedoKind::kRollbackPrepared;
  texts_.push_back(xid);
  unit.xid = texts_.back();
  if (is_commit) {
    settling_.clear();
    for (const RedoPut& put : node.mapped().puts) {
      unit.prepared_sequences.push_back(++next_[put.queue]);
      settling_.push_back(put.queue);
    }
  }
  return unit;
}

QueueId StoreRig::random_queue() { return static_cast<QueueId>(1 + random_.next_u64() % 3); }

size_t StoreRig::random_size() {
  const uint64_t dice = random_.next_u64() % 40;
  if (dice == 0) return 40000 + random_.next_u64() % 30000;  // chunks, a spill file of its own
  if (dice < 4) return 3500 + random_.next_u64() % 1200;     // about a chunk
  return random_.next_u64() % 900;
}

void StoreRig::random_puts() {
  RedoUnit unit;
  for (uint64_t n = 1 + random_.next_u64() % 4; n > 0; --n) {
    unit.puts.push_back(make_put(random_queue(), random_.next_u64() % 60, random_size()));
  }
  if (random_.next_u64() % 6 == 0) {  // a publication: one body for several queues
    RedoPut copy = unit.puts.back();
    copy.queue = random_queue();
    unit.puts.push_back(copy);
  }
  RedoGet get;
  if (random_.next_u64() % 3 == 0 && take(random_queue(), &get)) unit.gets.push_back(get);
  append(std::move(unit));
}

void StoreRig::random_gets() {
  RedoUnit unit;
  RedoGet get;
  for (uint64_t n = 1 + random_.next_u64() % 6; n > 0; --n) {
    if (take(random_queue(), &get)) unit.gets.push_back(get);
  }
  if (!unit.gets.empty()) append(std::move(unit));
}

void StoreRig::random_backout() {
  RedoUnit unit;
  RedoGet get;
  if (!take(random_queue(), &get)) return;
  index_[get.queue][get.sequence] = get.location;
  unit.backouts.push_back(
      {get.queue, get.sequence, get.location, static_cast<uint32_t>(1 + random_.next_u64() % 9)});
  append(std::move(unit));
}

RedoRecord StoreRig::random_record() {
  texts_.push_back("key" + std::to_string(random_.next_u64() % 12));
  const std::string& key = texts_.back();
  texts_.push_back(rig_text(++last_id_, random_.next_u64() % 300));
  const bool is_erased = random_.next_u64() % 4 == 0;
  return {static_cast<uint8_t>(random_.next_u64() % 2), key,
          is_erased ? std::string_view() : std::string_view(texts_.back()), is_erased};
}

void StoreRig::random_records() {
  RedoUnit unit;
  for (uint64_t n = 1 + random_.next_u64() % 3; n > 0; --n) unit.records.push_back(random_record());
  append(std::move(unit));
}

void StoreRig::random_clear(bool is_short_lived) {
  RedoUnit unit;
  if (!is_short_lived) {
    const QueueId q = random_queue();
    if (prepares_open_ > 0) return;
    unit.clears.push_back({q, next_[q], false});
    index_[q].clear();
    append(std::move(unit));
    return;
  }
  const QueueId q = ++last_queue_;
  unit.puts.push_back(make_put(q, 10, 200));
  append(std::move(unit));
  RedoUnit gone;
  gone.clears.push_back({q, next_[q], true});
  deleted_.insert(q);
  index_.erase(q);
  append(std::move(gone));
}

void StoreRig::random_prepare() {
  RedoUnit unit;
  texts_.push_back("xid" + std::to_string(++last_id_));
  unit.kind = RedoKind::kPrepare;
  ++prepares_open_;
  unit.xid = texts_.back();
  for (uint64_t n = random_.next_u64() % 3; n > 0; --n) {
    unit.puts.push_back(make_put(random_queue(), 20, random_size()));
  }
  RedoGet get;
  if (take(random_queue(), &get)) {
    unit.gets.push_back(get);
    locked_[{get.queue, get.sequence}] = get.location;
  }
  if (random_.next_u64() % 3 == 0) unit.records.push_back(random_record());
  append(std::move(unit));
}

void StoreRig::random_settle() {
  if (prepared_.empty()) return;
  auto it = prepared_.begin();
  std::advance(it, random_.next_u64() % prepared_.size());
  const RedoUnit content_of = it->second;
  const bool is_commit = random_.next_u64() % 3 != 0;
  RedoUnit unit = settle(it->first, is_commit);
  if (random_.next_u64() % 4 == 0) {
    unit.outcome = 7;
    heuristics_.insert(std::string(unit.xid));
  }
  append(std::move(unit));
  if (is_commit) settled_queues_[units_.back().get()] = settling_;
  for (const RedoGet& get : content_of.gets) {
    const auto locked = locked_.find({get.queue, get.sequence});
    if (locked == locked_.end()) continue;
    if (!is_commit) index_[get.queue][get.sequence] = locked->second;
    locked_.erase(locked);
  }
}

void StoreRig::random_forget() {
  if (heuristics_.empty()) return;
  RedoUnit unit;
  texts_.push_back(*heuristics_.begin());
  heuristics_.erase(heuristics_.begin());
  unit.kind = RedoKind::kForget;
  unit.xid = texts_.back();
  append(std::move(unit));
}

void StoreRig::random_step() {
  const uint64_t dice = random_.next_u64() % 100;
  if (dice < 45) return random_puts();
  if (dice < 65) return random_gets();
  if (dice < 70) return random_backout();
  if (dice < 77) return random_records();
  if (dice < 81) return random_clear(dice >= 79);
  if (dice < 86) return random_prepare();
  if (dice < 90) return random_settle();
  if (dice < 92) return random_forget();
  if (dice < 93) return store->checkpoint();
  if (dice < 94) return sim.run_for_ns(5'000'000'000);
  for (uint64_t n = random_.next_u64() % 30; n > 0; --n) sim.step_ready();
}

}  // namespace millstream::queue
