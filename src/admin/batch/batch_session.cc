#include "admin/batch/batch_session.h"

#include <algorithm>
#include <map>

#include "admin/batch/batch_messages.h"
#include "net/awaiter.h"
#include "queue/mqsc/export.h"
#include "queue/mqsc/runner.h"

namespace millstream::admin::batch {
namespace {

constexpr size_t kTargetsMax = 256;  // queues of one unit
constexpr size_t kOutputBytesMax = 64u << 20;
constexpr int32_t kBadProperties = 2421;  // MQRC_RFH_FORMAT_ERROR
constexpr uint32_t kStepsBetweenOthers = 100;
constexpr std::string_view kApplication = "millstream";

uint32_t bounded(uint32_t wanted, uint32_t max) {
  return wanted == 0 ? max : std::min(wanted, max);
}

void set_outcome(Answer& answer, const queue::Outcome& outcome, std::string_view detail) {
  answer.completion = outcome.completion;
  answer.reason = outcome.reason;
  answer.detail = detail;
}

}  // namespace

BatchSession::BatchSession(queue::QueueManager& manager, std::string user, net::Reactor& reactor,
                           base::Executor& executor, uint64_t token)
    : manager_(manager),
      user_(std::move(user)),
      reactor_(reactor),
      executor_(executor),
      token_(token) {
  queue::ConnectOptions options;
  options.user = user_;
  options.application_name = kApplication;
  options.executor = &executor_;
  connected_ = manager_.connect(options, connection_);
}

BatchSession::~BatchSession() { end(); }

void BatchSession::end() {
  if (has_ended_.exchange(true, std::memory_order_acq_rel)) return;
  if (connection_) executor_.post([connection = connection_] { connection->abandon(); });
  ended_.set();
}

void BatchSession::give_back() {
  touch();
  is_busy_.store(false, std::memory_order_release);
}

void BatchSession::take_guard() {
  guards_.fetch_add(1);
  had_guard_.store(true);
}

void BatchSession::give_back_guard() {
  touch();
  guards_.fetch_sub(1);
}

void BatchSession::touch() {
  idle_since_ns_.store(executor_.clock().monotonic_ns(), std::memory_order_relaxed);
}

void BatchSession::make_way() {
  if (++steps_ < kStepsBetweenOthers) return;
  steps_ = 0;
  if (net::Fiber* fiber = net::Fiber::current()) fiber->yield();
}

bool BatchSession::wait_for_end(int64_t deadline_ns) {
  return ended_.wait(deadline_ns) == net::WakeReason::kWoken || !is_open();
}

Answer BatchSession::run(const Request& asked) {
  Answer answer;
  // "": the queue manager's dead-letter queue. Such requests have no bodies to copy.
  Request with_name;
  if (asked.queue.empty() && asked.operation <= Operation::kMove && asked.messages.empty()) {
    with_name = asked;
    with_name.queue = manager_.settings().dead_letter_queue;
  }
  const Request& request = with_name.queue.empty() ? asked : with_name;
  if (!connection_ || connected_.is_failed()) {
    set_outcome(answer, connected_, manager_.name());
    return answer;
  }
  switch (request.operation) {
    case Operation::kPut:
      run_put(request, answer);
      break;
    case Operation::kGet:
      run_get(request, answer);
      break;
    case Operation::kBrowse:
      run_browse(request, answer);
      break;
    case Operation::kEnd:
      run_end(request, answer);
      break;
    case Operation::kMove:
      run_move(request, answer);
      break;
    case Operation::kMqsc:
    case Operation::kExport:
      run_admin(request, answer);
      break;
    case Operation::kDepth:
      if (Outcome o = open(request.queue, mqi::oo::kInquire, "", in_); o.is_failed()) {
        set_outcome(answer, o, request.queue);
      }
      answer.depth = depth_of(request.queue);
      break;
    case Operation::kGuard:  // the service's own
      break;
  }
  return answer;
}

queue::Outcome BatchSession::open(const std::string& name, int32_t options,
                                  const std::string& selector, queue::Hobj& handle) {
  queue::OpenCall call;
  call.object_name = name;
  call.selection_string = selector;
  call.options = options | mqi::oo::kFailIfQuiescing;
  net::Awaiter<Outcome> answer;
  Outcome outcome = connection_->open(call, answer.callback());
  if (outcome.is_pending()) outcome = answer.wait();
  handle = call.handle;
  return outcome;
}

queue::Outcome BatchSession::open_for(const Request& request, int32_t options) {
  if (in_ != queue::kNoObject) return Outcome::ok();
  return open(request.queue, options, request.selection.selector, in_);
}

queue::Outcome BatchSession::put(queue::Hobj handle, queue::PutCall& call) {
  net::Awaiter<Outcome> answer;
  Outcome outcome = connection_->put(handle, call, answer.callback());
  return outcome.is_pending() ? answer.wait() : outcome;
}

queue::Outcome BatchSession::get(queue::GetCall& call) {
  net::Awaiter<Outcome> answer;
  Outcome outcome = connection_->get(in_, call, answer.callback());
  return outcome.is_pending() ? answer.wait() : outcome;
}

queue::Outcome BatchSession::commit() {
  net::Awaiter<Outcome> answer;
  Outcome outcome = connection_->commit(answer.callback());
  return outcome.is_pending() ? answer.wait() : outcome;
}

uint64_t BatchSession::depth_of(const std::string& queue) const {
  const queue::QueueRef found = manager_.find_queue(queue);
  if (found == nullptr) return 0;
  std::lock_guard lock(found->mutex());
  return found->depth();
}

// Opens the queue of each message: those that the request's text names, a line each, or its one.
queue::Outcome BatchSession::open_targets(const Request& request, int32_t options, Answer& answer,
                                          std::vector<queue::Hobj>& targets) {
  std::map<std::string_view, queue::Hobj> opened;
  std::string_view names = request.text;
  for (size_t i = 0; i < request.messages.size(); ++i) {
    std::string_view name = request.queue;
    if (!request.text.empty()) {
      const size_t end = std::min(names.find('\n'), names.size());
      name = names.substr(0, end);
      names.remove_prefix(std::min(end + 1, names.size()));
    }
    auto [it, is_new] = opened.emplace(name, queue::kNoObject);
    if (is_new) {
      if (opened.size() > kTargetsMax) return Outcome::failed(mqi::reason::kHandleNotAvailable);
      answer.detail = name;
      if (Outcome o = open(std::string(name), options, "", it->second); o.is_failed()) return o;
    }
    targets.push_back(it->second);
  }
  answer.detail = request.queue;
  return Outcome::ok();
}

void BatchSession::run_put(const Request& request, Answer& answer) {
  const bool sets_context = (request.flags & kSetContext) != 0;
  const int32_t options =
      mqi::oo::kOutput | (sets_context ? static_cast<int32_t>(mqi::oo::kSetAllContext) : 0);
  if (request.messages.empty()) {  // is a question whether it may be put to
    const Outcome o = open(request.queue, options, "", out_);
    return o.is_failed() ? set_outcome(answer, o, request.queue) : void();
  }
  std::vector<queue::Hobj> targets;
  if (Outcome o = open_targets(request, options, answer, targets); o.is_failed()) {
    return set_outcome(answer, o, std::string(answer.detail));
  }
  answer.detail.clear();
  for (const FrameMessage& message : request.messages) {
    make_way();
    queue::PutCall call;
    if (!fill_put(message, sets_context, call)) {
      (void)connection_->back();
      return set_outcome(answer, Outcome::failed(kBadProperties), request.queue);
    }
    if (Outcome o = put(targets[answer.done], call); o.is_failed()) {
      (void)connection_->back();
      return set_outcome(answer, o, request.queue);
    }
    answer.text.append(call.md.message_id.view());
    ++answer.done;
  }
  if (Outcome o = commit(); o.is_failed()) set_outcome(answer, o, request.queue);
  answer.depth = depth_of(request.queue);
}

void BatchSession::run_get(const Request& request, Answer& answer) {
  if (Outcome o = open_for(request, mqi::oo::kInputAsQueueDef); o.is_failed()) {
    return set_outcome(answer, o, request.queue);
  }
  if ((request.flags & kCommit) != 0) {
    is_kept_ = false;  // a unit that could not be committed is backed out with the session
    if (Outcome o = commit(); o.is_failed()) return set_outcome(answer, o, request.queue);
  }
  is_kept_ = true;
  answer.depth = depth_of(request.queue);
  read_batch(request, mqi::gmo::kSyncpoint, answer);
}

void BatchSession::run_browse(const Request& request, Answer& answer) {
  if (Outcome o = open_for(request, mqi::oo::kBrowse); o.is_failed()) {
    return set_outcome(answer, o, request.queue);
  }
  is_kept_ = true;
  answer.depth = depth_of(request.queue);
  read_batch(request, mqi::gmo::kBrowseNext | mqi::gmo::kNoSyncpoint, answer);
}

void BatchSession::read_batch(const Request& request, int32_t options, Answer& answer) {
  const uint32_t messages_max = bounded(request.messages_max, kMessagesMax);
  const uint32_t bytes_max = bounded(request.bytes_max, kReplyBytesMax);
  size_t bytes = 0;
  while (answer.messages.size() < messages_max && bytes < bytes_max) {
    make_way();
    queue::GetCall call;
    call.options = options | mqi::gmo::kFailIfQuiescing;
    if (answer.messages.empty() && request.wait_ms > 0) {
      call.options |= mqi::gmo::kWait;
      call.wait_ms = std::min(request.wait_ms, kWaitMsMax);
    }
    if (request.body_bytes_max > 0) {
      call.options |= mqi::gmo::kAcceptTruncated;
      call.buffer_bytes = request.body_bytes_max;
    }
    fill_match(request.selection, call);
    const Outcome o = get(call);
    if (o.is_failed()) {
      answer.flags |= kNoMore;
      if (o.reason != mqi::reason::kNoMsgAvailable) set_outcome(answer, o, request.queue);
      return;
    }
    bytes += append_message(call, answer.messages);
  }
}

void BatchSession::run_end(const Request& request, Answer& answer) {
  is_kept_ = false;
  const bool commits = (request.flags & kCommit) != 0;
  const Outcome o = commits ? commit() : connection_->back();
  if (o.is_failed()) set_outcome(answer, o, request.queue);
}

void BatchSession::run_admin(const Request& request, Answer& answer) {
  // What is shown is not asked for by the commands themselves.
  if (const queue::AccessControl* access = manager_.options().access) {
    const std::string why =
        access->refuses({user_, mqi::ot::kQueueManager, manager_.name(), queue::kRightInquire});
    if (!why.empty()) return set_outcome(answer, Outcome::failed(mqi::reason::kNotAuthorized), why);
  }
  const auto target = queue::make_admin_target(manager_, user_);
  answer.detail = manager_.name();
  if (request.operation == Operation::kExport) {
    queue::mqsc::ExportOptions options;
    options.all_attributes = (request.flags & kAllAttributes) != 0;
    options.all_objects = (request.flags & kAllObjects) != 0;
    answer.text = queue::mqsc::export_script(*target, options);
    return;
  }
  queue::mqsc::ScriptOptions options;
  options.echoes = (request.flags & kEcho) != 0;
  options.stops_at_error = (request.flags & kStopAtError) != 0;
  options.run.is_verify_only = (request.flags & kVerifyOnly) != 0;
  net::Awaiter<queue::mqsc::ScriptResult> done;
  queue::mqsc::run_script(
      *target, request.text, options,
      [&answer](std::string_view line) {
        if (answer.text.size() > kOutputBytesMax) return;
        answer.text.append(line);
        answer.text += '\n';
      },
      done.callback());
  const queue::mqsc::ScriptResult result = done.wait();
  answer.exit_code = result.exit_code();
  answer.done = result.commands;
  if (result.has_ended) answer.flags |= kNoMore;
  answer.failures = {{result.exit_code(), "syntax", result.syntax_errors},
                     {result.exit_code(), "failed", result.failures}};
  if ((request.flags & kSummary) == 0) return;
  for (const std::string& line : queue::mqsc::summary_lines(result)) answer.text += line + "\n";
}

}  // namespace millstream::admin::batch
