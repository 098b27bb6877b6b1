// A data source with its pool of connections, and one message's use of it.
//
// Connections are opened when needed, up to a maximum, kept for reuse, and closed when idle. A
// connection belongs to one Session from its first statement to the end of the unit of work. One
// that has died leaves the pool, with the idle ones that probably died with it; the next use
// connects anew.
// ODBC calls run on the blocking pool while the calling fiber is suspended.
// Thread: DataSource and DataSources any; a Session that of its message.
#pragma once
#include <atomic>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "net/blocking_pool.h"
#include "net/waiting.h"
#include "sql/connection.h"
#include "sql/settings.h"

namespace millstream::sql {

class DataSource {
 public:
  DataSource(DataSourceSettings settings, net::BlockingPool& threads)
      : settings_(std::move(settings)), threads_(threads) {}
  ~DataSource();
  DataSource(const DataSource&) = delete;
  DataSource& operator=(const DataSource&) = delete;

  const DataSourceSettings& settings() const { return settings_; }
  net::BlockingPool& threads() const { return threads_; }

  // A place among those in use, with an idle connection when there is one. Waits for its turn.
  Status acquire(std::unique_ptr<Connection>& out);
  // Gives the place back; the connection is null, or not of use any more when it is dead.
  void release(std::unique_ptr<Connection> connection);
  // A first connection says how many there may be.
  void note_connected(const Connection& connection);
  // Opens a connection before the first message needs one.
  Status connect_ahead();
  // The database has gone: idle connections are not of use any more.
  void drop_idle();
  // Takes out what has been idle for too long.
  void take_stale(int64_t now_ns, std::vector<std::unique_ptr<Connection>>& out);

  size_t idle_count() const;
  size_t used_count() const;

 private:
  size_t limit() const;  // under the lock
  void grant();          // under the lock: lets waiters in
  const DataSourceSettings settings_;
  net::BlockingPool& threads_;
  mutable std::mutex mutex_;  // leaf lock, never held across a suspension or an ODBC call
  std::vector<std::unique_ptr<Connection>> idle_;  // most recently used last
  size_t used_ = 0;
  size_t connections_max_ = 0;  // 0: not known before the first connection
  net::WaiterList waiters_;
};

// One message's work in one data source: a connection and its transaction.
class Session {
 public:
  explicit Session(std::shared_ptr<DataSource> source) : source_(std::move(source)) {}
  ~Session() { rollback(); }
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  Status execute(const Statement& statement, base::Arena& arena, Outcome& out);
  Status call(const ProcedureCall& call, base::Arena& arena, ProcedureOutcome& out);
  // Either gives the connection back.
  Status commit();
  void rollback();
  const DataSource& source() const { return *source_; }

 private:
  struct Manner {
    bool is_repeatable = false;
    bool is_query = false;
  };
  template <typename Work>
  Status run(const Manner& manner, const Work& work);
  Status open();
  Status start(const Manner& manner, bool has_work);
  void give_back();

  std::shared_ptr<DataSource> source_;
  std::unique_ptr<Connection> connection_;
  bool has_place_ = false;
  bool is_read_only_ = true;  // nothing but queries so far
  bool is_broken_ = false;    // the connection died with work of this message
};

// All data sources of a process, by name.
class DataSources {
 public:
  // That of the process: connections outlive deployments. Never destroyed, because messages may end
  // late; close_idle() says goodbye to the databases.
  static DataSources& process();

  DataSources() = default;
  ~DataSources();
  DataSources(const DataSources&) = delete;
  DataSources& operator=(const DataSources&) = delete;

  // From server.conf.yaml and policies. A source whose settings changed gets a new pool; messages
  // that use the old one go on with it.
  void configure(std::vector<DataSourceSettings> settings, Credentials credentials);
  // What is not configured is a DSN of odbc.ini.
  std::shared_ptr<DataSource> find(std::string_view name);
  void close_idle();
  // How many connections each source has that was used, for metrics.
  struct PoolUse {
    std::string name;
    size_t idle, used;
  };
  std::vector<PoolUse> use();

 private:
  DataSourceSettings resolve(std::string_view name) const;  // under the lock
  void reap();
  std::mutex mutex_;  // before DataSource::mutex_
  std::map<std::string, DataSourceSettings, std::less<>> settings_;
  Credentials credentials_;
  std::map<std::string, std::shared_ptr<DataSource>, std::less<>> sources_;
  std::thread reaper_;
  std::condition_variable reaper_wakes_;
  bool is_stopping_ = false;
  // Threads by data source, so that one that does not answer holds up no other. Last: they may
  // still use the sources.
  std::map<std::string, std::unique_ptr<net::BlockingPool>, std::less<>> threads_;
};

}  // namespace millstream::sql
