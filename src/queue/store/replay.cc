#include "queue/store/replay.h"

#include <algorithm>
#include <cstring>

#include "base/assert.h"
#include "io/crc32c.h"
#include "queue/store/errors_gen.h"

namespace millstream::queue::store {

Status Replay::corrupt(uint64_t offset, const char* what) const {
  return base::make_error(errors::kStoreCorrupt, {file_, static_cast<int64_t>(offset), what});
}

std::vector<Replay::Row>& Replay::rows_of(QueueId queue) {
  if (!last_rows_ || last_queue_ != queue) {
    last_rows_ = &rows_[queue];
    last_queue_ = queue;
  }
  return *last_rows_;
}

Replay::Row* Replay::find(QueueId queue, Sequence sequence) {
  std::vector<Row>& rows = rows_of(queue);
  if (rows.empty() || sequence < rows.front().index.sequence) return nullptr;
  // Sequences have few holes: the place is where it would be without.
  const uint64_t guess = sequence - rows.front().index.sequence;
  if (guess < rows.size() && rows[guess].index.sequence == sequence) return &rows[guess];
  const auto found =
      std::lower_bound(rows.begin(), rows.end(), sequence,
                       [](const Row& r, Sequence s) { return r.index.sequence < s; });
  return found != rows.end() && found->index.sequence == sequence ? &*found : nullptr;
}

bool Replay::put(QueueId queue, const IndexEntry& index, Location location) {
  std::vector<Row>& rows = rows_of(queue);
  if (!rows.empty() && rows.back().index.sequence >= index.sequence) return false;
  rows.push_back({index, location, false});
  return true;
}

void Replay::get(QueueId queue, Sequence sequence) {
  Row* row = find(queue, sequence);
  if (!row) {
    dead_.insert({queue, sequence});
    return;
  }
  if (row->is_dead) return;
  row->is_dead = true;
  state_.kill(row->location);
}

bool Replay::backout(QueueId queue, Sequence sequence, uint32_t count) {
  Row* row = find(queue, sequence);
  if (row) row->index.backout_count = count;
  return row != nullptr;
}

void Replay::clear(QueueId queue, Sequence upto, bool is_deleted) {
  for (Row& row : rows_of(queue)) {
    if (row.is_dead || (!is_deleted && row.index.sequence > upto)) continue;
    row.is_dead = true;
    state_.kill(row.location);
  }
}

void Replay::record(const std::string& key, std::string_view value, bool is_erased) {
  if (is_erased) {
    records_.erase(key);
  } else {
    records_[key] = value;
  }
}

Status Replay::unit(std::string_view image, const EntryPlace& place, uint64_t offset) {
  UnitView view;
  if (!view.parse(image)) return corrupt(offset, "a unit of work cannot be read");
  scratch_.clear();
  ++units_;
  if (!state_.apply(view, place, at_, &scratch_)) {
    return corrupt(offset, "a unit of work contradicts those before it");
  }
  return {};
}

Status Replay::chunk(const FrameHeader& frame, std::string_view bytes, uint64_t offset) {
  if (frame.gets > bytes.size() - sizeof frame) {
    return corrupt(offset, "a chunk is longer than its frame");
  }
  if (is_at_begin_ && frame.puts != 0) return {};
  if (frame.puts == 0) {  // those before it had no end: their unit does not count
    chunks_ = std::make_shared<ChunkList>();
    image_.clear();
  }
  if (!chunks_ || frame.puts != chunks_->pieces.size()) {
    return corrupt(offset, "a chunk follows no chunk of its unit");
  }
  if (image_.size() + frame.gets > kUnitBytesMax) return corrupt(offset, "a unit is too large");
  chunks_->pieces.push_back({at_.segment, frame.gets, offset + sizeof frame});
  chunks_->image_bytes += frame.gets;
  image_.append(bytes.substr(sizeof frame, frame.gets));
  return {};
}

Status Replay::frame(const FrameHeader& frame, std::string_view bytes, uint64_t offset) {
  const auto type = static_cast<FrameType>(frame.type & 0x3f);
  if (is_at_begin_) {
    if (type == FrameType::kChunkedUnit) {
      is_at_begin_ = false;
      return {};
    }
    if (type != FrameType::kChunk || frame.puts == 0) is_at_begin_ = false;
  }
  switch (type) {
    case FrameType::kUnit:
      return unit(bytes, {at_.segment, offset, nullptr}, offset);
    case FrameType::kChunk:
      return chunk(frame, bytes, offset);
    case FrameType::kChunkedUnit: {
      ChunkedUnitBody body;
      if (bytes.size() < sizeof frame + sizeof body || !chunks_) {
        return corrupt(offset, "a unit of chunks has no chunks");
      }
      std::memcpy(&body, bytes.data() + sizeof frame, sizeof body);
      if (body.chunks != chunks_->pieces.size() || body.image_bytes != image_.size() ||
          crc_differs(io::crc32c(image_.data(), image_.size()), body.crc)) {
        return corrupt(offset, "the chunks of a unit are not those that it names");
      }
      const EntryPlace place{chunks_->pieces.front().segment, 0, chunks_};
      chunks_.reset();
      Status status = unit(image_, place, offset);
      image_ = {};
      return status;
    }
    case FrameType::kEpoch:
      chunks_.reset();  // a unit that the crash cut
      return {};
  }
  return corrupt(offset, "a frame has an unknown type");
}

Status Replay::block(const BlockHeader& header, Position at, const std::string& file,
                     std::string_view payload) {
  MS_ASSERT(at_ <= at);
  if (state_.journal.empty() || state_.journal.back().segment < at.segment) {
    state_.open_segment(at.segment);
  }
  at_ = at;
  file_ = file;
  const uint64_t base = uint64_t{at.page} * kPageBytes + sizeof header;
  uint64_t offset = 0;
  for (uint32_t i = 0; i < header.frames; ++i) {
    FrameHeader f;
    if (payload.size() - offset < sizeof f) return corrupt(base + offset, "a frame is cut");
    std::memcpy(&f, payload.data() + offset, sizeof f);
    if (f.bytes < sizeof f || f.bytes % 8 != 0 || f.bytes > payload.size() - offset) {
      return corrupt(base + offset, "the length of a frame is impossible");
    }
    MS_TRY(frame(f, payload.substr(offset, f.bytes), base + offset));
    offset += f.bytes;
  }
  if (offset != payload.size()) return corrupt(base + offset, "bytes follow the last frame");
  return {};
}

}  // namespace millstream::queue::store
