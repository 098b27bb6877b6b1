// The query of DatabaseRetrieve and DatabaseRoute: its SQL text, the values it takes from the
// message, and its rows. Thread: compile while loading; run in the message's fiber.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "flow/invocation.h"
#include "nodes/common/database.h"
#include "query/xpath.h"

namespace millstream::nodes::database {

struct QuerySettings {
  std::string data_source;
  std::string sql;  // sqlQuery; empty: made of the table queryElements
};

class Query {
 public:
  // An error names the row that is wrong.
  static Result<Query> compile(const flow::NodeBuildContext& context,
                               const QuerySettings& settings);

  // For `node`.
  Status run(flow::Invocation& invocation, const flow::Node& node, const tree::MessageAssembly& in,
             sql::Outcome& out) const;
  // The position in the result of "TABLE.COLUMN" (or "COLUMN"); the number of columns when it is
  // not there.
  size_t find_column(std::string_view name, const sql::ResultSet& rows) const;
  const std::vector<std::string>& selected() const { return selected_; }

 private:
  struct Parameter {
    query::XPath path;
  };
  Status read_elements(const flow::PropertySet& set, const query::XPathNamespaces& namespaces,
                       bool makes_sql);

  common::DatabaseChoice choice_;
  std::string sql_;
  std::vector<Parameter> parameters_;
  std::vector<std::string> selected_;  // items of the SELECT list, as written
};

query::XPathNamespaces read_namespaces(const flow::PropertySet& set);

}  // namespace millstream::nodes::database
