// One reactor and one thread a core, and listeners that share connections out among them.
// Ownership: the pool owns reactors and threads. Thread: create, start and stop by one owner; the
// rest from any thread.
#pragma once
#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "net/reactor.h"

namespace millstream::net {

class ReactorPool {
 public:
  // Reactors are created and their threads started.
  static Result<std::unique_ptr<ReactorPool>> create(int cores, const ReactorOptions& options = {});
  ~ReactorPool();  // stops

  int size() const { return static_cast<int>(reactors_.size()); }
  Reactor& reactor(int index) { return *reactors_[index]; }
  Reactor& next();  // round robin
  void stop();      // ends the threads; idempotent
  // Runs the task on the reactor's thread, in a fiber, and waits for it. Not for reactor threads.
  void run_on(int index, std::function<void()> task);

 private:
  ReactorPool() = default;
  std::vector<std::unique_ptr<Reactor>> reactors_;
  std::vector<std::thread> threads_;
  std::atomic<uint32_t> next_{0};
};

// Accepts on one reactor and hands connections out round robin. Close it on any thread but a
// reactor's (it waits for the accepting reactor), while the pool still runs.
class Listener final : private IoHandler {
 public:
  // Called on the thread of the reactor that gets the connection; takes the descriptor.
  using OnAccept = std::function<void(Reactor& reactor, int fd)>;
  static constexpr int kBacklog = 4096;
  static constexpr int kAcceptsPerTurnMax = 64;

  static Result<std::unique_ptr<Listener>> open(ReactorPool& pool, const std::string& host,
                                                int port, OnAccept on_accept);
  ~Listener() override;
  int port() const { return port_; }
  void close();  // idempotent

 private:
  explicit Listener(ReactorPool& pool) : pool_(pool), home_(pool.reactor(0)) {}
  void on_io(uint32_t events) override;
  void pause();

  ReactorPool& pool_;
  Reactor& home_;
  OnAccept on_accept_;
  Timer retry_timer_;
  int fd_ = -1;
  int port_ = 0;
};

}  // namespace millstream::net
