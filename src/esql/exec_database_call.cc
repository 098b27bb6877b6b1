// CALL of a procedure with LANGUAGE DATABASE (spec A2, A3).
#include "esql/errors_gen.h"
#include "esql/exec_database.h"
#include "esql/exec_path.h"
#include "esql/rows.h"
#include "esql/shared.h"

namespace millstream::esql {

using value::Kind;
using value::Value;

namespace {

DatabaseDirection direction_of(ast::Direction d) {
  switch (d) {
    case ast::Direction::kIn:
      return DatabaseDirection::kIn;
    case ast::Direction::kOut:
      return DatabaseDirection::kOut;
    case ast::Direction::kInOut:
      return DatabaseDirection::kInOut;
  }
  return DatabaseDirection::kIn;
}

// As SET target[] = rows.
Status assign_rows(Frame& f, const PathNode& target, const DatabaseRows& rows) {
  if (target.steps.empty()) return base::make_error(errors::kListToField, {});
  Ref parent;
  MS_TRY(target.create_parent(f, parent));
  if (!parent.element) return {};
  const StepNode& last = target.steps.back();
  tree::TreeContext& tree = f.x.context_of(parent);
  StepMatch m;
  if (!MS_TRY(last.match(f, tree, m))) return base::make_error(errors::kNameNull, {});
  for (tree::Element* e = first_match(m, parent.element); e;) {
    tree::Element* next = next_match(m, e);
    tree::detach(e);
    f.x.may_have_deleted = true;
    e = next;
  }
  const base::QName* name = MS_TRY(name_for_create(tree, last, m));
  RowMaker maker(f, rows);
  tree::Element* holder = make_holder(f);
  for (size_t i = 0; i < maker.count(); ++i) {
    MS_TRY(adopt_child(f, parent, name, maker.make(f, holder, i), true));
    if (m.has_type) tree::set_type(parent.element->last, m.type);
  }
  return {};
}

class DatabaseCallNode : public ExprNode {
 public:
  DatabaseCallNode(Compiler& c, const ast::CallExpr& e)
      : ast_(e),
        routine_(*e.routine),
        place_(compile_source(c, e.in_reference)),
        schema_(c.expr(e.external_schema)) {
    for (const ast::Expr* a : e.args) {
      args_.push_back(c.expr(a));
      paths_.push_back(a->kind == ast::ExprKind::kPath ? c.path(ast::as<ast::PathExpr>(a))
                                                       : nullptr);
    }
  }

  Status eval(Frame& f, Value& out) const override {
    DatabaseCall call;
    MS_TRY(fill(f, call));
    std::vector<DatabaseArgument> arguments;
    MS_TRY(fill_arguments(f, arguments));
    call.arguments = arguments;
    DatabaseResult result;
    MS_TRY(f.x.check_parse());
    {
      SharedPause pause(f.x);
      MS_TRY(f.x.host.call_database(call, result));
    }
    set_registers(f, result);
    out = Value::null();
    if (result.code < 0) return {};  // the node does not throw: nothing has come back
    if (call.has_return && !call.returned.is_null()) {
      MS_TRY(cast_for_assignment(f.x.ctx, call.returned, routine_.returns.scalar, out));
    }
    return take_back(f, call);
  }

 private:
  Status fill(Frame& f, DatabaseCall& call) const {
    call.statement = ast_.source;
    MS_TRY(place_.source.eval(f, "data source", call.data_source));
    std::string_view name = routine_.external_name;
    if (name.empty()) name = routine_.name;
    const size_t dot = name.rfind('.');
    if (dot != std::string_view::npos) {
      call.schema = name.substr(0, dot);
      name = name.substr(dot + 1);
      if (call.schema == "%" || call.schema == "*") call.schema = {};  // any
    }
    call.name = name;
    if (place_.schema.is_given()) MS_TRY(place_.schema.eval(f, "schema", call.schema));
    if (schema_) {
      Value v;
      MS_TRY(schema_->eval(f, v));
      if (v.kind != Kind::kCharacter || v.text().empty()) {
        return base::make_error(errors::kDatabaseName, {display_text(f.x.ctx, v), "schema"});
      }
      call.schema = v.text();
    }
    call.has_return = routine_.has_return_type;
    if (call.has_return) call.return_kind = routine_.returns.scalar.kind;
    const size_t given = args_.size() - std::min(args_.size(), routine_.parameters.size());
    call.result_sets_max = given;
    if (given > static_cast<size_t>(routine_.result_sets)) {
      return base::make_error(errors::kDatabaseResultSets, {routine_.name, given});
    }
    return {};
  }
  Status fill_arguments(Frame& f, std::vector<DatabaseArgument>& out) const {
    for (size_t i = 0; i < std::min(args_.size(), routine_.parameters.size()); ++i) {
      const ast::Variable& p = *routine_.parameters[i];
      DatabaseArgument a;
      a.direction = direction_of(p.direction);
      a.kind = p.type.scalar.kind;
      if (p.direction != ast::Direction::kOut) {
        Value v;
        MS_TRY(args_[i]->eval(f, v));
        v.spare = 0;
        a.value = v;
        if (!v.is_null() && v.kind != a.kind) {
          MS_TRY(cast_for_assignment(f.x.ctx, v, p.type.scalar, a.value));
        }
      }
      out.push_back(a);
    }
    return {};
  }
  // OUT and INOUT values as declared, and the rows of result sets.
  Status take_back(Frame& f, const DatabaseCall& call) const {
    for (size_t i = 0; i < call.arguments.size(); ++i) {
      const ast::Variable& p = *routine_.parameters[i];
      if (p.direction == ast::Direction::kIn || !paths_[i]) continue;
      Value v = call.arguments[i].value;
      if (!v.is_null() && v.kind != p.type.scalar.kind) {
        MS_TRY(cast_for_assignment(f.x.ctx, call.arguments[i].value, p.type.scalar, v));
      }
      MS_TRY(assign_path_value(f, *paths_[i], v));
    }
    const DatabaseRows none;
    for (size_t i = routine_.parameters.size(); i < args_.size(); ++i) {
      const size_t set = i - routine_.parameters.size();
      if (!paths_[i] || !paths_[i]->is_list) {
        return base::make_error(errors::kDatabaseResultSets,
                                {routine_.name, static_cast<int64_t>(args_.size())});
      }
      const bool is_there = set < call.result_sets.size();
      MS_TRY(assign_rows(f, *paths_[i], is_there ? call.result_sets[set] : none));
    }
    return {};
  }
  const ast::CallExpr& ast_;
  const ast::Routine& routine_;
  DatabaseTable place_;
  const ExprNode* schema_;
  std::vector<const ExprNode*> args_;
  std::vector<const PathNode*> paths_;
};

}  // namespace

const ExprNode* compile_database_call(Compiler& c, const ast::CallExpr& e) {
  return c.make<DatabaseCallNode>(c, e);
}

}  // namespace millstream::esql
