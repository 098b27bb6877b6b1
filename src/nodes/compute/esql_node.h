// What Compute and Filter have in common: one module of the application's ESQL.
// Thread: bind() while loading, the rest from any reactor.
#pragma once
#include <memory>
#include <mutex>
#include <string_view>

#include "flow/invocation.h"
#include "nodes/common/esql_runtime.h"
#include "nodes/compute/node_host.h"

namespace millstream::nodes::compute {

// The database properties that the records of these nodes have in common.
template <typename Properties>
common::DatabaseChoice database_choice(const Properties& p) {
  common::DatabaseChoice choice;
  choice.data_source = p.data_source;
  choice.throws_on_error = p.throw_exception_on_database_error;
  choice.treats_warnings_as_errors = p.treat_warnings_as_errors;
  choice.commits_after_node = p.transaction == Properties::Transaction::kCommit;
  choice.connects_at_start = p.connect_datasource_before_flow_starts;
  return choice;
}

class EsqlNode : public flow::Node {
 public:
  // Finds the module that `reference` names; an error says what is missing.
  Status bind(flow::NodeBuildContext& context, std::string_view reference,
              const common::DatabaseChoice& database);
  Status start() override;

 protected:
  // Runs Main; `out` holds the output trees of a Compute node.
  Result<esql::Tri> run(flow::Invocation& invocation, NodeHost& host,
                        const tree::MessageAssembly& in, const tree::MessageAssembly& out);
  const EsqlFacts& facts() const { return facts_; }

 private:
  Result<esql::Tri> run_in(common::ModulePool& pool, flow::Invocation& invocation, NodeHost& host,
                           const tree::MessageAssembly& in, const tree::MessageAssembly& out);
  Result<esql::Tri> run_traced(flow::Invocation& invocation, NodeHost& host,
                               const tree::MessageAssembly& in, const tree::MessageAssembly& out);

 private:
  EsqlFacts facts_;
  uint32_t shared_node_ = 0;  // where the SHARED variables of the module live
  std::unique_ptr<common::ModulePool> pool_;
  const esql::ast::Module* module_ = nullptr;
  std::once_flag traced_once_;
  std::unique_ptr<common::ModulePool> traced_pool_;  // for messages whose statements are traced
};

}  // namespace millstream::nodes::compute
