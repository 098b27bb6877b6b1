// Transports of one thread that have something to send, for the end of the reactor's turn: many
// sends, one write. Internal to wire/common.
// Thread: the reactor's own.
#pragma once
#include <memory>
#include <vector>

#include "wire/common/transport.h"

namespace millstream::wire {

class FlushList {
 public:
  static void add(net::Reactor& reactor, std::shared_ptr<Transport*> transport);

 private:
  static FlushList& of_thread();
  void run();
  std::vector<std::shared_ptr<Transport*>> waiting_;
  std::vector<std::shared_ptr<Transport*>> running_;
  bool is_posted_ = false;
};

}  // namespace millstream::wire
