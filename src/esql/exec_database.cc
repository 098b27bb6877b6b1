// Database statements: INSERT, UPDATE, DELETE, PASSTHRU, COMMIT and ROLLBACK (spec A3).
#include "esql/exec_database.h"

#include "esql/errors_gen.h"
#include "esql/exec_path.h"
#include "esql/rows.h"
#include "esql/shared.h"
#include "text/sql_identifier.h"

namespace millstream::esql {

using value::Kind;
using value::Value;

// ---------------------------------------------------------------- names

Status DatabaseName::eval(Frame& f, const char* what, std::string_view& out) const {
  if (!expr) {
    out = text;
    return {};
  }
  Value v;
  MS_TRY(expr->eval(f, v));
  if (v.kind != Kind::kCharacter || v.text().empty()) {
    return base::make_error(errors::kDatabaseName, {display_text(f.x.ctx, v), what});
  }
  out = v.text();
  return {};
}

namespace {

DatabaseName compile_name(Compiler& c, const ast::PathStep& s) {
  DatabaseName n;
  if (s.name_kind == ast::NameKind::kExpr) n.expr = c.expr(s.name_expr);
  if (s.name_kind == ast::NameKind::kLiteral) n.text = s.name;
  n.is_quoted = s.is_quoted;
  return n;
}

}  // namespace

DatabaseTable compile_table(Compiler& c, const ast::PathExpr& path) {
  DatabaseTable t;
  const size_t count = path.steps.size();
  if (count > 0) t.table = compile_name(c, path.steps[count - 1]);
  if (count > 1) t.schema = compile_name(c, path.steps[count - 2]);
  if (count > 2) t.source = compile_name(c, path.steps[count - 3]);
  return t;
}

DatabaseTable compile_source(Compiler& c, const ast::PathExpr* path) {
  DatabaseTable t;
  if (!path) return t;
  if (!path->steps.empty()) t.source = compile_name(c, path->steps[0]);
  if (path->steps.size() > 1) t.schema = compile_name(c, path->steps[1]);
  return t;
}

// ---------------------------------------------------------------- text and parameters

void SqlText::add_name(const DatabaseName& name) {
  if (name.expr) {
    holes_.push_back({text.size(), name});
  } else {
    text::append_sql_identifier(text, name.text, name.is_quoted);
  }
}

void SqlText::add_table(const DatabaseTable& table) {
  if (table.schema.is_given()) {
    add_name(table.schema);
    text += '.';
  }
  add_name(table.table);
}

Status SqlText::eval_text(Frame& f, std::string_view& out) const {
  out = text;
  if (holes_.empty()) return {};
  std::string whole;
  size_t at = 0;
  for (const Hole& hole : holes_) {
    whole.append(text, at, hole.at - at);
    at = hole.at;
    std::string_view name;
    MS_TRY(hole.name.eval(f, "table or schema", name));
    text::append_sql_identifier(whole, name, hole.name.is_quoted);
  }
  whole.append(text, at);
  out = f.x.arena().copy(whole);
  return {};
}

Status SqlText::eval_parameters(Frame& f, std::span<const Value>& out) const {
  auto* values = static_cast<Value*>(
      f.x.arena().allocate(parameters_.size() * sizeof(Value) + 1, alignof(Value)));
  for (size_t i = 0; i < parameters_.size(); ++i) {
    new (&values[i]) Value();
    if (parameters_[i].use == PushUse::kValue) {
      MS_TRY(parameters_[i].value->eval(f, values[i]));
      values[i].spare = 0;
      continue;
    }
    Tri t = Tri::kUnknown;
    MS_TRY(parameters_[i].value->eval_tri(f, t));
    if (t != Tri::kUnknown) values[i] = Value::make_integer(t == Tri::kTrue ? 1 : 0);
  }
  out = {values, parameters_.size()};
  return {};
}

void set_registers(Frame& f, const DatabaseResult& result) {
  SqlRegisters& r = f.x.sql;
  r.code = result.code;
  r.state = result.state;
  r.native_error = result.native_error;
  r.text = result.text;
}

namespace {

// Where parse errors met on the way to a value belong to this statement.
Status send_request(Frame& f, const DatabaseRequest& request, DatabaseResult& out) {
  MS_TRY(f.x.check_parse());
  Status status;
  {
    SharedPause pause(f.x);
    status = f.x.host.run_database(request, out);
  }
  if (status.ok()) set_registers(f, out);
  return status;
}

}  // namespace

Status run_sql(Frame& f, const SqlText& sql, const DatabaseName& source, bool is_query,
               std::string_view statement, DatabaseResult& out) {
  DatabaseRequest request;
  request.is_query = is_query;
  request.statement = statement;
  MS_TRY(source.eval(f, "data source", request.data_source));
  MS_TRY(sql.eval_text(f, request.sql));
  MS_TRY(sql.eval_parameters(f, request.parameters));
  return send_request(f, request, out);
}

// ---------------------------------------------------------------- rows

RowMaker::RowMaker(Frame& f, const DatabaseRows& rows) : rows_(rows) {
  names_.reserve(rows.columns.size());
  for (std::string_view name : rows.columns) names_.push_back(f.x.tree().names.qname(name));
}

Ref RowMaker::make(Frame& f, tree::Element* holder, size_t row, size_t first, size_t last) const {
  Ref out = make_temporary(f, holder, tree::kName);
  tree::TreeContext& context = f.x.tree();
  const Value* cells = rows_.cells.data() + row * rows_.columns.size();
  for (size_t i = first; i < last; ++i) {
    if (cells[i].is_null()) continue;
    tree::Element* e = tree::make_element(context, names_[i], tree::kNameValue);
    e->scalar = cells[i];
    e->scalar.spare = 0;
    tree::append_child(out.element, e);
  }
  return out;
}

// ---------------------------------------------------------------- INSERT, UPDATE, DELETE

namespace {

class SqlStmtNode : public SimpleStmt {
 public:
  using SimpleStmt::SimpleStmt;
  Status execute(Frame& f) const override {
    DatabaseResult result;
    return run_sql(f, sql_, source_, false, ast->source, result);
  }

