#include "wire/common/consumer.h"

#include <utility>

namespace millstream::wire {

using queue::Outcome;

namespace {
namespace gmo = mqi::gmo;
namespace reason = mqi::reason;
namespace so = mqi::so;
}  // namespace

std::shared_ptr<Consumer> Consumer::create(std::shared_ptr<queue::Connection> connection,
                                           ConsumerHandler& handler) {
  return std::shared_ptr<Consumer>(new Consumer(std::move(connection), handler));
}

Consumer::~Consumer() { close(); }

void Consumer::open(ConsumeOptions options, std::function<void(const Outcome&)> done) {
  options_ = std::move(options);
  if (options_.node.is_topic()) {
    subscribe(std::move(done));
  } else {
    open_queue(std::move(done));
  }
}

void Consumer::open_queue(std::function<void(const Outcome&)> done) {
  if (options_.is_private) {
    queue_name_ = options_.node.name;
    Outcome opened = connection_->open_private(queue_name_, handle_);
    return done(opened.is_failed() ? opened : Outcome::ok());
  }
  queue::OpenCall call;
  call.object_name = options_.node.name;
  call.selection_string = options_.selector;
  if (options_.browses) {
    call.options = mqi::oo::kBrowse;
  } else {
    call.options = options_.is_exclusive ? mqi::oo::kInputExclusive : mqi::oo::kInputShared;
  }
  Outcome outcome = connection_->open(call);
  if (!outcome.is_failed()) {
    handle_ = call.handle;
    queue_name_ = call.resolved_queue;
    outcome = Outcome::ok();
  }
  done(outcome);
}

void Consumer::subscribe(std::function<void(const Outcome&)> done) {
  auto call = std::make_shared<queue::SubscribeCall>();
  call->object_string = options_.node.name;
  call->name = options_.subscription;
  call->selection_string = options_.selector;
  call->is_shared = options_.is_shared;
  call->is_no_local = options_.is_no_local;
  call->options = so::kManaged;
  if (options_.resume != 2) call->options |= so::kCreate;
  if (options_.resume != 1 && !options_.subscription.empty()) call->options |= so::kResume;
  if (options_.is_durable) call->options |= so::kDurable;
  if (options_.has_character_wildcards) call->options |= so::kWildcardChar;
  if (options_.skips_retained) call->options |= so::kNewPublicationsOnly;
  auto finish = [self = shared_from_this(), call, done = std::move(done)](const Outcome& outcome) {
    if (outcome.is_failed() || self->handler_ == nullptr) {
      // Closed meanwhile: the handles go as close() would have them go.
      queue::Hobj handles[] = {call->handle, call->destination};
      for (queue::Hobj& handle : handles) {
        if (handle != queue::kNoObject) (void)self->connection_->close(handle);
      }
      if (self->handler_ != nullptr) done(outcome);
      return;
    }
    self->subscription_ = call->handle;
    self->handle_ = call->destination;
    self->topic_ = call->resolved_topic;
    done(Outcome::ok());
    self->pump();
  };
  Outcome outcome = connection_->subscribe(*call, finish);
  if (!outcome.is_pending()) finish(outcome);
}

void Consumer::close(bool removes_subscription) {
  handler_ = nullptr;
  credit_ = 0;
  drained_ = nullptr;
  if (timer_ != 0) connection_->executor().cancel(std::exchange(timer_, 0));
  // Ends a get that waits; a message that is on its way goes back in got().
  if (handle_ != queue::kNoObject) (void)connection_->close(handle_);
  handle_ = queue::kNoObject;
  if (subscription_ != queue::kNoObject) {
    (void)connection_->close(subscription_,
                             removes_subscription ? mqi::co::kRemoveSub : mqi::co::kNone);
  }
  subscription_ = queue::kNoObject;
}

void Consumer::set_credit(uint32_t credit) {
  if (credit > 0 && drained_) std::exchange(drained_, nullptr)();
  credit_ = credit;
  if (credit_ == 0 && is_getting_) (void)connection_->cancel(call_);
  pump();
}

void Consumer::pass_over(queue::Sequence sequence) {
  auto more = std::make_shared<std::vector<queue::Sequence>>();
  if (passed_over_ != nullptr) *more = *passed_over_;
  if (more->size() == kPassedOverMax) more->erase(more->begin());
  more->push_back(sequence);
  passed_over_ = std::move(more);
  // A get that waits does not know it; got() begins another.
  if (is_getting_) (void)connection_->cancel(call_);
}

void Consumer::resume() {
  is_paused_ = false;
  pump();
}

void Consumer::drain(std::function<void()> drained) {
  drained_ = std::move(drained);
  if (timer_ != 0) connection_->executor().cancel(std::exchange(timer_, 0));
  if (is_getting_ && connection_->cancel(call_)) return;  // got() tells
  if (is_getting_) return;                                // a message is on its way
  if (credit_ == 0 || handle_ == queue::kNoObject) {
    credit_ = 0;
    return std::exchange(drained_, nullptr)();
  }
  is_paused_ = false;
  pump();
}

// Takes what is there as far as credit and turn go.
void Consumer::pump() {
  if (is_pumping_ || is_pump_posted_) return;
  is_pumping_ = true;
  std::shared_ptr<Consumer> self = shared_from_this();
  for (int i = 0; may_get() && timer_ == 0; ++i) {
    if (i == kTurnMessages) {
      pump_later();
      break;
    }
    Outcome outcome = get();
    if (outcome.is_pending()) break;
    is_getting_ = false;
    if (outcome.is_failed()) {
      got(outcome);
      break;
    }
    got(outcome);
  }
  is_pumping_ = false;
}

void Consumer::pump_later() {
  is_pump_posted_ = true;
  connection_->executor().post([self = shared_from_this()] {
    self->is_pump_posted_ = false;
    self->pump();
  });
}

Outcome Consumer::get() {
  is_getting_ = true;
  call_ = queue::GetCall();
  call_.match_options = mqi::mo::kNone;
  call_.handles_poison = options_.handles_poison;
  call_.passed_over = passed_over_;
  call_.options = gmo::kNoSyncpoint;
  if (options_.browses) {
    call_.options |= is_first_browse_ ? gmo::kBrowseFirst : gmo::kBrowseNext;
  } else if (!options_.is_settled) {
    call_.options = gmo::kSyncpoint;
    call_.delivery = &taken_;
  }
  // A drain wants to know what is there now.
  if (!drained_) {
    call_.options |= gmo::kWait;
    call_.wait_ms = mqi::kUnlimited;
  }
  return connection_->get(handle_, call_, [self = shared_from_this()](const Outcome& outcome) {
    self->is_getting_ = false;
    // The handler may give credit at once: what it brings must not come before this one.
    self->is_pumping_ = true;
    self->got(outcome);
    self->is_pumping_ = false;
    self->pump();
  });
}

void Consumer::got(const Outcome& outcome) {
  if (handler_ == nullptr) {  // closed meanwhile
    taken_.release();
    call_ = queue::GetCall();
    return;
  }
  if (outcome.is_failed()) return on_nothing_or_failure(outcome.reason);
  is_first_browse_ = false;
  Consumed message;
  message.delivery = std::move(taken_);
  message.message = std::move(call_.message);
  message.md = call_.md;
  message.sequence = call_.token;
  message.is_maybe_redelivered = call_.is_maybe_redelivered;
  call_.body = queue::Body();
  if (credit_ > 0) --credit_;
  handler_->on_message(*this, std::move(message));
  if (handler_ != nullptr && credit_ == 0 && drained_) std::exchange(drained_, nullptr)();
}

void Consumer::on_nothing_or_failure(int32_t code) {
  call_ = queue::GetCall();
  switch (code) {
    case reason::kNoMsgAvailable:
      if (!drained_) return;  // cancelled, because the credit went
      if (credit_ > 0 && !is_looked_) {
        // The get that waited was cancelled; a message may have come since.
        is_looked_ = true;
        return pump_later();
      }
      is_looked_ = false;
      credit_ = 0;
      return std::exchange(drained_, nullptr)();
    case reason::kGetInhibited:
      if (drained_) {
        credit_ = 0;
        return std::exchange(drained_, nullptr)();
      }
      return wait_inhibited();
    default:
      return fail(code);
  }
}

void Consumer::wait_inhibited() {
  base::Executor& executor = connection_->executor();
  timer_ =
      executor.post_at(executor.clock().monotonic_ns() + kInhibitedNs, [self = shared_from_this()] {
        self->timer_ = 0;
        self->pump();
      });
}

void Consumer::fail(int32_t code) {
  ConsumerHandler* handler = std::exchange(handler_, nullptr);
  credit_ = 0;
  drained_ = nullptr;
  if (handler != nullptr) handler->on_consumer_failed(*this, code);
}

}  // namespace millstream::wire
