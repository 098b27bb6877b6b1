// For tests of protocols: a queue manager over a store in memory, on reactors of its own, with the
// objects that a new one has; and a client that is nothing but a socket.
// Everything that waits has a deadline, kTestWaitMs, and says what it waited for.
#pragma once
#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <thread>

#include "base/thread_worker.h"
#include "net/credential_crypto.h"
#include "net/reactor_executor.h"
#include "net/reactor_pool.h"
#include "net/waiting.h"
#include "queue/core/connection.h"
#include "queue/mqsc/runner.h"
#include "queue/mqsc/script_apply.h"
#include "queue/objects/system_objects.h"
#include "queue/security/rule_access.h"
#include "queue/store/memory_store.h"
#include "wire/common/endpoint.h"

namespace millstream::wire::testing {

inline constexpr int kTestWaitMs = 20'000;
inline constexpr std::string_view kTestUser = "app";
inline constexpr std::string_view kTestPassword = "passw0rd-of-app";

// Looks until it is true; false after kTestWaitMs.
inline bool eventually(const std::function<bool()>& is_true) {
  const int64_t end_ns = base::system_clock().monotonic_ns() + kTestWaitMs * net::kMillisecond;
  net::FiberEvent never;
  while (!is_true()) {
    int64_t now_ns = base::system_clock().monotonic_ns();
    if (now_ns > end_ns) return false;
    (void)never.wait(now_ns + net::kMillisecond);
  }
  return true;
}

class WireWorld {
 public:
  struct Options {
    bool is_dev = true;
    int reactors = 1;
    queue::QueueManagerSettings settings = {};
  };
  WireWorld() : WireWorld(Options()) {}
  explicit WireWorld(Options wish) {
    pool = net::ReactorPool::create(wish.reactors).take_value();
    for (int i = 0; i < wish.reactors; ++i) {
      executors.push_back(std::make_unique<net::ReactorExecutor>(pool->reactor(i)));
    }
    queue::security::User user{.name = std::string(kTestUser), .groups = {"clients"}};
    queue::security::PasswordCost cost{.scrypt = {.log2_cost = 6, .block = 8, .parallel = 1},
                                       .scram_iterations = 50};
    REQUIRE(queue::security::make_password(user, kTestPassword, cost, net::credential_crypto(),
                                           base::system_random())
                .ok());
    REQUIRE(users.put(std::move(user)).ok());
    queue::security::Authenticator::Options login;
    login.users = &users;
    login.crypto = &net::credential_crypto();
    login.random = &base::system_random();
    login.clock = &base::system_clock();
    login.workers = &workers;
    login.is_dev = wish.is_dev;
    login.cost = cost;
    authenticator = std::make_unique<queue::security::Authenticator>(std::move(login));
    queue::security::RuleAccess::Options rules;
    rules.users = &users;
    rules.queue_manager = wish.settings.name;
    rules.is_dev = wish.is_dev;
    access = std::make_unique<queue::security::RuleAccess>(std::move(rules));
    wish.settings.creates_unknown_queues = wish.is_dev;
    queue::QueueManagerOptions options;
    options.settings = wish.settings;
    options.executor = executors[0].get();
    options.random = &base::system_random();
    options.access = access.get();
    options.workers = &workers;
    manager = std::make_unique<queue::QueueManager>(std::move(options));
    access->attach(manager->admin().authorities(), [this](std::string_view topic) {
      return manager->pubsub().objects_above(topic);
    });
    store = std::make_unique<queue::MemoryStore>(workers, manager->listener(), &image);
    REQUIRE(store->recover(manager->recovery()).ok());
    REQUIRE(manager->start(*store).ok());
    run_mqsc(queue::objects::system_objects_script());
    run_mqsc(queue::objects::developer_objects_script());
    broker = std::make_unique<Broker>(
        Broker::Options{manager.get(), authenticator.get(), wish.is_dev,
                        [this](const net::Reactor& reactor) -> base::Executor& {
                          for (int i = 0; i < pool->size(); ++i) {
                            if (&pool->reactor(i) == &reactor)
                              return *executors[static_cast<size_t>(i)];
                          }
                          return *executors[0];
                        }});
  }
  ~WireWorld() {
    manager->stop();
    net::FiberEvent done;
    for (int i = 0; i < 3; ++i) pool->run_on(0, [] {});
    REQUIRE(store->close().ok());
    pool->stop();
    store = nullptr;
    manager = nullptr;
  }

