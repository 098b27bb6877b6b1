// millstream run: the server.
#include <charconv>
#include <csignal>
#include <cstdio>
#include <string>

#include "base/clock.h"
#include "base/log.h"
#include "cli/commands.h"
#include "io/file.h"
#include "server/errors_gen.h"
#include "server/server.h"
#include "server/wire_protocols.h"

namespace millstream::cli {
namespace {

constexpr const char* kVersion = MS_VERSION;

constexpr int kBadPort = -3;

int admin_port_of(std::string_view text) {
  if (text == "off" || text == "-1") return server::kNoAdminPort;
  int port = kBadPort;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  const bool is_port = error == std::errc() && end == text.data() + text.size() && port >= 0;
  return is_port && port <= 65535 ? port : kBadPort;
}

// Ports of messaging clients and their twins for TLS: "amqp", "amqps".
std::vector<std::string> client_port_names() {
  std::vector<std::string> names;
  for (std::string_view protocol : server::kWireProtocolNames) {
    names.emplace_back(protocol);
    names.push_back(std::string(protocol) + "s");
  }
  return names;
}

int client_port_of(std::string_view text) {
  if (text == "free") return server::kAnyWirePort;
  const int port = admin_port_of(text);
  return port == server::kNoAdminPort ? server::kNoWirePort : port;
}

server::ServerOptions options_of(const base::ParsedFlags& flags) {
  server::ServerOptions options;
  for (const std::string& path : flags.arguments()) {
    options.script_paths.push_back(path);
    if (!server::is_mqsc_file(path)) options.deployment.paths.push_back(path);
  }
  options.queue_manager = flags.text("qmgr");
  for (const std::string& name : client_port_names()) {
    if (flags.has(name + "-port")) {
      options.wire.ports[name] = client_port_of(flags.text(name + "-port"));
    }
  }
  options.wire.keystore = flags.text("queue-keystore");
  options.is_buffered = flags.is_on("buffered");
  options.is_dev = flags.is_on("dev");
  options.deployment.work_folder = flags.text("work-dir");
  for (std::string_view file : flags.all("overrides")) {
    options.deployment.override_files.emplace_back(file);
  }
  options.host = flags.is_on("dev") ? "127.0.0.1" : flags.text("host");
  if (flags.has("https-port")) {
    options.https_port = static_cast<int>(flags.integer("https-port"));
  }
  options.https_keystore = flags.text("https-keystore");
  options.admin_keystore = flags.text("admin-keystore");
  if (flags.has("http-port")) options.http_port = static_cast<int>(flags.integer("http-port"));
  const std::string_view admin = flags.text("admin-port");
  options.admin_port = admin.empty() ? server::kAdminPortFromSettings : admin_port_of(admin);
  if (flags.has("cores")) options.cores = static_cast<int>(flags.integer("cores"));
  options.in_flight_max = static_cast<size_t>(flags.integer("max-in-flight"));
  options.body_bytes_max = static_cast<size_t>(flags.integer("max-body")) << 20;
  options.is_partial = flags.is_on("partial");
  options.is_watching = flags.is_on("watch");
  options.statistics_file = flags.text("statistics");
  options.statistics_interval_s = static_cast<int>(flags.integer("statistics-interval"));
  options.otlp_url = flags.text("otlp");
  for (std::string_view flow : flags.all("user-trace")) options.user_traced.emplace_back(flow);
  return options;
}

void print_diagnostics(const base::Diagnostics& diagnostics) {
  for (const base::Diagnostic& d : diagnostics.all()) {
    std::fprintf(stderr, "%s\n", d.format().c_str());
  }
}

void print_names(const std::vector<std::string>& names, const char* what) {
  std::string all;
  for (const std::string& n : names) all += (all.empty() ? "" : ", ") + n;
  if (!all.empty()) std::printf("%s: %s\n", what, all.c_str());
}

// What a change of the watched paths has done.
void print_report(const server::ChangeReport& report) {
  print_diagnostics(report.diagnostics);
  if (!report.status.ok()) {
    std::fprintf(stderr, "%s\n", report.status.error().describe().c_str());
  }
  print_names(report.started, "Deployed");
  print_names(report.replaced, "Replaced");
  print_names(report.removed, "Removed");
  print_names(report.kept, "Not replaced, the version from before goes on");
  print_names(report.refused, "Refused");
  if (report.has_changed()) {
    std::printf("Compiled in %.1f ms, switched in %.1f ms.\n",
                static_cast<double>(report.build_ns) / 1'000'000.0,
                static_cast<double>(report.switch_ns) / 1'000'000.0);
  }
  std::fflush(stdout);
}

void print_flows(const server::Server& server) {
  const auto running = server.applications();
  for (const auto& application : *running) {
    for (const auto& flow : application->flows()) {
      std::string line = "  " + application->name() + "/" + flow->name();
      for (const auto& node : flow->nodes()) {
        const std::string endpoint = node->endpoint();
        if (!endpoint.empty()) line += "  " + endpoint;
      }
      std::printf("%s\n", line.c_str());
    }
  }
}

// Signals that end the server are waited for by the main thread alone.
sigset_t block_signals() {
  std::signal(SIGPIPE, SIG_IGN);
  sigset_t signals;
  sigemptyset(&signals);
  for (int s : {SIGTERM, SIGINT, SIGHUP, SIGUSR1}) sigaddset(&signals, s);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  return signals;
}

std::vector<base::FlagSpec> listening_flags() {
  return {{.name = "work-dir",
           .value_name = "FOLDER",
           .help = "Work directory: server.conf.yaml, overrides/, and run/, where what is deployed "
                   "is kept."},
          {.name = "http-port",
           .value_name = "PORT",
           .help = "Port of the HTTP listener; 0 takes a free one. Default: that of "
                   "server.conf.yaml, else 7800.",
           .kind = base::FlagKind::kInteger,
           .integer_max = 65535},
          {.name = "https-port",
           .value_name = "PORT",
           .help = "Port of the HTTPS listener; 0 takes a free one. Default: that of "
                   "server.conf.yaml, else 7843; opened when a flow uses HTTPS.",
           .kind = base::FlagKind::kInteger,
           .integer_max = 65535},
          {.name = "https-keystore",
           .value_name = "FILE",
           .help = "PEM or PKCS#12 file with the key and certificate of the HTTPS listener."},
          {.name = "host",
           .value_name = "ADDRESS",
           .help = "Address to listen on.",
           .default_text = "0.0.0.0"},
          {.name = "admin-port",
           .value_name = "PORT",
           .help = "Port of administration and metrics; 0 takes a free one, off opens none. "
                   "Default: that of server.conf.yaml, else 7600 when it is free."},
          {.name = "admin-keystore",
           .value_name = "FILE",
           .help = "PEM or PKCS#12 file with the key and certificate of the admin port, which then "
                   "speaks HTTPS."}};
}

std::vector<base::FlagSpec> client_port_flags() {
  return {{.name = "amqp-port",
           .value_name = "PORT",
           .help = "Port of AMQP 1.0 clients of the default queue manager; 0 opens none, free "
                   "takes a free one. Default: that of server.conf.yaml, else 5672."},
          {.name = "amqps-port",
           .value_name = "PORT",
           .help = "The same with TLS. Default: that of server.conf.yaml, else 5671 when there is "
                   "a key store."},
          {.name = "mqtt-port",
           .value_name = "PORT",
           .help = "Port of MQTT clients, likewise. Default: that of server.conf.yaml, else 1883."},
          {.name = "mqtts-port",
           .value_name = "PORT",
           .help = "The same with TLS. Default: that of server.conf.yaml, else 8883 when there is "
                   "a key store."},
          {.name = "stomp-port",
           .value_name = "PORT",
           .help = "Port of STOMP clients, likewise. Default: that of server.conf.yaml, else "
                   "61613."},
          {.name = "stomps-port",
           .value_name = "PORT",
           .help = "The same with TLS. Default: that of server.conf.yaml, else 61614 when there is "
                   "a key store."},
          {.name = "queue-keystore",
           .value_name = "FILE",
           .help = "PEM or PKCS#12 file with the key and certificate of these ports for TLS."}};
}

std::vector<base::FlagSpec> run_flags() {
  std::vector<base::FlagSpec> flags = listening_flags();
  for (base::FlagSpec& flag : client_port_flags()) flags.push_back(std::move(flag));
  const base::FlagSpec others[] = {
      {.name = "qmgr",
       .value_name = "NAME",
       .help =
           "Have this queue manager, the default one, in the work directory; it is made when it "
           "is not there. Without: defaultQueueManager of server.conf.yaml, else QM1 when there "
           "are .mqsc files or it is there already."},
      {.name = "dev",
       .help = "For development: listen on the loopback address only, where every caller may do "
               "everything with the queue managers.",
       .kind = base::FlagKind::kSwitch},
      {.name = "buffered",
       .help = "Let queue managers write through the file cache with fdatasync, where the work "
               "directory cannot do direct I/O.",
       .kind = base::FlagKind::kSwitch},
      {.name = "cores",
       .value_name = "N",
       .help = "Reactor threads. Default: one a core of the machine.",
       .kind = base::FlagKind::kInteger,
       .integer_min = 1,
       .integer_max = 1024},
      {.name = "overrides",
       .value_name = "FILE",
       .help = "Lines of Flow#Node.property=value that win over BAR overrides.",
       .is_repeated = true},
      {.name = "watch",
       .help = "Run what changes in the paths at once; what does not compile leaves the version "
               "before it in place.",
       .kind = base::FlagKind::kSwitch},
      {.name = "partial",
       .help = "Run the other applications when one is refused.",
       .kind = base::FlagKind::kSwitch},
      {.name = "max-in-flight",
       .value_name = "N",
       .help = "Requests handled at once; more get 503.",
       .kind = base::FlagKind::kInteger,
       .default_text = "10000",
       .integer_min = 1,
       .integer_max = 10'000'000},
      {.name = "max-body",
       .value_name = "MIB",
       .help = "Largest request body in MiB; larger ones get 413.",
       .kind = base::FlagKind::kInteger,
       .default_text = "64",
       .integer_min = 1,
       .integer_max = 1023},
      {.name = "statistics",
       .value_name = "FILE",
       .help = "Append flow statistics snapshots (JSON lines) to this file."},
      {.name = "statistics-interval",
       .value_name = "SECONDS",
       .help = "Time between snapshots.",
       .kind = base::FlagKind::kInteger,
       .default_text = "20",
       .integer_min = 1,
       .integer_max = 86'400},
      {.name = "otlp",
       .value_name = "URL",
       .help = "Send a span for each message to this OpenTelemetry collector, such as "
               "http://localhost:4318. The variables OTEL_* are read too."},
      {.name = "user-trace",
       .value_name = "FLOW",
       .help = "Write a user trace of this flow from the start; \"*\" means all flows.",
       .is_repeated = true}};
  flags.insert(flags.end(), std::begin(others), std::end(others));
  return flags;
}

}  // namespace

const base::CommandSpec& run_command() {
  static const base::CommandSpec kSpec{
      .name = "run",
      .arguments = "PATH...",
      .summary = "Run the message flows of projects, BAR files or a work directory.",
      .description =
          "PATH is a project folder, a workspace folder, a BAR file or a work directory. The "
          "server "
          "stops on SIGTERM or Ctrl-C: requests in flight are finished, new ones refused.",
      .arguments_min = 0,
      .arguments_max = 1000,
      .flags = run_flags(),
      .examples = {
          {"millstream run examples/", "all example projects on port 7800"},
          {"millstream run Orders.bar --http-port 8080", "a BAR file on another port"},
          {"millstream run --watch examples/", "while editing them"},
          {"millstream run --work-dir /var/mqsi/server1", "what is deployed in a work directory"}}};
  return kSpec;
}

int run_run(const base::ParsedFlags& flags) {
  const server::ServerOptions options = options_of(flags);
  if (flags.arguments().empty() && options.deployment.work_folder.empty()) {
    std::fprintf(stderr, "Give at least one PATH, or --work-dir.\n\n%s",
                 base::command_help({.name = "millstream"}, run_command()).c_str());
    return 2;
  }
  if (options.admin_port == kBadPort) {
    std::fprintf(stderr, "--admin-port is '%s'; it must be a number from 0 to 65535, or off.\n",
                 std::string(flags.text("admin-port")).c_str());
    return 2;
  }
  for (const auto& [name, port] : options.wire.ports) {
    if (port != kBadPort) continue;
    std::fprintf(stderr, "--%s-port is '%s'; it must be a number from 0 to 65535, or free.\n",
                 name.c_str(), std::string(flags.text(name + "-port")).c_str());
    return 2;
  }
  const int64_t start_ns = base::system_clock().monotonic_ns();
  sigset_t signals = block_signals();
  base::log_event(
      base::LogLevel::kInfo, "BIP1990I",
      std::string("Integration server starting initialization; version '") + kVersion + "'");
  base::Diagnostics diagnostics;
  Result<std::unique_ptr<server::Server>> started = server::Server::start(options, diagnostics);
  print_diagnostics(diagnostics);
  if (!started.ok()) {
    std::fprintf(stderr, "%s\n", started.error().describe().c_str());
    return 1;
  }
  server::Server& server = *started.value();
  for (const std::string& name : server.host().refused()) {
    Status status = base::make_error(server::errors::kApplicationRefused, {name});
    base::log_error(status.error());
  }
  if (options.is_watching) {
    Status status = server.watch(print_report);
    if (!status.ok()) {
      std::fprintf(stderr, "%s\n", status.error().describe().c_str());
      return 1;
    }
  }
  print_flows(server);
  for (const auto& port : server.client_ports()) {
    std::printf("  %s  %s\n", port.url.c_str(), port.channel.c_str());
  }
  if (server.admin()) std::printf("  administration  %s\n", server.admin()->url().c_str());
  const double ms =
      static_cast<double>(base::system_clock().monotonic_ns() - start_ns) / 1'000'000.0;
  std::printf("Ready in %.1f ms: %s on port %d, %zu application(s)\n", ms, server.name().c_str(),
              server.http_port(), server.applications()->size());
  std::fflush(stdout);
  base::log_event(base::LogLevel::kInfo, "BIP1991I",
                  "Integration server has finished initialization.");
  for (int signal = 0; signal != SIGTERM && signal != SIGINT;) {
    sigwait(&signals, &signal);
    if (signal == SIGUSR1) std::fputs(server.statistics(/*resets=*/false).c_str(), stdout);
    std::fflush(stdout);
  }
  base::log_event(base::LogLevel::kInfo, "BIP1992I", "Integration server is stopping.");
  server.stop();
  started.value().reset();
  return 0;
}

}  // namespace millstream::cli
