#include "nodes/common/database.h"

#include <algorithm>

#include "nodes/common/errors_gen.h"
#include "sql/errors_gen.h"

namespace millstream::nodes::common {

namespace {

class DatabaseParticipant final : public flow::Participant {
 public:
  explicit DatabaseParticipant(std::shared_ptr<sql::DataSource> source)
      : name_("data source " + source->settings().name), session(std::move(source)) {}
  std::string_view name() const override { return name_; }
  Status commit() override { return session.commit(); }
  void rollback() override { session.rollback(); }

 private:
  const std::string name_;

 public:
  sql::Session session;
};

}  // namespace

Result<sql::Session*> database_session(flow::Invocation& invocation, const DatabaseChoice& choice,
                                       std::string_view data_source) {
  if (data_source.empty()) data_source = choice.data_source;
  if (!choice.sources || data_source.empty()) return base::make_error(errors::kNoDataSource);
  std::shared_ptr<sql::DataSource> source = choice.sources->find(data_source);
  flow::UnitOfWork& work = invocation.unit_of_work();
  flow::Participant* known = work.find(source.get());
  if (!known) {
    const void* key = source.get();
    known = &work.enlist_owned(key, std::make_unique<DatabaseParticipant>(std::move(source)));
  }
  return &static_cast<DatabaseParticipant*>(known)->session;
}

sql::Session* find_database_session(flow::Invocation& invocation, const DatabaseChoice& choice,
                                    std::string_view data_source) {
  if (data_source.empty()) data_source = choice.data_source;
  if (!choice.sources || data_source.empty()) return nullptr;
  const std::shared_ptr<sql::DataSource> source = choice.sources->find(data_source);
  flow::Participant* known = invocation.unit_of_work().find(source.get());
  return known ? &static_cast<DatabaseParticipant*>(known)->session : nullptr;
}

ObservedStatement::ObservedStatement(flow::Invocation& invocation, const flow::Node& node,
                                     const DatabaseChoice& choice, std::string_view data_source,
                                     std::string_view statement, bool shows_text)
    : observation_(invocation.observation()), node_(node) {
  if (!observation_) return;
  const size_t start = std::min(statement.find_first_not_of(" \t\r\n("), statement.size());
  const std::string_view text = statement.substr(start);
  use_.operation = text.substr(0, text.find_first_of(" \t\r\n(;*"));
  if (shows_text) use_.statement = statement;
  begin(data_source, choice);
}

ObservedStatement::ObservedStatement(flow::Invocation& invocation, const flow::Node& node,
                                     const DatabaseChoice& choice, std::string_view data_source,
                                     std::string_view procedure)
    : observation_(invocation.observation()), node_(node) {
  if (!observation_) return;
  use_.operation = "CALL";
  use_.statement = procedure;
  begin(data_source, choice);
}

void ObservedStatement::begin(std::string_view data_source, const DatabaseChoice& choice) {
  use_.data_source = data_source.empty() ? std::string_view(choice.data_source) : data_source;
  observation_->queries(node_, use_);
}

void ObservedStatement::end(const Status& status) {
  if (observation_) observation_->queried(node_, use_, status);
}

Status warning_error(std::string_view data_source, const sql::Outcome& outcome) {
  const std::string_view text = outcome.text.empty() && outcome.code == 100
                                    ? std::string_view("No row was found.")
                                    : outcome.text;
  Status inner =
      base::make_error(sql::errors::kDatabaseMessage, {outcome.state, outcome.native_error, text});
  inner.error().sql_state = "D" + std::string(outcome.state);
  inner.error().sql_code = outcome.code;
  inner.error().sql_native_error = outcome.native_error;
  return base::wrap_error(
      base::make_error(sql::errors::kDatabaseCall, {outcome.code, data_source, "libodbc.so.2"}),
      std::move(inner));
}

}  // namespace millstream::nodes::common
