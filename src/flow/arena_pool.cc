#include "flow/arena_pool.h"

namespace millstream::flow {
namespace {

struct IdleArenas {
  std::vector<std::unique_ptr<tree::MessageArena>> arenas;
  size_t bytes = 0;
};

IdleArenas& idle_arenas() {
  thread_local IdleArenas idle;
  return idle;
}

}  // namespace

PooledArena::PooledArena(const std::shared_ptr<const base::NameTable>& names) {
  IdleArenas& idle = idle_arenas();
  if (idle.arenas.empty()) {
    arena_ = std::make_unique<tree::MessageArena>(names);
    return;
  }
  arena_ = std::move(idle.arenas.back());
  idle.arenas.pop_back();
  idle.bytes -= arena_->arena().reserved_bytes();
  arena_->reset(names);
}

PooledArena::~PooledArena() {
  IdleArenas& idle = idle_arenas();
  const size_t bytes = arena_->arena().reserved_bytes();
  // Reset happens on reuse, so that an idle arena holds on to nothing but its pages and its table.
  if (idle.arenas.size() >= kIdleMax || idle.bytes + bytes > kIdleBytesMax) return;
  idle.bytes += bytes;
  idle.arenas.push_back(std::move(arena_));
}

}  // namespace millstream::flow
