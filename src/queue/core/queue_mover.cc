#include "queue/core/queue_mover.h"

namespace millstream::queue {

void QueueMover::start(QueueManager& manager, std::string user, std::string from, std::string to,
                       objects::AdminDone done) {
  std::shared_ptr<QueueMover> mover(
      new QueueMover(manager, std::move(from), std::move(to), std::move(done)));
  manager.executor().post([mover, user = std::move(user)] { mover->open(user); });
}

void QueueMover::open(std::string user) {
  Outcome o = manager_.connect({.user = std::move(user),
                                .application_name = "move",
                                .channel = {},
                                .remote_address = {},
                                .executor = &manager_.executor()},
                               connection_);
  if (!o.is_ok()) return finish(o.reason);
  OpenCall in;
  in.object_name = from_;
  in.options = mqi::oo::kInputShared;
  o = connection_->open(in);
  if (o.is_failed()) return finish(o.reason);
  OpenCall out;
  out.object_name = to_;
  out.options = mqi::oo::kOutput | mqi::oo::kSetAllContext;
  o = connection_->open(out);
  if (o.is_failed()) return finish(o.reason);
  in_ = in.handle;
  out_ = out.handle;
  next();
}

void QueueMover::next() {
  auto self = shared_from_this();
  get_ = GetCall();
  get_.options = mqi::gmo::kSyncpoint;
  Outcome o = connection_->get(in_, get_, [self](const Outcome& later) { self->got(later); });
  if (!o.is_pending()) got(o);
}

void QueueMover::got(const Outcome& outcome) {
  auto self = shared_from_this();
  bool is_last = outcome.is_failed();
  if (is_last && outcome.reason != mqi::reason::kNoMsgAvailable) return finish(outcome.reason);
  if (!is_last) {
    put_ = PutCall();
    put_.md = get_.message->md;
    if (put_.md.expiry > 0) put_.md.expiry = get_.md.expiry;
    put_.options = mqi::pmo::kSyncpoint | mqi::pmo::kSetAllContext;
    put_.body = get_.message->body;
    put_.properties = get_.message->properties;
    put_.origin = get_.message->origin;
    put_.origin_kind = get_.message->origin_kind;
    if (get_.message->long_ids != nullptr) put_.long_ids = *get_.message->long_ids;
    Outcome o = connection_->put(out_, put_);
    if (o.is_failed()) {
      (void)connection_->back();
      return finish(o.reason);
    }
    ++in_unit_;
    if (in_unit_ < kUnitMessages) {
      // A task each, so that others get their turn.
      return manager_.executor().post([self] { self->next(); });
    }
  }
  Outcome o = connection_->commit(
      [self, is_last](const Outcome& later) { self->committed(later, is_last); });
  if (!o.is_pending()) committed(o, is_last);
}

void QueueMover::committed(const Outcome& outcome, bool is_last) {
  if (outcome.is_failed()) return finish(outcome.reason);
  moved_ += std::exchange(in_unit_, 0);
  if (is_last) return finish(0);
  manager_.executor().post([self = shared_from_this()] { self->next(); });
}

void QueueMover::finish(int32_t reason) {
  if (connection_ != nullptr) connection_->abandon();
  connection_ = nullptr;
  if (reason == 0) return done_({0, 0, {std::to_string(moved_)}});
  done_(objects::AdminResult::failed(reason, {from_, to_, std::to_string(moved_)}));
}

}  // namespace millstream::queue
