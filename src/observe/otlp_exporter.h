// Sends finished spans to an OpenTelemetry collector: OTLP over HTTP in JSON, in batches, on a
// reactor of its own. What cannot be sent is tried again a few times and then dropped and counted.
// Thread: create, stop and destroy by one owner; the queue is filled from any.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <string>

#include "base/result.h"
#include "net/reactor_pool.h"
#include "observe/spans.h"

namespace millstream::observe {

class OtlpExporter {
 public:
  static constexpr int kAttemptsMax = 3;
  static constexpr int64_t kRetryNs = 1'000'000'000;      // doubles with each attempt
  static constexpr int64_t kStopGraceNs = 5'000'000'000;  // for the last batches

  static Result<std::unique_ptr<OtlpExporter>> create(const TracingSettings& settings,
                                                      const std::string& server_name,
                                                      const std::string& version,
                                                      std::shared_ptr<SpanQueue> queue);
  ~OtlpExporter();
  // Sends what is there within the grace. Idempotent.
  void stop();

  uint64_t exported() const { return exported_.load(std::memory_order_relaxed); }
  uint64_t failed_requests() const { return failed_requests_.load(std::memory_order_relaxed); }
  const TracingSettings& settings() const { return settings_; }

 private:
  OtlpExporter() = default;
  void run();
  void wake();
  // False: the wait was ended by stop().
  bool wait(int64_t ns);
  void send(const std::vector<Span>& batch);
  Result<int> post(class PooledClient& client, const std::string& body, std::string& answer);

  TracingSettings settings_;
  std::string service_name_, version_;
  std::shared_ptr<SpanQueue> queue_;  // shared with the tracer
  std::unique_ptr<net::ReactorPool> reactor_;
  std::unique_ptr<class PooledClient> client_;
  std::atomic<uint64_t> exported_{0}, failed_requests_{0};
  std::atomic<bool> is_stopping_{false};
  std::atomic<bool> is_failing_{false};  // said so in the log
  std::mutex mutex_;                     // leaf lock: guards the ticket
  net::WaitTicket ticket_;
  std::atomic<bool> has_ended_{false};
};

}  // namespace millstream::observe
