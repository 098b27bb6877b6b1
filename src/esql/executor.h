// Running ESQL: the public face of the executor.
//
//   auto code = CompiledProgram::compile(program, TimeZone::local());       // once a deployment
//   ModuleInstance instance(code, *code->find_module("a.b", "Flow_Compute")); // one a node and
//   thread auto shared = code->make_shared_store(names);                            // one a flow
//   Tri result = MS_TRY(instance.run(invocation));                           // a message
//
// A CompiledProgram is immutable and shared by every instance of the deployment. An instance keeps
// only scratch memory between messages. The error of a failed run is the chain of spec B4 from the
// statement (2488) inwards; the node adds its own 2230.
// Thread: CompiledProgram any; ModuleInstance one at a time; the names table must be frozen.
#pragma once
#include <memory>
#include <string_view>

#include "base/names.h"
#include "base/result.h"
#include "esql/host.h"
#include "esql/operators.h"
#include "esql/program.h"
#include "tree/assembly.h"

namespace millstream::esql {

struct ModuleCode;
struct ProgramCode;
class ScratchStack;
class SharedStore;

// One message through one node.
struct Invocation {
  tree::TreeContext& tree;
  Host& host;
  const value::TimeZone& local_zone;
  int64_t now_gmt_micros = 0;
  tree::MessageAssembly input;
  tree::MessageAssembly output;   // Compute: root, local_environment, exception_list, all empty
  SharedStore* shared = nullptr;  // null only when the program declares no SHARED variable
  uint32_t shared_node = 0;       // SharedStore::add_node
};

class CompiledProgram {
 public:
  ~CompiledProgram();
  // `program` must be linked without errors.
  // `is_traced`: it tells the host's tracer what it does, which costs much. Variables and their
  // slots are those of the same program compiled otherwise, so that both may run side by side.
  static std::shared_ptr<const CompiledProgram> compile(std::shared_ptr<const Program> program,
                                                        const value::TimeZone& local_zone,
                                                        bool is_traced = false);
  // Null when there is none.
  const ModuleCode* find_module(std::string_view schema, std::string_view name,
                                uint32_t unit = 0) const;
  const ModuleCode* find_module(const ast::Module* module) const;
  bool has_shared_variables() const;
  std::shared_ptr<SharedStore> make_shared_store(
      std::shared_ptr<const base::NameTable> names) const;
  const ProgramCode& code() const { return *code_; }

 private:
  CompiledProgram() = default;
  std::unique_ptr<ProgramCode> code_;
};

class ModuleInstance {
 public:
  ModuleInstance(std::shared_ptr<const CompiledProgram> program, const ModuleCode& module);
  ~ModuleInstance();
  // Main. kUnknown: it returned NULL.
  Result<Tri> run(const Invocation& invocation);
  // A procedure of a DATABASEEVENT module, or of the schema, that takes no parameters.
  Status call(const Invocation& invocation, std::string_view routine);

 private:
  std::shared_ptr<const CompiledProgram> program_;  // shared by the instances of the deployment
  const ModuleCode& module_;
  std::unique_ptr<ScratchStack> stack_;
};

// A single expression outside any module, as in the ${...} of a Trace pattern. It sees Root, Body,
// Properties, LocalEnvironment, ExceptionList and Environment.
class CompiledExpression {
 public:
  ~CompiledExpression();
  // `names` must not be frozen yet. Errors have line and column within `text`.
  static Result<std::shared_ptr<const CompiledExpression>> compile(
      std::string_view text, const LinkOptions& options, const value::TimeZone& local_zone);
  // A scalar goes to `out`. For a field reference `element` is the field, null when it is missing;
  // `out` is its value then.
  Status evaluate(const Invocation& invocation, value::Value& out, tree::Element*& element) const;

 private:
  CompiledExpression() = default;
  std::shared_ptr<const CompiledProgram> program_;
  const class ExprNode* expression_ = nullptr;
  uint32_t slots_ = 0;
  uint32_t cursors_ = 0;
};

}  // namespace millstream::esql
