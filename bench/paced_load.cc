// Sends GET requests at a fixed rate over connections it keeps, whatever the answers do, and prints
// a line for each: when it was due; from then to its answer; from when it was really sent to when
// the answer had come in (all in microseconds); status.
// The second of the two is the server's: on a busy machine this program waits for a core too,
// before it sends and before it reads. The kernel stamps an answer when it arrives, which over the
// loopback is while the server sends it. A request for which no connection was free counts from
// when it would have been sent.
//   paced_load PORT PATH RATE CONNECTIONS SECONDS
// Status 0: the connection was lost. The clock is CLOCK_MONOTONIC, as Python's time.monotonic().
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <deque>
#include <string>
#include <vector>

namespace {

struct Sample {
  int64_t due_us, took_us, server_us;
  int status;
};

struct Request {
  int64_t due_us, sent_us;
};

struct Client {
  int fd = -1;
  std::string input;
  bool is_waiting = false;
  Request request{};
  int64_t arrived_us = 0;  // of the last bytes, as the kernel says
};

int64_t clock_us(clockid_t clock = CLOCK_MONOTONIC) {
  timespec now;
  clock_gettime(clock, &now);
  return now.tv_sec * 1'000'000 + now.tv_nsec / 1000;
}

int connect_to(int port) {
  const int fd = socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (connect(fd, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
    perror("connect");
    exit(1);
  }
  const int on = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on);
  fcntl(fd, F_SETFL, O_NONBLOCK);
  return fd;
}

// The kernel's stamp of a received message in the monotonic clock; now when there is none.
int64_t arrival_us(msghdr& message) {
  const int64_t now = clock_us();
  for (cmsghdr* c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c)) {
    if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_TIMESTAMPNS) continue;
    timespec stamp;
    memcpy(&stamp, CMSG_DATA(c), sizeof stamp);
    const int64_t age =
        clock_us(CLOCK_REALTIME) - (stamp.tv_sec * 1'000'000 + stamp.tv_nsec / 1000);
    return age >= 0 && age < 60'000'000 ? now - age : now;
  }
  return now;
}

class Load {
 public:
  Load(int port, const char* path, size_t connections)
      : request_(std::string("GET ") + path + " HTTP/1.1\r\nHost: localhost\r\n\r\n"),
        clients_(connections) {
    epoll_ = epoll_create1(0);
    for (size_t i = 0; i < connections; ++i) {
      clients_[i].fd = connect_to(port);
      epoll_event event{};
      event.events = EPOLLIN;
      event.data.u64 = i;
      epoll_ctl(epoll_, EPOLL_CTL_ADD, clients_[i].fd, &event);
      free_.push_back(i);
    }
  }

