#include "nodes/compute/esql_node.h"

#include "base/clock.h"
#include "base/log.h"
#include "esql/shared.h"
#include "nodes/common/shared_use.h"
#include "nodes/compute/errors_gen.h"
#include "nodes/compute/esql_tracer.h"

namespace millstream::nodes::compute {

Status EsqlNode::bind(flow::NodeBuildContext& context, std::string_view reference,
                      const common::DatabaseChoice& database) {
  facts_ = MS_TRY(make_esql_facts(context));
  sql::DataSources* sources = facts_.database.sources;
  facts_.database = database;
  facts_.database.sources = sources;
  common::RoutineReference routine;
  if (!common::parse_routine_reference(reference, context.definition.schema, routine)) {
    return base::make_error(errors::kBadRoutineReference, {reference});
  }
  const esql::ModuleCode* module = facts_.runtime->program()->find_module(
      routine.schema, routine.module, context.definition.unit);
  if (!module) {
    return base::make_error(errors::kModuleNotFound, {routine.module, routine.schema});
  }
  const esql::ast::Module* source =
      facts_.runtime->source().find_module(routine.schema, routine.module, context.definition.unit);
  if (source->needs_data_source.line > 0 && database.data_source.empty()) {
    Status status =
        base::make_error(errors::kNoNodeDataSource, {context.definition.label, routine.module});
    context.diagnostics.warning(context.definition.properties.position, "MS1866",
                                status.error().text);
  }
  if (common::uses_shared_variables(facts_.runtime->source(), *source)) {
    context.flow.note_shared_state();
  }
  if (esql::SharedStore* shared = facts_.flow->shared()) shared_node_ = shared->add_node();
  pool_ = std::make_unique<common::ModulePool>(facts_.runtime->program(), *module);
  module_ = source;
  return {};
}

Status EsqlNode::start() {
  const common::DatabaseChoice& choice = facts_.database;
  if (!choice.connects_at_start || !choice.sources || choice.data_source.empty()) return {};
  // The database may come up later than this server: messages find out.
  Status status = choice.sources->find(choice.data_source)->connect_ahead();
  if (!status.ok()) base::log_error(status.error());
  return {};
}

Result<esql::Tri> EsqlNode::run(flow::Invocation& invocation, NodeHost& host,
                                const tree::MessageAssembly& in, const tree::MessageAssembly& out) {
  const flow::Observation* observation = invocation.observation();
  if (__builtin_expect(observation && observation->wants_statements(), 0)) {
    return run_traced(invocation, host, in, out);
  }
  return run_in(*pool_, invocation, host, in, out);
}

Result<esql::Tri> EsqlNode::run_traced(flow::Invocation& invocation, NodeHost& host,
                                       const tree::MessageAssembly& in,
                                       const tree::MessageAssembly& out) {
  std::call_once(traced_once_, [this] {
    const auto& program = facts_.runtime->traced_program();
    traced_pool_ = std::make_unique<common::ModulePool>(program, *program->find_module(module_));
  });
  EsqlTracer tracer(*invocation.observation(), *this);
  host.set_tracer(&tracer);
  Result<esql::Tri> result = run_in(*traced_pool_, invocation, host, in, out);
  host.set_tracer(nullptr);
  return result;
}

Result<esql::Tri> EsqlNode::run_in(common::ModulePool& pool, flow::Invocation& invocation,
                                   NodeHost& host, const tree::MessageAssembly& in,
                                   const tree::MessageAssembly& out) {
  common::ModulePool::Lease instance(pool);
  const esql::Tri result = MS_TRY(instance->run({invocation.context(), host, facts_.runtime->zone(),
                                                 base::system_clock().wall_gmt_micros(), in, out,
                                                 facts_.flow->shared(), shared_node_}));
  MS_TRY(host.finish_databases());
  return result;
}

}  // namespace millstream::nodes::compute