  void run_mqsc(std::string_view script) {
    auto target = queue::make_admin_target(*manager, "mqm");
    net::FiberEvent done;
    std::string failures;
    queue::mqsc::apply_script(*target, "test script", script,
                              [&](queue::mqsc::AppliedScript applied) {
                                if (applied.result.exit_code() != 0) {
                                  for (const auto& line : applied.lines) failures += line + "\n";
                                }
                                done.set();
                              });
    REQUIRE(done.wait(base::system_clock().monotonic_ns() + kTestWaitMs * net::kMillisecond) ==
            net::WakeReason::kWoken);
    CHECK(failures == "");
  }
  uint32_t depth(const std::string& name) {
    queue::QueueRef queue = manager->find_queue(name);
    if (queue == nullptr) return 0;
    std::lock_guard lock(queue->mutex());
    return queue->depth();
  }
  // Runs a task on the first reactor, outside of fibers, and waits for it.
  void on_reactor(std::function<void()> task) {
    net::FiberEvent done;
    pool->reactor(0).post([&] {
      task();
      done.set();
    });
    REQUIRE(done.wait(base::system_clock().monotonic_ns() + kTestWaitMs * net::kMillisecond) ==
            net::WakeReason::kWoken);
  }

  base::ThreadWorkerFactory workers;
  std::unique_ptr<net::ReactorPool> pool;
  std::vector<std::unique_ptr<net::ReactorExecutor>> executors;
  queue::security::UserTable users;
  std::unique_ptr<queue::security::Authenticator> authenticator;
  std::unique_ptr<queue::security::RuleAccess> access;
  queue::MemoryImage image;
  std::unique_ptr<queue::QueueManager> manager;
  std::unique_ptr<queue::MemoryStore> store;
  std::unique_ptr<Broker> broker;
};

// A blocking TCP client.
class RawClient {
 public:
  explicit RawClient(int port) {
    fd_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int one = 1;
    setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    is_connected_ = ::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0;
  }
  ~RawClient() { close(); }
  RawClient(const RawClient&) = delete;
  RawClient& operator=(const RawClient&) = delete;

  bool is_connected() const { return is_connected_; }
  void send(std::string_view bytes) {
    while (!bytes.empty()) {
      ssize_t n = ::send(fd_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (n <= 0) return;
      bytes.remove_prefix(static_cast<size_t>(n));
    }
  }
  // More of what comes, into `received`. False: the end, or nothing in time.
  bool receive_more(int wait_ms = kTestWaitMs) {
    pollfd p{fd_, POLLIN, 0};
    if (::poll(&p, 1, wait_ms) <= 0) return false;
    char bytes[16 * 1024];
    ssize_t n = ::recv(fd_, bytes, sizeof bytes, 0);
    if (n <= 0) {
      has_ended_ = true;
      return false;
    }
    received.append(bytes, static_cast<size_t>(n));
    return true;
  }
  bool receive_bytes(size_t count) {
    while (received.size() < count) {
      if (!receive_more()) return false;
    }
    return true;
  }
  // Up to and with `end`; what was received before it is taken out. Empty: it did not come.
  std::string receive_until(std::string_view end) {
    size_t at;
    while ((at = received.find(end)) == std::string::npos) {
      if (!receive_more()) return {};
    }
    std::string out = received.substr(0, at + end.size());
    received.erase(0, at + end.size());
    return out;
  }
  // The server has closed.
  bool receive_end() {
    while (receive_more()) {
    }
    return has_ended_;
  }
  bool has_ended() const { return has_ended_; }
  void close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }
  // Without FIN: as if the machine had gone.
  void reset() {
    linger hard{1, 0};
    setsockopt(fd_, SOL_SOCKET, SO_LINGER, &hard, sizeof hard);
    close();
  }
  void finish_sending() { ::shutdown(fd_, SHUT_WR); }
  int fd() const { return fd_; }

  std::string received;

 private:
  int fd_ = -1;
  bool is_connected_ = false;
  bool has_ended_ = false;
};

}  // namespace millstream::wire::testing
