#include "flowtest/flowtest.h"

#include <atomic>
#include <condition_variable>
#include <thread>

#include "base/clock.h"
#include "flowtest/errors_gen.h"
#include "flowtest/flow_check.h"
#include "flowtest/test_bed.h"
#include "flowtest/test_log.h"
#include "io/file.h"

namespace millstream::flowtest {
namespace {

struct FlowTask {
  TestFile* file;
  const TestCase* test;
  TestOutcome outcome;
  std::vector<Rewrite> rewrites;
  bool is_done = false;
};

using ActionKind = FlowAction::Kind;

bool is_check(ActionKind kind) { return kind >= ActionKind::kExpectReply; }
bool is_step(ActionKind kind) {
  return kind == ActionKind::kRequest || kind == ActionKind::kInject ||
         kind == ActionKind::kAdvance;
}

// One case from its text to its outcome.
class CaseRunner {
 public:
  CaseRunner(FlowTask& task, const FlowTestOptions& options) : task_(task), options_(options) {}

  void run() {
    Status status = run_case();
    if (status.ok()) return;
    const base::Error& e = status.error();
    const size_t line = e.position.line ? e.position.line : line_ ? line_ : task_.test->line;
    task_.outcome.failures.push_back({line, e.describe()});
  }

 private:
  Status run_case() {
    const FlowScript script = MS_TRY(read_script(*task_.file, *task_.test));
    TestBed bed(script, task_.file->path);
    MS_TRY(bed.start(!script.expects_load, options_.coverage));
    FlowChecker checker(bed, task_.outcome.failures, task_.rewrites);
    for (const FlowAction& action : script.actions) MS_TRY(prepare(bed, action));
    StepOutcome outcome;
    for (const FlowAction& action : script.actions) {
      line_ = action.line();
      if (is_check(action.kind)) {
        checker.check(action, outcome);
      } else if (is_step(action.kind)) {
        if (!bed.server()) return base::make_error(errors::kNotLoaded, {diagnostics_of(bed)});
        MS_TRY(check_unexpected(outcome));
        outcome = MS_TRY(run_step(bed, action));
        step_ = &action;
        is_exception_checked_ = false;
      } else {
        MS_TRY(apply_mock(bed, action));
      }
      is_exception_checked_ |= action.kind == ActionKind::kException;
    }
    line_ = step_ ? step_->line() : 0;
    Status status = check_unexpected(outcome);
    if (task_.outcome.has_failed() || !status.ok()) task_.outcome.log = bed.log_text();
    bed.finish_coverage();
    return status;
  }

  static std::string diagnostics_of(const TestBed& bed) {
    std::string all;
    for (const base::Diagnostic& d : bed.diagnostics().all()) all += "\n  " + d.format();
    return all;
  }

  // Messages are kept only where somebody will look at them.
  Status prepare(TestBed& bed, const FlowAction& action) {
    if (action.kind != ActionKind::kExpectTree && action.kind != ActionKind::kExpectPaths)
      return {};
    if (!bed.server()) return {};
    line_ = action.line();
    bed.probe().keep_messages_of(MS_TRY(bed.probe().find(action.target, bed.script().flow)));
    return {};
  }

  Status apply_mock(TestBed& bed, const FlowAction& action) {
    if (!bed.server()) return {};
    if (action.kind == ActionKind::kBackend) return bed.backends().add(action);
    bed.probe().add_mock(MS_TRY(bed.probe().find(action.target, bed.script().flow)), action);
    return {};
  }

  Result<StepOutcome> run_step(TestBed& bed, const FlowAction& action) {
    if (action.kind == ActionKind::kRequest) return bed.request(action);
    if (action.kind == ActionKind::kAdvance) {
      MS_TRY(bed.advance(action.amount));
      return StepOutcome();
    }
    std::string_view target = action.target;
    constexpr std::string_view kAlone = " alone";
    const bool is_alone = target.ends_with(kAlone);
    if (is_alone) target.remove_suffix(kAlone.size());
    const NodePoint point = MS_TRY(bed.probe().find(target, bed.script().flow));
    bed.probe().run_alone(is_alone ? point.node : nullptr);
    Result<StepOutcome> outcome = bed.inject(action, point);
    bed.probe().run_alone(nullptr);
    return outcome;
  }

