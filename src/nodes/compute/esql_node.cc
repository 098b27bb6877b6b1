#include "nodes/compute/esql_node.h"

#include "base/clock.h"
#include "esql/shared.h"
#include "nodes/common/shared_use.h"
#include "nodes/compute/errors_gen.h"

namespace millstream::nodes::compute {

Status EsqlNode::bind(flow::NodeBuildContext& context, std::string_view reference) {
  facts_ = MS_TRY(make_esql_facts(context));
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
  if (common::uses_shared_variables(facts_.runtime->source(), *source)) {
    context.flow.note_shared_state();
  }
  if (esql::SharedStore* shared = facts_.flow->shared()) shared_node_ = shared->add_node();
  pool_ = std::make_unique<common::ModulePool>(facts_.runtime->program(), *module);
  return {};
}

Result<esql::Tri> EsqlNode::run(flow::Invocation& invocation, esql::Host& host,
                                const tree::MessageAssembly& in, const tree::MessageAssembly& out) {
  common::ModulePool::Lease instance(*pool_);
  return instance->run({invocation.context(), host, facts_.runtime->zone(),
                        base::system_clock().wall_gmt_micros(), in, out, facts_.flow->shared(),
                        shared_node_});
}

}  // namespace millstream::nodes::compute
