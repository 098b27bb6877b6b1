// A redo unit as bytes (its image): one frame of the journal, or the content of its chunks.
//
//   FrameHeader [UnitExtra] xid
//   puts:     PutHead [distance of a shared body] header body
//   gets, backouts: GetEntry    records: RecordHead key value    clears: ClearEntry
//   sequences of prepared puts: uint64_t
//
// xid, each put and each record are padded to 8 bytes. A put whose body is the same memory as an
// earlier put's of the unit refers to it: a publication to many subscriptions is written once.
// UnitView checks every length before it hands out a view: it reads what lay on a disk.
// Thread: any. Views live as long as the image.
#pragma once
#include <span>
#include <string_view>

#include "base/result.h"
#include "queue/store/format.h"

namespace millstream::queue::store {

size_t unit_image_bytes(const RedoUnit& unit);
// `out` has room for unit_image_bytes(), at an address that is a multiple of 8.
void encode_unit(const RedoUnit& unit, char* out, uint8_t flags = 0);

struct PutView {
  PutHead head;
  uint64_t offset = 0;  // of the head within the image
  std::string_view header, body;
};

struct RecordView {
  RecordHead head;
  uint64_t offset = 0;
  std::string_view key, value;
};

// Length checks of a single entry at `offset` of `image`; false: it does not fit. `entry_bytes` is
// what it takes with its padding.
bool read_put(std::string_view image, uint64_t offset, PutView* put, uint64_t* entry_bytes);
bool read_record(std::string_view image, uint64_t offset, RecordView* record,
                 uint64_t* entry_bytes);

class UnitView {
 public:
  // False: the bytes are no unit. All lengths are checked here, checksums of entries are not.
  bool parse(std::string_view image);

  RedoKind kind() const { return static_cast<RedoKind>(frame_.kind); }
  uint8_t outcome() const { return frame_.outcome; }
  bool is_relogged() const { return frame_.type & kFrameRelogged; }
  std::string_view xid() const { return xid_; }
  uint32_t puts() const { return frame_.puts; }
  uint32_t gets() const { return frame_.gets; }
  uint32_t backouts() const { return extra_.backouts; }
  uint32_t records() const { return extra_.records; }
  uint32_t clears() const { return extra_.clears; }
  uint32_t sequences() const { return extra_.sequences; }

  // In order; each f(const PutView&) and so on.
  template <typename F>
  void for_puts(F&& f) const {
    uint64_t at = puts_at_;
    for (uint32_t i = 0; i < frame_.puts; ++i) {
      PutView put;
      uint64_t bytes = 0;
      read_put(image_, at, &put, &bytes);
      f(put);
      at += bytes;
    }
  }
  GetEntry get(uint32_t i) const { return entry<GetEntry>(gets_at_, i); }
  GetEntry backout(uint32_t i) const { return entry<GetEntry>(backouts_at_, i); }
  ClearEntry clear(uint32_t i) const { return entry<ClearEntry>(clears_at_, i); }
  uint64_t sequence(uint32_t i) const { return entry<uint64_t>(sequences_at_, i); }
  template <typename F>
  void for_records(F&& f) const {
    uint64_t at = records_at_;
    for (uint32_t i = 0; i < extra_.records; ++i) {
      RecordView record;
      uint64_t bytes = 0;
      read_record(image_, at, &record, &bytes);
      f(record);
      at += bytes;
    }
  }
  // With views into the image.
  RedoUnit to_unit() const;

 private:
  template <typename T>
  T entry(uint64_t at, uint32_t i) const {
    T value;
    __builtin_memcpy(&value, image_.data() + at + uint64_t{i} * sizeof(T), sizeof(T));
    return value;
  }
  std::string_view image_, xid_;
  FrameHeader frame_;
  UnitExtra extra_;
  uint64_t puts_at_ = 0, gets_at_ = 0, backouts_at_ = 0, records_at_ = 0, clears_at_ = 0;
  uint64_t sequences_at_ = 0;
};

}  // namespace millstream::queue::store
