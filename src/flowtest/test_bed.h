// What one flow test runs in: a server with its projects loaded, nodes interposed, back ends in
// place of the network, and a clock of its own; and the steps of the test.
//
// With a virtual clock nothing waits: when all fibers do, the clock jumps to the next timer. It
// stands still between steps. Work in the blocking pool (databases, name look-ups) is waited for.
// Thread: that of the test; the server has one reactor thread.
#pragma once
#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/diagnostics.h"
#include "flowtest/backends.h"
#include "flowtest/coverage.h"
#include "flowtest/flow_probe.h"
#include "flowtest/test_log.h"
#include "server/server.h"
#include "sql/data_source.h"

namespace millstream::flowtest {

struct StepOutcome {
  bool has_reply = false;
  int status = 0;
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  std::unique_ptr<base::Error> error;  // that came back to where a message was injected
};

class TestBed {
 public:
  static constexpr int64_t kStepLimitNs = 30'000'000'000;  // of real time
  static constexpr int kIdleRoundsBeforeJump = 3;

  TestBed(const FlowScript& script, const std::string& test_file);
  ~TestBed();

  // Loads and starts. Without `must_run` diagnostics with errors are no error (expect load).
  Status start(bool must_run, Coverage* coverage);
  const base::Diagnostics& diagnostics() const { return diagnostics_; }
  FlowProbe& probe() { return probe_; }
  Backends& backends() { return backends_; }
  server::Server* server() { return server_.get(); }
  const FlowScript& script() const { return script_; }
  const std::string& folder() const { return folder_; }

  // Steps. An error means that the step could not be done; what the flow did is in the outcome.
  Result<StepOutcome> request(const FlowAction& action);
  Result<StepOutcome> inject(const FlowAction& action, const NodePoint& point);
  Status advance(int64_t nanoseconds);

  std::string log_text() const { return log_.text(); }
  // Adds what the test has reached to the coverage.
  void finish_coverage();

 private:
  enum class Mode : uint8_t { kRest, kStep, kAdvance };
  Status write_files();
  Status set_deployment(server::ServerOptions& options);
  Status run_step(std::function<void()> task);  // in a fiber; waits for it and for the flows
  Status run_clock(int64_t nanoseconds);        // lets what is due happen, in order
  bool is_quiet() const;
  void on_idle(int64_t deadline_ns);

  const FlowScript& script_;
  const std::string file_, folder_;  // the test file, and where it lies
  std::string temporary_;
  base::VirtualClock clock_;
  server::ServerHooks hooks_;
  base::Diagnostics diagnostics_;
  FlowProbe probe_;
  Backends backends_;
  TestLog log_;
  Coverage* coverage_ = nullptr;
  std::unique_ptr<LineHits> hits_;
  std::unique_ptr<sql::DataSources> databases_;
  std::unique_ptr<server::Server> server_;

  std::mutex mutex_;  // for the four below
  std::condition_variable changed_;
  Mode mode_ = Mode::kRest;
  bool is_task_done_ = true;
  int64_t target_ns_ = 0;
  int idle_rounds_ = 0;
};

}  // namespace millstream::flowtest
