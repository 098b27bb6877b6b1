// MQPUT and MQPUT1: what the descriptor may say, context, the unit of work, other queue managers.
#include <algorithm>

#include "queue/core/connection.h"
#include "queue/core/report.h"

namespace millstream::queue {
namespace {

bool put_bits_conflict(int32_t bits) { return (bits & (bits - 1)) != 0; }

bool put_is_grouped(const mqi::MessageDescriptor& md) {
  return md.flags != 0 || md.offset != 0 || md.sequence_number != 1 || md.original_length != -1 ||
         !md.group_id.is_null();
}

// What the queue manager itself may not invent: descriptor values of the application.
Outcome put_check_descriptor(const mqi::MessageDescriptor& md) {
  if (md.expiry < -1 || md.expiry == 0) return Outcome::failed(mqi::reason::kExpiryError);
  if (md.persistence < 0 || md.persistence > mqi::kPersistenceAsQueueDef) {
    return Outcome::failed(mqi::reason::kPersistenceError);
  }
  if (md.priority < -1) return Outcome::failed(mqi::reason::kPriorityError);
  bool is_system_type = md.message_type == mqi::mt::kRequest ||
                        md.message_type == mqi::mt::kReply || md.message_type == mqi::mt::kReport ||
                        md.message_type == mqi::mt::kDatagram || md.message_type == 112 ||
                        md.message_type == 113;
  bool is_appl_type = md.message_type >= 65536 && md.message_type <= 999'999'999;
  if (!is_system_type && !is_appl_type) return Outcome::failed(mqi::reason::kMsgTypeError);
  if (md.feedback < 0 || md.feedback > 999'999'999) {
    return Outcome::failed(mqi::reason::kFeedbackError);
  }
  constexpr int32_t kReportKnown =
      mqi::ro::kExceptionMask | mqi::ro::kExpirationMask | mqi::ro::kCoaMask | mqi::ro::kCodMask |
      mqi::ro::kPan | mqi::ro::kNan | mqi::ro::kActivity | mqi::ro::kPassCorrelationId |
      mqi::ro::kPassMessageId | mqi::ro::kDiscardMessage | mqi::ro::kPassDiscardAndExpiry;
  if ((md.report & ~kReportKnown & mqi::ro::kRejectUnsupportedMask) != 0) {
    return Outcome::failed(mqi::reason::kReportOptionsError);
  }
  auto is_partial = [&](int32_t mask, int32_t plain, int32_t with_data) {
    int32_t bits = md.report & mask;
    return bits != 0 && bits != plain && bits != with_data && bits != mask;
  };
  if (is_partial(mqi::ro::kExceptionMask, mqi::ro::kException, mqi::ro::kExceptionWithData) ||
      is_partial(mqi::ro::kExpirationMask, mqi::ro::kExpiration, mqi::ro::kExpirationWithData) ||
      is_partial(mqi::ro::kCoaMask, mqi::ro::kCoa, mqi::ro::kCoaWithData) ||
      is_partial(mqi::ro::kCodMask, mqi::ro::kCod, mqi::ro::kCodWithData)) {
    return Outcome::failed(mqi::reason::kReportOptionsError);
  }
  constexpr int32_t kReportsToQueue = mqi::ro::kExceptionMask | mqi::ro::kExpirationMask |
                                      mqi::ro::kCoaMask | mqi::ro::kCodMask | mqi::ro::kPan |
                                      mqi::ro::kNan | mqi::ro::kActivity;
  bool wants_reply = md.message_type == mqi::mt::kRequest || (md.report & kReportsToQueue) != 0;
  if (wants_reply && md.reply_to_queue.is_blank()) {
    return Outcome::failed(mqi::reason::kMissingReplyToQ);
  }
  return Outcome::ok();
}

bool put_may_have_rfh2(const mqi::MessageDescriptor& md) {
  std::string_view format = md.format.padded();
  return format == "MQHRF2  " || format == "MQDEAD  ";
}

UnitPut make_put(const QueueRef& queue, MessageRef message) {
  UnitPut put;
  put.queue = queue;
  put.index = make_index_entry(*message);
  put.place = {message->md.sequence_number, message->md.offset, message->md.flags,
               message->md.original_length};
  put.message = std::move(message);
  return put;
}

}  // namespace

Outcome Connection::check_put(const Handle& handle, const PutCall& call) const {
  int32_t o = call.options;
  if ((o & ~mqi::pmo::kAll) != 0) return Outcome::failed(mqi::reason::kOptionsError);
  if (put_bits_conflict(o & (mqi::pmo::kSyncpoint | mqi::pmo::kNoSyncpoint)) ||
      put_bits_conflict(o & mqi::pmo::kContextAny) ||
      put_bits_conflict(o & (mqi::pmo::kAsyncResponse | mqi::pmo::kSyncResponse))) {
    return Outcome::failed(mqi::reason::kOptionsError);
  }
  struct ContextRule {
    int32_t put;
    int32_t open;  // one of these
    int32_t reason;
  };
  namespace pmo = mqi::pmo;
  namespace oo = mqi::oo;
  namespace reason = mqi::reason;
  const ContextRule kRules[] = {
      {pmo::kPassIdentityContext,
       oo::kPassIdentityContext | oo::kPassAllContext | oo::kSetIdentityContext |
           oo::kSetAllContext,
       reason::kNotOpenForPassIdent},
      {pmo::kPassAllContext, oo::kPassAllContext | oo::kSetAllContext, reason::kNotOpenForPassAll},
      {pmo::kSetIdentityContext, oo::kSetIdentityContext | oo::kSetAllContext,
       reason::kNotOpenForSetIdent},
      {pmo::kSetAllContext, oo::kSetAllContext, reason::kNotOpenForSetAll},
  };
  for (const ContextRule& rule : kRules) {
    if ((o & rule.put) != 0 && (handle.options & rule.open) == 0) {
      return Outcome::failed(rule.reason);
    }
  }
  return put_check_descriptor(call.md);
}

Outcome Connection::put(Hobj id, PutCall& call, Done done) {
  if (!is_open_) return Outcome::failed(mqi::reason::kHconnError);
  HandleRef handle = find_handle(id);
  if (handle == nullptr) return Outcome::failed(mqi::reason::kHobjError);
  if ((handle->options & mqi::oo::kOutput) == 0) {
    return Outcome::failed(mqi::reason::kNotOpenForOutput);
  }
  bool is_async = (call.options & mqi::pmo::kAsyncResponse) != 0;
  if (!is_async) {
    Outcome outcome = put_to(*handle, call, false, std::move(done));
    if (outcome.is_failed() && handle->object != nullptr) {
      report_failure(outcome, handle->object->name);
    }
    return outcome;
  }
  std::string name = handle->object != nullptr ? handle->object->name : handle->topic;
  Outcome outcome = put_to(*handle, call, false, watch_async_put(call, name, std::move(done)));
  if (!outcome.is_pending()) count_async_put(call, name, outcome);
  return outcome;
}

Outcome Connection::put1(OpenCall& object, PutCall& call, Done done) {
  if (!is_open_) return Outcome::failed(mqi::reason::kHconnError);
  if (object.object_type != mqi::ot::kQueue && object.object_type != mqi::ot::kTopic) {
    return Outcome::failed(mqi::reason::kObjectTypeError);
  }
  object.options = mqi::oo::kOutput;
  constexpr std::pair<int32_t, int32_t> kContexts[] = {
      {mqi::pmo::kPassIdentityContext, mqi::oo::kPassIdentityContext},
      {mqi::pmo::kPassAllContext, mqi::oo::kPassAllContext},
      {mqi::pmo::kSetIdentityContext, mqi::oo::kSetIdentityContext},
      {mqi::pmo::kSetAllContext, mqi::oo::kSetAllContext},
      {mqi::pmo::kAlternateUserAuthority, mqi::oo::kAlternateUserAuthority},
  };
  for (auto [from, to] : kContexts) {
    if ((call.options & from) != 0) object.options |= to;
  }
  if (Outcome o = open(object); o.is_failed()) return o;
  HandleRef handle = find_handle(object.handle);
  Outcome outcome = put_to(*handle, call, true, std::move(done));
  if (outcome.is_failed()) report_failure(outcome, object.object_name);
  (void)close(object.handle);
  return outcome;
}

// Identity and origin context: by default the connection's and now; passed on from a handle that
// saved them; or as the application says.
Outcome Connection::fill_context(const Handle&, PutCall& call) const {
  mqi::MessageDescriptor& md = call.md;
  int32_t o = call.options;
  bool sets_all = (o & mqi::pmo::kSetAllContext) != 0;
  if (sets_all) return Outcome::ok();
  bool passes = (o & (mqi::pmo::kPassIdentityContext | mqi::pmo::kPassAllContext)) != 0;
  if (passes) {
    HandleRef from = find_handle(call.context);
    if (from == nullptr || (from->options & mqi::oo::kSaveAllContext) == 0) {
      return Outcome::failed(mqi::reason::kContextHandleError);
    }
    if (from->saved_context == nullptr) {
      return Outcome::failed(mqi::reason::kContextNotAvailable);
    }
    md.user_identifier = from->saved_context->user_identifier;
    md.accounting_token = from->saved_context->accounting_token;
    md.appl_identity_data = from->saved_context->appl_identity_data;
    if ((o & mqi::pmo::kPassAllContext) != 0) {
      md.put_appl_type = from->saved_context->put_appl_type;
      md.put_appl_name = from->saved_context->put_appl_name;
      md.put_date = from->saved_context->put_date;
      md.put_time = from->saved_context->put_time;
      md.appl_origin_data = from->saved_context->appl_origin_data;
      return Outcome::ok();
    }
  }
  bool has_none = (o & mqi::pmo::kNoContext) != 0;
  if (!passes && (o & mqi::pmo::kSetIdentityContext) == 0) {
    md.user_identifier = has_none ? std::string_view() : std::string_view(options_.user);
    md.accounting_token = {};
    md.appl_identity_data = "";
  }
  md.put_appl_type = has_none ? mqi::at::kNoContext : options_.application_type;
  md.put_appl_name = has_none ? std::string_view() : std::string_view(options_.application_name);
  md.appl_origin_data = "";
  if (has_none) {
    md.put_date = "";
    md.put_time = "";
    return Outcome::ok();
  }
  md.put_date = stamp_date_;
  md.put_time = stamp_time_;
  return Outcome::ok();
}

Outcome Connection::fill_descriptor(const Handle& handle, PutCall& call, MessageRef& out) {
  mqi::MessageDescriptor& md = call.md;
  int64_t now = manager_.now_gmt_micros();
  if (now / 10'000 != stamp_hundredths_) {
    stamp_hundredths_ = now / 10'000;
    mqi::format_put_time(now, stamp_date_, stamp_time_);
  }
  if (Outcome o = fill_context(handle, call); !o.is_ok()) return o;
  Outcome outcome;
  if (md.priority == mqi::kPriorityAsQueueDef) md.priority = handle.default_priority;
  if (md.priority > mqi::kPriorityMax) {
    md.priority = mqi::kPriorityMax;
    outcome = Outcome::warning(mqi::reason::kPriorityExceedsMaximum);
  }
  if (md.persistence == mqi::kPersistenceAsQueueDef) {
    md.persistence = handle.default_persistent ? mqi::kPersistent : mqi::kNotPersistent;
  }
  if ((call.options & mqi::pmo::kNewMessageId) != 0 ||
      (md.message_id.is_null() && call.long_ids.message_id.empty())) {
    manager_.make_message_id(md.message_id);
  }
  if ((call.options & mqi::pmo::kNewCorrelationId) != 0) {
    manager_.make_message_id(md.correlation_id);
  }
  md.backout_count = 0;
  if (md.ccsid == 0) md.ccsid = manager_.settings().ccsid;
  if (!md.reply_to_queue.is_blank() && md.reply_to_queue_manager.is_blank()) {
    md.reply_to_queue_manager = manager_.name();
  }
  if ((call.options & mqi::pmo::kSuppressReplyTo) != 0) {
    md.reply_to_queue = "";
    md.reply_to_queue_manager = "";
  }
  bool is_capped = handle.expiry_cap >= 0 && (md.expiry < 0 || md.expiry > handle.expiry_cap);
  if (is_capped) md.expiry = handle.expiry_cap;
  out = Message::create();
  out->md = md;
  if (md.expiry > 0) out->expires_gmt_ms = now / 1000 + int64_t{md.expiry} * 100;
  if (call.delay_ms > 0) out->due_gmt_ms = now / 1000 + call.delay_ms;
  return outcome;
}

Outcome Connection::put_to(Handle& handle, PutCall& call, bool, Done done) {
  if (!manager_.is_running()) return Outcome::failed(mqi::reason::kQMgrStopping);
  bool is_topic = handle.type == mqi::ot::kTopic;
  if (handle.queue == nullptr && !is_topic) {
    return Outcome::failed(mqi::reason::kNotOpenForOutput);
  }
  if (Outcome o = check_put(handle, call); !o.is_ok()) return o;
  if (handle.object != nullptr && handle.object->inhibits_put.load(std::memory_order_relaxed)) {
    return Outcome::failed(mqi::reason::kPutInhibited);
  }
  MessageRef message;
  Outcome warning = fill_descriptor(handle, call, message);
  if (warning.is_failed()) return warning;
  bool in_unit = (call.options & mqi::pmo::kSyncpoint) != 0;
  bool is_logical = (call.options & mqi::pmo::kLogicalOrder) != 0;
  bool is_grouped = is_logical || put_is_grouped(call.md);
  if (is_grouped) {
    Outcome o =
        prepare_group_put(manager_, handle.puts, is_logical, in_unit, call.body.size(), call.md);
    if (!o.is_ok()) return o;
    message->md = call.md;
  }
  message->body = call.body;
  message->properties = call.properties;
  message->origin = call.origin;
  message->origin_kind = call.origin_kind;
  if (!call.long_ids.empty()) message->long_ids = std::make_unique<LongIds>(call.long_ids);
  if (put_may_have_rfh2(message->md)) {
    if (Outcome o = take_body_properties(call, *message); !o.is_ok()) return o;
  }
  if (is_topic) {
    Outcome outcome = publish_to(handle, call, std::move(message), std::move(done));
    return outcome.is_ok() ? warning : outcome;
  }
  if (handle.is_remote) wrap_for_transmission(manager_, handle, *message);
  call.resolved_queue = handle.is_remote ? handle.remote_queue : handle.queue->name();
  call.resolved_queue_manager = handle.is_remote ? handle.remote_queue_manager : manager_.name();
  Outcome outcome;
  size_t piece_bytes = 0;
  if ((call.md.flags & mqi::mf::kSegmentationAllowed) != 0 && !handle.is_remote) {
    std::lock_guard lock(handle.queue->mutex());
    piece_bytes =
        std::min(handle.queue->settings().message_bytes_max, manager_.settings().message_bytes_max);
  }
  constexpr size_t kPieceBytesMin = 16;
  if (piece_bytes >= kPieceBytesMin && message->body.size() > piece_bytes) {
    outcome = put_pieces(handle.queue, split_message(manager_, *message, piece_bytes), in_unit,
                         std::move(done));
  } else if (message->body.size() > manager_.settings().message_bytes_max) {
    return Outcome::failed(mqi::reason::kMsgTooBigForQMgr);
  } else {
    outcome = put_message(handle.queue, std::move(message), in_unit, std::move(done));
  }
  if (is_logical && !outcome.is_failed()) {
    if (in_unit) save_group(handle, true);
    commit_group_put(handle.puts, call.md, call.body.size(), in_unit);
  }
  return outcome.is_ok() ? warning : outcome;
}

// MAXUMSGS, and what an open unit may hold in memory.
Outcome Connection::check_unit(size_t messages, uint64_t bytes) const {
  if (unit_.count() + messages > manager_.settings().uncommitted_max) {
    return Outcome::failed(mqi::reason::kSyncpointLimitReached);
  }
  if (unit_.bytes + bytes > manager_.options().unit_bytes_max) {
    return Outcome::failed(mqi::reason::kResourceProblem);
  }
  return Outcome::ok();
}

Outcome Connection::put_pieces(const QueueRef& queue, std::vector<MessageRef> pieces, bool in_unit,
                               Done done) {
  UnitOfWork unit;
  Outcome outcome;
  uint64_t bytes = 0;
  for (const MessageRef& piece : pieces) bytes += piece->body.size();
  bool is_persistent = pieces.front()->is_persistent();
  bool reports = wants_report(pieces.front()->md.report, ReportKind::kArrival);
  if (in_unit) {
    if (Outcome o = check_unit(pieces.size(), bytes); !o.is_ok()) return o;
  }
  if (is_persistent && !manager_.store().admit(bytes)) {
    return Outcome::failed(mqi::reason::kQSpaceNotAvailable);
  }
  if (!is_persistent && !manager_.has_memory(bytes)) {
    return Outcome::failed(mqi::reason::kStorageNotAvailable);
  }
  {
    std::lock_guard lock(queue->mutex());
    if (is_persistent && queue->settings().dynamic == DynamicKind::kTemporary) {
      return Outcome::failed(mqi::reason::kPersistentNotAllowed);
    }
    for (MessageRef& piece : pieces) {
      outcome = queue->check_put(piece->body.size());
      if (outcome.is_failed()) break;
      queue->reserve();
      unit.puts.push_back(make_put(queue, std::move(piece)));
    }
    if (outcome.is_failed()) {
      for (size_t i = 0; i < unit.puts.size(); ++i) queue->unreserve();
      return outcome;
    }
  }
  size_t count = unit.puts.size();
  for (size_t i = 0; reports && i < count; ++i) {
    MessageRef piece = unit.puts[i].message;
    add_report(manager_, *piece, ReportKind::kArrival, 0, unit);
  }
  if (in_unit) {
    (void)unit_owner();
    unit_.bytes += bytes;
    for (UnitPut& put : unit.puts) unit_.puts.push_back(std::move(put));
    return Outcome::ok();
  }
  auto* operation =
      new CommitOperation(manager_, std::move(unit), options_.executor, std::move(done));
  return operation->run();
}

Outcome Connection::put_message(const QueueRef& queue, MessageRef message, bool in_unit,
                                Done done) {
  return submit(make_put(queue, std::move(message)), in_unit, std::move(done));
}

Outcome Connection::submit(UnitPut put, bool in_unit, Done done) {
  uint64_t bytes = put.message->body.size();
  bool is_persistent = put.message->is_persistent();
  MessageRef message = put.message;
  bool reports = wants_report(message->md.report, ReportKind::kArrival);
  if (in_unit) {
    if (Outcome o = check_unit(1, bytes); !o.is_ok()) return o;
  }
  if (is_persistent && !manager_.store().admit(bytes + put.index.header_bytes)) {
    return Outcome::failed(mqi::reason::kQSpaceNotAvailable);
  }
  if (!is_persistent && !manager_.has_memory(bytes)) {
    return Outcome::failed(mqi::reason::kStorageNotAvailable);
  }
  Queue& queue = *put.queue;
  {
    std::unique_lock lock(queue.mutex());
    if (Outcome o = queue.check_put(bytes); !o.is_ok()) {
      Effects effects;
      if (o.reason == mqi::reason::kQFull) queue.note_full(effects);
      lock.unlock();
      manager_.apply(std::move(effects));
      return o;
    }
    if (is_persistent && queue.settings().dynamic == DynamicKind::kTemporary) {
      return Outcome::failed(mqi::reason::kPersistentNotAllowed);
    }
    if (!in_unit && !is_persistent && !reports) {  // nothing to wait for
      Effects effects;
      put.index.sequence = queue.next_sequence();
      queue.statistics.last_put_gmt_micros = stamp_hundredths_ * 10'000;
      manager_.publish(put, {}, effects);
      lock.unlock();
      manager_.apply(std::move(effects));
      return Outcome::ok();
    }
    queue.reserve();
  }
  if (in_unit) {
    (void)unit_owner();
    unit_.bytes += bytes;
    unit_.puts.push_back(std::move(put));
    if (reports) add_report(manager_, *message, ReportKind::kArrival, 0, unit_);
    return Outcome::ok();
  }
  UnitOfWork unit;
  unit.puts.push_back(std::move(put));
  if (reports) add_report(manager_, *message, ReportKind::kArrival, 0, unit);
  auto* operation =
      new CommitOperation(manager_, std::move(unit), options_.executor, std::move(done));
  return operation->run();
}

}  // namespace millstream::queue
