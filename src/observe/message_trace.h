// `millstream trace`: the way of the next messages through a flow, with the trees as they were at
// each node, in the form of Trace nodes. A trace is fetched piece by piece while messages run and
// is dropped when nobody fetches it any more, so that a client that went away leaves nothing on.
// Thread: any.
#pragma once
#include <atomic>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "base/json_value.h"
#include "flow/observer.h"

namespace millstream::observe {

class MessageTrace final : public flow::Observer {
 public:
  static constexpr int kMessagesMax = 1000;
  static constexpr size_t kTreeBytesMax = 256 * 1024;    // of one node's trees; the rest is cut
  static constexpr size_t kWaitingBytesMax = 32u << 20;  // of steps that nobody fetched yet

  struct Options {
    int messages = 1;
    bool has_statements = false;  // ESQL statements too
    bool has_trees = true;
  };
  explicit MessageTrace(Options options);

  std::unique_ptr<flow::MessageObserver> start(flow::Invocation& invocation) override;
  const Options& options() const { return options_; }

  // Nobody fetched for so long: new messages are not watched.
  static constexpr int64_t kIdleNs = 30'000'000'000;
  // Steps since the last call: {"steps": [...], "dropped": n, "isDone": bool}.
  base::json::Value take();
  bool is_idle() const;

  void add(base::json::Value step, size_t bytes);
  void message_ends();

 private:
  bool is_idle_locked() const;
  const Options options_;
  mutable std::mutex mutex_;  // leaf lock
  int started_ = 0, ended_ = 0;
  int64_t fetched_ns_;
  std::deque<base::json::Value> steps_;
  size_t waiting_bytes_ = 0, dropped_ = 0;
};

}  // namespace millstream::observe