  void run(double rate, double seconds) {
    const double gap_us = 1e6 / rate;
    const int64_t start = clock_us();
    const int64_t end = start + static_cast<int64_t>(seconds * 1e6);
    samples_.reserve(static_cast<size_t>(rate * seconds) + 1000);
    uint64_t sent = 0;
    while (true) {
      const int64_t now = clock_us();
      int64_t due = start + static_cast<int64_t>(gap_us * static_cast<double>(sent));
      for (; due <= now && due < end; ++sent) {
        queue_.push_back({due, now});
        due = start + static_cast<int64_t>(gap_us * static_cast<double>(sent + 1));
      }
      send_queued();
      const bool is_over = due >= end;
      if (is_over && busy_ == 0 && queue_.empty()) break;
      if (is_over && now > end + 10'000'000) break;
      wait(is_over ? now + 100'000 : due);
    }
    for (const Client& c : clients_) {
      if (c.is_waiting) samples_.push_back({c.request.due_us, 0, 0, 0});
    }
    for (const Request& r : queue_) samples_.push_back({r.due_us, 0, 0, 0});
  }

  const std::vector<Sample>& samples() const { return samples_; }

 private:
  void send_queued() {
    while (!queue_.empty() && !free_.empty()) {
      Client& c = clients_[free_.front()];
      free_.pop_front();
      c.request = queue_.front();
      queue_.pop_front();
      // What has waited for a connection has waited for the server; what is sent at once has not.
      if (c.request.sent_us + 1000 > clock_us()) c.request.sent_us = clock_us();
      if (send(c.fd, request_.data(), request_.size(), MSG_NOSIGNAL) != ssize_t(request_.size())) {
        lose(c, c.request);
        continue;
      }
      c.is_waiting = true;
      ++busy_;
    }
    if (lost_ != clients_.size()) return;
    for (const Request& r : queue_) samples_.push_back({r.due_us, 0, 0, 0});
    queue_.clear();
  }

  void lose(Client& c, const Request& request) {
    samples_.push_back({request.due_us, 0, 0, 0});
    close(c.fd);
    c.fd = -1;
    ++lost_;
  }

  void wait(int64_t until_us) {
    epoll_event events[256];
    const int64_t left = until_us - clock_us();
    const timespec timeout = {left > 0 ? left / 1'000'000 : 0,
                              left > 0 ? left % 1'000'000 * 1000 : 0};
    const int count = epoll_pwait2(epoll_, events, 256, &timeout, nullptr);
    for (int i = 0; i < count; ++i) receive(events[i].data.u64);
  }

  void receive(size_t index) {
    Client& c = clients_[index];
    char chunk[65536];
    while (c.fd >= 0) {
      iovec part = {chunk, sizeof chunk};
      char control[256];
      msghdr message{};
      message.msg_iov = &part;
      message.msg_iovlen = 1;
      message.msg_control = control;
      message.msg_controllen = sizeof control;
      const ssize_t got = recvmsg(c.fd, &message, 0);
      if (got < 0 && errno == EAGAIN) break;
      if (got <= 0) {
        if (c.is_waiting) --busy_;
        const bool was_waiting = c.is_waiting;
        c.is_waiting = false;
        if (was_waiting) {
          lose(c, c.request);
        } else {
          close(c.fd);
          c.fd = -1;
          ++lost_;
          std::erase(free_, index);
        }
        return;
      }
      c.arrived_us = arrival_us(message);
      c.input.append(chunk, static_cast<size_t>(got));
    }
    take_reply(c, index);
  }

  void take_reply(Client& c, size_t index) {
    const size_t head = c.input.find("\r\n\r\n");
    const size_t length = c.input.find("Content-Length: ");
    if (head == std::string::npos || length > head || !c.is_waiting) return;
    const size_t end = head + 4 + strtoul(c.input.c_str() + length + 16, nullptr, 10);
    if (c.input.size() < end) return;
    samples_.push_back({c.request.due_us, clock_us() - c.request.due_us,
                        c.arrived_us - c.request.sent_us, atoi(c.input.c_str() + 9)});
    c.input.erase(0, end);
    c.is_waiting = false;
    --busy_;
    free_.push_back(index);
  }

  const std::string request_;
  std::vector<Client> clients_;
  std::deque<size_t> free_;
  std::deque<Request> queue_;  // due, and no connection was free
  std::vector<Sample> samples_;
  size_t busy_ = 0, lost_ = 0;
  int epoll_ = -1;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) {
    fprintf(stderr, "paced_load PORT PATH RATE CONNECTIONS SECONDS\n");
    return 2;
  }
  prctl(PR_SET_TIMERSLACK, 1000);  // ns; else each wait for the next request is 50 us longer
  Load load(atoi(argv[1]), argv[2], static_cast<size_t>(atoi(argv[4])));
  load.run(atof(argv[3]), atof(argv[5]));
  for (const Sample& s : load.samples()) {
    printf("%lld %lld %lld %d\n", static_cast<long long>(s.due_us),
           static_cast<long long>(s.took_us), static_cast<long long>(s.server_us), s.status);
  }
  return 0;
}
