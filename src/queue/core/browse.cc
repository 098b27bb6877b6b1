// Browsing: cursor, lock, and the marks of co-operating browsers.
#include <algorithm>

#include "queue/core/get_operation.h"

namespace millstream::queue {

Outcome GetOperation::browse(Slot slot, std::unique_lock<std::mutex>& lock) {
  Entry& entry = queue_->index().at(slot);
  if (entry.message == nullptr && loaded_.sequence != entry.sequence) {
    from_ = {entry.lane, from_.lane == entry.lane ? from_.sequence : 0, entry.sequence};
    return read(slot, entry, lock);
  }
  MessageRef message =
      entry.message != nullptr ? MessageRef::share(entry.message) : loaded_.message;
  Entry copy = entry;
  bool is_ours = handle_->locked == slot && handle_->locked_sequence == entry.sequence;
  queue_->place_cursor(handle_->cursor, slot);
  // 2080 leaves the cursor on the message, but neither locks nor marks it.
  bool fits = formed(message)->body.size() <= call_->buffer_bytes ||
              (call_->options & mqi::gmo::kAcceptTruncated) != 0;
  Effects effects;
  if (fits) {
    if (!is_ours && handle_->locked != kNoSlot) {
      // One lock a handle: the one before goes.
      manager_.release(*queue_, handle_->locked, effects);
      handle_->locked = kNoSlot;
    }
    if ((call_->options & mqi::gmo::kLock) != 0 && !is_ours) {
      queue_->lock(slot, owner);
      handle_->cursor.sequence = copy.sequence;
      handle_->locked = slot;
      handle_->locked_sequence = copy.sequence;
    }
    mark(copy.sequence);
  }
  lock.unlock();
  manager_.apply(std::move(effects));
  return deliver(copy, message);
}

void GetOperation::mark(Sequence sequence) {
  namespace gmo = mqi::gmo;
  int32_t o = call_->options;
  constexpr int32_t kAny = gmo::kMarkBrowseHandle | gmo::kMarkBrowseCoOp |
                           gmo::kUnmarkBrowseHandle | gmo::kUnmarkBrowseCoOp;
  if ((o & kAny) == 0) return;
  Queue::Mark& mark = queue_->marks()[sequence];
  if ((o & gmo::kMarkBrowseCoOp) != 0) {
    int32_t interval = manager_.settings().mark_browse_ms;
    mark.is_cooperative = true;
    mark.by = handle_->marker;
    mark.until_ns = interval < 0 ? INT64_MAX : manager_.now_ns() + interval * 1'000'000LL;
  }
  if ((o & gmo::kMarkBrowseHandle) != 0) mark.handles.push_back(handle_->marker);
  if ((o & gmo::kUnmarkBrowseCoOp) != 0) mark.is_cooperative = false;
  if ((o & gmo::kUnmarkBrowseHandle) != 0) std::erase(mark.handles, handle_->marker);
  if (!mark.is_cooperative && mark.handles.empty()) queue_->marks().erase(sequence);
}

Outcome GetOperation::unlock_message() {
  Effects effects;
  {
    std::lock_guard lock(queue_->mutex());
    if (handle_->locked == kNoSlot) return Outcome::failed(mqi::reason::kNoMsgLocked);
    manager_.release(*queue_, handle_->locked, effects);
    handle_->locked = kNoSlot;
  }
  manager_.apply(std::move(effects));
  return Outcome::ok();
}

}  // namespace millstream::queue
