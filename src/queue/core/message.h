// A message as the queue manager holds it: never changed once it is on a queue, and shared by
// reference by queues, subscriptions, units of work and whoever got it. What differs from place to
// place (backout count, lock) is in the queue's index, and is put into the copy of the descriptor
// that a get returns.
//
// Body is the same for bytes: one allocation, shared, never changed.
// Thread: any; the counts are atomic. Views live as long as a reference is held.
#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <utility>

#include "mqi/message_descriptor.h"

namespace millstream::queue {

// A reference to something with retain() and release().
template <typename T>
class Ref {
 public:
  Ref() = default;
  Ref(std::nullptr_t) {}
  Ref(const Ref& other) : p_(other.p_) {
    if (p_ != nullptr) p_->retain();
  }
  Ref(Ref&& other) noexcept : p_(std::exchange(other.p_, nullptr)) {}
  Ref& operator=(Ref other) noexcept {
    std::swap(p_, other.p_);
    return *this;
  }
  ~Ref() {
    if (p_ != nullptr) p_->release();
  }
  // Takes over a count that the caller has.
  static Ref adopt(T* p) {
    Ref r;
    r.p_ = p;
    return r;
  }
  static Ref share(T* p) {
    if (p != nullptr) p->retain();
    return adopt(p);
  }
  T* get() const { return p_; }
  T* detach() { return std::exchange(p_, nullptr); }
  T& operator*() const { return *p_; }
  T* operator->() const { return p_; }
  explicit operator bool() const { return p_ != nullptr; }

 private:
  T* p_ = nullptr;
};

// The bytes follow the block in one allocation, or are the adopted string's.
class BodyBlock {
 public:
  static Ref<BodyBlock> allocate(size_t size) {
    void* memory = ::operator new(sizeof(BodyBlock) + size);
    return Ref<BodyBlock>::adopt(new (memory) BodyBlock);
  }
  char* bytes() { return reinterpret_cast<char*>(this + 1); }
  void retain() { refs_.fetch_add(1, std::memory_order_relaxed); }
  void release() {
    if (refs_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    this->~BodyBlock();
    ::operator delete(this);
  }
  std::string owned;

 private:
  std::atomic<uint32_t> refs_{1};
};

class Body {
 public:
  Body() = default;
  static Body copy(std::string_view bytes);
  static Body join(std::string_view first, std::string_view second);
  static Body adopt(std::string bytes);
  std::string_view view() const { return view_; }
  size_t size() const { return view_.size(); }
  bool empty() const { return view_.empty(); }
  // A part, sharing the bytes.
  Body part(size_t at, size_t size) const;

 private:
  Ref<BodyBlock> block_;
  std::string_view view_;
};

// Identifiers of other protocols that do not fit into MQMD's 24 bytes, whole. Empty: the
// descriptor's is all there is.
struct LongIds {
  std::string message_id;
  std::string correlation_id;
  std::string group_id;
  bool empty() const { return message_id.empty() && correlation_id.empty() && group_id.empty(); }
};

// What the bytes in Message::origin are.
enum class OriginKind : uint8_t { kNone = 0, kAmqp10 = 1, kMqtt = 2, kStomp = 3, kRest = 4 };

class Message {
 public:
  mqi::MessageDescriptor md;  // priority and persistence resolved, context filled in
  Body body;
  std::string properties;  // a mqi::PropertyList's bytes
  std::string origin;
  OriginKind origin_kind = OriginKind::kNone;
  std::unique_ptr<LongIds> long_ids;
  int64_t expires_gmt_ms = 0;  // 0: never
  int64_t due_gmt_ms = 0;      // not delivered before; 0: at once

  bool is_persistent() const { return md.persistence == 1; }
  // Trailing nulls do not count: a short identifier and the same in 24 bytes are equal.
  std::string_view message_id() const { return id_of(&LongIds::message_id, md.message_id); }
  std::string_view correlation_id() const {
    return id_of(&LongIds::correlation_id, md.correlation_id);
  }
  std::string_view group_id() const { return id_of(&LongIds::group_id, md.group_id); }
  // What it takes of the memory budget; a shared body counts in each.
  size_t memory_bytes() const {
    return sizeof(Message) + body.size() + properties.size() + origin.size();
  }

  void retain() const { refs_.fetch_add(1, std::memory_order_relaxed); }
  void release() const {
    if (refs_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
  }
  static Ref<Message> create() { return Ref<Message>::adopt(new Message); }

 private:
  Message() = default;
  ~Message() = default;
  std::string_view id_of(std::string LongIds::* member, const mqi::Id& id) const;
  mutable std::atomic<uint32_t> refs_{1};
};
using MessageRef = Ref<Message>;  // const once it is on a queue

std::string_view strip_nulls(std::string_view id);
// 0 for "no identifier": empty, or nulls only. Stable for ever: it is in journals.
uint64_t hash_identifier(std::string_view id);

}  // namespace millstream::queue
