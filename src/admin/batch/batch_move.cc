// Moves, and what is done with dead letters: see batch_session.h. A message is browsed and locked,
// put to where it goes, and then got under the cursor, both in the same unit of work: what cannot
// be put stays where it is, and a unit holds whole moves only.
#include <algorithm>

#include "admin/batch/batch_messages.h"
#include "admin/batch/batch_session.h"
#include "admin/batch/dead_letter.h"
#include "net/awaiter.h"

namespace millstream::admin::batch {
namespace {

constexpr uint32_t kUnitMessages = 100;
constexpr uint32_t kUnitBytesMax = 4u << 20;

void count_failure(Answer& answer, int32_t reason, const std::string& where) {
  for (Failure& f : answer.failures) {
    if (f.reason == reason && f.where == where) {
      ++f.count;
      return;
    }
  }
  if (answer.failures.size() < kFailuresMax) answer.failures.push_back({reason, where, 1});
}

}  // namespace

void BatchSession::run_move(const Request& request, Answer& answer) {
  auto fail = [&](const Outcome& o, const std::string& where) {
    answer.completion = o.completion;
    answer.reason = o.reason;
    answer.detail = where;
  };
  is_kept_ = false;
  if (in_ == queue::kNoObject) {
    Outcome o = open_for(request, mqi::oo::kInputShared | mqi::oo::kBrowse);
    if (o.is_failed()) return fail(o, request.queue);
    if ((request.flags & (kRetry | kDiscard)) == 0) {
      o = open(request.target, mqi::oo::kOutput | mqi::oo::kSetAllContext, "", out_);
      if (o.is_failed()) return fail(o, request.target);
    }
    // What comes while it works is not its business, or it might never end.
    seen_max_ = manager_.find_queue(request.queue) ? depth_of(request.queue) : UINT64_MAX;
  }
  answer.depth = seen_max_ == UINT64_MAX ? 0 : seen_max_;
  const uint32_t messages_max =
      request.messages_max == 0 ? kUnitMessages : std::min(request.messages_max, kMessagesMax);
  uint32_t bytes_max = request.bytes_max == 0 ? kUnitBytesMax : request.bytes_max;
  size_t bytes = 0;
  // Also after many messages that are not selected there is an answer, for the progress.
  constexpr uint64_t kLooksMax = 20'000;
  for (uint64_t looks = 0; looks < kLooksMax; ++looks) {
    if (answer.done >= messages_max || bytes >= bytes_max) break;
    make_way();
    queue::GetCall browsed;
    const Step step = move_one(request, browsed, answer);
    if (step == Step::kStop) break;
    if (step == Step::kMoved) {
      ++answer.done;
      bytes += browsed.body.size();
    }
  }
  if (connection_->is_open()) {
    queue::GetCall unlock;
    unlock.options = mqi::gmo::kUnlock;
    (void)get(unlock);
  }
  if (answer.reason == mqi::reason::kNoMsgUnderCursor) {  // backed out
    answer.done = 0;
    return;
  }
  if (Outcome o = commit(); o.is_failed()) {
    answer.done = 0;
    return fail(o, request.queue);
  }
  is_kept_ = !answer.is_failed() && (answer.flags & kNoMore) == 0;
}

BatchSession::Step BatchSession::move_one(const Request& request, queue::GetCall& browsed,
                                          Answer& answer) {
  namespace gmo = mqi::gmo;
  auto stop = [&](const Outcome& o, const std::string& where) {
    answer.flags |= kNoMore;
    if (o.reason == mqi::reason::kNoMsgAvailable) return Step::kStop;
    answer.completion = o.completion;
    answer.reason = o.reason;
    answer.detail = where;
    return Step::kStop;
  };
  if (seen_ >= seen_max_) return stop(Outcome::failed(mqi::reason::kNoMsgAvailable), "");
  browsed.options = gmo::kBrowseNext | gmo::kLock | gmo::kNoSyncpoint | gmo::kFailIfQuiescing;
  fill_match(request.selection, browsed);
  if (Outcome o = get(browsed); o.is_failed()) return stop(o, request.queue);
  ++seen_;
  const auto letter = read_dead_letter(browsed.body.view());
  if ((request.flags & kDeadLetters) != 0 && !letter) return Step::kLeft;
  if (!is_selected(request.selection, browsed.md, letter ? &*letter : nullptr,
                   manager_.now_gmt_micros())) {
    return Step::kLeft;
  }
  std::string where = request.target;
  if (Outcome o = put_moved(request, browsed, where); o.is_failed()) {
    if ((request.flags & kRetry) == 0) return stop(o, where);
    count_failure(answer, o.reason, where);
    return Step::kLeft;
  }
  queue::GetCall taken;
  taken.options = gmo::kUnderCursor | gmo::kSyncpoint | gmo::kFailIfQuiescing;
  taken.match_options = 0;
  if (Outcome o = get(taken); o.is_failed()) {
    // Its copy must not stay alone: nothing of this unit has happened.
    if (connection_->is_open()) (void)connection_->back();
    answer.flags |= kNoMore;
    answer.completion = o.completion;
    answer.reason = mqi::reason::kNoMsgUnderCursor;
    answer.detail = request.queue;
    return Step::kStop;
  }
  return Step::kMoved;
}

queue::Outcome BatchSession::put_moved(const Request& request, const queue::GetCall& browsed,
                                       std::string& where) {
  if ((request.flags & kDiscard) != 0) return Outcome::ok();
  queue::PutCall call;
  call.md = browsed.md;
  call.options = mqi::pmo::kSyncpoint | mqi::pmo::kSetAllContext | mqi::pmo::kFailIfQuiescing;
  call.body = browsed.body;
  if (browsed.message) {
    call.properties = browsed.message->properties;
    call.origin = browsed.message->origin;
    call.origin_kind = browsed.message->origin_kind;
    if (browsed.message->long_ids) call.long_ids = *browsed.message->long_ids;
  }
  const auto letter = read_dead_letter(browsed.body.view());
  if (letter && (request.flags & (kRetry | kStrip)) != 0) {
    strip_dead_letter(*letter, call.md);
    call.body = browsed.body.part(kDeadLetterHeaderBytes, SIZE_MAX);
  }
  if ((request.flags & kRetry) == 0) return put(out_, call);
  if (!letter) return Outcome::failed(mqi::reason::kDlhError);
  queue::OpenCall object;
  object.object_name = letter->queue;
  object.queue_manager_name = letter->queue_manager;
  where = letter->queue;
  net::Awaiter<Outcome> answer;
  Outcome outcome = connection_->put1(object, call, answer.callback());
  return outcome.is_pending() ? answer.wait() : outcome;
}

}  // namespace millstream::admin::batch
