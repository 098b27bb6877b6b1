// Raw clients and a server on a clock of its own, for the tests of http::Server.
#pragma once
#include <arpa/inet.h>
#include <doctest/doctest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "http/server.h"
#include "net/reactor_pool.h"

namespace millstream::http::testing {

// A blocking client socket.
class RawClient {
 public:
  explicit RawClient(int port) {
    fd_ = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    REQUIRE(connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0);
    timeval limit{30, 0};  // a hanging server fails the test instead of the run
    setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
  }
  ~RawClient() { close(fd_); }
  // False when the server has reset the connection.
  bool send(std::string_view text) {
    while (!text.empty()) {
      ssize_t n = ::send(fd_, text.data(), text.size(), MSG_NOSIGNAL);
      if (n <= 0) return false;
      text.remove_prefix(static_cast<size_t>(n));
    }
    return true;
  }
  void finish_sending() { shutdown(fd_, SHUT_WR); }
  // Head and body of one reply with Content-Length, or of one without a body.
  std::string read_reply(bool has_body = true) {
    while (input_.find("\r\n\r\n") == std::string::npos) {
      if (!receive()) return "closed:" + input_;
    }
    size_t end = input_.find("\r\n\r\n") + 4;
    size_t at = input_.find("Content-Length: ");
    if (has_body && at < end) end += static_cast<size_t>(std::stoul(input_.substr(at + 16)));
    while (input_.size() < end) {
      if (!receive()) return "closed:" + input_;
    }
    std::string out = input_.substr(0, end);
    input_.erase(0, end);
    return out;
  }
  // What has come, waiting for at least one byte; empty at the end.
  std::string read_some() {
    if (input_.empty()) receive();
    return std::exchange(input_, {});
  }
  std::string read_to_end() {
    while (receive()) {
    }
    return std::exchange(input_, {});
  }

 private:
  bool receive() {
    char chunk[65536];
    ssize_t n = recv(fd_, chunk, sizeof chunk, 0);
    if (n <= 0) return false;
    input_.append(chunk, static_cast<size_t>(n));
    return true;
  }
  int fd_;
  std::string input_;
};

inline int status_of(const std::string& reply) {
  return reply.rfind("HTTP/1.", 0) == 0 ? std::stoi(reply.substr(9, 3)) : 0;
}
inline std::string body_of(const std::string& reply) {
  size_t at = reply.find("\r\n\r\n");
  return at == std::string::npos ? "" : reply.substr(at + 4);
}
inline bool has_text(const std::string& text, std::string_view part) {
  return text.find(part) != std::string::npos;
}

inline void echo_request(RequestRef request) {
  Response* response = request->claim_reply();
  response->headers.add("X-Method", request->method());
  response->headers.add("X-Path", request->path());
  response->body_view = request->body();
  request->send_reply();
}

struct TestServer {
  explicit TestServer(Server::Handler handler, ServerOptions options = {}, int cores = 1) {
    net::ReactorOptions reactor_options;
    reactor_options.clock = &time;
    pool = net::ReactorPool::create(cores, reactor_options).take_value();
    server = Server::create(*pool, options, std::move(handler));
    auto bound = server->listen("127.0.0.1", 0);
    REQUIRE(bound.ok());
    port = bound.value();
  }
  ~TestServer() { server.reset(); }
  void advance(int64_t ns) {
    time.advance_ns(ns);
    for (int i = 0; i < pool->size(); ++i) pool->reactor(i).poke();
  }
  // Waits until the condition about the server holds; the reactor makes it true on its own.
  void wait_for(const std::function<bool()>& condition) {
    while (!condition()) std::this_thread::yield();
  }
  base::VirtualClock time;
  std::unique_ptr<net::ReactorPool> pool;
  std::unique_ptr<Server> server;
  int port = 0;
};

inline const std::string kGet = "GET /x HTTP/1.1\r\nHost: a\r\n\r\n";

inline std::string post_text(const std::string& body) {
  return "POST /p HTTP/1.1\r\nHost: a\r\nContent-Length: " + std::to_string(body.size()) +
         "\r\n\r\n" + body;
}
}  // namespace millstream::http::testing
