// HTTP echo server for bench/http_floor.sh: answers every request with a fixed body, or with the
// body of the request.
//   http_echo [--port N] [--cores N] [--bytes N | --echo]
// Prints the port on the first line; ends with the statistics on SIGTERM or SIGINT.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <string>

#include "http/server.h"
#include "net/reactor_pool.h"

namespace net = millstream::net;
namespace http = millstream::http;

int main(int argc, char** argv) {
  int port = 0, cores = 1;
  size_t bytes = 100;
  bool is_echo = false;
  for (int i = 1; i < argc; ++i) {
    auto value = [&] { return i + 1 < argc ? atoi(argv[++i]) : 0; };
    if (!strcmp(argv[i], "--port")) port = value();
    if (!strcmp(argv[i], "--cores")) cores = value();
    if (!strcmp(argv[i], "--bytes")) bytes = static_cast<size_t>(value());
    if (!strcmp(argv[i], "--echo")) is_echo = true;
  }
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGTERM);
  sigaddset(&signals, SIGINT);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);

  auto pool = net::ReactorPool::create(cores);
  if (!pool.ok()) {
    fprintf(stderr, "%s\n", pool.error().describe().c_str());
    return 1;
  }
  std::string fixed(bytes, 'x');
  auto handler = [&](http::RequestRef request) {
    http::Response* response = request->claim_reply();
    response->headers.add("Content-Type", "text/plain");
    response->body_view = is_echo ? request->body() : std::string_view(fixed);
    request->send_reply();
  };
  auto server = http::Server::create(*pool.value(), {}, handler);
  auto bound = server->listen("127.0.0.1", port);
  if (!bound.ok()) {
    fprintf(stderr, "%s\n", bound.error().describe().c_str());
    return 1;
  }
  printf("%d\n", bound.value());
  fflush(stdout);
  int signal_number = 0;
  sigwait(&signals, &signal_number);
  server->stop(net::kSecond);
  http::ServerStats stats = server->stats();
  printf("requests %lu, recv calls %lu, send calls %lu, connections %lu\n", stats.requests,
         stats.receive_calls, stats.send_calls, stats.connections_accepted);
  return 0;
}
