#include "flowtest/test_bed.h"

#include <filesystem>
#include <future>

#include "flow/arena_pool.h"
#include "flowtest/errors_gen.h"
#include "flowtest/flow_notation.h"
#include "flowtest/test_files.h"
#include "http/client.h"
#include "io/file.h"
#include "net/blocking_pool.h"

namespace millstream::flowtest {
namespace {

constexpr const char* kDescriptor =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
    "<ns2:appDescriptor xmlns=\"http://com.ibm.etools.mft.descriptor.base\" "
    "xmlns:ns2=\"http://com.ibm.etools.mft.descriptor.app\"><references/></ns2:appDescriptor>\n";

}  // namespace

TestBed::TestBed(const FlowScript& script, const std::string& test_file)
    : script_(script),
      file_(test_file),
      folder_(io::folder_name(test_file)),
      clock_(script.clock_micros),
      probe_(folder_),
      backends_(folder_) {}

TestBed::~TestBed() {
  if (server_) {
    server_->reactors().run_on(0, [] {
      http::set_client_stand_in(nullptr);
      TestLog::capture(nullptr);
    });
    server_.reset();
  }
  TestLog::capture(nullptr);
  std::error_code error;
  if (!temporary_.empty()) std::filesystem::remove_all(temporary_, error);
}

Status TestBed::write_files() {
  std::string pattern =
      (std::filesystem::temp_directory_path() / "millstream-test-XXXXXX").string();
  if (!mkdtemp(pattern.data())) return base::make_error(errors::kTestIo, {pattern});
  temporary_ = pattern;
  const std::string work = io::join_path(temporary_, "work");
  MS_TRY(io::make_folders(work));
  if (script_.conf) {
    MS_TRY(io::write_file(io::join_path(work, "server.conf.yaml"), script_.conf->body));
  }
  if (script_.files.empty()) return {};
  const std::string project = io::join_path(temporary_, "Test");
  MS_TRY(io::make_folders(project));
  MS_TRY(io::write_file(io::join_path(project, "application.descriptor"), kDescriptor));
  for (const InlineFile& file : script_.files) {
    const std::string path = io::join_path(project, file.path);
    MS_TRY(io::make_folders(std::string(io::folder_name(path))));
    std::string text = file.section->body + "\n";
    if (file.section->kind == "msgflow" || file.section->kind == "subflow") {
      text = MS_TRY(flow_file_text(file.section->body, file.path));
    }
    MS_TRY(io::write_file(path, text));
  }
  return {};
}

Status TestBed::set_deployment(server::ServerOptions& options) {
  server::DeploymentInput& input = options.deployment;
  databases_ = std::make_unique<sql::DataSources>();
  input.databases = databases_.get();
  input.work_folder = io::join_path(temporary_, "work");
  for (const std::string& project : script_.projects) {
    const std::filesystem::path path(project.starts_with('/') ? project
                                                              : io::join_path(folder_, project));
    input.paths.push_back(path.lexically_normal().string());
  }
  if (!script_.files.empty()) input.paths.push_back(io::join_path(temporary_, "Test"));
  if (input.paths.empty()) {
    const std::string project = nearest_project(folder_);
    if (project.empty()) return base::make_error(errors::kNoProject, {folder_});
    input.paths.push_back(project);
  }
  std::string lines;
  for (const std::string& property : script_.properties) {
    if (property.find('#') < property.find('=')) {
      lines += property + "\n";
    } else if (!script_.flow.empty()) {
      lines += script_.flow + "#" + property + "\n";
    } else {
      return base::make_error(errors::kPropertyOfWhichFlow, {property});
    }
  }
  if (lines.empty()) return {};
  const std::string file = io::join_path(temporary_, "properties of the test");
  input.override_files.push_back(file);
  return io::write_file(file, lines);
}

Status TestBed::start(bool must_run, Coverage* coverage) {
  MS_TRY(write_files());
  server::ServerOptions options;
  MS_TRY(set_deployment(options));
  options.host = "127.0.0.1";
  options.http_port = 0;
  options.cores = 1;
  coverage_ = coverage;
  if (coverage) hits_ = std::make_unique<LineHits>();
  hooks_.add_services = [this](flow::Services& services) {
    services.set(const_cast<value::TimeZone*>(&test_zone()));
    services.set(databases_.get());
    if (hits_) services.set(hits_.get());
  };
  hooks_.on_built = [this](ace::Application& application) {
    for (const auto& flow : application.flows()) probe_.add_flow(*flow);
  };
  if (!script_.is_clock_real) {
    clock_.promise_no_jump();  // a month that passes is not looked at every few seconds
    hooks_.reactor.clock = &clock_;
    hooks_.reactor.on_idle = [this](int64_t deadline) { on_idle(deadline); };
    hooks_.reactor.idle_wait_ms = 1;
  }
  options.hooks = &hooks_;
  TestLog::capture(&log_);
  Result<std::unique_ptr<server::Server>> server = server::Server::start(options, diagnostics_);
  if (!server.ok()) {
    if (!must_run) return {};
    std::string why;
    for (const base::Diagnostic& d : diagnostics_.all()) {
      if (d.severity == base::DiagnosticSeverity::kError) why += "\n  " + d.format();
    }
    if (why.empty()) why = server.error().describe();
    return base::make_error(errors::kNotLoaded, {why});
  }
  server_ = std::move(server).value();
  server_->reactors().run_on(0, [this] {
    TestLog::capture(&log_);
    if (!script_.is_network_allowed) http::set_client_stand_in(&backends_);
  });
  // What is due when flows start has happened before the first step.
  return script_.is_clock_real ? Status() : run_clock(0);
}

void TestBed::finish_coverage() {
  if (!coverage_) return;
  // Files of the test's own are the same in each case, wherever they were written to.
  coverage_->add(probe_, *hits_, io::join_path(temporary_, "Test"), file_);
}

// ---------------------------------------------------------------- time

bool TestBed::is_quiet() const {
  for (const flow::Flow* flow : probe_.flows()) {
    if (flow->instances().in_use() != 0) return false;
  }
  return true;
}

// Reactor thread: nothing is ready to run.
void TestBed::on_idle(int64_t deadline_ns) {
  std::lock_guard lock(mutex_);
  if (mode_ == Mode::kRest) return;
  const bool is_busy = net::BlockingPool::busy_in_all() > 0;
  if (mode_ == Mode::kStep) {
    if (is_task_done_ && is_quiet()) {
      changed_.notify_all();
      return;
    }
    if (is_busy || ++idle_rounds_ < kIdleRoundsBeforeJump) return;
    idle_rounds_ = 0;
    if (deadline_ns != net::kNever) {
      clock_.advance_ns(std::max<int64_t>(0, deadline_ns - clock_.monotonic_ns()));
    }
    return;
  }
  if (is_busy) return;
  const int64_t now = clock_.monotonic_ns();
  clock_.advance_ns(std::max<int64_t>(0, std::min(deadline_ns, target_ns_) - now));
  if (deadline_ns > target_ns_ && is_quiet()) {
    mode_ = Mode::kRest;
    changed_.notify_all();
  }
}

Status TestBed::run_step(std::function<void()> task) {
  probe_.begin_step();
  backends_.forget();
  log_.clear();
  {
    std::lock_guard lock(mutex_);
    mode_ = Mode::kStep;
    is_task_done_ = false;
    idle_rounds_ = 0;
  }
  server_->reactors().reactor(0).spawn([this, task = std::move(task)] {
    task();
    std::lock_guard lock(mutex_);
    is_task_done_ = true;
    changed_.notify_all();
  });
  const int64_t limit = base::system_clock().monotonic_ns() + kStepLimitNs;
  std::unique_lock lock(mutex_);
  while (!is_task_done_ || !is_quiet()) {
    changed_.wait_for(lock, std::chrono::milliseconds(1));
    if (base::system_clock().monotonic_ns() >= limit) {
      return base::make_error(errors::kStepTooLong, {kStepLimitNs / 1'000'000'000});
    }
  }
  mode_ = Mode::kRest;
  return {};
}

Status TestBed::advance(int64_t nanoseconds) {
  probe_.begin_step();
  backends_.forget();
  log_.clear();
  if (script_.is_clock_real) return base::make_error(errors::kClockIsReal);
  return run_clock(nanoseconds);
}

Status TestBed::run_clock(int64_t nanoseconds) {
  std::unique_lock lock(mutex_);
  target_ns_ = clock_.monotonic_ns() + nanoseconds;
  mode_ = Mode::kAdvance;
  lock.unlock();
  server_->reactors().reactor(0).poke();
  lock.lock();
  const int64_t limit = base::system_clock().monotonic_ns() + kStepLimitNs;
  while (mode_ == Mode::kAdvance) {
    changed_.wait_for(lock, std::chrono::milliseconds(1));
    if (base::system_clock().monotonic_ns() >= limit) {
      return base::make_error(errors::kStepTooLong, {kStepLimitNs / 1'000'000'000});
    }
  }
  return {};
}

// ---------------------------------------------------------------- steps

Result<StepOutcome> TestBed::request(const FlowAction& action) {
  const HttpText text = parse_http_text(action.section->body);
  struct Exchange {
    std::string body;
    http::ClientRequest request;
    StepOutcome outcome;
    Status status;
  };
  // Shared with the fiber: it outlives a step that takes too long.
  auto exchange = std::make_shared<Exchange>();
  exchange->body = MS_TRY(expand_body(text.body, folder_));
  exchange->request.method = action.word;
  exchange->request.url = MS_TRY(
      http::parse_url("http://127.0.0.1:" + std::to_string(server_->http_port()) + action.target));
  for (const auto& [name, value] : text.headers) exchange->request.headers.add(name, value);
  if (!exchange->request.headers.has("Host")) exchange->request.headers.add("Host", "localhost");
  exchange->request.body = exchange->body;
  exchange->request.must_keep_alive = false;
  MS_TRY(run_step([exchange] {
    http::ClientPool pool(*net::Reactor::current(), {.is_always_network = true});
    Result<http::ClientResponse> response = pool.send(exchange->request);
    if (!response.ok()) {
      exchange->status = std::move(response).take_status();
      return;
    }
    StepOutcome& out = exchange->outcome;
    out.has_reply = true;
    out.status = response.value().status;
    out.body = response.value().body;
    const http::Headers& headers = response.value().headers;
    for (size_t i = 0; i < headers.size(); ++i) {
      out.headers.emplace_back(headers.name(i), headers.value(i));
    }
  }));
  MS_TRY(std::move(exchange->status));
  exchange->outcome.error = probe_.unhandled_error();
  return std::move(exchange->outcome);
}

Result<StepOutcome> TestBed::inject(const FlowAction& action, const NodePoint& point) {
  struct Injection {
    Status status;   // of the flow
    Status problem;  // of the message
  };
  auto injection = std::make_shared<Injection>();
  MS_TRY(run_step([this, injection, &action, point] {
    flow::Flow& flow = *point.flow;
    flow::PooledArena arena(flow.names());
    tree::MessageAssembly message = new_message(*arena);
    injection->problem = apply_parts(arena->context(), action.parts, folder_, message);
    if (!injection->problem.ok()) return;
    flow.instances().enter();
    {
      flow::Invocation invocation(flow, *arena);
      if (point.output >= 0) {
        injection->status = invocation.run_branch_from_input(*point.node, point.output, message);
      } else if (point.node->type().is_input) {
        injection->status = invocation.run_from_input(*point.node, message, 0);
      } else {
        injection->status = flow::enter_node(flow, *point.node, point.input, invocation, message);
      }
    }
    flow.instances().leave();
  }));
  MS_TRY(std::move(injection->problem));
  StepOutcome outcome;
  if (!injection->status.ok()) outcome.error = injection->status.error().clone();
  if (!outcome.error) outcome.error = probe_.unhandled_error();
  return outcome;
}

}  // namespace millstream::flowtest
