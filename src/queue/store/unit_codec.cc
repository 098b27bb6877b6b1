#include "queue/store/unit_codec.h"

#include <cstring>

#include "base/assert.h"

namespace millstream::queue::store {
namespace {

constexpr size_t kSharedBodyMin = 64;  // below, a reference saves nothing

bool has_extra(const RedoUnit& unit) {
  return !unit.backouts.empty() || !unit.records.empty() || !unit.clears.empty() ||
         !unit.prepared_sequences.empty();
}

bool shares_body(const RedoPut& put, const RedoPut* before) {
  return before && put.body.size() >= kSharedBodyMin && put.body.data() == before->body.data() &&
         put.body.size() == before->body.size();
}

class ImageWriter {
 public:
  explicit ImageWriter(char* out) : start_(out), at_(out) {}
  template <typename T>
  void value(const T& v) {
    std::memcpy(at_, &v, sizeof v);
    at_ += sizeof v;
  }
  void bytes(std::string_view s) {
    if (!s.empty()) std::memcpy(at_, s.data(), s.size());
    at_ += s.size();
  }
  void pad() {
    const uint64_t n = pad8(offset()) - offset();
    std::memset(at_, 0, n);
    at_ += n;
  }
  uint64_t offset() const { return static_cast<uint64_t>(at_ - start_); }

