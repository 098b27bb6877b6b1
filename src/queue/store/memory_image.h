// What a store holds, as plain maps: the state of MemoryStore, and the oracle of the tests of the
// journal store. apply() is the meaning of a redo unit.
//
// Within a unit: puts, gets, backouts, records, clears; a kCommitPrepared or kRollbackPrepared
// first settles its prepare, then applies its own content. A clear raises the queue's highest
// sequence to its `upto`; deleting a queue forgets it.
// Thread: one at a time.
#pragma once
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "queue/store/owned_unit.h"
#include "queue/store/store.h"

namespace millstream::queue {

struct MemoryImage {
  struct Message {
    IndexEntry index;
    Location location;
  };
  struct Prepared {
    OwnedUnit unit;
    std::vector<Location> puts;
  };
  std::map<QueueId, std::map<Sequence, Message>> queues;
  std::map<QueueId, Sequence> highest;
  std::map<std::pair<uint8_t, std::string>, std::string> records;
  std::map<std::string, Prepared, std::less<>> prepared;
  std::map<std::string, uint8_t, std::less<>> heuristics;
  std::map<uint64_t, StoredMessage> bodies;  // by Location::at
  uint64_t last_location = 0;

  // The locations that Pending::durable() tells.
  std::vector<Location> apply(const RedoUnit& unit);
  Status replay(RecoveryHandler& handler) const;

 private:
  std::vector<Location> store_puts(const RedoUnit& unit);
  void place_put(QueueId queue, const IndexEntry& index, Location location);
  void apply_content(const RedoUnit& unit);
  void erase_message(QueueId queue, Sequence sequence);
};

}  // namespace millstream::queue
