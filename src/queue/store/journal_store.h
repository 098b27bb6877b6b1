// The shipped store: one journal that is written ahead, files of survivors, two checkpoints in
// turn. docs/internals/queue-store.md explains format and rules.
//
//   auto store = MS_TRY(JournalStore::open(options, environment, listener, recovery_handler));
//   store->append(unit, pending);
//
// open() blocks: it recovers what is there, or makes a new store in an empty directory, and tells
// the handler. The listener is called from then on. Destroying a store without close() is a kill.
// Thread: as store.h says; open(), close() and the destructor one.
#pragma once
#include <memory>

#include "base/executor.h"
#include "queue/store/options.h"
#include "queue/store/recovery.h"
#include "queue/store/store.h"

namespace millstream::io {
class Disk;
}

namespace millstream::queue {

struct StoreEnvironment {
  io::Disk& disk;
  const base::Clock& clock;
  base::Random& random;
  base::WorkerFactory& workers;
};

class JournalStore : public Store {
 public:
  static Result<std::unique_ptr<JournalStore>> open(const StoreOptions& options,
                                                    const StoreEnvironment& environment,
                                                    StoreListener& listener,
                                                    RecoveryHandler& handler);
  virtual const store::RecoveryReport& recovery() const = 0;
  // How often admit() has said no.
  virtual uint64_t puts_refused() const = 0;
};

}  // namespace millstream::queue
