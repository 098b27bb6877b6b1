// Runs the ESQL of one test case once and keeps what came out. Internal to the runner.
// Thread: one.
#pragma once
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "esql/executor.h"
#include "esql/shared.h"
#include "flowtest/esqltest.h"
#include "flowtest/esqltest_file.h"
#include "tree/assembly.h"
#include "value/time_zone.h"

namespace millstream::flowtest {

// What the case's program reaches beyond trees and values.
class TestHost : public esql::Host {
 public:
  explicit TestHost(tree::TreeContext& context) : context_(context) {}
  Status propagate(const esql::PropagateRequest& request) override;
  const tree::Domain* find_domain(std::string_view name) override;
  Status sleep(int64_t milliseconds) override;
  Status lock_atomic(std::string_view schema, std::string_view label) override;
  void unlock_atomic(std::string_view schema, std::string_view label) override;
  Status check_budget() override;
  void log(const esql::LogRequest& request) override;
  bool find_broker_property(std::string_view name, value::Value& out) override;
  std::optional<std::string_view> find_user_property(std::string_view name) override;

  tree::MessageAssembly output;
  std::vector<std::string> propagated;
  std::vector<std::string> logged;
  std::vector<std::pair<std::string, std::string>> properties;
  int64_t budget = 1'000'000;  // checks until a loop counts as endless

 private:
  tree::TreeContext& context_;
};

// Compiles and runs; the trees live as long as this.
class CaseRun {
 public:
  CaseRun(const TestCase& test, const EsqlTestOptions& options);
  // `source`: statements or modules.
  Status prepare(std::string_view source);
  // Of the program, as one line each; errors make run() impossible.
  std::string diagnostics() const { return diagnostics_; }
  bool has_load_errors() const { return has_load_errors_; }
  // The error of Main, if any.
  Status run();

  // After run().
  esql::Tri result() const { return result_; }
  const TestHost& host() const { return *host_; }
  esql::EvalContext eval_context();
  tree::MessageAssembly output() const { return output_; }
  tree::Element* environment() const { return output_.environment; }
  Result<std::string> output_body();

 private:
  Status build_input();

  const TestCase& test_;
  const EsqlTestOptions& options_;
  std::shared_ptr<base::NameTable> names_;
  std::shared_ptr<const esql::CompiledProgram> code_;
  const esql::ast::Module* module_ = nullptr;
  std::unique_ptr<tree::MessageArena> arena_;
  std::unique_ptr<TestHost> host_;
  std::shared_ptr<esql::SharedStore> shared_;
  value::TimeZone zone_;
  tree::MessageAssembly input_, output_;
  esql::Tri result_ = esql::Tri::kUnknown;
  std::string diagnostics_;
  bool has_load_errors_ = false;
};

// The bytes of a body as tests show them; BLOB in hexadecimal digits.
Result<std::string> body_text(tree::TreeContext& context, tree::Element* root);

}  // namespace millstream::flowtest