 protected:
  // Everything has been found fit for the database by the analysis.
  void write(Compiler& c, const ast::Expr& e, const ast::Variable* row, PushUse use) {
    PushScope scope;
    scope.tables.push_back(row);
    PushWriter writer{
        sql_.text, scope,
        [&](const ast::Expr& local, PushUse how) { sql_.add_parameter(c.expr(&local), how); },
        [&](const ast::Variable&, const ast::PathStep& column) {
          text::append_sql_identifier(sql_.text, column.name, column.is_quoted);
        }};
    write_pushed(writer, e, use);
  }
  void write_where(Compiler& c, const ast::Expr* where, const ast::Variable* row) {
    if (!where) return;
    sql_.text += " WHERE ";
    write(c, *where, row, PushUse::kCondition);
  }
  SqlText sql_;
  DatabaseName source_;
};

class InsertNode : public SqlStmtNode {
 public:
  InsertNode(Compiler& c, const ast::InsertStmt& s) : SqlStmtNode(s) {
    const DatabaseTable table = compile_table(c, *s.table);
    source_ = table.source;
    sql_.text = "INSERT INTO ";
    sql_.add_table(table);
    for (size_t i = 0; i < s.columns.size(); ++i) {
      sql_.text += i ? ", " : " (";
      text::append_sql_identifier(sql_.text, s.columns[i].name, s.columns[i].is_quoted);
    }
    sql_.text += s.columns.empty() ? " VALUES (" : ") VALUES (";
    for (size_t i = 0; i < s.values.size(); ++i) {
      sql_.text += i ? ", ?" : "?";
      sql_.add_parameter(c.expr(s.values[i]), PushUse::kValue);
    }
    sql_.text += ')';
  }
};

class UpdateNode : public SqlStmtNode {
 public:
  UpdateNode(Compiler& c, const ast::UpdateStmt& s) : SqlStmtNode(s) {
    const DatabaseTable table = compile_table(c, *s.table);
    source_ = table.source;
    sql_.text = "UPDATE ";
    sql_.add_table(table);
    for (size_t i = 0; i < s.columns.size(); ++i) {
      sql_.text += i ? ", " : " SET ";
      text::append_sql_identifier(sql_.text, s.columns[i].name, s.columns[i].is_quoted);
      sql_.text += " = ";
      write(c, *s.columns[i].value, s.variable, PushUse::kValue);
    }
    write_where(c, s.where, s.variable);
  }
};

class DeleteFromNode : public SqlStmtNode {
 public:
  DeleteFromNode(Compiler& c, const ast::DeleteFromStmt& s) : SqlStmtNode(s) {
    const DatabaseTable table = compile_table(c, *s.table);
    source_ = table.source;
    sql_.text = "DELETE FROM ";
    sql_.add_table(table);
    write_where(c, s.where, s.variable);
  }
};

// ---------------------------------------------------------------- PASSTHRU

class PassthruNode : public ExprNode {
 public:
  PassthruNode(Compiler& c, const ast::PassthruExpr& e)
      : ast_(e), sql_(c.expr(e.sql)), source_(compile_source(c, e.to).source) {
    for (const ast::Expr* v : e.values) values_.push_back(c.expr(v));
  }
  Shape shape() const override { return Shape::kList; }
  Status eval(Frame& f, Value& out) const override {
    DatabaseResult result;
    MS_TRY(run(f, result));
    out = result.rows.row_count > 0 && !result.rows.columns.empty() ? result.rows.cells[0]
                                                                    : Value::null();
    return {};
  }
  Status for_each(Frame& f, ItemSink& sink) const override {
    DatabaseResult result;
    MS_TRY(run(f, result));
    RowMaker maker(f, result.rows);
    tree::Element* holder = make_holder(f);
    bool stop = false;
    for (size_t i = 0; i < maker.count() && !stop; ++i) {
      MS_TRY(f.x.check_inner_loop());
      MS_TRY(sink.item(f, maker.make(f, holder, i), true, stop));
    }
    return {};
  }
  Status run(Frame& f, DatabaseResult& result) const {
    DatabaseRequest request;
    request.is_passthru = true;
    request.statement = ast_.source;
    MS_TRY(source_.eval(f, "data source", request.data_source));
    Value text;
    MS_TRY(sql_->eval(f, text));
    if (text.kind != Kind::kCharacter || text.text().empty()) {
      return base::make_error(errors::kDatabaseName, {display_text(f.x.ctx, text), "statement"});
    }
    request.sql = text.text();
    Values values;
    for (const ExprNode* e : values_) {
      // A list supplies a value with each of its items.
      if (e->shape() == Shape::kList) {
        MS_TRY(e->for_each(f, values));
        continue;
      }
      Value v;
      MS_TRY(e->eval(f, v));
      values.all.push_back(v);
    }
    request.parameters = values.all;
    return send_request(f, request, result);
  }

