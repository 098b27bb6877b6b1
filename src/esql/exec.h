// Executable ESQL: the nodes that the compiler makes of the syntax tree, and what runs them.
// Internal to src/esql; the public interface is executor.h.
//
// Nodes are immutable and shared by all threads; all that changes is in an Execution (one module
// through one message) and its Frames (one routine activation). Expressions return a Status;
// statements return a Flow and leave their error in Execution::error, because the search for a
// handler happens where the statement failed: a CONTINUE handler resumes after that statement.
// Nothing here allocates from the heap in steady state: values live in the message's arena, frames
// on the ScratchStack of the instance.
// Thread: nodes any; Execution that of the message.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "esql/ast.h"
#include "esql/eval_context.h"
#include "esql/host.h"
#include "esql/operators.h"
#include "esql/path.h"
#include "esql/program.h"
#include "tree/assembly.h"

namespace millstream::esql {

class BlockNode;
struct ProgramCode;
struct VariableCode;
class Execution;
class PathNode;
class SharedStore;
struct RoutineCode;

// A position in a tree. `shared` is set when the element lives in the arena of SHARED variables.
struct Ref {
  tree::Element* element = nullptr;
  SharedStore* shared = nullptr;
  bool is_read_only = false;
};

// A variable: `value` of a scalar, `ref` of a ROW (its root) or REFERENCE.
struct Slot {
  value::Value value;
  Ref ref;
  bool is_set = false;  // initialised (module, schema and external variables)
  bool last_move = false;
};

enum class Flow : uint8_t { kNext, kLeave, kIterate, kReturn, kExitScope, kError };

struct HandlerScope {
  const BlockNode* block;
  HandlerScope* outer;
};

struct Frame {
  Frame(Execution& execution, const RoutineCode* code) : x(execution), routine(code) {}
  Execution& x;
  const RoutineCode* routine;  // null: an expression outside any routine
  Slot* slots = nullptr;
  ChildCursor* cursors = nullptr;
  uint32_t slot_count = 0;
  HandlerScope* handlers = nullptr;
  const HandlerScope* exit_scope = nullptr;  // kExitScope
  const ast::Stmt* jump_target = nullptr;    // kLeave, kIterate
  value::Value result;                       // of RETURN
  Ref result_ref;
};

class NodeBase {
 public:
  virtual ~NodeBase() = default;
};

// What an expression is before it is reduced to a scalar.
enum class Shape : uint8_t { kScalar, kField, kRow, kList };

// Takes the elements of a list one by one. `is_temporary`: made for this list only, so that the
// sink may link it into a tree instead of copying it.
class ItemSink {
 public:
  virtual Status item(Frame& f, const Ref& item, bool is_temporary, bool& stop) = 0;

 protected:
  ~ItemSink() = default;
};

class ExprNode : public NodeBase {
 public:
  virtual Status eval(Frame& f, value::Value& out) const = 0;
  virtual Status eval_tri(Frame& f, Tri& out) const;
  virtual Shape shape() const { return Shape::kScalar; }
  // kField, kRow: the element, null when missing. A row is a temporary element.
  virtual Status eval_ref(Frame& f, Ref& out) const;
  // kList
  virtual Status for_each(Frame& f, ItemSink& sink) const;
  // The quick lane (esql/quick.h), where it may be worth trying: a value, or NULL to decline.
  virtual bool is_quick() const { return false; }
  virtual value::Value quick(Frame&) const { return {}; }
  virtual const value::Value* constant() const { return nullptr; }
  virtual const PathNode* path() const { return nullptr; }
  // The frame slot when this is a local scalar variable, else -1.
  virtual int32_t local_slot() const { return -1; }
};

class StmtNode : public NodeBase {
 public:
  explicit StmtNode(const ast::Stmt& s) : ast(&s) {}
  virtual Flow run(Frame& f) const = 0;
  const ast::Stmt* ast;
};

// A statement that does one thing and goes on.
class SimpleStmt : public StmtNode {
 public:
  using StmtNode::StmtNode;
  Flow run(Frame& f) const override;
  virtual Status execute(Frame& f) const = 0;
};

// LIFO memory for frames, in chunks that are kept. Trivial types only.
class ScratchStack {
 public:
  struct Mark {
    size_t chunk;
    size_t used;
  };
  void* allocate(size_t bytes);
  Mark mark() const { return {chunk_, used_}; }
  void release(Mark m) {
    chunk_ = m.chunk;
    used_ = m.used;
  }

