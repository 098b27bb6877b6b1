#include "observe/otlp_exporter.h"

#include <thread>

#include "base/log.h"
#include "http/client.h"
#include "observe/errors_gen.h"

namespace millstream::observe {

// The pool belongs to the exporter's reactor and must not be made before it runs.
class PooledClient {
 public:
  PooledClient(net::Reactor& reactor, http::Url target)
      : url(std::move(target)),
        pool(reactor, {.idle_connections_max = 1, .is_always_network = true}) {}
  http::Url url;
  http::ClientPool pool;
};

Result<std::unique_ptr<OtlpExporter>> OtlpExporter::create(const TracingSettings& settings,
                                                           const std::string& server_name,
                                                           const std::string& version,
                                                           std::shared_ptr<SpanQueue> queue) {
  std::unique_ptr<OtlpExporter> exporter(new OtlpExporter);
  exporter->settings_ = settings;
  exporter->service_name_ = settings.service_name.empty() ? server_name : settings.service_name;
  exporter->version_ = version;
  exporter->queue_ = std::move(queue);
  http::Url url = MS_TRY(http::parse_url(settings.url));
  exporter->reactor_ = MS_TRY(net::ReactorPool::create(1));
  exporter->client_ =
      std::make_unique<PooledClient>(exporter->reactor_->reactor(0), std::move(url));
  OtlpExporter* self = exporter.get();
  exporter->queue_->set_batch(settings.batch_max, [self] { self->wake(); });
  exporter->reactor_->reactor(0).spawn([self] { self->run(); });
  return exporter;
}

OtlpExporter::~OtlpExporter() {
  stop();
  reactor_->stop();
  client_.reset();
}

void OtlpExporter::stop() {
  if (is_stopping_.exchange(true)) return;
  queue_->set_batch(0, {});
  const int64_t deadline = base::system_clock().monotonic_ns() + kStopGraceNs;
  wake();
  // The thread that stops a server has nothing else to do.
  while (!has_ended_.load(std::memory_order_acquire) &&
         base::system_clock().monotonic_ns() < deadline) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

void OtlpExporter::wake() {
  net::WaitTicket ticket;
  {
    std::lock_guard lock(mutex_);
    ticket = ticket_;
  }
  if (ticket.fiber) ticket.wake();
}

bool OtlpExporter::wait(int64_t ns) {
  net::Fiber* fiber = net::Fiber::current();
  {
    std::lock_guard lock(mutex_);
    ticket_ = fiber->prepare_wait();
  }
  // A full batch or a stop that came before the ticket did is seen here.
  if (!is_stopping_.load() && queue_->size() < settings_.batch_max) {
    fiber->suspend(fiber->reactor().refresh_now() + ns);
  }
  std::lock_guard lock(mutex_);
  ticket_ = {};
  return !is_stopping_.load();
}

void OtlpExporter::run() {
  bool goes_on = true;
  while (goes_on) {
    goes_on = wait(settings_.delay_ms * 1'000'000) && !net::is_current_cancelled();
    while (true) {
      const std::vector<Span> batch = queue_->take(settings_.batch_max);
      if (batch.empty()) break;
      send(batch);
    }
  }
  has_ended_.store(true, std::memory_order_release);
}

void OtlpExporter::send(const std::vector<Span>& batch) {
  const std::string body = otlp_json(batch, service_name_, settings_.resource, version_);
  int64_t pause_ns = kRetryNs;
  Status problem;
  for (int attempt = 0; attempt < kAttemptsMax; ++attempt) {
    std::string answer;
    Result<int> status = post(*client_, body, answer);
    if (status.ok() && status.value() >= 200 && status.value() < 300) {
      exported_.fetch_add(batch.size(), std::memory_order_relaxed);
      if (is_failing_.exchange(false)) base::log_info("Spans reach " + settings_.url + " again.");
      return;
    }
    failed_requests_.fetch_add(1, std::memory_order_relaxed);
    const int code = status.ok() ? status.value() : 0;
    problem = status.ok() ? base::make_error(errors::kExportRefused, {code, answer.substr(0, 200)})
                          : std::move(status).take_status();
    // What the specification lets a client send again.
    const bool may_retry = code == 0 || code == 429 || (code >= 502 && code <= 504);
    if (!may_retry || is_stopping_.load() || attempt + 1 == kAttemptsMax) break;
    net::sleep_for(pause_ns);
    pause_ns *= 2;
  }
  queue_->count_dropped(batch.size());
  if (is_failing_.exchange(true)) return;  // once is enough
  Status outer = base::make_error(errors::kExportFailed, {batch.size(), settings_.url});
  base::log_error(base::wrap_error(std::move(outer), std::move(problem)).error());
}

Result<int> OtlpExporter::post(PooledClient& client, const std::string& body, std::string& answer) {
  http::ClientRequest request;
  request.method = "POST";
  request.url = client.url;
  request.headers.add("Content-Type", "application/json");
  request.headers.add("User-Agent", "millstream/" + version_);
  for (const auto& [name, value] : settings_.headers) request.headers.add(name, value);
  request.body = body;
  request.deadline_ns = net::Reactor::current()->refresh_now() + settings_.timeout_ms * 1'000'000;
  request.body_bytes_max = 64 * 1024;
  http::ClientResponse response = MS_TRY(client.pool.send(request));
  answer = response.body;
  return response.status;
}

}  // namespace millstream::observe
