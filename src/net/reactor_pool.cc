#include "net/reactor_pool.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/thread_turns.h"
#include "net/address.h"
#include "net/errors_gen.h"
#include "net/waiting.h"

namespace millstream::net {

Result<std::unique_ptr<ReactorPool>> ReactorPool::create(int cores, const ReactorOptions& options) {
  std::unique_ptr<ReactorPool> pool(new ReactorPool);
  for (int i = 0; i < std::max(cores, 1); ++i) {
    pool->reactors_.push_back(MS_TRY(Reactor::create(options)));
  }
  for (int i = 0; i < pool->size(); ++i) {
    pool->threads_.emplace_back([reactor = pool->reactors_[i].get()] {
      base::take_short_turns();
      reactor->run();
    });
    std::string name = "ms-reactor-" + std::to_string(i);
    pthread_setname_np(pool->threads_.back().native_handle(), name.c_str());
  }
  return pool;
}

ReactorPool::~ReactorPool() { stop(); }

void ReactorPool::stop() {
  for (auto& reactor : reactors_) reactor->stop();
  for (auto& thread : threads_) thread.join();
  threads_.clear();
}

Reactor& ReactorPool::next() {
  return *reactors_[next_.fetch_add(1, std::memory_order_relaxed) % reactors_.size()];
}

void ReactorPool::run_on(int index, std::function<void()> task) {
  FiberEvent done;
  reactor(index).spawn([&] {
    task();
    done.set();
  });
  done.wait();
}

Result<std::unique_ptr<Listener>> Listener::open(ReactorPool& pool, const std::string& host,
                                                 int port, OnAccept on_accept) {
  Address address = MS_TRY(resolve_for_listening(host, port));
  std::unique_ptr<Listener> listener(new Listener(pool));
  listener->on_accept_ = std::move(on_accept);
  auto fail = [&](const char* what) {
    return base::make_error(errors::kListen,
                            {host, port, std::string(what) + ": " + strerror(errno)});
  };
  int fd = socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return fail("socket");
  listener->fd_ = fd;
  int one = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  if (bind(fd, address.data(), address.size()) != 0) return fail("bind");
  if (listen(fd, kBacklog) != 0) return fail("listen");
  Address bound;
  socklen_t size = Address::kBytesMax;
  if (getsockname(fd, bound.data(), &size) != 0) return fail("getsockname");
  listener->port_ = bound.port();
  Listener* self = listener.get();
  self->retry_timer_.owner = self;
  self->retry_timer_.fire = [](Timer& timer) {
    static_cast<Listener*>(timer.owner)->on_io(EPOLLIN);
  };
  MS_TRY(self->home_.watch(fd, *self, EPOLLIN));
  return listener;
}

Listener::~Listener() { close(); }

void Listener::close() {
  if (fd_ < 0) return;
  auto shut = [this] {
    home_.unwatch(fd_, *this);
    home_.cancel(retry_timer_);
    ::close(fd_);
    fd_ = -1;
  };
  if (Reactor::current() == &home_) {
    shut();
    return;
  }
  FiberEvent done;
  home_.post([&] {
    shut();
    done.set();
  });
  done.wait();
}

void Listener::pause() {
  // Out of descriptors: the listener is level-triggered and would spin. Look again a little later.
  home_.unwatch(fd_, *this);
  home_.arm(retry_timer_, home_.now_ns() + 100 * kMillisecond);
}

void Listener::on_io(uint32_t) {
  if (fd_ < 0) return;
  if (retry_timer_.deadline_ns != kNever && !retry_timer_.is_armed()) {
    retry_timer_.deadline_ns = kNever;
    if (!home_.watch(fd_, *this, EPOLLIN).ok()) return pause();
  }
  for (int i = 0; i < kAcceptsPerTurnMax; ++i) {
    int fd = accept4(fd_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) {
      if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) pause();
      if (errno == EINTR || errno == ECONNABORTED) continue;
      return;
    }
    int one = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    Reactor& target = pool_.next();
    if (&target == &home_) {
      on_accept_(target, fd);
    } else {
      // A copy of the callback: the listener may be gone when the other reactor runs it.
      target.post([on_accept = on_accept_, &target, fd] { on_accept(target, fd); });
    }
  }
}

}  // namespace millstream::net
