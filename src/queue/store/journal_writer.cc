#include "queue/store/journal_writer.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/assert.h"
#include "io/crc32c.h"
#include "queue/store/errors_gen.h"

namespace millstream::queue::store {

namespace {
constexpr size_t kPoolBlocksMax = 4;

bool is_outcome(RedoKind kind) {
  return kind == RedoKind::kCommitPrepared || kind == RedoKind::kRollbackPrepared;
}
}  // namespace

JournalWriter::BlockPtr JournalWriter::new_block() {
  if (pool_.empty()) return std::make_unique<Block>(shared_.options.block_bytes_max);
  BlockPtr block = std::move(pool_.back());
  pool_.pop_back();
  return block;
}

// Under append_mutex_.
JournalWriter::Block& JournalWriter::block_for(size_t bytes) {
  if (blocks_.empty() || blocks_.back()->used + bytes > blocks_.back()->memory.size() ||
      blocks_.back()->count == Block::kEntriesMax) {
    blocks_.push_back(new_block());
  }
  return *blocks_.back();
}

JournalWriter::Entry& JournalWriter::reserve(Block** block, size_t bytes, FrameType type,
                                             Pending* pending) {
  MS_ASSERT(bytes % 8 == 0);
  Block& b = block_for(bytes);
  MS_CHECK(b.used + bytes <= b.memory.size());
  Entry& entry = b.entries[b.count++];
  entry.offset = b.used;
  entry.bytes = static_cast<uint32_t>(bytes);
  entry.type = type;
  entry.pending = pending;
  b.used += static_cast<uint32_t>(bytes);
  *block = &b;
  return entry;
}

// Under append_mutex_. False: the unit must not be written again.
bool JournalWriter::note_outcome(const RedoUnit& unit, bool is_again) {
  if (is_outcome(unit.kind)) outcomes_on_the_way_.emplace(unit.xid);
  if (!is_again) return true;
  if (outcomes_on_the_way_.find(unit.xid) != outcomes_on_the_way_.end()) return false;
  std::lock_guard lock(shared_.state.mutex);
  return shared_.state.prepared.contains(unit.xid);
}

void JournalWriter::append(const RedoUnit& unit, Pending& pending) {
  const size_t bytes = pad8(unit_image_bytes(unit));
  MS_CHECK(bytes <= kUnitBytesMax);
  if (bytes > shared_.options.chunk_bytes) {
    append_image(unit, pending, bytes, 0, false);
    return;
  }
  Block* block = nullptr;
  Entry* entry = nullptr;
  {
    std::lock_guard lock(append_mutex_);
    if (shared_.has_failed.load(std::memory_order_relaxed)) return;
    note_outcome(unit, false);
    entry = &reserve(&block, bytes, FrameType::kUnit, &pending);
    shared_.appended.fetch_add(1, std::memory_order_relaxed);
  }
  encode_unit(unit, block->memory.data() + entry->offset);
  entry->is_ready.store(true, std::memory_order_release);
  if (worker_) worker_->wake();
}

bool JournalWriter::append_again(const RedoUnit& prepare, Pending& pending) {
  MS_ASSERT(prepare.kind == RedoKind::kPrepare);
  const size_t bytes = pad8(unit_image_bytes(prepare));
  if (bytes > shared_.options.chunk_bytes) {
    return append_image(prepare, pending, bytes, kFrameRelogged, true);
  }
  Block* block = nullptr;
  Entry* entry = nullptr;
  {
    std::lock_guard lock(append_mutex_);
    if (shared_.has_failed.load() || !note_outcome(prepare, true)) return false;
    entry = &reserve(&block, bytes, FrameType::kUnit, &pending);
    shared_.appended.fetch_add(1);
  }
  encode_unit(prepare, block->memory.data() + entry->offset, kFrameRelogged);
  entry->is_ready.store(true, std::memory_order_release);
  if (worker_) worker_->wake();
  return true;
}

// The image is made first, then cut into frames that are reserved in one go: nothing comes between.
bool JournalWriter::append_image(const RedoUnit& unit, Pending& pending, size_t bytes,
                                 uint8_t flags, bool is_again) {
  auto image = std::make_shared<std::string>(bytes, '\0');
  encode_unit(unit, image->data(), flags);
  struct Part {
    Block* block;
    Entry* entry;
  };
  const size_t chunk = shared_.options.chunk_bytes / 8 * 8;
  const size_t chunks = (bytes + chunk - 1) / chunk;
  std::vector<Part> parts(chunks + 1);
  {
    std::lock_guard lock(append_mutex_);
    if (shared_.has_failed.load() || !note_outcome(unit, is_again)) return false;
    for (size_t i = 0; i < chunks; ++i) {
      const size_t n = std::min(chunk, bytes - i * chunk);
      parts[i].entry =
          &reserve(&parts[i].block, sizeof(FrameHeader) + pad8(n), FrameType::kChunk, nullptr);
    }
    parts[chunks].entry =
        &reserve(&parts[chunks].block, sizeof(FrameHeader) + sizeof(ChunkedUnitBody),
                 FrameType::kChunkedUnit, &pending);
    parts[chunks].entry->image = image;
    shared_.appended.fetch_add(1);
  }
  for (size_t i = 0; i < chunks; ++i) {
    const size_t n = std::min(chunk, bytes - i * chunk);
    FrameHeader frame;
    frame.bytes = parts[i].entry->bytes;
    frame.type = static_cast<uint8_t>(FrameType::kChunk);
    frame.puts = static_cast<uint32_t>(i);
    frame.gets = static_cast<uint32_t>(n);
    char* out = parts[i].block->memory.data() + parts[i].entry->offset;
    std::memcpy(out, &frame, sizeof frame);
    std::memcpy(out + sizeof frame, image->data() + i * chunk, n);
    parts[i].entry->is_ready.store(true, std::memory_order_release);
  }
  FrameHeader frame;
  frame.bytes = parts[chunks].entry->bytes;
  frame.type = static_cast<uint8_t>(FrameType::kChunkedUnit);
  ChunkedUnitBody body;
  body.image_bytes = bytes;
  body.chunks = static_cast<uint32_t>(chunks);
  body.crc = io::crc32c(image->data(), bytes);
  char* out = parts[chunks].block->memory.data() + parts[chunks].entry->offset;
  std::memcpy(out, &frame, sizeof frame);
  std::memcpy(out + sizeof frame, &body, sizeof body);
  parts[chunks].entry->is_ready.store(true, std::memory_order_release);
  if (worker_) worker_->wake();
  return true;
}

// The frames before which all are ready. The block they lie in takes no more units.
bool JournalWriter::next_batch(Batch* batch) {
  std::lock_guard lock(append_mutex_);
  while (!blocks_.empty() && blocks_.size() > 1 &&
         blocks_.front()->first == blocks_.front()->count) {
    pool_.push_back(std::move(blocks_.front()));  // sealed when it was empty
    blocks_.pop_front();
  }
  if (blocks_.empty()) return false;
  Block& block = *blocks_.front();
  batch->block = &block;
  batch->from = batch->to = block.first;
  while (batch->to < block.count &&
         block.entries[batch->to].is_ready.load(std::memory_order_acquire)) {
    ++batch->to;
  }
  if (batch->to == batch->from) return false;
  if (blocks_.size() == 1) blocks_.push_back(new_block());
  return true;
}

// Where the block is written from: where it lies when it is whole, else a copy, because producers
// may still write behind it.
void JournalWriter::gather(Batch* batch) {
  Block& block = *batch->block;
  const Entry& last = block.entries[batch->to - 1];
  const size_t begin = block.entries[batch->from].offset;
  const size_t bytes = last.offset + last.bytes - begin;
  batch->memory = block.memory.data();
  batch->first_frame = begin;
  batch->payload_bytes = bytes;
  bool needs_copy = batch->from != 0 || batch->to != block.count;
#if defined(MS_SABOTAGE_FORGOTTEN_PREPARE) || defined(MS_SABOTAGE_REWRITTEN_PAGE)
  needs_copy = true;
#endif
  if (!needs_copy) return;
  size_t kept = 0;
#ifdef MS_SABOTAGE_REWRITTEN_PAGE
  if (last_at_ == Position{position_.segment, position_.page - 1} &&
      sizeof(BlockHeader) + last_payload_.size() + bytes <= kPageBytes) {
    kept = last_payload_.size();
  }
#endif
  bounce_.reserve(shared_.options.block_bytes_max);
#ifdef MS_SABOTAGE_REWRITTEN_PAGE
  if (kept > 0) std::memcpy(bounce_.data() + sizeof(BlockHeader), last_payload_.data(), kept);
#endif
  char* out = bounce_.data() + sizeof(BlockHeader) + kept;
  std::memcpy(out, block.memory.data() + begin, bytes);
#ifdef MS_SABOTAGE_FORGOTTEN_PREPARE
  for (uint32_t i = batch->from; i < batch->to; ++i) {
    FrameHeader frame;
    char* at = out + (block.entries[i].offset - begin);
    std::memcpy(&frame, at, sizeof frame);
    if (block.entries[i].type == FrameType::kUnit &&
        frame.kind == static_cast<uint8_t>(RedoKind::kPrepare)) {
      frame.type = static_cast<uint8_t>(FrameType::kChunk);
      std::memcpy(at, &frame, sizeof frame);
    }
  }
#endif
  batch->memory = bounce_.data();
  batch->first_frame = sizeof(BlockHeader) + kept;
  batch->payload_bytes = kept + bytes;
}

bool JournalWriter::step() {
  if (shared_.has_failed.load()) return false;
  Batch batch;
  if (!next_batch(&batch)) {
    plan_cover();
    return false;
  }
  gather(&batch);
  bool is_stalled = false;
  Status status = ensure_segment(pad_page(sizeof(BlockHeader) + batch.payload_bytes), &is_stalled);
  if (is_stalled) return false;  // the checkpoint wakes us when it has freed a segment
  batch.at = position_;
  batch.sequence = shared_.state.next_sequence;
#ifdef MS_SABOTAGE_REWRITTEN_PAGE
  const bool rewrites = batch.memory == bounce_.data() && batch.first_frame > sizeof(BlockHeader);
  if (rewrites) {
    batch.at = last_at_;
    --batch.sequence;
    position_ = last_at_;
  }
  last_at_ = batch.at;
  last_payload_.assign(batch.memory + sizeof(BlockHeader), batch.payload_bytes);
#endif
#ifdef MS_SABOTAGE_EARLY_ACKNOWLEDGE
  const Position before = position_;
  if (status.ok()) {
    apply(batch);
    complete(batch);
  }
  position_ = before;
#endif
  if (status.ok()) {
    status = write_block(batch.memory, batch.payload_bytes, batch.to - batch.from, batch.at,
                         batch.sequence);
  }
  if (!status.ok()) {
    shared_.fail(StoreShared::failure(file_.file ? file_.file->name() : kJournalFolder,
                                      uint64_t{batch.at.page} * kPageBytes, std::move(status)));
    return false;
  }
#ifndef MS_SABOTAGE_EARLY_ACKNOWLEDGE
  apply(batch);
  complete(batch);
#endif
  retire(batch);
  return true;
}

Status JournalWriter::ensure_segment(size_t padded_bytes, bool* is_stalled) {
  MS_ASSERT(padded_bytes % kPageBytes == 0);
  const uint64_t used = uint64_t{position_.page} * kPageBytes;
  if (file_.file && used + padded_bytes <= file_.bytes) return {};
  const uint32_t next = position_.segment + 1;
  SegmentFile file;
  if (!shared_.segments.take(next, &file)) {
    Status made = shared_.segments.make_now(shared_.options.segment_bytes);
    if (!made.ok() && io::is_disk_full(made.error())) {
      shared_.lacks_space = true;
      shared_.wants_checkpoint = true;
      shared_.wake_checkpoint();
      *is_stalled = true;
      return {};
    }
    MS_TRY(std::move(made));
    MS_CHECK(shared_.segments.take(next, &file));
  }
  MS_CHECK(file.bytes >= padded_bytes);
  file_ = std::move(file);
  incarnation_ = make_incarnation(shared_.random.next_u64(), shared_.key);
  position_ = {next, 0};
  {
    std::lock_guard lock(shared_.state.mutex);
    shared_.state.open_segment(next);
  }
  shared_.wake_checkpoint();  // to make another spare
  return {};
}

Status JournalWriter::write_block(char* memory, size_t payload_bytes, uint32_t frames, Position at,
                                  uint64_t sequence) {
  MS_ASSERT(at == position_);
  MS_ASSERT(payload_bytes <= shared_.options.block_bytes_max - sizeof(BlockHeader));
  BlockHeader header;
  header.magic = kJournalMagic;
  header.incarnation = incarnation_;
  header.sequence = sequence;
  header.epoch = shared_.epoch;
  header.frames = frames;
  header.previous = previous_.packed();
  header.durable_upto = sequence - 1;
  header.segment = at.segment;
  const size_t padded = seal_block(memory, header, payload_bytes);
  const uint64_t offset = uint64_t{at.page} * kPageBytes;
#ifdef MS_SABOTAGE_SKIPPED_FLUSH
  MS_TRY(file_.file->write_later(offset, memory, padded));
#else
  MS_TRY(file_.file->write(offset, memory, padded));
#endif
  previous_ = at;
  position_ = {at.segment, at.page + static_cast<uint32_t>(padded / kPageBytes)};
  shared_.blocks_written.fetch_add(1, std::memory_order_relaxed);
  if (frames == 0) return {};
  const uint64_t before =
      shared_.bytes_since_checkpoint.fetch_add(padded, std::memory_order_relaxed);
  if (before == 0) {
    shared_.wake_checkpoint_at(
        shared_.clock.monotonic_ns() +
        std::min(shared_.options.checkpoint_interval_ns, shared_.options.disk_look_ns));
  }
  if (before + padded >= shared_.options.checkpoint_bytes &&
      before < shared_.options.checkpoint_bytes) {
    shared_.wake_checkpoint();
  }
  return {};
}

void JournalWriter::apply_entry(const Entry& entry, const char* frame, uint64_t offset,
                                const Batch& batch) {
  StoreState& state = shared_.state;
  UnitView unit;
  EntryPlace place{batch.at.segment, offset, nullptr};
  switch (entry.type) {
    case FrameType::kUnit:
      MS_CHECK(unit.parse({frame, entry.bytes}));
      break;
    case FrameType::kChunk: {
      if (!open_chunks_) {
        open_chunks_ = std::make_shared<ChunkList>();
        open_chunks_at_ = batch.at;
        open_chunks_sequence_ = batch.sequence;
      }
      FrameHeader header;
      std::memcpy(&header, frame, sizeof header);
      open_chunks_->pieces.push_back({batch.at.segment, header.gets, offset + sizeof header});
      open_chunks_->image_bytes += header.gets;
      return;
    }
    case FrameType::kChunkedUnit:
      MS_CHECK(open_chunks_ && unit.parse(*entry.image));
      place = {open_chunks_->pieces.front().segment, 0, open_chunks_};
      open_chunks_.reset();
      break;
    case FrameType::kEpoch:
      return;
  }
  MS_CHECK(state.apply(unit, place, batch.at, &told_.locations));
}

void JournalWriter::apply(const Batch& batch) {
  StoreState& state = shared_.state;
  told_.units.clear();
  told_.locations.clear();
  std::lock_guard lock(state.mutex);
  const Block& block = *batch.block;
  const uint32_t begin = block.entries[batch.from].offset;
  for (uint32_t i = batch.from; i < batch.to; ++i) {
    const Entry& entry = block.entries[i];
    const size_t in_block = batch.first_frame + (entry.offset - begin);
    apply_entry(entry, block.memory.data() + entry.offset,
                uint64_t{batch.at.page} * kPageBytes + in_block, batch);
    if (entry.pending) {
      told_.units.push_back({entry.pending, static_cast<uint32_t>(told_.locations.size())});
    }
  }
  const size_t padded = pad_page(sizeof(BlockHeader) + batch.payload_bytes);
  state.applied_end = {batch.at.segment,
                       batch.at.page + static_cast<uint32_t>(padded / kPageBytes)};
  state.next_sequence = batch.sequence + 1;
  state.floor = open_chunks_ ? open_chunks_at_ : state.applied_end;
  state.floor_sequence = open_chunks_ ? open_chunks_sequence_ : state.next_sequence;
}

void JournalWriter::forget_outcome(std::string_view image) {
  FrameHeader frame;
  std::memcpy(&frame, image.data(), sizeof frame);
  if (!is_outcome(static_cast<RedoKind>(frame.kind))) return;
  UnitView unit;
  MS_CHECK(unit.parse(image));
  std::lock_guard lock(append_mutex_);
  const auto found = outcomes_on_the_way_.find(unit.xid());
  MS_CHECK(found != outcomes_on_the_way_.end());
  outcomes_on_the_way_.erase(found);
}

void JournalWriter::complete(const Batch& batch) {
  const Block& block = *batch.block;
  for (uint32_t i = batch.from; i < batch.to; ++i) {
    const Entry& entry = block.entries[i];
    if (!entry.pending) continue;
    forget_outcome(entry.image ? std::string_view(*entry.image)
                               : std::string_view(block.memory.data() + entry.offset, entry.bytes));
  }
  teller_.tell(told_);
}

void JournalWriter::retire(const Batch& batch) {
  last_write_ns_ = shared_.clock.monotonic_ns();
  is_covered_ = false;
  Block& block = *batch.block;
  for (uint32_t i = batch.from; i < batch.to; ++i) {
    block.entries[i].is_ready.store(false, std::memory_order_relaxed);
    block.entries[i].image.reset();
  }
  BlockPtr done;
  {
    std::lock_guard lock(append_mutex_);
    block.first = batch.to;
    if (block.first < block.count) return;
    MS_CHECK(blocks_.front().get() == &block);
    done = std::move(blocks_.front());
    blocks_.pop_front();
  }
  const bool was_whole = batch.from == 0 && batch.memory == block.memory.data();
  if (was_whole && shared_.options.blocks_recent > 0) {
    std::lock_guard lock(recent_mutex_);
    done->position = batch.at;
    recent_.push_back(std::move(done));
    if (recent_.size() <= shared_.options.blocks_recent) return;
    done = std::move(recent_.front());
    recent_.pop_front();
  }
  done->first = done->count = 0;
  done->used = sizeof(BlockHeader);
  std::lock_guard lock(append_mutex_);
  if (pool_.size() < kPoolBlocksMax) pool_.push_back(std::move(done));
}

bool JournalWriter::copy_recent(uint32_t segment, uint64_t offset, void* out, size_t bytes) const {
  std::lock_guard lock(recent_mutex_);
  for (auto it = recent_.rbegin(); it != recent_.rend(); ++it) {
    const Block& block = **it;
    const uint64_t from = uint64_t{block.position.page} * kPageBytes;
    if (block.position.segment != segment || offset < from || offset + bytes > from + block.used) {
      continue;
    }
    std::memcpy(out, block.memory.data() + (offset - from), bytes);
    return true;
  }
  return false;
}

void JournalWriter::plan_cover() {
  if (is_covered_) return;
  const int64_t due_ns = last_write_ns_ + shared_.options.cover_idle_ns;
  if (shared_.clock.monotonic_ns() < due_ns) {
    if (worker_) worker_->wake_at(due_ns);
    return;
  }
  const Status covered = cover();
  if (!covered.ok()) shared_.fail(covered);
}

Status JournalWriter::cover() {
  if (is_covered_ || shared_.has_failed.load()) return {};
  bool is_stalled = false;
  MS_TRY(ensure_segment(kPageBytes, &is_stalled));
  if (is_stalled) return {};
  bounce_.reserve(shared_.options.block_bytes_max);
  const Position at = position_;
  Status written = write_block(bounce_.data(), 0, 0, at, shared_.state.next_sequence);
  if (!written.ok()) {
    return StoreShared::failure(file_.file->name(), uint64_t{at.page} * kPageBytes,
                                std::move(written));
  }
  is_covered_ = true;
  StoreState& state = shared_.state;
  std::lock_guard lock(state.mutex);
  state.applied_end = position_;
  ++state.next_sequence;
  if (!open_chunks_) {
    state.floor = state.applied_end;
    state.floor_sequence = state.next_sequence;
  }
  return {};
}

Status JournalWriter::begin_epoch(uint32_t segment, const EpochBody& body) {
  MS_ASSERT(!file_.file);
  position_ = {segment - 1, 0};
  if (shared_.segments.spares() == 0) {
    MS_TRY(shared_.segments.make_now(shared_.options.first_segment_bytes));
  }
  bool is_stalled = false;
  MS_TRY(ensure_segment(kPageBytes, &is_stalled));
  MS_CHECK(!is_stalled);
  bounce_.reserve(shared_.options.block_bytes_max);
  FrameHeader frame;
  frame.bytes = sizeof frame + sizeof body;
  frame.type = static_cast<uint8_t>(FrameType::kEpoch);
  std::memcpy(bounce_.data() + sizeof(BlockHeader), &frame, sizeof frame);
  std::memcpy(bounce_.data() + sizeof(BlockHeader) + sizeof frame, &body, sizeof body);
  StoreState& state = shared_.state;
  MS_TRY(write_block(bounce_.data(), frame.bytes, 1, position_, state.next_sequence));
  std::lock_guard lock(state.mutex);
  state.applied_end = state.floor = position_;
  state.floor_sequence = ++state.next_sequence;
  shared_.bytes_since_checkpoint = 0;
  return {};
}

}  // namespace millstream::queue::store
