// Timeout requests on disk: one table in state/timers.db of the work directory, in memory when
// there is none. Every change is durable when its function returns.
// Blocking; not for a reactor thread. Thread: any, one at a time by its own lock.
#pragma once
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "io/sqlite.h"
#include "nodes/timer/timer_request.h"

namespace millstream::nodes::timer {

struct StoredRequest {
  TimerRequest request;
  std::string message;  // encoded (nodes/common/tree_codec.h)
};

class TimerStore {
 public:
  static constexpr int64_t kRequestsMax = 1'000'000;

  // Makes folder and file as needed; drops what does not survive a restart. ":memory:": no file.
  static Result<std::unique_ptr<TimerStore>> open(const std::string& path);

  // Adds the request under a new generation; what it replaces is returned. `overwrites`: whether
  // there may be such.
  Result<std::optional<StoredRequest>> put(TimerRequest& request, std::string_view message,
                                           bool overwrites);
  // Undoes put(), unless the request has been replaced again since.
  Status undo_put(const TimerRequest& request, const std::optional<StoredRequest>& former);
  Status remove(const std::string& timer, const std::string& name);

  // Without messages, in no order.
  Result<std::vector<TimerRequest>> list(const std::string& timer);
  // Nothing when it has been replaced or removed.
  Result<std::optional<StoredRequest>> load(const TimerRequest& request);
  // Writes next_event and is_firing, or removes the request when it is over; nothing happens when
  // it has been replaced or removed.
  Status update(const TimerRequest& request);
  io::SqliteDatabase& database() { return *database_; }  // for tests: a full disk

 private:
  TimerStore() = default;
  Status prepare();
  Result<std::optional<StoredRequest>> find(const std::string& timer, const std::string& name);
  Status write(const StoredRequest& stored);

  std::mutex mutex_;  // held while SQLite works, on threads of the blocking pool only
  std::unique_ptr<io::SqliteDatabase> database_;
  io::SqliteStatement write_, remove_, find_, list_, update_, count_, generation_;
  int64_t next_generation_ = 1;
};

}  // namespace millstream::nodes::timer
