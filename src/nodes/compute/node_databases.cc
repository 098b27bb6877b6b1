// The database statements of ESQL in nodes: to the sessions of the message, and back with what
// SQLCODE and the like show.
#include "nodes/compute/node_host.h"
#include "sql/errors_gen.h"

namespace millstream::nodes::compute {

namespace {

bool begins_with_word(std::string_view text, std::string_view word) {
  while (!text.empty() && (text[0] == ' ' || text[0] == '\n' || text[0] == '\r' ||
                           text[0] == '\t' || text[0] == '(')) {
    text.remove_prefix(1);
  }
  if (text.size() <= word.size()) return false;
  for (size_t i = 0; i < word.size(); ++i) {
    if ((text[i] | 0x20) != word[i]) return false;
  }
  const char next = text[word.size()];
  return !((next >= 'a' && next <= 'z') || (next >= 'A' && next <= 'Z') || next == '_');
}

// Statements that are worth preparing; others (DDL, SET, several in one text) go as they are.
bool is_preparable(std::string_view sql) {
  for (std::string_view word :
       {"select", "insert", "update", "delete", "with", "values", "merge"}) {
    if (begins_with_word(sql, word)) return true;
  }
  return false;
}

void copy_rows(const sql::ResultSet& from, esql::DatabaseRows& to) {
  to.columns = from.columns;
  to.cells = from.cells;
  to.row_count = from.row_count;
}

sql::Direction direction_of(esql::DatabaseDirection d) {
  switch (d) {
    case esql::DatabaseDirection::kIn:
      return sql::Direction::kIn;
    case esql::DatabaseDirection::kOut:
      return sql::Direction::kOut;
    case esql::DatabaseDirection::kInOut:
      return sql::Direction::kInOut;
  }
  return sql::Direction::kIn;
}

}  // namespace

void NodeHost::note_use(std::string_view data_source) {
  if (!facts_.database.commits_after_node) return;
  for (const std::string& known : sources_to_commit_) {
    if (known == data_source) return;
  }
  sources_to_commit_.emplace_back(data_source);
}

// An error that the node does not throw is shown by the registers only.
Status NodeHost::finish_statement(Status status, std::string_view data_source,
                                  const sql::Outcome& outcome, esql::DatabaseResult& result) {
  if (status.ok() && outcome.code != 0 && facts_.database.treats_warnings_as_errors) {
    const std::string& own = facts_.database.data_source;
    status = common::warning_error(data_source.empty() ? own : data_source, outcome);
  }
  if (!status.ok()) {
    const base::Error& inner = status.error().innermost();
    if (facts_.database.throws_on_error || inner.kind != base::ExceptionKind::kDatabase) {
      return status;
    }
    base::Arena& arena = invocation_.arena();
    std::string_view state = inner.sql_state;
    if (state.size() == 6) state.remove_prefix(1);
    result = esql::DatabaseResult{};
    result.code = inner.sql_code ? inner.sql_code : -1;
    result.state = state.empty() ? std::string_view("HY000") : arena.copy(state);
    result.native_error = inner.sql_native_error;
    result.text = arena.copy(inner.text);
    return {};
  }
  result.code = outcome.code;
  result.state = outcome.state;
  result.native_error = outcome.native_error;
  result.text = outcome.text;
  return {};
}

Status NodeHost::run_database(const esql::DatabaseRequest& request, esql::DatabaseResult& result) {
  Result<sql::Session*> session =
      common::database_session(invocation_, facts_.database, request.data_source);
  if (!session.ok()) return std::move(session).take_status();
  sql::Statement statement;
  statement.sql = request.sql;
  statement.parameters = request.parameters;
  statement.is_query = request.is_query;
  statement.is_repeatable = !request.is_passthru;
  statement.is_direct =
      request.is_passthru && request.parameters.empty() && !is_preparable(request.sql);
  statement.result_bytes_max = message_bytes_max();
  sql::Outcome outcome;
  common::ObservedStatement observed(invocation_, node_, facts_.database, request.data_source,
                                     request.sql, !request.is_passthru);
  Status status = session.value()->execute(statement, invocation_.arena(), outcome);
  observed.end(status);
  note_use(request.data_source);
  if (status.ok()) copy_rows(outcome.rows, result.rows);
  return finish_statement(std::move(status), request.data_source, outcome, result);
}

Status NodeHost::call_database(esql::DatabaseCall& call, esql::DatabaseResult& result) {
  Result<sql::Session*> session =
      common::database_session(invocation_, facts_.database, call.data_source);
  if (!session.ok()) return std::move(session).take_status();
  std::vector<sql::ProcedureArgument> arguments;
  for (const esql::DatabaseArgument& a : call.arguments) {
    arguments.push_back({direction_of(a.direction), a.kind, a.value});
  }
  sql::ProcedureCall procedure;
  procedure.schema = call.schema;
  procedure.name = call.name;
  procedure.arguments = arguments;
  procedure.has_return = call.has_return;
  procedure.return_kind = call.return_kind;
  procedure.result_sets_max = call.result_sets_max;
  procedure.result_bytes_max = message_bytes_max();
  sql::ProcedureOutcome outcome;
  common::ObservedStatement observed(invocation_, node_, facts_.database, call.data_source,
                                     call.name);
  Status status = session.value()->call(procedure, invocation_.arena(), outcome);
  observed.end(status);
  note_use(call.data_source);
  if (status.ok()) {
    for (size_t i = 0; i < arguments.size(); ++i) call.arguments[i].value = arguments[i].value;
    call.returned = outcome.returned;
    for (const sql::ResultSet& rows : outcome.result_sets) {
      copy_rows(rows, call.result_sets.emplace_back());
    }
  }
  return finish_statement(std::move(status), call.data_source, outcome.outcome, result);
}

Status NodeHost::end_database_work(std::string_view data_source, bool is_rollback,
                                   esql::DatabaseResult& result) {
  sql::Session* session = common::find_database_session(invocation_, facts_.database, data_source);
  Status status;
  if (session && is_rollback) session->rollback();
  if (session && !is_rollback) status = session->commit();
  return finish_statement(std::move(status), data_source, {}, result);
}

Status NodeHost::finish_databases() {
  for (const std::string& source : sources_to_commit_) {
    sql::Session* session = common::find_database_session(invocation_, facts_.database, source);
    if (session) MS_TRY(session->commit());
  }
  sources_to_commit_.clear();
  return {};
}

}  // namespace millstream::nodes::compute
