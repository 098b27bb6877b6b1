#include "net/socket.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "net/errors_gen.h"

namespace millstream::net {

namespace {
Status socket_failure(const char* operation, int error) {
  return base::make_error(errors::kSocketOperation, {operation, error, strerror(error)});
}
}  // namespace

Result<std::unique_ptr<Socket>> Socket::adopt(Reactor& reactor, int fd) {
  std::unique_ptr<Socket> made(new Socket(reactor, fd));
  int one = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  MS_TRY(reactor.watch(fd, *made, EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET));
  return made;
}

Result<std::unique_ptr<Socket>> Socket::connect(const Address& address, int64_t deadline_ns) {
  int fd = ::socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd < 0) return socket_failure("socket", errno);
  int code = ::connect(fd, address.data(), address.size());
  if (code != 0 && errno != EINPROGRESS) {
    int error = errno;
    close(fd);
    return socket_failure("connect", error);
  }
  std::unique_ptr<Socket> made = MS_TRY(adopt(*Reactor::current(), fd));
  MS_TRY(made->wait_for(made->is_writable_, made->writer_, "connect", deadline_ns));
  int error = 0;
  socklen_t size = sizeof error;
  getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) return socket_failure("connect", error);
  return made;
}

Socket::~Socket() {
  if (fd_ < 0) return;
  reactor_.unwatch(fd_, *this);
  close(fd_);
}

void Socket::on_io(uint32_t events) {
  if (events & (EPOLLERR | EPOLLHUP)) events |= EPOLLIN | EPOLLOUT | EPOLLRDHUP;
  if (events & EPOLLRDHUP) is_peer_closed_ = true;
  if (events & (EPOLLIN | EPOLLRDHUP)) {
    is_readable_ = true;
    if (reader_.fiber) reader_.wake();
  }
  if (events & EPOLLOUT) {
    is_writable_ = true;
    if (writer_.fiber) writer_.wake();
  }
}

Status Socket::wait_for(bool& flag, WaitTicket& ticket, const char* operation,
                        int64_t deadline_ns) {
  Fiber* fiber = Fiber::current();
  while (!flag) {
    ticket = fiber->prepare_wait();
    WakeReason reason = fiber->suspend(deadline_ns);
    ticket = {};
    if (flag) break;
    if (reason == WakeReason::kTimeout)
      return base::make_error(errors::kSocketTimeout, {operation});
    if (reason == WakeReason::kCancelled) return base::make_error(errors::kCancelled, {operation});
  }
  return {};
}

Result<size_t> Socket::read_some(char* data, size_t size, int64_t deadline_ns) {
  for (;;) {
    MS_TRY(wait_for(is_readable_, reader_, "receive", deadline_ns));
    ssize_t n = recv(fd_, data, size, 0);
    if (n >= 0) {
      // A short read has emptied the socket, unless the end of the stream is still to be read.
      if (static_cast<size_t>(n) < size && !is_peer_closed_) is_readable_ = false;
      return static_cast<size_t>(n);
    }
    if (errno == EAGAIN) {
      is_readable_ = false;
    } else if (errno != EINTR) {
      return socket_failure("receive", errno);
    }
  }
}

Status Socket::write_all(iovec* parts, int count, int64_t deadline_ns, size_t* sent) {
  while (count > 0) {
    if (parts->iov_len == 0) {
      ++parts;
      --count;
      continue;
    }
    msghdr message{};
    message.msg_iov = parts;
    message.msg_iovlen = static_cast<size_t>(count);
    ssize_t n = sendmsg(fd_, &message, MSG_NOSIGNAL);
    if (n < 0) {
      if (errno == EINTR) continue;
      if (errno != EAGAIN) return socket_failure("send", errno);
      is_writable_ = false;
      MS_TRY(wait_for(is_writable_, writer_, "send", deadline_ns));
      continue;
    }
    if (sent) *sent += static_cast<size_t>(n);
    size_t left = static_cast<size_t>(n);
    while (left > 0) {
      size_t step = std::min(left, parts->iov_len);
      parts->iov_base = static_cast<char*>(parts->iov_base) + step;
      parts->iov_len -= step;
      left -= step;
      if (parts->iov_len == 0) {
        ++parts;
        --count;
      }
    }
  }
  return {};
}

bool Socket::is_readable_now() const {
  pollfd entry{fd_, POLLIN | POLLRDHUP, 0};
  return ::poll(&entry, 1, 0) != 0;
}

}  // namespace millstream::net
