// Watching messages on their way through a flow: user trace, spans, dumps of trees. Switched on for
// a flow at any time; messages that begin afterwards are watched.
//
// While nothing is switched on a message pays for one byte that it reads when it begins, and looks
// at when a node runs.
//   flow.observers().add(observer);     // shared_ptr: messages under way keep it
//   flow.observers().remove(observer.get());
// Thread: Observers and Observer any; MessageObserver the fiber of its message.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "flow/trace_context.h"
#include "tree/assembly.h"

namespace millstream::flow {

class Flow;
class Invocation;
class Node;

// Where a message came from and how, as far as its transport knows; views for the call only.
struct MessageOrigin {
  std::string_view traceparent, tracestate;
  std::string_view method, route, path, query, host, scheme, peer;
};

// A statement that a node runs in a database; views for the call only.
struct DatabaseUse {
  std::string_view data_source;
  std::string_view operation;  // its first word, or CALL
  std::string_view statement;  // empty when it may hold values of the message
};

struct NodeTimes {
  int64_t elapsed_ns = 0;
  int64_t cpu_ns = 0;
};

// Watches one message. Everything is called in the order it happens.
class MessageObserver {
 public:
  virtual ~MessageObserver() = default;
  // Before begins(), by input nodes that know.
  virtual void received(const MessageOrigin&) {}
  // `input` has made the message and is about to propagate it. A message begins once more when its
  // input node sends it another way (timeout).
  virtual void begins(const Node& /*input*/, const tree::MessageAssembly&, size_t /*bytes*/) {}
  virtual void enters(const Node&, const tree::MessageAssembly&, int /*input*/) {}
  // `status` is what evaluate() returned, before the engine handles it.
  virtual void leaves(const Node&, const Status& /*status*/, const NodeTimes&) {}
  // Before what is wired to the output runs.
  virtual void propagates(const Node& /*from*/, int /*output*/, const tree::MessageAssembly&) {}
  virtual void ends(const Node& /*input*/, const Status& /*status*/) {}
  virtual void replied(const Node&, int /*status*/) {}
  // A request that began with outgoing() has its answer.
  virtual void answered(const Node&, int /*status*/) {}
  // A statement begins; queried() follows in any case, whether the node throws its error or not.
  virtual void queries(const Node&, const DatabaseUse&) {}
  virtual void queried(const Node&, const DatabaseUse&, const Status&) {}
  // An entry of the user trace: ESQL statements, LOG USER TRACE, what nodes report.
  virtual void line(const Node&, int /*number*/, std::string_view /*text*/) {}
  // Whether line() is wanted, and of each ESQL statement too.
  virtual bool wants_lines() const { return false; }
  virtual bool wants_statements() const { return false; }
  // The context for a request that `from` sends now; null: none.
  virtual const TraceContext* outgoing(const Node& /*from*/) { return nullptr; }
  // The context of what the message does now; null: none. Not before received().
  virtual const TraceContext* trace() { return nullptr; }
};

class Observer : public std::enable_shared_from_this<Observer> {
 public:
  virtual ~Observer() = default;
  // Null: not this message.
  virtual std::unique_ptr<MessageObserver> start(Invocation& invocation) = 0;
};

// All observers of one message.
class Observation {
 public:
  void add(std::shared_ptr<Observer> source, std::unique_ptr<MessageObserver> observer);
  bool is_empty() const { return entries_.empty(); }
  void received(const MessageOrigin& origin);
  void begins(const Node& input, const tree::MessageAssembly& message, size_t bytes);
  void enters(const Node& node, const tree::MessageAssembly& message, int input);
  void leaves(const Node& node, const Status& status, const NodeTimes& times);
  void propagates(const Node& from, int output, const tree::MessageAssembly& message);
  void ends(const Node& input, const Status& status);
  void replied(const Node& node, int status);
  void answered(const Node& node, int status);
  void queries(const Node& node, const DatabaseUse& use);
  void queried(const Node& node, const DatabaseUse& use, const Status& status);
  void line(const Node& node, int number, std::string_view text);
  bool wants_lines() const { return wants_lines_; }
  bool wants_statements() const { return wants_statements_; }
  const TraceContext* outgoing(const Node& from);
  const TraceContext* trace();

 private:
  struct Entry {
    std::shared_ptr<Observer> source;  // kept by the messages that it watches
    std::unique_ptr<MessageObserver> observer;
  };
  std::vector<Entry> entries_;
  bool wants_lines_ = false;
  bool wants_statements_ = false;
};

// Those of one flow.
class Observers {
 public:
  bool is_empty() const { return !has_any_.load(std::memory_order_relaxed); }
  void add(std::shared_ptr<Observer> observer);
  // Messages under way are watched to their end.
  void remove(const Observer* observer);
  // Null when none wants the message.
  std::unique_ptr<Observation> start(Invocation& invocation);

 private:
  std::atomic<bool> has_any_{false};
  std::mutex mutex_;  // leaf lock
  std::vector<std::shared_ptr<Observer>> observers_;
};

// The server's user trace, where Trace nodes write whether the flow is traced or not. A service of
// the process; there may be none.
class TraceSink {
 public:
  // False: traceNodeLevel has switched all Trace nodes off.
  virtual bool are_trace_nodes_on() const = 0;
  // Whether write() keeps anything while the flow is not traced.
  virtual bool is_open() const = 0;
  virtual void write(const Flow& flow, int number, std::string_view text) = 0;

 protected:
  ~TraceSink() = default;
};

// Told of the flows of a process. A service of the process; there may be none.
class FlowListener {
 public:
  virtual void flow_starts(Flow& flow) = 0;  // before its nodes do; perhaps again after flow_stops
  virtual void flow_stops(Flow& flow) = 0;   // takes no new messages
  virtual void flow_ends(Flow& flow) = 0;    // last call, from its destructor

 protected:
  ~FlowListener() = default;
};

}  // namespace millstream::flow
