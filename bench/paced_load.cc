// Sends GET requests at a fixed rate over connections it keeps, whatever the answers do, and prints
// a line for each: time it was due, time from then to its answer (both in microseconds), status.
// Answers that are late delay the requests behind them on their connection, which counts against
// the server, as it should.
//   paced_load PORT PATH RATE CONNECTIONS SECONDS
// Status 0: the connection was lost. The clock is CLOCK_MONOTONIC, as Python's time.monotonic().
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <deque>
#include <string>
#include <vector>

namespace {

struct Sample {
  int64_t due_us, took_us;
  int status;
};

struct Client {
  int fd = -1;
  std::string input;
  std::deque<int64_t> waiting;  // when the requests without an answer were due
};

int64_t clock_us() {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
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
  fcntl(fd, F_SETFL, O_NONBLOCK);
  return fd;
}

// Whole replies in the input; each answers the request that waits longest.
void take_replies(Client& client, std::vector<Sample>& samples) {
  while (true) {
    const size_t head = client.input.find("\r\n\r\n");
    const size_t length = client.input.find("Content-Length: ");
    if (head == std::string::npos || length > head || client.waiting.empty()) return;
    const size_t end = head + 4 + strtoul(client.input.c_str() + length + 16, nullptr, 10);
    if (client.input.size() < end) return;
    const int status = atoi(client.input.c_str() + 9);
    const int64_t due = client.waiting.front();
    client.waiting.pop_front();
    samples.push_back({due, clock_us() - due, status});
    client.input.erase(0, end);
  }
}

void receive(Client& client, std::vector<Sample>& samples) {
  char chunk[65536];
  while (true) {
    const ssize_t got = recv(client.fd, chunk, sizeof chunk, 0);
    if (got > 0) {
      client.input.append(chunk, static_cast<size_t>(got));
      continue;
    }
    if (got < 0 && errno == EAGAIN) break;
    for (int64_t due : client.waiting) samples.push_back({due, 0, 0});
    client.waiting.clear();
    close(client.fd);
    client.fd = -1;
    return;
  }
  take_replies(client, samples);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 6) {
    fprintf(stderr, "paced_load PORT PATH RATE CONNECTIONS SECONDS\n");
    return 2;
  }
  const int port = atoi(argv[1]);
  const std::string request =
      std::string("GET ") + argv[2] + " HTTP/1.1\r\nHost: localhost\r\n\r\n";
  const double gap_us = 1e6 / atof(argv[3]);
  std::vector<Client> clients(static_cast<size_t>(atoi(argv[4])));
  std::vector<pollfd> polled;
  for (Client& c : clients) {
    c.fd = connect_to(port);
    polled.push_back({c.fd, POLLIN, 0});
  }
  const int64_t start = clock_us();
  const int64_t end = start + static_cast<int64_t>(atof(argv[5]) * 1e6);
  std::vector<Sample> samples;
  samples.reserve(static_cast<size_t>(atof(argv[3]) * atof(argv[5])) + 1000);
  uint64_t sent = 0;
  size_t waiting = 0;
  do {
    const int64_t now = clock_us();
    while (now < end && start + static_cast<int64_t>(gap_us * static_cast<double>(sent)) <= now) {
      Client& c = clients[sent % clients.size()];
      const int64_t due = start + static_cast<int64_t>(gap_us * static_cast<double>(sent++));
      if (c.fd < 0 ||
          send(c.fd, request.data(), request.size(), MSG_NOSIGNAL) != ssize_t(request.size())) {
        samples.push_back({due, 0, 0});
        continue;
      }
      c.waiting.push_back(due);
    }
    poll(polled.data(), polled.size(), 0);
    waiting = 0;
    for (size_t i = 0; i < clients.size(); ++i) {
      if (clients[i].fd >= 0 && polled[i].revents != 0) receive(clients[i], samples);
      if (clients[i].fd < 0) polled[i].fd = -1;
      waiting += clients[i].waiting.size();
    }
  } while (clock_us() < end || (waiting > 0 && clock_us() < end + 10'000'000));
  for (const Client& c : clients) {
    for (int64_t due : c.waiting) samples.push_back({due, 0, 0});
  }
  for (const Sample& s : samples) {
    printf("%lld %lld %d\n", static_cast<long long>(s.due_us), static_cast<long long>(s.took_us),
           s.status);
  }
  return 0;
}
