#include "sql/data_source.h"

#include <algorithm>
#include <chrono>

#include "base/clock.h"
#include "net/reactor.h"
#include "sql/errors_gen.h"

namespace millstream::sql {

// ---------------------------------------------------------------- pool

DataSource::~DataSource() = default;

size_t DataSource::limit() const {
  if (settings_.connections_max) return settings_.connections_max;
  return connections_max_ ? connections_max_ : 1;
}

void DataSource::grant() {
  while (used_ < limit()) {
    net::WaiterLink* waiter = waiters_.pop();
    if (!waiter) return;
    ++used_;
    waiter->is_granted = true;
    waiter->parker.unpark();
  }
}

namespace {

int64_t wait_deadline(int64_t wait_ns) {
  net::Fiber* fiber = net::Fiber::current();
  const int64_t now = fiber ? fiber->reactor().now_ns() : base::system_clock().monotonic_ns();
  return now + wait_ns;
}

}  // namespace

Status DataSource::acquire(std::unique_ptr<Connection>& out) {
  auto take_idle = [&] {
    if (idle_.empty()) return;
    out = std::move(idle_.back());
    idle_.pop_back();
  };
  {
    std::lock_guard lock(mutex_);
    if (used_ < limit()) {
      ++used_;
      take_idle();
      return {};
    }
  }
  net::WaiterLink waiter;
  {
    std::lock_guard lock(mutex_);
    if (used_ < limit()) {
      ++used_;
      take_idle();
      return {};
    }
    waiters_.push(waiter);
  }
  waiter.parker.park(wait_deadline(settings_.wait_ns), false);
  std::lock_guard lock(mutex_);
  if (waiter.is_granted) {
    take_idle();
    return {};
  }
  waiters_.remove(waiter);
  Status status = base::make_error(errors::kPoolExhausted,
                                   {settings_.name, settings_.wait_ns / 1'000'000'000, limit()});
  status.error().sql_state = "DHYT00";
  status.error().sql_code = -1;
  return status;
}

void DataSource::release(std::unique_ptr<Connection> connection) {
  std::unique_ptr<Connection> closing;
  {
    std::lock_guard lock(mutex_);
    --used_;
    if (connection && !connection->is_dead()) {
      connection->idle_since_ns = base::system_clock().monotonic_ns();
      idle_.push_back(std::move(connection));
    } else {
      closing = std::move(connection);
    }
    grant();
  }
  if (closing) {
    threads_.submit([c = std::shared_ptr<Connection>(std::move(closing))] {});
  }
}

void DataSource::note_connected(const Connection& connection) {
  std::lock_guard lock(mutex_);
  if (connections_max_) return;
  connections_max_ =
      connection.dialect() == Dialect::kSqlite ? 1 : DataSourceSettings::kDefaultConnectionsMax;
  grant();
}

Status DataSource::connect_ahead() {
  std::unique_ptr<Connection> connection;
  MS_TRY(acquire(connection));
  Status status;
  threads_.run([&] {
    if (connection) return;
    Result<std::unique_ptr<Connection>> opened = Connection::open(settings_);
    if (opened.ok()) {
      connection = std::move(opened).value();
    } else {
      status = std::move(opened).take_status();
    }
  });
  if (connection) note_connected(*connection);
  release(std::move(connection));
  return status;
}

void DataSource::drop_idle() {
  auto closing = std::make_shared<std::vector<std::unique_ptr<Connection>>>();
  {
    std::lock_guard lock(mutex_);
    closing->swap(idle_);
  }
  if (!closing->empty()) threads_.submit([closing] { closing->clear(); });
}

void DataSource::take_stale(int64_t now_ns, std::vector<std::unique_ptr<Connection>>& out) {
  std::lock_guard lock(mutex_);
  auto fresh = std::find_if(idle_.begin(), idle_.end(), [&](const auto& c) {
    return now_ns - settings_.idle_ns < c->idle_since_ns;
  });
  std::move(idle_.begin(), fresh, std::back_inserter(out));
  idle_.erase(idle_.begin(), fresh);
}

size_t DataSource::idle_count() const {
  std::lock_guard lock(mutex_);
  return idle_.size();
}

size_t DataSource::used_count() const {
  std::lock_guard lock(mutex_);
  return used_;
}

// ---------------------------------------------------------------- session

Status Session::open() {
  if (connection_) return {};
  connection_ = MS_TRY(Connection::open(source_->settings()));
  source_->note_connected(*connection_);
  return {};
}

// A query that begins the work leaves nothing to undo: it needs no transaction, whose beginning and
// end would be two more trips to the database.
Status Session::start(const Manner& manner, bool has_work) {
  if (has_work) return {};
  return connection_->set_autocommit(manner.is_query && connection_->reads_committed());
}

void Session::give_back() {
  if (!has_place_) return;
  has_place_ = false;
  is_read_only_ = true;
  source_->release(std::move(connection_));
}

// A connection of the pool may have died since it was used last. The first statement of a
// transaction can be repeated on a new one: the database has undone whatever came of it.
template <typename Work>
Status Session::run(const Manner& manner, const Work& work) {
  if (is_broken_) {
    Status status = base::make_error(errors::kTransactionLost, {source_->settings().name});
    status.error().sql_state = "D08S01";
    status.error().sql_code = -1;
    return status;
  }
  if (!has_place_) {
    MS_TRY(source_->acquire(connection_));
    has_place_ = true;
  }
  Status status;
  bool has_died = false, had_work = false;
  source_->threads().run([&] {
    const bool was_pooled = connection_ != nullptr;
    status = open();
    if (!status.ok()) return;
    had_work = connection_->is_in_transaction();
    status = start(manner, had_work);
    if (status.ok()) status = work(*connection_);
    if (status.ok() || !connection_->is_dead()) return;
    has_died = true;
    connection_.reset();
    if (had_work || !was_pooled || !manner.is_repeatable) return;
    status = open();
    if (status.ok()) status = start(manner, false);
    if (status.ok()) status = work(*connection_);
    if (connection_ && connection_->is_dead()) connection_.reset();
  });
  if (has_died) source_->drop_idle();
  if (!status.ok() && !connection_) {
    is_broken_ = had_work;
    give_back();
  }
  return status;
}

Status Session::execute(const Statement& statement, base::Arena& arena, Outcome& out) {
  if (!statement.is_query) is_read_only_ = false;
  return run({statement.is_repeatable, statement.is_query}, [&](Connection& c) {
    out = Outcome{};
    return c.execute(statement, arena, out);
  });
}

Status Session::call(const ProcedureCall& call, base::Arena& arena, ProcedureOutcome& out) {
  is_read_only_ = false;
  return run({}, [&](Connection& c) { return c.call(call, arena, out); });
}

Status Session::commit() {
  if (is_broken_) {
    is_broken_ = false;
    return base::make_error(errors::kTransactionLost, {source_->settings().name});
  }
  if (!connection_ || !connection_->is_in_transaction()) {
    give_back();
    return {};
  }
  if (is_read_only_ && net::Fiber::current()) {
    // Nobody has to wait for the end of a transaction that changed nothing.
    has_place_ = false;
    auto c = std::make_shared<std::unique_ptr<Connection>>(std::move(connection_));
    source_->threads().submit([c, source = source_] {
      if (!(*c)->commit().ok()) (*c)->rollback();
      source->release(std::move(*c));
    });
    return {};
  }
  Status status;
  source_->threads().run([&] { status = connection_->commit(); });
  if (connection_->is_dead()) source_->drop_idle();
  give_back();
  return status;
}

void Session::rollback() {
  is_broken_ = false;
  if (connection_ && connection_->is_in_transaction()) {
    source_->threads().run([&] { connection_->rollback(); });
  }
  give_back();
}

// ---------------------------------------------------------------- registry

namespace {

bool is_same(const DataSourceSettings& a, const DataSourceSettings& b) {
  return connection_string(a) == connection_string(b) && a.connections_max == b.connections_max &&
         a.rows_max == b.rows_max && a.column_bytes_max == b.column_bytes_max &&
         a.wait_ns == b.wait_ns && a.idle_ns == b.idle_ns &&
         a.statement_timeout_s == b.statement_timeout_s;
}

}  // namespace

DataSources& DataSources::process() {
  static DataSources* sources = new DataSources;
  return *sources;
}

std::vector<DataSources::PoolUse> DataSources::use() {
  std::lock_guard lock(mutex_);
  std::vector<PoolUse> out;
  for (const auto& [name, source] : sources_) {
    out.push_back({name, source->idle_count(), source->used_count()});
  }
  return out;
}

void DataSources::close_idle() {
  std::vector<std::unique_ptr<Connection>> closing;
  {
    std::lock_guard lock(mutex_);
    for (auto& [name, source] : sources_) source->take_stale(INT64_MAX, closing);
  }
  closing.clear();
}

DataSources::~DataSources() {
  {
    std::lock_guard lock(mutex_);
    is_stopping_ = true;
  }
  reaper_wakes_.notify_all();
  if (reaper_.joinable()) reaper_.join();
}

void DataSources::configure(std::vector<DataSourceSettings> settings, Credentials credentials) {
  std::vector<std::shared_ptr<DataSource>> closing;  // outside the lock
  std::lock_guard lock(mutex_);
  settings_.clear();
  for (DataSourceSettings& s : settings) {
    std::string name = s.name;
    settings_[std::move(name)] = std::move(s);
  }
  credentials_ = std::move(credentials);
  for (auto it = sources_.begin(); it != sources_.end();) {
    if (is_same(resolve(it->first), it->second->settings())) {
      ++it;
      continue;
    }
    closing.push_back(std::move(it->second));
    it = sources_.erase(it);
  }
}

DataSourceSettings DataSources::resolve(std::string_view name) const {
  DataSourceSettings settings;
  if (auto it = settings_.find(name); it != settings_.end()) settings = it->second;
  settings.name = std::string(name);
  if (!settings.user.empty()) return settings;
  for (const std::string& key : {"odbc::" + settings.name, settings.name}) {
    auto it = credentials_.find(key);
    if (it == credentials_.end()) continue;
    settings.user = it->second.user;
    settings.password = it->second.password;
    break;
  }
  return settings;
}

std::shared_ptr<DataSource> DataSources::find(std::string_view name) {
  name = bare_name(name);
  std::lock_guard lock(mutex_);
  if (auto it = sources_.find(name); it != sources_.end()) return it->second;
  DataSourceSettings settings = resolve(name);
  std::unique_ptr<net::BlockingPool>& threads = threads_[settings.name];
  if (!threads) {
    const size_t max =
        std::max(settings.connections_max, DataSourceSettings::kDefaultConnectionsMax);
    threads = std::make_unique<net::BlockingPool>(static_cast<int>(max));
  }
  auto source = std::make_shared<DataSource>(std::move(settings), *threads);
  sources_.emplace(source->settings().name, source);
  if (!reaper_.joinable()) reaper_ = std::thread([this] { reap(); });
  return source;
}

void DataSources::reap() {
  std::unique_lock lock(mutex_);
  while (!is_stopping_) {
    reaper_wakes_.wait_for(lock, std::chrono::seconds(5));
    if (is_stopping_) return;
    std::vector<std::unique_ptr<Connection>> stale;
    const int64_t now = base::system_clock().monotonic_ns();
    for (auto& [name, source] : sources_) source->take_stale(now, stale);
    lock.unlock();
    stale.clear();
    lock.lock();
  }
}

}  // namespace millstream::sql