  // An exception that nobody asked about after an injection is a failure; after a request the reply
  // tells.
  Status check_unexpected(const StepOutcome& outcome) {
    if (!step_ || step_->kind != ActionKind::kInject || is_exception_checked_ || !outcome.error) {
      return {};
    }
    task_.outcome.failures.push_back(
        {step_->line(), "an exception came back\n  + " + outcome.error->describe()});
    return {};
  }

  FlowTask& task_;
  const FlowTestOptions& options_;
  const FlowAction* step_ = nullptr;
  bool is_exception_checked_ = false;
  size_t line_ = 0;
};

void run_task(FlowTask& task, const FlowTestOptions& options) {
  const int64_t start = base::system_clock().monotonic_ns();
  task.outcome.file = task.file->path;
  task.outcome.name = task.test->name;
  task.outcome.line = task.test->line;
  CaseRunner(task, options).run();
  task.outcome.seconds =
      static_cast<double>(base::system_clock().monotonic_ns() - start) / 1'000'000'000;
}

// Puts what was found into the file; a case that only needed that has passed.
bool apply_rewrites(FlowTask& task) {
  if (task.rewrites.empty()) return false;
  for (const Rewrite& r : task.rewrites) {
    if (!r.heading.empty()) task.file->replace_line(r.section->first_line - 1, r.heading);
    if (r.has_body) task.file->replace_body(*r.section, r.body);
  }
  std::erase_if(task.outcome.failures, [](const TestFailure& f) { return f.can_be_rewritten; });
  return true;
}

Result<std::vector<std::unique_ptr<TestFile>>> read_files(const std::vector<std::string>& paths) {
  std::vector<std::unique_ptr<TestFile>> files;
  for (const std::string& path : paths) {
    Result<std::string> text = io::read_file(path);
    if (!text.ok()) return base::make_error(errors::kTestIo, {path});
    files.push_back(std::make_unique<TestFile>(
        MS_TRY(TestFile::parse(path, text.value(), flowtest_grammar()))));
  }
  return files;
}

}  // namespace

Result<FlowTestSummary> run_flowtests(const std::vector<std::string>& paths,
                                      const FlowTestOptions& options,
                                      const std::function<void(const TestOutcome&)>& on_outcome) {
  FlowTestSummary summary;
  std::vector<std::unique_ptr<TestFile>> files = MS_TRY(read_files(paths));
  std::vector<std::unique_ptr<FlowTask>> tasks;
  for (const auto& file : files) {
    for (const TestCase& test : file->cases) {
      const std::string title = file->path + ": " + test.name;
      if (!options.filter.empty() && title.find(options.filter) == std::string::npos) continue;
      tasks.push_back(std::make_unique<FlowTask>(FlowTask{file.get(), &test, {}, {}, false}));
    }
  }
  TestLog::install();
  std::mutex mutex;
  std::condition_variable changed;
  std::atomic<size_t> next{0};
  auto work = [&] {
    for (size_t i; (i = next.fetch_add(1)) < tasks.size();) {
      run_task(*tasks[i], options);
      std::lock_guard lock(mutex);
      tasks[i]->is_done = true;
      changed.notify_all();
    }
  };
  std::vector<std::thread> workers;
  const size_t jobs = std::min(static_cast<size_t>(std::max(1, options.jobs)), tasks.size());
  for (size_t i = 0; i < jobs; ++i) workers.emplace_back(work);
  for (const auto& task : tasks) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [&] { return task->is_done; });
    lock.unlock();
    if (options.rebaseline && apply_rewrites(*task)) ++summary.rewritten;
    on_outcome(task->outcome);
    summary.outcomes.push_back(task->outcome);
  }
  for (std::thread& worker : workers) worker.join();
  if (!options.rebaseline || summary.rewritten == 0) return summary;
  for (const auto& file : files) {
    const bool has_changed = std::any_of(tasks.begin(), tasks.end(), [&](const auto& t) {
      return t->file == file.get() && !t->rewrites.empty();
    });
    if (has_changed && !io::write_file(file->path, file->text()).ok()) {
      return base::make_error(errors::kTestIo, {file->path});
    }
  }
  return summary;
}

}  // namespace millstream::flowtest