 private:
  struct Chunk {
    std::unique_ptr<char[]> bytes;
    size_t size;
  };
  std::vector<Chunk> chunks_;
  size_t chunk_ = 0;
  size_t used_ = 0;
};

using NodePool = std::vector<std::unique_ptr<NodeBase>>;

// What EVAL compiled, kept for the rest of the invocation.
struct EvalUnitCode {
  const void* place = nullptr;  // the EVAL in the syntax tree
  std::string text;
  EvalUnit unit;
  NodePool nodes;
  const ExprNode* expression = nullptr;
  const BlockNode* block = nullptr;
  uint32_t cursors = 0;
};

// State of the special registers SQLCODE, SQLSTATE, SQLERRORTEXT and SQLNATIVEERROR.
struct SqlRegisters {
  int64_t code = 0;
  int64_t native_error = 0;
  std::string_view state = "00000";
  std::string_view text;
};

class Execution {
 public:
  static constexpr uint32_t kLoopsPerBudgetCheck = 512;
  static constexpr uint32_t kLoopsPerSharedPause = 64 * 1024;
  static constexpr size_t kStackReserveBytes = 48 * 1024;
  static constexpr size_t kEvalReserveBytes = 128 * 1024;  // to compile and run the text of an EVAL
  // What one level of nested statements and expressions takes at most (ast::Routine::depth).
  static constexpr size_t kStackBytesPerLevel = 300;
  static constexpr size_t kTracedStackBytesPerLevel = 600;
  static constexpr size_t kStatementTextMax = 400;  // of a statement quoted in an error
  static constexpr size_t kOperandTextMax = 1000;   // of a value quoted in an error

  Execution(const ProgramCode& p, tree::TreeContext& tree, Host& h, const value::TimeZone& zone,
            int64_t now, ScratchStack& s)
      : ctx{tree, zone, now, &h}, host(h), program(p), stack(s) {}
  ~Execution();
  Execution(const Execution&) = delete;
  Execution& operator=(const Execution&) = delete;

  EvalContext ctx;
  Host& host;
  const ProgramCode& program;
  ScratchStack& stack;
  const ast::Module* module = nullptr;
  tree::Element* roots[16] = {};  // by ast::Correlation; InputBody and the like are derived
  Slot* module_slots = nullptr;
  Slot* schema_slots = nullptr;
  Slot* external_slots = nullptr;
  SharedStore* shared = nullptr;
  uint32_t shared_node = 0;
  std::vector<const ast::Variable*> initialising;  // SHARED ones whose initialiser runs
  Status error;                                    // of the statement that returned kError
  const base::Error* handled = nullptr;            // innermost exception being handled
  SqlRegisters sql;
  const tree::Domain* temporary_domain = nullptr;  // what rows of lists are made for
  uint32_t loop_count = 0;
  bool may_have_deleted = false;  // references need the check for deleted parts
  bool is_shared_locked = false;
  bool is_shared_pinned = false;
  std::vector<std::pair<std::string_view, std::string_view>> atomics;  // held (schema, label)
  static constexpr size_t kEvalsMax = 256;  // compiled texts kept by one invocation
  std::vector<std::unique_ptr<EvalUnitCode>> evals;
  uint32_t eval_depth = 0;

  tree::TreeContext& tree() { return ctx.tree; }
  base::Arena& arena() { return ctx.tree.arena; }
  tree::TreeContext& context_of(const Ref& ref);

