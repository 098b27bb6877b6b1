// What protocols keep of their clients between connections, beside subscriptions and queues:
// durable values by key, opaque to the queue manager. They are written with units of work
// (Connection::add_record, Settlement::add_record), so that "this message was put" and "this is the
// identifier that the client gave it" are one fact.
//
// What a start has found is kept here until the protocol takes it; a protocol that is switched off
// leaves it in the store.
// Thread: any.
#pragma once
#include <map>
#include <mutex>
#include <string>
#include <string_view>

#include "queue/core/unit_of_work.h"

namespace millstream::queue {

class ClientRecords {
 public:
  using Map = std::map<std::string, std::string, std::less<>>;

  void recovered(std::string_view key, std::string_view value);
  // Moves out all whose key begins with the prefix.
  Map take(std::string_view prefix);

 private:
  std::mutex mutex_;  // leaf; guards recovered_
  Map recovered_;
};

UnitRecord client_record(std::string key, std::string value);
UnitRecord erased_client_record(std::string key);

}  // namespace millstream::queue
