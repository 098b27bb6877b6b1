// Message arenas for reuse: their pages stay mapped between messages. One pool a thread, since a
// fiber stays on its reactor.
//   PooledArena arena(flow.names());   // given back, reset, at the end of the scope
// Thread: the one that made it.
#pragma once
#include <memory>
#include <vector>

#include "tree/assembly.h"

namespace millstream::flow {

class PooledArena {
 public:
  static constexpr size_t kIdleMax = 256;              // arenas kept a thread
  static constexpr size_t kIdleBytesMax = 256u << 20;  // of one thread, kept mapped

  explicit PooledArena(const std::shared_ptr<const base::NameTable>& names);
  ~PooledArena();
  PooledArena(const PooledArena&) = delete;
  PooledArena& operator=(const PooledArena&) = delete;
  tree::MessageArena& operator*() const { return *arena_; }
  tree::MessageArena* operator->() const { return arena_.get(); }

 private:
  std::unique_ptr<tree::MessageArena> arena_;
};

}  // namespace millstream::flow
