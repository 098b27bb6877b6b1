#include "esql/host.h"

#include "esql/errors_gen.h"

namespace millstream::esql {

Status Host::propagate(const PropagateRequest&) {
  return base::make_error(errors::kPropagateNotAllowed, {});
}

const tree::Domain* Host::find_domain(std::string_view) { return nullptr; }

Status Host::run_database(const DatabaseRequest& request, DatabaseResult&) {
  return base::make_error(errors::kDatabaseUnavailable, {request.statement});
}

Status Host::call_database(DatabaseCall& call, DatabaseResult&) {
  return base::make_error(errors::kDatabaseUnavailable, {call.statement});
}

Status Host::end_database_work(std::string_view, bool is_rollback, DatabaseResult&) {
  return base::make_error(errors::kDatabaseUnavailable, {is_rollback ? "ROLLBACK" : "COMMIT"});
}

Status Host::execute_database(std::string_view what) {
  return base::make_error(errors::kDatabaseReference, {what});
}

Status Host::sleep(int64_t) { return {}; }

Status Host::lock_atomic(std::string_view, std::string_view) { return {}; }

void Host::unlock_atomic(std::string_view, std::string_view) {}

Status Host::check_budget() { return {}; }

size_t Host::stack_remaining_bytes() {
  // Without a fiber: count down from the first call of the thread; a thread has 8 MiB by default.
  static thread_local uintptr_t top = 0;
  constexpr size_t kAssumedStackBytes = 4 * 1024 * 1024;
  const auto at = reinterpret_cast<uintptr_t>(__builtin_frame_address(0));
  if (at > top) top = at;
  const size_t used = top - at;
  return used < kAssumedStackBytes ? kAssumedStackBytes - used : 0;
}

void Host::log(const LogRequest&) {}

bool Host::find_broker_property(std::string_view, value::Value&) { return false; }

std::optional<std::string_view> Host::find_user_property(std::string_view) { return std::nullopt; }

Status Host::call_external(const ExternalCall& call) {
  std::string_view language = call.is_java ? "JAVA" : ".NET";
  return base::make_error(errors::kExternalRoutine, {call.routine, call.external_name, language});
}

}  // namespace millstream::esql
