// Workers of a server: each is a thread of its own that repeats its step and sleeps until the next
// wake(). A wake() of a worker that is awake costs one atomic exchange.
// Thread: as base/executor.h says. A worker must not be destroyed by its own step.
#pragma once
#include "base/executor.h"

namespace millstream::base {

class ThreadWorkerFactory final : public WorkerFactory {
 public:
  std::unique_ptr<Worker> start(std::string_view name, std::function<bool()> step) override;
};

}  // namespace millstream::base
