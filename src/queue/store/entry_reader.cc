#include "queue/store/entry_reader.h"

#include <algorithm>
#include <cstring>

#include "base/assert.h"
#include "queue/store/errors_gen.h"

namespace millstream::queue::store {

EntryReader::Source::Source(EntryReader& reader, Location location) : reader_(reader) {
  StoreShared& shared = reader.shared_;
  std::lock_guard lock(shared.state.mutex);
  location_ = shared.state.resolve(location);
  is_spill_ = is_spill(location_);
  const uint32_t slot = location_slot(location_);
  if (is_spill_) {
    SpillTable* table = shared.state.find_spill(location_file(location_));
    if (!table || slot >= table->at.size()) return;
    ++table->pins;
    place_.segment = table->number;
    place_.offset = uint64_t{table->at[slot]} * 8;
    file_ = table->file;
    file_bytes_ = table->file_bytes;
  } else {
    JournalTable* table = shared.state.find_segment(location_file(location_));
    if (!table || slot >= table->slots.size()) return;
    ++table->pins;
    place_ = table->place(slot);
    file_ = shared.segments.file_of(place_.segment, &file_bytes_);
  }
  is_known_ = file_ != nullptr;
}

EntryReader::Source::~Source() {
  StoreShared& shared = reader_.shared_;
  std::lock_guard lock(shared.state.mutex);
  if (is_spill_) {
    if (SpillTable* table = shared.state.find_spill(location_file(location_))) {
      if (table->pins > 0) --table->pins;
    }
  } else if (JournalTable* table = shared.state.find_segment(location_file(location_))) {
    if (table->pins > 0) --table->pins;
  }
}

Status EntryReader::Source::corrupt(const char* what) const {
  return base::make_error(errors::kStoreCorrupt,
                          {file_->name(), static_cast<int64_t>(place_.offset), what});
}

bool EntryReader::Source::holds(uint64_t offset, uint64_t bytes) const {
  const uint64_t end = place_.chunks ? place_.chunks->image_bytes : file_bytes_;
  return offset <= end && bytes <= end - offset;
}

bool EntryReader::Source::copy_recent(uint64_t offset, void* out, size_t bytes) const {
  if (is_spill_ || place_.chunks) return false;
  return reader_.writer_.copy_recent(place_.segment, offset, out, bytes);
}

Status EntryReader::Source::read_file(uint32_t segment, uint64_t offset, void* out, size_t bytes) {
  std::shared_ptr<io::DiskFile> file = file_;
  uint64_t file_bytes = file_bytes_;
  if (!is_spill_ && segment != place_.segment) {
    file = reader_.shared_.segments.file_of(segment, &file_bytes);
    if (!file) return corrupt("a chunk lies in a segment that is gone");
  }
  if (offset + bytes > file_bytes) return corrupt("an entry reaches beyond its file");
  MS_TRY(reader_.read_window(file, file_bytes, offset, bytes));
  std::memcpy(out, reader_.window_.data() + (offset - reader_.window_from_), bytes);
  return {};
}

// Within the image of a chunked unit offsets are the image's.
Status EntryReader::Source::read(uint64_t offset, void* out, size_t bytes) {
  if (bytes == 0) return {};
  if (!place_.chunks) {
    if (copy_recent(offset, out, bytes)) return {};
    return read_file(place_.segment, offset, out, bytes);
  }
  if (offset + bytes > place_.chunks->image_bytes) return corrupt("an entry ends beyond its unit");
  auto* to = static_cast<char*>(out);
  const uint64_t chunk = place_.chunks->pieces.front().bytes;  // all but the last are as long
  while (bytes > 0) {
    const ChunkList::Piece& piece = place_.chunks->pieces[offset / chunk];
    const uint64_t within = offset % chunk;
    const size_t n = std::min<uint64_t>(bytes, piece.bytes - within);
    if (!reader_.writer_.copy_recent(piece.segment, piece.offset + within, to, n)) {
      MS_TRY(read_file(piece.segment, piece.offset + within, to, n));
    }
    to += n;
    offset += n;
    bytes -= n;
  }
  return {};
}

Status EntryReader::read_window(const std::shared_ptr<io::DiskFile>& file, uint64_t file_bytes,
                                uint64_t offset, size_t bytes) {
  if (window_file_ == file && window_from_ <= offset && offset + bytes <= window_to_) return {};
  const uint64_t from = offset / kPageBytes * kPageBytes;
  const uint64_t wanted = std::max<uint64_t>(window_bytes_, offset + bytes - from);
  const uint64_t to = std::min(pad_page(from + wanted), file_bytes / kPageBytes * kPageBytes);
  window_.reserve(to - from);
  window_file_ = nullptr;
  MS_TRY(file->read(from, window_.data(), to - from));
  window_file_ = file;
  window_from_ = from;
  window_to_ = to;
  return {};
}

Result<ReadMessage> EntryReader::message(Location location) {
  Source source(*this, location);
  if (!source.is_known()) {
    return base::make_error(errors::kStoreCorrupt,
                            {"a location", static_cast<int64_t>(location.at), "nothing is there"});
  }
  ReadMessage out;
  MS_TRY(source.read(source.begin(), &out.head, sizeof out.head));
  uint64_t at = source.begin() + sizeof out.head;
  uint64_t distance = 0;
  if (out.head.form & kPutSharesBody) {
    MS_TRY(source.read(at, &distance, sizeof distance));
    at += sizeof distance;
    if (distance > source.begin()) return source.corrupt("a shared body lies nowhere");
  }
  const uint64_t body_at = out.head.form & kPutSharesBody ? source.begin() - distance
                                                          : at + uint64_t{out.head.header_bytes};
  if (!source.holds(at, out.head.header_bytes) || !source.holds(body_at, out.head.body_bytes)) {
    return source.corrupt("a message is longer than its file");
  }
  out.header.resize(out.head.header_bytes);
  out.body.resize(out.head.body_bytes);
  MS_TRY(source.read(at, out.header.data(), out.header.size()));
  MS_TRY(source.read(body_at, out.body.data(), out.body.size()));
  if (crc_differs(put_crc(out.head, out.header, out.body), out.head.crc)) {
    return source.corrupt("the checksum of a message is wrong");
  }
  return out;
}

bool EntryReader::message_in_memory(Location location, ReadMessage* out) {
  Source source(*this, location);
  if (!source.is_known()) return false;
  if (!source.copy_recent(source.begin(), &out->head, sizeof out->head)) return false;
  if (out->head.form & kPutSharesBody) return false;
  if (!source.holds(source.begin(), uint64_t{out->head.header_bytes} + out->head.body_bytes)) {
    return false;
  }
  out->header.resize(out->head.header_bytes);
  out->body.resize(out->head.body_bytes);
  const uint64_t at = source.begin() + sizeof out->head;
  if (!source.copy_recent(at, out->header.data(), out->header.size())) return false;
  if (!source.copy_recent(at + out->header.size(), out->body.data(), out->body.size())) {
    return false;
  }
  return !crc_differs(put_crc(out->head, out->header, out->body), out->head.crc);
}

Result<ReadRecord> EntryReader::record(Location location) {
  Source source(*this, location);
  if (!source.is_known()) {
    return base::make_error(errors::kStoreCorrupt,
                            {"a location", static_cast<int64_t>(location.at), "nothing is there"});
  }
  ReadRecord out;
  MS_TRY(source.read(source.begin(), &out.head, sizeof out.head));
  if (!source.holds(source.begin(), uint64_t{out.head.key_bytes} + out.head.value_bytes)) {
    return source.corrupt("a record is longer than its file");
  }
  out.key.resize(out.head.key_bytes);
  out.value.resize(out.head.value_bytes);
  const uint64_t at = source.begin() + sizeof out.head;
  MS_TRY(source.read(at, out.key.data(), out.key.size()));
  MS_TRY(source.read(at + out.key.size(), out.value.data(), out.value.size()));
  if (crc_differs(record_crc(out.head, out.key, out.value), out.head.crc)) {
    return source.corrupt("the checksum of a record is wrong");
  }
  return out;
}

}  // namespace millstream::queue::store
