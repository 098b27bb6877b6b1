// MQGET: see get_operation.h.
#include "base/assert.h"
#include "queue/core/get_operation.h"
#include "queue/core/message_codec.h"
#include "queue/core/report.h"

namespace millstream::queue {
namespace {

bool get_bits_conflict(int32_t bits) { return (bits & (bits - 1)) != 0; }

}  // namespace

Outcome Connection::get(Hobj id, GetCall& call, Done done) {
  if (!is_open_) return Outcome::failed(mqi::reason::kHconnError);
  HandleRef handle = find_handle(id);
  if (handle == nullptr) return Outcome::failed(mqi::reason::kHobjError);
  auto operation = std::make_shared<GetOperation>(*this, std::move(handle), call, std::move(done));
  Outcome outcome = operation->start();
  if (outcome.is_failed()) operation->report(*this, outcome);
  if (outcome.is_pending()) waiting_.emplace(&call, std::move(operation));
  return outcome;
}

GetOperation::GetOperation(Connection& connection, std::shared_ptr<Connection::Handle> handle,
                           GetCall& call, Done done)
    : connection_(&connection),
      manager_(connection.manager_),
      executor_(connection.executor()),
      handle_(std::move(handle)),
      queue_(handle_->queue),
      call_(&call),
      done_(std::move(done)) {}

void GetOperation::report(Connection& connection, const Outcome& outcome) const {
  if (handle_->object != nullptr) connection.report_failure(outcome, handle_->object->name);
}

Outcome GetOperation::check() const {
  namespace gmo = mqi::gmo;
  namespace oo = mqi::oo;
  namespace mo = mqi::mo;
  namespace reason = mqi::reason;
  int32_t o = call_->options;
  auto fail = [](int32_t reason) { return Outcome::failed(reason); };
  if (!manager_.is_running()) return fail(reason::kQMgrStopping);
  if (queue_ == nullptr) return fail(reason::kNotOpenForInput);
  bool is_browse_handle = (handle_->options & oo::kBrowse) != 0;
  if ((o & (gmo::kBrowseAny | gmo::kUnlock | gmo::kUnderCursor)) != 0 && !is_browse_handle) {
    return fail(reason::kNotOpenForBrowse);
  }
  if ((o & (gmo::kBrowseAny | gmo::kUnlock)) == 0 && !handle_->is_input) {
    return fail(reason::kNotOpenForInput);
  }
  if ((o & ~gmo::kAll) != 0 || (o & gmo::kSetSignal) != 0) return fail(reason::kOptionsError);
  constexpr int32_t kSyncpoints = gmo::kSyncpoint | gmo::kNoSyncpoint | gmo::kSyncpointIfPersistent;
  constexpr int32_t kProperties = gmo::kPropertiesForceRfh2 | gmo::kNoProperties |
                                  gmo::kPropertiesInHandle | gmo::kPropertiesCompatibility;
  if (get_bits_conflict(o & kSyncpoints) || get_bits_conflict(o & kProperties) ||
      get_bits_conflict(o & (gmo::kBrowseAny | gmo::kUnderCursor | gmo::kUnlock))) {
    return fail(reason::kOptionsError);
  }
  if ((o & gmo::kPropertiesInHandle) != 0 && !call_->takes_properties) {
    return fail(reason::kHmsgError);
  }
  if (browses() && (o & (gmo::kSyncpoint | gmo::kSyncpointIfPersistent | gmo::kMarkSkipBackout))) {
    return fail(reason::kOptionsError);
  }
  constexpr int32_t kMarks = gmo::kMarkBrowseHandle | gmo::kMarkBrowseCoOp;
  constexpr int32_t kUnmarks = gmo::kUnmarkBrowseCoOp | gmo::kUnmarkBrowseHandle;
  if ((o & (gmo::kLock | kMarks | gmo::kUnmarkedBrowse)) != 0 && !browses()) {
    return fail(reason::kOptionsError);
  }
  if ((o & kMarks) != 0 && (o & kUnmarks) != 0) return fail(reason::kOptionsError);
  if ((o & gmo::kMarkSkipBackout) != 0 && (o & gmo::kSyncpoint) == 0) {
    return fail(reason::kOptionsError);
  }
  constexpr int32_t kAlone = gmo::kWait | gmo::kLock | gmo::kSyncpoint | kMarks;
  if ((o & gmo::kUnlock) != 0 && (o & kAlone) != 0) return fail(reason::kOptionsError);
  bool marks_co_op = (o & (gmo::kMarkBrowseCoOp | gmo::kUnmarkBrowseCoOp)) != 0;
  if (marks_co_op && (handle_->options & oo::kCoOp) == 0) return fail(reason::kOptionsError);
  if ((call_->match_options & ~mo::kAll) != 0) return fail(reason::kMatchOptionsError);
  if ((o & gmo::kWait) != 0 && call_->wait_ms < -1) return fail(reason::kWaitIntervalError);
  return Outcome::ok();
}

Outcome GetOperation::prepare() {
  namespace mo = mqi::mo;
  int32_t match = call_->match_options;
  auto set = [&](int32_t bit, const std::string& long_id, const mqi::Id& id, std::string& to,
                 uint64_t& hash) {
    if ((match & bit) == 0) return;
    std::string_view wanted = long_id.empty() ? strip_nulls(id.view()) : strip_nulls(long_id);
    if (wanted.empty()) return;  // MQMI_NONE and the like: any
    to = wanted;
    hash = hash_identifier(wanted);
  };
  set(mo::kMessageId, call_->long_ids.message_id, call_->md.message_id, matcher.message_id,
      matcher.message_id_hash);
  set(mo::kCorrelationId, call_->long_ids.correlation_id, call_->md.correlation_id,
      matcher.correlation_id, matcher.correlation_id_hash);
  set(mo::kGroupId, call_->long_ids.group_id, call_->md.group_id, matcher.group_id,
      matcher.group_id_hash);
  if ((match & mo::kSequenceNumber) != 0) matcher.sequence_number = call_->md.sequence_number;
  if ((match & mo::kOffset) != 0) matcher.offset = call_->md.offset;
  if ((match & mo::kToken) != 0) matcher.token = call_->token;
  matcher.selector = handle_->selector;
  matcher.passed_over = call_->passed_over;
  prepare_form();
  owner = manager_.new_owner();
  if (Outcome o = prepare_logical(); !o.is_ok()) return o;
  prepare_selector();
  looks_again = browses() || matcher.rule.is_any();
  if ((call_->options & mqi::gmo::kUnmarkedBrowse) != 0) {
    constexpr uint64_t kCooperativeBit = 1ull << 63;
    marker_ = handle_->marker;
    if ((handle_->options & mqi::oo::kCoOp) != 0) marker_ |= kCooperativeBit;
  }
  return Outcome::ok();
}

// `JMSCorrelationID = '...'` is looked up in the index, and then verified.
void GetOperation::prepare_selector() {
  if (matcher.selector == nullptr) return;
  const selector::IdentifierEquality& equality = matcher.selector->identifier_equality();
  constexpr size_t kIdBytes = 24;
  if (!equality || equality.value.size() > kIdBytes) return;
  using Field = selector::IdentifierEquality::Field;
  bool is_message_id = equality.field == Field::kMessageId;
  if (is_message_id && !equality.is_bytes) return;
  if (is_message_id && matcher.message_id_hash == 0) {
    matcher.message_id = strip_nulls(equality.value);
    matcher.message_id_hash = hash_identifier(equality.value);
  } else if (!is_message_id && matcher.correlation_id_hash == 0) {
    selector_id_ = strip_nulls(equality.value);
  }
}

// Only while no message on the queue hides its identifier from the index.
void GetOperation::use_selector_index() {
  if (selector_id_.empty()) return;
  bool is_usable = queue_->other_cids == 0;
  matcher.correlation_id = is_usable ? selector_id_ : std::string();
  matcher.correlation_id_hash = is_usable ? hash_identifier(selector_id_) : 0;
}

Outcome GetOperation::start() {
  if (Outcome o = check(); !o.is_ok()) return o;
  if ((call_->options & mqi::gmo::kUnlock) != 0) return unlock_message();
  bool in_unit = (call_->options & (mqi::gmo::kSyncpoint | mqi::gmo::kSyncpointIfPersistent)) != 0;
  if (in_unit && connection_->unit_.count() >= manager_.settings().uncommitted_max) {
    return Outcome::failed(mqi::reason::kSyncpointLimitReached);
  }
  if (Outcome o = prepare(); !o.is_ok()) return o;
  if ((call_->options & mqi::gmo::kWait) != 0 && call_->wait_ms != 0) {
    deadline_ns_ = call_->wait_ms < 0 ? INT64_MAX : manager_.now_ns() + call_->wait_ms * 1'000'000;
  }
  if (is_under_cursor()) return finish(look_under_cursor());
  if ((call_->options & mqi::gmo::kBrowseNext) != 0) {
    from_ = start_ = {handle_->cursor.lane, handle_->cursor.sequence, 0};
  }
  return finish(look());
}

Outcome GetOperation::finish(const Outcome& outcome) {
  is_async_ = is_async_ || outcome.is_pending();
  if (!outcome.is_pending()) connection_ = nullptr;
  return outcome;
}

Outcome GetOperation::look() {
  Effects effects;
  std::unique_lock lock(queue_->mutex());
  if (queue_->is_deleted()) return Outcome::failed(mqi::reason::kQDeleted);
  if (is_inhibited()) return Outcome::failed(mqi::reason::kGetInhibited);
  if ((call_->options & mqi::gmo::kBrowseFirst) != 0 && from_.resume_at == 0) {
    queue_->reset_cursor(handle_->cursor);
  }
  use_selector_index();
  Queue::Found at = queue_->find(matcher, from_, loaded_, marker_, effects);
  Outcome outcome;
  if (at.slot == kNoSlot) {
    outcome = wait_or_fail(lock);
  } else if (at.needs_message) {
    const Entry& entry = queue_->index().at(at.slot);
    from_ = {entry.lane, from_.lane == entry.lane ? from_.sequence : 0, entry.sequence};
    outcome = read(at.slot, entry, lock);
  } else if (is_first_segment(at.slot)) {
    outcome = whole(at.slot, lock);
  } else if (browses()) {
    outcome = browse(at.slot, lock);
  } else {
    queue_->lock(at.slot, owner);
    held_ = queue_->index().at(at.slot).sequence;
    lock.unlock();
    outcome = take(at.slot);
  }
  if (lock.owns_lock()) lock.unlock();
  manager_.apply(std::move(effects));
  return outcome;
}

bool GetOperation::is_inhibited() const {
  return queue_->settings().inhibits_get ||
         (handle_->object != nullptr && handle_->object->inhibits_get.load());
}

Outcome GetOperation::look_under_cursor() {
  std::unique_lock lock(queue_->mutex());
  if (queue_->is_deleted()) return Outcome::failed(mqi::reason::kQDeleted);
  if (is_inhibited()) return Outcome::failed(mqi::reason::kGetInhibited);
  Sequence under = handle_->cursor.under;
  Slot slot = under == 0 ? kNoSlot : queue_->index().find(under);
  if (slot == kNoSlot) return Outcome::failed(mqi::reason::kNoMsgUnderCursor);
  Entry& entry = queue_->index().at(slot);
  bool is_ours = entry.state == EntryState::kLocked && handle_->locked == slot &&
                 handle_->locked_sequence == under;
  if (entry.state != EntryState::kAvailable && !is_ours) {
    return Outcome::failed(mqi::reason::kNoMsgUnderCursor);
  }
  if (queue_->is_expired(entry)) {
    Effects effects;
    if (is_ours) handle_->locked = kNoSlot;
    queue_->expire(slot, effects);
    lock.unlock();
    manager_.apply(std::move(effects));
    return Outcome::failed(mqi::reason::kNoMsgUnderCursor);
  }
  if (browses()) return browse(slot, lock);
  if (is_ours) {
    handle_->locked = kNoSlot;
    entry.owner = owner;
  } else {
    queue_->lock(slot, owner);
  }
  held_ = under;
  lock.unlock();
  return take(slot);
}

Outcome GetOperation::wait_or_fail(std::unique_lock<std::mutex>&) {
  if (deadline_ns_ == 0 || (deadline_ns_ != INT64_MAX && manager_.now_ns() >= deadline_ns_)) {
    return Outcome::failed(mqi::reason::kNoMsgAvailable);
  }
  // What comes may be anywhere in the order.
  from_ = start_;
  loaded_ = {};
  queue_->waiters().add(*this);
  is_waiting_ = true;
  if (timer_ == 0 && deadline_ns_ != INT64_MAX) {
    timer_ = executor_.post_at(deadline_ns_, [self = shared_from_this()] { self->on_deadline(); });
  }
  return Outcome::pending();
}

Outcome GetOperation::take(Slot slot) {
  std::unique_lock lock(queue_->mutex());
  Entry& entry = queue_->index().at(slot);
  MS_ASSERT(entry.state == EntryState::kLocked && entry.owner == owner);
  if (queue_->is_expired(entry)) {
    Effects effects;
    held_ = 0;
    queue_->expire(slot, effects);
    lock.unlock();
    manager_.apply(std::move(effects));
    return is_under_cursor() ? Outcome::failed(mqi::reason::kNoMsgUnderCursor) : look();
  }
  if (entry.message == nullptr && loaded_.sequence != entry.sequence) {
    return read(slot, entry, lock);
  }
  MessageRef message =
      entry.message != nullptr ? MessageRef::share(entry.message) : loaded_.message;
  Entry copy = entry;
  bool fits = formed(message)->body.size() <= call_->buffer_bytes ||
              (call_->options & mqi::gmo::kAcceptTruncated) != 0;
  if (call_->handles_poison && is_poison(entry)) {
    lock.unlock();
    return move_poison(slot, copy, message);
  }
  bool in_unit = (call_->options & mqi::gmo::kSyncpoint) != 0 ||
                 ((call_->options & mqi::gmo::kSyncpointIfPersistent) != 0 && copy.is_persistent());
  if (!fits) {
    Effects effects;
    held_ = 0;
    manager_.release(*queue_, slot, effects);
    lock.unlock();
    manager_.apply(std::move(effects));
    return deliver(copy, message);
  }
  if (!in_unit && !copy.is_persistent()) {
    manager_.forget(entry);
    queue_->erase(slot);
    Effects effects;
    queue_->note_get(effects);
    queue_->statistics.last_get_gmt_micros = manager_.now_gmt_micros();
    held_ = 0;
    lock.unlock();
    manager_.apply(std::move(effects));
    return finish_take(slot, copy, message);
  }
  if (in_unit && call_->delivery == nullptr) entry.owner = connection_->unit_owner();
  lock.unlock();
  return finish_take(slot, copy, message);
}

Outcome GetOperation::finish_take(Slot slot, const Entry& entry, const MessageRef& message) {
  Outcome outcome = deliver(entry, message);
  bool reports = (entry.flags & kEntryReportsCod) != 0;
  if ((handle_->options & mqi::oo::kSaveAllContext) != 0) {
    handle_->saved_context = std::make_unique<mqi::MessageDescriptor>(message->md);
  }
  if (held_ == 0) {  // it is gone already
    if (reports) {
      UnitOfWork unit;
      add_report(manager_, *message, ReportKind::kDelivery, 0, unit);
      manager_.run_detached(std::move(unit));
    }
    return outcome;
  }
  held_ = 0;
  UnitGet get{queue_, slot, entry.sequence, entry.is_persistent(),
              (call_->options & mqi::gmo::kMarkSkipBackout) != 0};
  constexpr int32_t kInUnit = mqi::gmo::kSyncpoint | mqi::gmo::kSyncpointIfPersistent;
  if (call_->delivery != nullptr && (call_->options & mqi::gmo::kSyncpoint) != 0) {
    *call_->delivery = Delivery(manager_, std::move(get), message, entry.backout_count,
                                call_->is_maybe_redelivered);
    return when_marked(outcome);
  }
  if ((call_->options & kInUnit) != 0) {
    connection_->unit_.gets.push_back(std::move(get));
    if (reports) {
      add_report(manager_, *message, ReportKind::kDelivery, 0, connection_->unit_);
    }
    return when_marked(outcome);
  }
  // Nobody is told before the get is durable.
  UnitOfWork unit;
  unit.gets.push_back(std::move(get));
  if (reports) add_report(manager_, *message, ReportKind::kDelivery, 0, unit);
  auto self = shared_from_this();
  auto* operation = new CommitOperation(manager_, std::move(unit), &executor_,
                                        [self, outcome](const Outcome& committed) {
                                          self->complete(committed.is_ok() ? outcome : committed);
                                        });
  Outcome committed = operation->run();
  return committed.is_ok() ? outcome : committed;
}

Outcome GetOperation::when_marked(const Outcome& outcome) {
  auto self = shared_from_this();
  const bool waits = manager_.await_unclean_mark(executor_, [self, outcome](const Outcome& marked) {
    self->complete(marked.is_ok() ? outcome : marked);
  });
  return waits ? Outcome::pending() : outcome;
}

Outcome GetOperation::deliver(const Entry& entry, const MessageRef& found) {
  const MessageRef& message = formed(found);
  call_->md = message->md;
  call_->md.backout_count = static_cast<int32_t>(entry.backout_count);
  if (entry.expires_gmt_ms != 0) {
    int64_t left = (entry.expires_gmt_ms - manager_.now_gmt_micros() / 1000) / 100;
    call_->md.expiry = static_cast<int32_t>(left < 1 ? 1 : left);
  }
  call_->message = message;
  call_->data_bytes = message->body.size();
  call_->token = entry.sequence;
  call_->is_maybe_redelivered = entry.backout_count > 0 || (entry.flags & kEntryRecovered) != 0;
  call_->resolved_queue = queue_->name();
  namespace mf = mqi::mf;
  int32_t flags = message->md.flags;
  bool is_last_in_group = (flags & mf::kLastInGroup) != 0;
  call_->group_status = is_last_in_group ? 'L' : (flags & mf::kInGroup) != 0 ? 'G' : ' ';
  bool is_last_segment = (flags & mf::kLastSegment) != 0;
  call_->segment_status = is_last_segment ? 'L' : (flags & mf::kSegment) != 0 ? 'S' : ' ';
  call_->segmentation = (flags & mf::kSegmentationAllowed) != 0 ? 'A' : ' ';
  bool fits = message->body.size() <= call_->buffer_bytes;
  bool is_kept = !fits && (call_->options & mqi::gmo::kAcceptTruncated) == 0;
  if (matcher.rule.is_logical && !is_kept) {
    if (is_in_unit() && !browses()) connection_->save_group(*handle_, false);
    note_logical(browses() ? handle_->browses : handle_->gets, message->md, message->body.size(),
                 is_in_unit());
  }
  bool converts = (call_->options & mqi::gmo::kConvert) != 0;
  if (fits) {
    call_->body = message->body;
    return converts ? converted(Outcome::ok()) : Outcome::ok();
  }
  call_->body = message->body.part(0, call_->buffer_bytes);
  if (is_kept) return Outcome::warning(mqi::reason::kTruncatedMsgFailed);
  Outcome accepted = Outcome::warning(mqi::reason::kTruncatedMsgAccepted);
  return converts ? converted(accepted) : accepted;
}

Outcome GetOperation::read(Slot, const Entry& entry, std::unique_lock<std::mutex>& lock) {
  Location location = entry.location;
  bool is_persistent = entry.is_persistent();
  reading_ = entry.sequence;
  reading_self_ = shared_from_this();
  is_async_ = true;
  lock.unlock();
  manager_.read(location, is_persistent, *this);
  return Outcome::pending();
}

// On a worker of the store, or within read() above.
void GetOperation::read(Result<StoredMessage> message) {
  auto shared = std::make_shared<Result<StoredMessage>>(std::move(message));
  std::shared_ptr<GetOperation> self = std::move(reading_self_);
  executor_.post([self, shared] { self->on_read(std::move(*shared)); });
}

void GetOperation::on_read(Result<StoredMessage> stored) {
  if (connection_ == nullptr) return;  // end() has given it back
  if (!stored.ok()) return complete(Outcome::failed(mqi::reason::kObjectDamaged));
  StoredMessage bytes = std::move(stored).take_value();
  auto message = decode_message(bytes.header, std::move(bytes.body));
  if (!message.ok()) return complete(Outcome::failed(mqi::reason::kObjectDamaged));
  loaded_ = {reading_, std::move(message).take_value()};
  if (is_gathering_) parts_[reading_] = loaded_.message;
  if (held_ == 0) {
    Outcome outcome = is_under_cursor() ? look_under_cursor() : look();
    if (!outcome.is_pending()) complete(outcome);
    return;
  }
  Slot slot;
  {
    std::lock_guard lock(queue_->mutex());
    slot = queue_->index().find(held_);
  }
  Outcome outcome = slot == kNoSlot ? look() : take(slot);
  if (!outcome.is_pending()) complete(outcome);
}

void GetOperation::granted(Slot slot, Sequence sequence) {
  executor_.post([self = shared_from_this(), slot, sequence] { self->on_granted(slot, sequence); });
}

void GetOperation::on_granted(Slot slot, Sequence sequence) {
  is_waiting_ = false;
  if (connection_ == nullptr) {
    held_ = sequence;
    return give_back();
  }
  Outcome outcome;
  if (slot == kNoSlot) {
    outcome = look();
  } else {
    held_ = sequence;
    outcome = take(slot);
  }
  if (!outcome.is_pending()) complete(outcome);
}

void GetOperation::give_back() {
  if (held_ == 0) return;
  Effects effects;
  {
    std::lock_guard lock(queue_->mutex());
    Slot slot = queue_->index().find(held_);
    held_ = 0;
    if (slot == kNoSlot) return;
    Entry& entry = queue_->index().at(slot);
    if (entry.state != EntryState::kLocked || entry.owner != owner) return;
    manager_.release(*queue_, slot, effects);
  }
  manager_.apply(std::move(effects));
}

void GetOperation::on_deadline() {
  timer_ = 0;
  if (connection_ == nullptr || !is_waiting_) return;
  {
    std::lock_guard lock(queue_->mutex());
    if (!queue_->waiters().remove(*this)) return;  // a message is on its way
  }
  is_waiting_ = false;
  complete(Outcome::failed(mqi::reason::kNoMsgAvailable));
}

bool GetOperation::cancel() {
  if (connection_ == nullptr || !is_waiting_) return false;
  {
    std::lock_guard lock(queue_->mutex());
    if (!queue_->waiters().remove(*this)) return false;
  }
  is_waiting_ = false;
  complete(Outcome::failed(mqi::reason::kNoMsgAvailable));
  return true;
}

void GetOperation::end(const Outcome& outcome) {
  if (connection_ == nullptr) return;
  if (is_waiting_) {
    std::lock_guard lock(queue_->mutex());
    (void)queue_->waiters().remove(*this);
    is_waiting_ = false;
  }
  give_back();
  complete(outcome);
}

// The answer always comes in a task of its own: the caller is never called back within its call.
void GetOperation::complete(const Outcome& outcome) {
  if (connection_ == nullptr) return;
  give_back();
  auto self = shared_from_this();
  if (outcome.reason == mqi::reason::kGetInhibited) report(*connection_, outcome);
  connection_->waiting_.erase(call_);
  connection_ = nullptr;
  if (timer_ != 0) executor_.cancel(std::exchange(timer_, 0));
  if (!done_) return;
  executor_.post([done = std::move(done_), outcome] { done(outcome); });
}

}  // namespace millstream::queue
