#include "esql/exec.h"

#include <algorithm>

#include "esql/compile.h"
#include "esql/errors_gen.h"
#include "esql/exec_control.h"
#include "esql/shared.h"

namespace millstream::esql {

using value::Kind;
using value::Value;

// ---------------------------------------------------------------- scratch memory

void* ScratchStack::allocate(size_t bytes) {
  constexpr size_t kChunkBytes = 64 * 1024;
  bytes = (bytes + 15) & ~size_t{15};
  if (!chunks_.empty() && used_ + bytes <= chunks_[chunk_].size) {
    void* p = chunks_[chunk_].bytes.get() + used_;
    used_ += bytes;
    return p;
  }
  size_t next = chunks_.empty() ? 0 : chunk_ + 1;
  // Later chunks are free: what does not fit goes into the next one that does.
  while (next < chunks_.size() && chunks_[next].size < bytes) ++next;
  if (next == chunks_.size()) {
    size_t size = std::max(bytes, kChunkBytes);
    chunks_.push_back({std::make_unique<char[]>(size), size});
  }
  chunk_ = next;
  used_ = bytes;
  return chunks_[chunk_].bytes.get();
}

// ---------------------------------------------------------------- execution

Execution::~Execution() {
  if (is_shared_pinned) {
    lock_shared();
    shared->unpin();
  }
  end_statement();
}

tree::TreeContext& Execution::context_of(const Ref& ref) {
  return ref.shared ? ref.shared->context() : ctx.tree;
}

void Execution::lock_shared() {
  if (is_shared_locked || !shared) return;
  shared->lock();
  is_shared_locked = true;
}

void Execution::unlock_shared() {
  is_shared_locked = false;
  shared->unlock();
}

void Execution::pin_shared() {
  if (is_shared_pinned || !shared) return;
  lock_shared();
  shared->pin();
  is_shared_pinned = true;
}

SharedPause::SharedPause(Execution& x) : x_(x), was_locked_(x.is_shared_locked) {
  if (!was_locked_) return;
  x_.pin_shared();
  x_.unlock_shared();
}

SharedPause::~SharedPause() {
  if (was_locked_) x_.lock_shared();
}

bool Execution::is_message_root(const tree::Element* e) const {
  return e == roots[static_cast<size_t>(ast::Correlation::kOutputRoot)] ||
         e == roots[static_cast<size_t>(ast::Correlation::kInputRoot)] ||
         e == roots[static_cast<size_t>(ast::Correlation::kRoot)];
}

void Execution::open_frame(Frame& f, uint32_t slots, uint32_t cursors) {
  f.slot_count = slots;
  if (slots) {
    f.slots = static_cast<Slot*>(stack.allocate(slots * sizeof(Slot)));
    for (uint32_t i = 0; i < slots; ++i) new (&f.slots[i]) Slot();
  }
  if (cursors) {
    f.cursors = static_cast<ChildCursor*>(stack.allocate(cursors * sizeof(ChildCursor)));
    for (uint32_t i = 0; i < cursors; ++i) new (&f.cursors[i]) ChildCursor();
  }
}

Status Execution::spend_budget() {
  SharedPause pause(*this);  // the fiber may be suspended
  loop_count = 0;
  const size_t bytes_max = host.message_bytes_max();
  if (arena().used_bytes() > bytes_max) {
    return base::make_error(errors::kMessageTooLarge, {bytes_max});
  }
  return host.check_budget();
}

Status Execution::run_routine(Frame& f) {
  const RoutineCode& code = *f.routine;
  MS_TRY(check_loop());
  const size_t level_bytes = program.is_traced ? kTracedStackBytesPerLevel : kStackBytesPerLevel;
  size_t needed = kStackReserveBytes + level_bytes * code.ast->depth;
  if (host.stack_remaining_bytes() < needed) {
    return base::make_error(errors::kStackExhausted, {code.qualified_name});
  }
  if (code.fast != RoutineCode::Fast::kNone) return run_fast_routine(f, code.fast);
  if (!code.body) return base::make_error(errors::kNoBody, {code.qualified_name});
  Flow flow = code.body->run(f);
  if (flow == Flow::kError) return std::move(error);
  return {};
}

// ---------------------------------------------------------------- statements and errors

Flow SimpleStmt::run(Frame& f) const {
  Status s = execute(f);
  // Writing may have parsed on: an error met there belongs to this statement.
  if (__builtin_expect(f.x.tree().has_parse_error(), 0) && s.ok()) s = f.x.check_parse();
  f.x.end_statement();
  if (__builtin_expect(s.ok(), 1)) return Flow::kNext;
  return f.x.fail(f, *this, std::move(s));
}

namespace {

// One line, so that logs stay readable.
std::string statement_text(std::string_view source) {
  std::string out;
  bool is_space = false;
  for (char ch : source) {
    if (ch == ' ' || ch == '\n' || ch == '\r' || ch == '\t') {
      is_space = !out.empty();
      continue;
    }
    if (is_space) out += ' ';
    is_space = false;
    out += ch;
    if (out.size() >= Execution::kStatementTextMax) {
      // Not in the middle of a UTF-8 sequence.
      while (!out.empty() && (static_cast<unsigned char>(out.back()) & 0xc0) == 0x80)
        out.pop_back();
      if (!out.empty() && static_cast<unsigned char>(out.back()) >= 0xc0) out.pop_back();
      return out + " ...";
    }
  }
  return out + ";";
}

}  // namespace

Flow Execution::fail(Frame& f, const StmtNode& where, Status status) {
  end_statement();
  const ast::SourcePos& pos = where.ast->pos;
  std::string routine = f.routine ? f.routine->qualified_name : std::string();
  Status outer =
      base::make_error(errors::kStatementFailed,
                       {routine, std::to_string(pos.line) + "." + std::to_string(pos.column),
                        statement_text(where.ast->source)});
  base::Error& e = outer.error();
  e.position.file = std::string(program.program->file_path(pos));
  e.position.line = pos.line;
  e.position.column = pos.column;
  e.function = std::move(routine);
  return fail_raw(f, base::wrap_error(std::move(outer), std::move(status)));
}

Flow Execution::fail_raw(Frame& f, Status status) {
  end_statement();
  return run_handlers(f, std::move(status));
}

// Handlers run where the statement failed: innermost scope first, in the order of their
// declaration. While one runs, only the scopes around its own are searched.
Flow Execution::run_handlers(Frame& f, Status status) {
  if (!f.handlers) {
    error = std::move(status);
    return Flow::kError;
  }
  const std::string state = sql_state_of(status.error());
  for (HandlerScope* scope = f.handlers; scope; scope = scope->outer) {
    for (const HandlerNode& h : scope->block->handlers) {
      if (!handler_matches(*h.ast, state, ctx)) continue;
      const base::Error& inner = status.error().innermost();
      sql.state = arena().copy(state);
      sql.code = inner.sql_code ? inner.sql_code : inner.number;
      sql.native_error = inner.sql_native_error ? inner.sql_native_error : inner.number;
      sql.text = arena().copy(inner.text);
      const base::Error* outer_handled = handled;
      HandlerScope* inner_scopes = f.handlers;
      handled = &status.error();
      f.handlers = scope->outer;
      Flow flow = h.action->run(f);
      handled = outer_handled;
      // The scopes inside are still being run unless the handler leaves them.
      f.handlers = inner_scopes;
      if (flow != Flow::kNext) return flow;
      if (!h.ast->is_exit) return Flow::kNext;
      f.exit_scope = scope;
      return Flow::kExitScope;
    }
  }
  error = std::move(status);
  return Flow::kError;
}

namespace {

std::string five_digits(int n) {
  std::string number = std::to_string(n);
  return std::string(number.size() < 5 ? 5 - number.size() : 0, '0') + number;
}

// The class and subclass of the SQL standard where it has one, else the number of the message.
std::string standard_state(const base::Error& e) {
  if (e.code == &errors::kIntegerDivideByZero || e.code == &errors::kFloatDivideByZero) {
    return "22012";
  }
  if (e.code == &errors::kIntegerOverflow || e.code == &errors::kFloatOverflow ||
      e.code == &errors::kCastNumberRange) {
    return "22003";
  }
  if (e.kind == base::ExceptionKind::kCast) return "22018";
  return five_digits(e.number);
}

}  // namespace

std::string sql_state_of(const base::Error& e) {
  const base::Error& inner = e.innermost();
  if (!inner.sql_state.empty()) return inner.sql_state;
  if (inner.kind == base::ExceptionKind::kUser) {
    // A user exception may carry its own state, U and five more, as first insert.
    if (!inner.inserts.empty()) {
      const std::string& first = inner.inserts[0].text;
      bool is_state = first.size() == 6 && first[0] == 'U';
      for (char ch : first) is_state &= (ch >= '0' && ch <= '9') || (ch >= 'A' && ch <= 'Z');
      if (is_state) return first;
    }
    return "U" + five_digits(inner.number);
  }
  if (inner.kind == base::ExceptionKind::kDatabase) return "D" + five_digits(inner.number);
  return "S" + standard_state(inner);
}

// ---------------------------------------------------------------- variables

Status initialise_variable(Frame& f, const VariableCode& code, Slot& slot) {
  const ast::Variable& v = *code.variable;
  Execution& x = f.x;
  slot.is_set = true;
  switch (v.type.kind) {
    case ast::TypeKind::kRow: {
      slot.ref = Ref{};
      slot.ref.element = tree::make_root(x.tree(), v.name);
      slot.value = Value::null();
      if (!code.initial) return {};
      return assign_content(f, slot.ref, *code.initial);
    }
    case ast::TypeKind::kReference: {
      Ref ref;
      slot.value = Value::null();
      if (!code.reference) return {};
      MS_TRY(code.reference->find(f, ref));
      slot.last_move = ref.element != nullptr;
      // A reference to a missing field rests where its path starts.
      if (!ref.element) MS_TRY(code.reference->start(f, ref));
      bind_reference(f, slot, ref);
      return {};
    }
    default: {
      Value value;
      if (code.initial) MS_TRY(code.initial->eval(f, value));
      if (value.is_null() || (value.kind == v.type.scalar.kind && value.kind != Kind::kInterval)) {
        slot.value = value;
        return {};
      }
      return cast_for_assignment(x.ctx, value, v.type.scalar, slot.value);
    }
  }
}

void bind_reference(Frame& f, Slot& slot, const Ref& ref) {
  if (ref.shared) f.x.pin_shared();
  slot.ref = ref;
}

Result<Slot*> Execution::slot_of(Frame& f, const ast::Variable& v) {
  switch (v.storage) {
    case ast::Storage::kLocal:
    case ast::Storage::kParameter:
    case ast::Storage::kRow:
      return &f.slots[v.slot];
    case ast::Storage::kModule:
      return &module_slots[v.slot];
    case ast::Storage::kSchema: {
      Slot* slot = &schema_slots[v.slot];
      if (__builtin_expect(slot->is_set, 1)) return slot;
      return initialised_slot(f, v, slot);
    }
    case ast::Storage::kShared:
      return shared_slot(f, v);
    case ast::Storage::kExternal:
      return external_slot(v);
  }
  return base::make_error(errors::kNotAField, {v.name});
}

// Schema variables and constants get their values when they are first used in an invocation.
Result<Slot*> Execution::initialised_slot(Frame&, const ast::Variable& v, Slot* slot) {
  Status s = compute_initial(program.schema_variables[v.slot], *slot);
  if (!s.ok()) {
    slot->is_set = false;
    return s;
  }
  return slot;
}

Result<Slot*> Execution::external_slot(const ast::Variable& v) {
  Slot* slot = &external_slots[v.slot];
  if (slot->is_set) return slot;
  if (std::optional<std::string_view> text = host.find_user_property(v.name)) {
    Value value = Value::make_character(arena().copy(*text));
    MS_TRY(cast_for_assignment(ctx, value, v.type.scalar, slot->value));
  } else {
    MS_TRY(compute_initial(program.externals[v.slot], *slot));
  }
  slot->is_set = true;
  return slot;
}

Result<Slot*> Execution::shared_slot(Frame&, const ast::Variable& v) {
  if (!shared) return base::make_error(errors::kNoSharedStore, {v.name});
  lock_shared();
  Slot* slot = &shared->slot(v, shared_node);
  if (__builtin_expect(slot->is_set, 1)) return slot;
  const VariableCode& code = program.shared_variables[v.slot];
  if (!code.initial) {
    if (v.type.kind == ast::TypeKind::kRow) shared->make_row(*slot, v.name);
    slot->is_set = true;
    return slot;
  }
  // An initialiser that comes back to its own variable finds it empty.
  if (std::find(initialising.begin(), initialising.end(), &v) != initialising.end()) return slot;
  initialising.push_back(&v);
  Slot computed;
  Status s = compute_initial(code, computed);
  initialising.pop_back();
  lock_shared();
  slot = &shared->slot(v, shared_node);
  // Routines called by the initialiser let go of the lock: another message may have been faster.
  if (!s.ok()) return s;
  if (slot->is_set) return slot;
  if (computed.ref.element) {
    shared->make_row(*slot, v.name);
    MS_TRY(tree::copy_content(shared->context(), slot->ref.element, computed.ref.element,
                              tree::CopyMode::kAcross));
  } else if (v.type.kind == ast::TypeKind::kRow) {
    shared->make_row(*slot, v.name);
  } else {
    shared->set_scalar(*slot, computed.value);
  }
  slot->is_set = true;
  return slot;
}

// In the message's memory.
Status Execution::compute_initial(const VariableCode& code, Slot& out) {
  Frame own(*this, nullptr);
  ScratchStack::Mark mark = stack.mark();
  open_frame(own, 0, code.cursors);
  Status s = initialise_variable(own, code, out);
  stack.release(mark);
  return s;
}

}  // namespace millstream::esql
