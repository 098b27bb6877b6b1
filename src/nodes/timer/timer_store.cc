#include "nodes/timer/timer_store.h"

#include "io/file.h"
#include "nodes/timer/errors_gen.h"

namespace millstream::nodes::timer {
namespace {

// The position in the list is the version of the tables; never change one that was released.
constexpr const char* kTableSteps[] = {
    "CREATE TABLE request("
    " timer TEXT NOT NULL, name TEXT NOT NULL, generation INTEGER NOT NULL,"
    " start INTEGER NOT NULL, interval INTEGER NOT NULL, count INTEGER NOT NULL,"
    " next_event INTEGER NOT NULL, is_firing INTEGER NOT NULL, ignores_missed INTEGER NOT NULL,"
    " allows_overwrite INTEGER NOT NULL, survives INTEGER NOT NULL, message BLOB NOT NULL,"
    " PRIMARY KEY(timer, name)) WITHOUT ROWID;"};

constexpr const char* kColumns =
    "timer, name, generation, start, interval, count, next_event, is_firing, ignores_missed, "
    "allows_overwrite, survives";

TimerRequest request_of_row(const io::SqliteStatement& row) {
  TimerRequest r;
  r.timer = row.text(0);
  r.name = row.text(1);
  r.generation = row.integer(2);
  r.start_micros = row.integer(3);
  r.interval_s = row.integer(4);
  r.count = row.integer(5);
  r.next_event = row.integer(6);
  r.is_firing = row.integer(7) != 0;
  r.ignores_missed = row.integer(8) != 0;
  r.allows_overwrite = row.integer(9) != 0;
  r.survives_restart = row.integer(10) != 0;
  return r;
}

}  // namespace

Result<std::unique_ptr<TimerStore>> TimerStore::open(const std::string& path) {
  std::unique_ptr<TimerStore> store(new TimerStore);
  const std::string_view folder = io::folder_name(path);
  if (!folder.empty()) MS_TRY(io::make_folders(std::string(folder)));
  store->database_ = MS_TRY(io::SqliteDatabase::open(path));
  MS_TRY(store->database_->migrate(kTableSteps));
  MS_TRY(store->database_->execute("DELETE FROM request WHERE survives = 0"));
  MS_TRY(store->prepare());
  return store;
}

Status TimerStore::prepare() {
  const std::string columns = kColumns;
  auto make = [&](const std::string& sql, io::SqliteStatement& out) -> Status {
    out = MS_TRY(database_->prepare(sql));
    return {};
  };
  MS_TRY(make(
      "INSERT OR REPLACE INTO request(" + columns + ", message) VALUES(?,?,?,?,?,?,?,?,?,?,?,?)",
      write_));
  MS_TRY(make("DELETE FROM request WHERE timer = ? AND name = ?", remove_));
  MS_TRY(make("SELECT " + columns + ", message FROM request WHERE timer = ? AND name = ?", find_));
  MS_TRY(make("SELECT " + columns + " FROM request WHERE timer = ?", list_));
  MS_TRY(
      make("UPDATE request SET next_event = ?, is_firing = ? "
           "WHERE timer = ? AND name = ? AND generation = ?",
           update_));
  MS_TRY(make("SELECT COUNT(*) FROM request", count_));
  MS_TRY(make("SELECT COALESCE(MAX(generation), 0) FROM request", generation_));
  if (MS_TRY(generation_.step())) next_generation_ = generation_.integer(0) + 1;
  generation_.reset();
  return {};
}

Result<std::optional<StoredRequest>> TimerStore::find(const std::string& timer,
                                                      const std::string& name) {
  std::optional<StoredRequest> found;
  find_.bind(0, timer).bind(1, name);
  if (MS_TRY(find_.step())) {
    found = StoredRequest{request_of_row(find_), std::string(find_.text(11))};
    find_.reset();
  }
  return found;
}

Status TimerStore::write(const StoredRequest& stored) {
  const TimerRequest& r = stored.request;
  write_.bind(0, r.timer).bind(1, r.name).bind(2, r.generation).bind(3, r.start_micros);
  write_.bind(4, r.interval_s).bind(5, r.count).bind(6, r.next_event);
  write_.bind(7, int64_t{r.is_firing}).bind(8, int64_t{r.ignores_missed});
  write_.bind(9, int64_t{r.allows_overwrite}).bind(10, int64_t{r.survives_restart});
  write_.bind_blob(11, stored.message);
  return write_.run();
}

Result<std::optional<StoredRequest>> TimerStore::put(TimerRequest& request,
                                                     std::string_view message, bool overwrites) {
  std::lock_guard lock(mutex_);
  std::optional<StoredRequest> former = MS_TRY(find(request.timer, request.name));
  if (former && !overwrites) return base::make_error(errors::kRequestExists, {request.name});
  if (!former) {
    MS_TRY(count_.step());
    const int64_t count = count_.integer(0);
    count_.reset();
    if (count >= kRequestsMax) return base::make_error(errors::kTooManyRequests, {kRequestsMax});
  }
  request.generation = next_generation_++;
  MS_TRY(write({request, std::string(message)}));
  return former;
}

Status TimerStore::undo_put(const TimerRequest& request,
                            const std::optional<StoredRequest>& former) {
  std::lock_guard lock(mutex_);
  const std::optional<StoredRequest> now = MS_TRY(find(request.timer, request.name));
  if (!now || now->request.generation != request.generation) return {};
  if (former) return write(*former);
  return remove_.bind(0, request.timer).bind(1, request.name).run();
}

Status TimerStore::remove(const std::string& timer, const std::string& name) {
  std::lock_guard lock(mutex_);
  return remove_.bind(0, timer).bind(1, name).run();
}

Result<std::vector<TimerRequest>> TimerStore::list(const std::string& timer) {
  std::lock_guard lock(mutex_);
  std::vector<TimerRequest> out;
  list_.bind(0, timer);
  while (MS_TRY(list_.step())) out.push_back(request_of_row(list_));
  return out;
}

Result<std::optional<StoredRequest>> TimerStore::load(const TimerRequest& request) {
  std::lock_guard lock(mutex_);
  std::optional<StoredRequest> found = MS_TRY(find(request.timer, request.name));
  if (found && found->request.generation != request.generation) found.reset();
  return found;
}

Status TimerStore::update(const TimerRequest& request) {
  std::lock_guard lock(mutex_);
  if (request.is_over()) {
    const std::optional<StoredRequest> now = MS_TRY(find(request.timer, request.name));
    if (!now || now->request.generation != request.generation) return {};
    return remove_.bind(0, request.timer).bind(1, request.name).run();
  }
  update_.bind(0, request.next_event).bind(1, int64_t{request.is_firing});
  return update_.bind(2, request.timer).bind(3, request.name).bind(4, request.generation).run();
}

}  // namespace millstream::nodes::timer
