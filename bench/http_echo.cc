// HTTP echo server for bench/http_floor.sh: answers every request with a fixed body, or with the
// body of the request.
//   http_echo [--port N] [--cores N] [--bytes N | --echo] [--delay-ms N] [--forward PORT]
//             [--keys PEM-FILE [--ciphers LIST]]
// --delay-ms lets the fiber of each request sleep first; --forward sends each request on to another
// server on this machine and answers with its reply. --keys: HTTPS and HTTP/2 by ALPN.
// Prints the port on the first line; ends with the statistics on SIGTERM or SIGINT.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <memory>
#include <string>

#include "http/client.h"
#include "http/server.h"
#include "net/reactor_pool.h"

namespace net = millstream::net;
namespace http = millstream::http;

namespace {

void forward(http::Request& request, int port) {
  thread_local std::unique_ptr<http::ClientPool> clients;
  if (!clients) clients = std::make_unique<http::ClientPool>(*net::Reactor::current());
  http::ClientRequest out;
  out.method = request.method();
  out.url.host = "127.0.0.1";
  out.url.port = port;
  out.url.target = request.head().target;
  out.body = request.body();
  auto reply = clients->send(out);
  if (!reply.ok()) {
    request.reply(502, "text/plain", reply.error().describe());
    return;
  }
  http::Response* response = request.claim_reply();
  response->status = reply.value().status;
  response->body.assign(reply.value().body);
  request.send_reply();
}

}  // namespace

int main(int argc, char** argv) {
  int port = 0, cores = 1;
  size_t bytes = 100;
  int delay_ms = 0, forward_port = 0;
  net::TlsServerSettings tls;
  bool is_echo = false;
  for (int i = 1; i < argc; ++i) {
    auto value = [&] { return i + 1 < argc ? atoi(argv[++i]) : 0; };
    if (!strcmp(argv[i], "--port")) port = value();
    if (!strcmp(argv[i], "--cores")) cores = value();
    if (!strcmp(argv[i], "--bytes")) bytes = static_cast<size_t>(value());
    if (!strcmp(argv[i], "--echo")) is_echo = true;
    if (!strcmp(argv[i], "--delay-ms")) delay_ms = value();
    if (!strcmp(argv[i], "--forward")) forward_port = value();
    if (!strcmp(argv[i], "--keys") && i + 1 < argc) tls.keystore.path = argv[++i];
    if (!strcmp(argv[i], "--ciphers") && i + 1 < argc) tls.choice.ciphers = argv[++i];
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
    if (delay_ms > 0) net::sleep_for(delay_ms * net::kMillisecond);
    if (forward_port > 0) return forward(*request, forward_port);
    http::Response* response = request->claim_reply();
    response->headers.add("Content-Type", "text/plain");
    response->body_view = is_echo ? request->body() : std::string_view(fixed);
    request->send_reply();
  };
  auto server = http::Server::create(*pool.value(), {}, handler);
  http::ListenOptions options;
  if (!tls.keystore.path.empty()) {
    auto made = net::TlsServer::create(tls);
    if (!made.ok()) {
      fprintf(stderr, "%s\n", made.error().describe().c_str());
      return 1;
    }
    options.tls = std::move(made).take_value();
  }
  auto bound = server->listen("127.0.0.1", port, options);
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