 private:
  char* start_;
  char* at_;
};

void encode_puts(const RedoUnit& unit, ImageWriter& w) {
  const RedoPut* owner = nullptr;  // of the body that later puts may share
  uint64_t body_at = 0;
  for (const RedoPut& put : unit.puts) {
    const bool shares = shares_body(put, owner);
    PutHead head;
    head.queue = put.queue;
    head.sequence = put.index.sequence;
    head.message_id_hash = put.index.message_id_hash;
    head.correlation_id_hash = put.index.correlation_id_hash;
    head.group_id_hash = put.index.group_id_hash;
    head.expires_gmt_ms = put.index.expires_gmt_ms;
    head.header_bytes = static_cast<uint32_t>(put.header.size());
    head.body_bytes = static_cast<uint32_t>(put.body.size());
    head.backout_count = put.index.backout_count;
    head.priority = put.index.priority;
    head.flags = put.index.flags;
    head.crc = put_crc(head, put.header, put.body);
    head.form = shares ? kPutSharesBody : 0;
    const uint64_t head_at = w.offset();
    w.value(head);
    if (shares) w.value(head_at - body_at);
    w.bytes(put.header);
    if (!shares) {
      owner = &put;
      body_at = w.offset();
      w.bytes(put.body);
    }
    w.pad();
  }
}

}  // namespace

size_t unit_image_bytes(const RedoUnit& unit) {
  uint64_t n = sizeof(FrameHeader) + (has_extra(unit) ? sizeof(UnitExtra) : 0);
  n += pad8(unit.xid.size());
  const RedoPut* owner = nullptr;
  for (const RedoPut& put : unit.puts) {
    const bool shares = shares_body(put, owner);
    n += pad8(sizeof(PutHead) + put.header.size() + (shares ? 8 : put.body.size()));
    if (!shares) owner = &put;
  }
  n += (unit.gets.size() + unit.backouts.size()) * sizeof(GetEntry);
  for (const RedoRecord& record : unit.records) {
    n += pad8(sizeof(RecordHead) + record.key.size() + record.value.size());
  }
  n += unit.clears.size() * sizeof(ClearEntry) + unit.prepared_sequences.size() * 8;
  return n;
}

void encode_unit(const RedoUnit& unit, char* out, uint8_t flags) {
  MS_ASSERT(reinterpret_cast<uintptr_t>(out) % 8 == 0);
  MS_CHECK(unit.xid.size() <= kXidBytesMax);
  ImageWriter w(out);
  const size_t bytes = unit_image_bytes(unit);
  FrameHeader frame;
  frame.bytes = static_cast<uint32_t>(bytes);
  frame.type = static_cast<uint8_t>(static_cast<uint8_t>(FrameType::kUnit) | flags |
                                    (has_extra(unit) ? kFrameHasExtra : 0));
  frame.kind = static_cast<uint8_t>(unit.kind);
  frame.outcome = unit.outcome;
  frame.xid_bytes = static_cast<uint8_t>(unit.xid.size());
  frame.puts = static_cast<uint32_t>(unit.puts.size());
  frame.gets = static_cast<uint32_t>(unit.gets.size());
  w.value(frame);
  if (has_extra(unit)) {
    w.value(UnitExtra{static_cast<uint32_t>(unit.backouts.size()),
                      static_cast<uint32_t>(unit.records.size()),
                      static_cast<uint32_t>(unit.clears.size()),
                      static_cast<uint32_t>(unit.prepared_sequences.size())});
  }
  w.bytes(unit.xid);
  w.pad();
  encode_puts(unit, w);
  for (const RedoGet& get : unit.gets) {
    w.value(GetEntry{get.queue, 0, get.sequence, get.location.at});
  }
  for (const RedoBackout& b : unit.backouts) {
    w.value(GetEntry{b.queue, b.backout_count, b.sequence, b.location.at});
  }
  for (const RedoRecord& record : unit.records) {
    RecordHead head;
    head.key_bytes = static_cast<uint32_t>(record.key.size());
    head.value_bytes = static_cast<uint32_t>(record.value.size());
    head.kind = record.kind;
    head.is_erased = record.is_erased;
    head.crc = record_crc(head, record.key, record.value);
    w.value(head);
    w.bytes(record.key);
    w.bytes(record.value);
    w.pad();
  }
  for (const RedoClear& c : unit.clears) {
    w.value(ClearEntry{c.queue, c.is_deleted, c.upto});
  }
  for (const Sequence sequence : unit.prepared_sequences) w.value(sequence);
  MS_CHECK(w.offset() == bytes);
}

bool read_put(std::string_view image, uint64_t offset, PutView* put, uint64_t* entry_bytes) {
  if (offset > image.size() || image.size() - offset < sizeof(PutHead)) return false;
  std::memcpy(&put->head, image.data() + offset, sizeof(PutHead));
  put->offset = offset;
  const uint64_t left = image.size() - offset;
  const bool shares = put->head.form & kPutSharesBody;
  const uint64_t header_at = sizeof(PutHead) + (shares ? 8 : 0);
  const uint64_t needed =
      header_at + put->head.header_bytes + (shares ? 0 : uint64_t{put->head.body_bytes});
  if (pad8(needed) > left) return false;
  put->header = image.substr(offset + header_at, put->head.header_bytes);
  if (!shares) {
    put->body = image.substr(offset + header_at + put->head.header_bytes, put->head.body_bytes);
  } else {
    uint64_t distance;
    std::memcpy(&distance, image.data() + offset + sizeof(PutHead), 8);
    if (distance > offset || distance < put->head.body_bytes) return false;
    put->body = image.substr(offset - distance, put->head.body_bytes);
  }
  *entry_bytes = pad8(needed);
  return true;
}

bool read_record(std::string_view image, uint64_t offset, RecordView* record,
                 uint64_t* entry_bytes) {
  if (offset > image.size() || image.size() - offset < sizeof(RecordHead)) return false;
  std::memcpy(&record->head, image.data() + offset, sizeof(RecordHead));
  record->offset = offset;
  const uint64_t needed =
      sizeof(RecordHead) + uint64_t{record->head.key_bytes} + record->head.value_bytes;
  if (pad8(needed) > image.size() - offset) return false;
  record->key = image.substr(offset + sizeof(RecordHead), record->head.key_bytes);
  record->value =
      image.substr(offset + sizeof(RecordHead) + record->head.key_bytes, record->head.value_bytes);
  *entry_bytes = pad8(needed);
  return true;
}

bool UnitView::parse(std::string_view image) {
  image_ = image;
  if (image.size() < sizeof frame_) return false;
  std::memcpy(&frame_, image.data(), sizeof frame_);
  uint64_t at = sizeof frame_;
  extra_ = {};
  if (frame_.type & kFrameHasExtra) {
    if (image.size() - at < sizeof extra_) return false;
    std::memcpy(&extra_, image.data() + at, sizeof extra_);
    at += sizeof extra_;
  }
  if (frame_.kind > static_cast<uint8_t>(RedoKind::kForget)) return false;
  if (frame_.xid_bytes > kXidBytesMax || pad8(frame_.xid_bytes) > image.size() - at) return false;
  xid_ = image.substr(at, frame_.xid_bytes);
  at += pad8(frame_.xid_bytes);
  puts_at_ = at;
  for (uint32_t i = 0; i < frame_.puts; ++i) {
    PutView put;
    uint64_t bytes = 0;
    if (!read_put(image, at, &put, &bytes)) return false;
    at += bytes;
  }
  auto fixed = [&](uint64_t count, uint64_t size, uint64_t* where) {
    *where = at;
    if (count * size > image.size() - at) return false;
    at += count * size;
    return true;
  };
  if (!fixed(frame_.gets, sizeof(GetEntry), &gets_at_)) return false;
  if (!fixed(extra_.backouts, sizeof(GetEntry), &backouts_at_)) return false;
  records_at_ = at;
  for (uint32_t i = 0; i < extra_.records; ++i) {
    RecordView record;
    uint64_t bytes = 0;
    if (!read_record(image, at, &record, &bytes)) return false;
    at += bytes;
  }
  if (!fixed(extra_.clears, sizeof(ClearEntry), &clears_at_)) return false;
  if (!fixed(extra_.sequences, sizeof(uint64_t), &sequences_at_)) return false;
  return at == image.size();
}

RedoUnit UnitView::to_unit() const {
  RedoUnit unit;
  unit.kind = kind();
  unit.xid = xid_;
  unit.outcome = frame_.outcome;
  for_puts([&](const PutView& p) {
    unit.puts.push_back({p.head.queue, p.head.index(), p.header, p.body});
  });
  for (uint32_t i = 0; i < gets(); ++i) {
    const GetEntry e = get(i);
    unit.gets.push_back({e.queue, e.sequence, Location{e.location}});
  }
  for (uint32_t i = 0; i < backouts(); ++i) {
    const GetEntry e = backout(i);
    unit.backouts.push_back({e.queue, e.sequence, Location{e.location}, e.backout_count});
  }
  for_records([&](const RecordView& r) {
    unit.records.push_back({r.head.kind, r.key, r.value, r.head.is_erased != 0});
  });
  for (uint32_t i = 0; i < clears(); ++i) {
    const ClearEntry e = clear(i);
    unit.clears.push_back({e.queue, e.upto, e.is_deleted != 0});
  }
  for (uint32_t i = 0; i < sequences(); ++i) unit.prepared_sequences.push_back(sequence(i));
  return unit;
}

}  // namespace millstream::queue::store
