// Handles by which messages are put to one node, one on each connection (unit of work) that has put
// something. Thread: the session's.
#pragma once
#include <memory>
#include <vector>

#include "queue/core/connection.h"
#include "wire/common/broker.h"

namespace millstream::wire::amqp {

class OutputHandles {
 public:
  OutputHandles() = default;
  explicit OutputHandles(Node node) : node_(std::move(node)) {}
  ~OutputHandles() { close(); }
  OutputHandles(OutputHandles&&) = default;
  OutputHandles& operator=(OutputHandles&&) = default;

  const Node& node() const { return node_; }
  // Opens it when it is not: the reason codes of MQOPEN.
  queue::Outcome of(const std::shared_ptr<queue::Connection>& connection, queue::Hobj& out);
  void close();
  // The queue takes no persistent messages, because it is temporary: they are put as others.
  bool is_volatile = false;

 private:
  struct Entry {
    std::weak_ptr<queue::Connection> connection;
    uint64_t id = 0;  // of the connection
    queue::Hobj handle = queue::kNoObject;
  };
  Node node_;
  std::vector<Entry> entries_;
};

}  // namespace millstream::wire::amqp
