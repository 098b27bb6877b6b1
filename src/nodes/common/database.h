// Databases as nodes use them: one session a data source and message, part of the message's unit of
// work.
//
// Everything a message does in one data source goes over one connection and commits or rolls back
// with the flow, unless the node or an ESQL COMMIT ends it earlier; then all of it so far ends,
// whichever node did it, as in the product. Thread: that of the message.
#pragma once
#include <string>
#include <string_view>

#include "flow/invocation.h"
#include "flow/observer.h"
#include "sql/data_source.h"

namespace millstream::nodes::common {

// What the properties of a node say about databases.
struct DatabaseChoice {
  sql::DataSources* sources = nullptr;  // null: the process has none
  std::string data_source;              // for statements that name none
  bool throws_on_error = true;
  bool treats_warnings_as_errors = false;
  bool commits_after_node = false;  // transaction = commit
  bool connects_at_start = false;
};

// Joins the unit of work with the first use. An error when there is no data source.
Result<sql::Session*> database_session(flow::Invocation& invocation, const DatabaseChoice& choice,
                                       std::string_view data_source);
// Null when the message has not used it.
sql::Session* find_database_session(flow::Invocation& invocation, const DatabaseChoice& choice,
                                    std::string_view data_source);

// Tells the observers of the message of a statement from its construction to end().
class ObservedStatement {
 public:
  // `shows_text`: the statement has no values of the message in it.
  ObservedStatement(flow::Invocation& invocation, const flow::Node& node,
                    const DatabaseChoice& choice, std::string_view data_source,
                    std::string_view statement, bool shows_text);
  // A stored procedure.
  ObservedStatement(flow::Invocation& invocation, const flow::Node& node,
                    const DatabaseChoice& choice, std::string_view data_source,
                    std::string_view procedure);
  void end(const Status& status);

 private:
  void begin(std::string_view data_source, const DatabaseChoice& choice);
  flow::Observation* const observation_;  // null: nobody watches
  const flow::Node& node_;
  flow::DatabaseUse use_;
};

// The error that a warning becomes for a node that treats warnings as errors.
Status warning_error(std::string_view data_source, const sql::Outcome& outcome);

}  // namespace millstream::nodes::common