 private:
  struct Values : public ItemSink {
    Status item(Frame& f, const Ref& item, bool, bool&) override {
      Value v;
      MS_TRY(field_value(f, item, v));
      v.spare = 0;
      all.push_back(v);
      return {};
    }
    std::vector<Value> all;
  };
  const ast::PassthruExpr& ast_;
  const ExprNode* sql_;
  DatabaseName source_;
  std::vector<const ExprNode*> values_;
};

class PassthruStmtNode : public SimpleStmt {
 public:
  PassthruStmtNode(const ast::Stmt& s, const PassthruNode* call) : SimpleStmt(s), call_(call) {}
  Status execute(Frame& f) const override {
    DatabaseResult result;
    return call_->run(f, result);
  }

 private:
  const PassthruNode* call_;
};

// ---------------------------------------------------------------- COMMIT, ROLLBACK

class TransactionNode : public SimpleStmt {
 public:
  TransactionNode(Compiler& c, const ast::TransactionStmt& s)
      : SimpleStmt(s), is_rollback_(s.is_rollback), source_(compile_source(c, s.database).source) {}
  Status execute(Frame& f) const override {
    std::string_view source;
    MS_TRY(source_.eval(f, "data source", source));
    DatabaseResult result;
    Status status;
    {
      SharedPause pause(f.x);
      status = f.x.host.end_database_work(source, is_rollback_, result);
    }
    if (status.ok()) set_registers(f, result);
    return status;
  }

 private:
  bool is_rollback_;
  DatabaseName source_;
};

}  // namespace

const StmtNode* compile_database_statement(Compiler& c, const ast::Stmt& s) {
  switch (s.kind) {
    case ast::StmtKind::kInsert:
      return c.make<InsertNode>(c, ast::as<ast::InsertStmt>(s));
    case ast::StmtKind::kUpdate:
      return c.make<UpdateNode>(c, ast::as<ast::UpdateStmt>(s));
    case ast::StmtKind::kDeleteFrom:
      return c.make<DeleteFromNode>(c, ast::as<ast::DeleteFromStmt>(s));
    case ast::StmtKind::kPassthru: {
      const auto* call = c.make<PassthruNode>(c, *ast::as<ast::PassthruStmt>(s).call);
      return c.make<PassthruStmtNode>(s, call);
    }
    default:
      return c.make<TransactionNode>(c, ast::as<ast::TransactionStmt>(s));
  }
}

const ExprNode* compile_database_expression(Compiler& c, const ast::Expr& e) {
  return c.make<PassthruNode>(c, ast::as<ast::PassthruExpr>(e));
}

}  // namespace millstream::esql
