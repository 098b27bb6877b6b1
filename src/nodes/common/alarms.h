// Alarms: what is due at times of the wall clock. One table a process, reached through
// flow::Services; one timer of one reactor serves all of them.
//
// An alarm says when it is due next and is called then, in a fiber of its own on one of the
// reactors. It is asked again when that call has returned, so that it never runs twice at once, and
// when somebody says that its answer has changed. The wall clock may be set meanwhile: at least
// every kRecheckNs the table looks at it again. Times are those of the reactor's clock
// (base::system_clock() there), so that tests control them.
//
// Alarms that are added before the reactors exist begin with attach(). After remove() has returned
// no new call begins; one that is under way goes on, and keeps the object alive.
// Thread: any; next_due() and ring() as they say.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <unordered_map>
#include <vector>

#include "net/reactor_pool.h"

namespace millstream::nodes::common {

class Alarm {
 public:
  virtual ~Alarm() = default;
  // Microseconds GMT, in the past: at once; nothing: not until Alarms::changed(). On the table's
  // reactor, under its lock: must neither wait nor call the table.
  virtual std::optional<int64_t> next_due(int64_t now_gmt_micros) = 0;
  // In a fiber, with what next_due() said. The object is held, and so must be all that it uses.
  virtual void ring(int64_t due_gmt_micros) = 0;
};

class Alarms {
 public:
  static constexpr int64_t kRecheckNs = 10 * net::kSecond;

  ~Alarms();
  // Begins; before it nothing rings. The pool must run until detach().
  void attach(net::ReactorPool& reactors);
  // Nothing rings from here on. Before the reactors stop; not from one of them.
  void detach();

  void add(std::shared_ptr<Alarm> alarm);
  void remove(const Alarm* alarm);
  void changed(const Alarm* alarm);
  size_t size() const;

 private:
  struct Entry {
    std::shared_ptr<Alarm> alarm;
    std::optional<int64_t> due;
    bool is_ringing = false;
    bool must_ask = true;  // when it does not ring
  };
  static void on_timer(net::Timer& timer);
  void look();  // on home_
  std::optional<int64_t> take_due(int64_t now,
                                  std::vector<std::pair<std::shared_ptr<Alarm>, int64_t>>& due);
  void post_look();
  void ring(const std::shared_ptr<Alarm>& alarm, int64_t due);

  mutable std::mutex mutex_;  // before Alarm's own locks; never held while a fiber can suspend
  std::unordered_map<const Alarm*, Entry> entries_;
  net::ReactorPool* reactors_ = nullptr;
  net::Reactor* home_ = nullptr;
  bool is_look_posted_ = false;
  net::Timer timer_;  // home_'s
};

}  // namespace millstream::nodes::common
