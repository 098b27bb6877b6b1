#include "admin/batch/batch_service.h"

#include "admin/errors_gen.h"
#include "base/random.h"
#include "net/awaiter.h"

namespace millstream::admin::batch {
namespace {

std::string joined(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out.empty() ? "none" : out;
}

// Tokens are not to be guessed: whoever has one may commit another's unit.
uint64_t new_token() {
  uint64_t token = 0;
  while (token == 0) token = base::system_random().next_u64();
  return token;
}

bool goes_on(Operation operation) {
  return operation == Operation::kGet || operation == Operation::kBrowse ||
         operation == Operation::kMove;
}

}  // namespace

BatchService::~BatchService() { stop(); }

size_t BatchService::session_count() const {
  std::lock_guard lock(mutex_);
  return sessions_.size();
}

Result<SessionRef> BatchService::find_session(const std::string& user, uint64_t token) const {
  std::lock_guard lock(mutex_);
  const auto found = sessions_.find(token);
  if (found == sessions_.end() || found->second->user() != user || !found->second->is_open()) {
    return base::make_error(errors::kNoBatchSession);
  }
  return found->second;
}

Result<SessionRef> BatchService::make_session(queue::QueueManager& manager,
                                              const std::string& user) {
  net::Reactor& reactor = *net::Reactor::current();
  auto session = std::make_shared<BatchSession>(manager, user, reactor, access_.executor(reactor),
                                                new_token());
  std::lock_guard lock(mutex_);
  if (is_stopped_ || sessions_.size() >= kSessionsMax) {
    return base::make_error(errors::kBatchSessionsFull, {static_cast<int64_t>(sessions_.size())});
  }
  sessions_.emplace(session->token(), session);
  return session;
}

Result<Answer> BatchService::run(const std::string& queue_manager, const std::string& user,
                                 const Request& request) {
  SessionRef session;
  if (request.token != 0) {
    session = MS_TRY(find_session(user, request.token));
  } else {
    queue::QueueManager* manager = access_.find(queue_manager);
    if (!manager) {
      return base::make_error(errors::kNoSuchQueueManager,
                              {queue_manager, joined(access_.names())});
    }
    session = MS_TRY(make_session(*manager, user));
  }
  if (!session->take()) return base::make_error(errors::kNoBatchSession);
  if (&session->reactor() == net::Reactor::current()) return run_in(session, request);
  net::Awaiter<std::shared_ptr<Result<Answer>>> answer;
  session->reactor().spawn([this, session, &request, done = answer.callback()] {
    done(std::make_shared<Result<Answer>>(run_in(session, request)));
  });
  return std::move(*answer.wait());
}

Result<Answer> BatchService::run_in(const SessionRef& session, const Request& request) {
  Answer answer = session->run(request);
  const bool is_kept = goes_on(request.operation) && session->is_kept();
  session->give_back();
  if (!is_kept) {
    drop(session);
  } else {
    answer.token = session->token();
    if (request.token == 0) watch(session);
  }
  return answer;
}

void BatchService::drop(const SessionRef& session) {
  session->end();
  std::lock_guard lock(mutex_);
  sessions_.erase(session->token());
}

void BatchService::watch(const SessionRef& session) {
  const int64_t at = session->executor().clock().monotonic_ns() + kLookNs;
  session->executor().post_at(
      at, [weak = weak_from_this(), session_weak = std::weak_ptr<BatchSession>(session)] {
        const auto self = weak.lock();
        const auto session = session_weak.lock();
        if (self && session) self->look_at(session);
      });
}

void BatchService::look_at(const SessionRef& session) {
  if (!session->is_open()) return drop(session);
  const int64_t now = session->executor().clock().monotonic_ns();
  const bool is_alone = !session->is_busy() && session->guards() == 0;
  const int64_t idle_max = session->had_guard() ? kUnguardedNs : idle_ns_;
  if (is_alone && now - session->idle_since_ns() >= idle_max) return drop(session);
  watch(session);
}

Result<bool> BatchService::guard(const std::string& user, uint64_t token, int64_t timeout_ns,
                                 const std::function<void(std::function<void()>)>& set_on_gone) {
  const SessionRef session = MS_TRY(find_session(user, token));
  session->take_guard();
  const auto is_answered = std::make_shared<std::atomic<bool>>(false);
  set_on_gone(
      [weak = weak_from_this(), session_weak = std::weak_ptr<BatchSession>(session), is_answered] {
        if (is_answered->load()) return;
        const auto self = weak.lock();
        const auto session = session_weak.lock();
        if (self && session) self->drop(session);
      });
  const int64_t deadline = net::Reactor::current()->refresh_now() + timeout_ns;
  const bool has_ended = session->wait_for_end(deadline);
  is_answered->store(true);
  session->give_back_guard();
  return !has_ended;
}

void BatchService::stop() {
  std::unordered_map<uint64_t, SessionRef> sessions;
  {
    std::lock_guard lock(mutex_);
    is_stopped_ = true;
    sessions.swap(sessions_);
  }
  for (auto& [token, session] : sessions) session->end();
}

}  // namespace millstream::admin::batch