  // Navigation that is done leaves parse errors in the context.
  Status check_parse() {
    if (__builtin_expect(ctx.tree.has_parse_error(), 0)) return ctx.tree.take_parse_error();
    return {};
  }
  // A loop's back-edge or a call.
  Status check_loop() {
    if (__builtin_expect(++loop_count < kLoopsPerBudgetCheck, 1)) return {};
    return spend_budget();
  }
  // The same from within a statement. SHARED variables stay locked for many rounds, so that all but
  // very long statements are atomic.
  Status check_inner_loop() {
    if (!is_shared_locked) return check_loop();
    if (__builtin_expect(++loop_count < kLoopsPerSharedPause, 1)) return {};
    return spend_budget();
  }
  // Lets others run; an error when the message was cancelled or uses too much memory.
  Status spend_budget();
  // After each statement: SHARED variables are locked for one statement at a time.
  void end_statement() {
    if (__builtin_expect(is_shared_locked, 0)) unlock_shared();
  }
  void lock_shared();
  void unlock_shared();
  void pin_shared();  // references into SHARED trees are kept beyond the statement
  bool is_message_root(const tree::Element* e) const;

  Flow fail(Frame& f, const StmtNode& where, Status status);
  Flow fail_raw(Frame& f, Status status);  // without the wrapper that names the statement

  // Runs a routine whose parameters are already in `f.slots`.
  Status run_routine(Frame& f);
  void open_frame(Frame& f, uint32_t slots, uint32_t cursors);

  // Variables.
  Result<Slot*> slot_of(Frame& f, const ast::Variable& v);
  Result<Slot*> initialised_slot(Frame& f, const ast::Variable& v, Slot* slot);

 private:
  Result<Slot*> external_slot(const ast::Variable& v);
  Result<Slot*> shared_slot(Frame& f, const ast::Variable& v);
  Status compute_initial(const VariableCode& code, Slot& out);
  Flow run_handlers(Frame& f, Status status);
};

// Lets others at the SHARED variables while a routine is called from within a statement.
class SharedPause {
 public:
  explicit SharedPause(Execution& x);
  ~SharedPause();
  SharedPause(const SharedPause&) = delete;
  SharedPause& operator=(const SharedPause&) = delete;

 private:
  Execution& x_;
  bool was_locked_;
};

// Initial value of a variable: what DECLARE does.
struct VariableCode {
  const ast::Variable* variable = nullptr;
  const ExprNode* initial = nullptr;
  const PathNode* reference = nullptr;  // REFERENCE TO
  uint32_t cursors = 0;                 // when it is run outside a routine
};
Status initialise_variable(Frame& f, const VariableCode& code, Slot& slot);

struct RoutineCode {
  // Known routines of the Toolkit's template that have one native form.
  enum class Fast : uint8_t { kNone, kCopyMessageHeaders, kCopyEntireMessage };
  const ast::Routine* ast = nullptr;
  const StmtNode* body = nullptr;
  uint32_t cursors = 0;
  Fast fast = Fast::kNone;
  std::string qualified_name;  // "schema.Module.Routine"
};

// Assignment helpers shared by SET, CREATE, SELECT and CALL.
Status assign_value(Frame& f, const Ref& target, const value::Value& v);
Status copy_field(Frame& f, const Ref& target, const Ref& source);
// Gives `target` the content of `value` (any shape); used for variables of type ROW and new fields.
Status assign_content(Frame& f, const Ref& target, const ExprNode& value);
// Assigns to what `target` names: a variable or a field.
Status assign_path_value(Frame& f, const PathNode& target, const value::Value& v);
void bind_reference(Frame& f, Slot& slot, const Ref& ref);
// Links a temporary element below `target` or copies it there.
Status adopt_child(Frame& f, const Ref& parent, const base::QName* name, const Ref& item,
                   bool is_temporary);

std::string sql_state_of(const base::Error& e);
// 2439 around an operator's failure.
Status expression_error(Frame& f, const ast::Expr& e, Status cause,
                        std::initializer_list<value::Value> operands);

}  // namespace millstream::esql
