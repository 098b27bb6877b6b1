// Spans of messages in the model of OpenTelemetry: one for the message at its input node, one for
// each request that a node sends, and on demand one for every node. Finished spans of a message go
// to a bounded queue; when that is full they are dropped and counted. A message never waits.
// Thread: Tracer and SpanQueue any.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/metrics.h"
#include "flow/observer.h"
#include "observe/settings.h"

namespace millstream::observe {

struct SpanAttribute {
  std::string name;
  std::string text;
  int64_t number = 0;
  bool is_number = false;
};

struct SpanEvent {
  std::string name;
  int64_t time_ns = 0;
  std::vector<SpanAttribute> attributes;
};

struct Span {
  // As numbered by OTLP.
  enum class Kind : uint8_t {
    kInternal = 1,
    kServer = 2,
    kClient = 3,
    kProducer = 4,
    kConsumer = 5
  };
  static constexpr size_t kEventsMax = 16;

  flow::TraceContext context;  // its own id
  std::array<uint8_t, 8> parent_id{};
  bool has_parent = false;
  std::string name;
  Kind kind = Kind::kInternal;
  int64_t start_ns = 0, end_ns = 0;  // since 1970
  std::vector<SpanAttribute> attributes;
  std::vector<SpanEvent> events;
  bool is_error = false;
  std::string message;  // of the error
};

class SpanQueue {
 public:
  explicit SpanQueue(size_t spans_max) : spans_max_(spans_max) {}
  // `on_full` runs (outside the lock) when as many spans as a batch wait; it must not block.
  void set_batch(size_t batch, std::function<void()> on_full);
  void push(std::vector<Span> spans);
  // At most `spans_max` of the oldest.
  std::vector<Span> take(size_t spans_max);
  size_t size() const;
  uint64_t dropped() const { return dropped_.load(std::memory_order_relaxed); }
  void count_dropped(size_t spans) { dropped_.fetch_add(spans, std::memory_order_relaxed); }

 private:
  const size_t spans_max_;
  mutable std::mutex mutex_;  // leaf lock
  std::vector<Span> spans_;
  size_t batch_ = 0;
  std::function<void()> on_full_;
  std::atomic<uint64_t> dropped_{0};
};

class Tracer final : public flow::Observer {
 public:
  static constexpr size_t kSpansPerMessageMax = 500;

  Tracer(const TracingSettings& settings, std::shared_ptr<SpanQueue> queue)
      : settings_(settings), queue_(std::move(queue)) {}
  std::unique_ptr<flow::MessageObserver> start(flow::Invocation& invocation) override;

  // Whether a trace that begins here is recorded.
  bool samples(const std::array<uint8_t, 16>& trace_id) const;
  const TracingSettings& settings() const { return settings_; }
  SpanQueue& queue() { return *queue_; }

 private:
  const TracingSettings settings_;
  const std::shared_ptr<SpanQueue> queue_;  // shared with the exporter
};

// The request of an OTLP export in the JSON mapping of its protocol buffers.
std::string otlp_json(const std::vector<Span>& spans, const std::string& service_name,
                      const std::vector<std::pair<std::string, std::string>>& resource,
                      const std::string& version);

}  // namespace millstream::observe
