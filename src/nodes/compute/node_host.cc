#include "nodes/compute/node_host.h"

#include <unistd.h>

#include "base/log.h"
#include "flow/errors_gen.h"
#include "net/fiber.h"
#include "nodes/common/pause.h"
#include "nodes/compute/errors_gen.h"
#include "parsers/domains.h"
#include "text/utf8.h"

namespace millstream::nodes::compute {

using value::Value;

const tree::Domain* NodeHost::find_domain(std::string_view name) {
  return parsers::find_domain(name);
}

Status NodeHost::sleep(int64_t milliseconds) {
  if (milliseconds > 0) net::sleep_for(milliseconds * net::kMillisecond);
  return net::is_current_cancelled() ? base::make_error(flow::errors::kCancelled) : Status();
}

Status NodeHost::lock_atomic(std::string_view schema, std::string_view label) {
  if (facts_.flow->lock_for(schema, label).lock()) return {};
  return base::make_error(flow::errors::kCancelled);
}

void NodeHost::unlock_atomic(std::string_view schema, std::string_view label) {
  facts_.flow->lock_for(schema, label).unlock();
}

Status NodeHost::check_budget() { return common::let_others_run(); }

size_t NodeHost::stack_remaining_bytes() { return net::stack_remaining_bytes(); }

void NodeHost::log(const esql::LogRequest& request) {
  flow::Observation* observation = invocation_.observation();
  const bool is_traced = observation && observation->wants_lines();
  if (!request.is_event && !is_traced) return;  // the user trace is off
  const base::LogLevel level = request.severity >= 3   ? base::LogLevel::kError
                               : request.severity == 2 ? base::LogLevel::kWarning
                                                       : base::LogLevel::kInfo;
  const char letter = level == base::LogLevel::kError     ? 'E'
                      : level == base::LogLevel::kWarning ? 'W'
                                                          : 'I';
  std::string text;
  // The catalogue's text of 8099 is "{0}: {1}  -  {2}"; other numbers list their inserts.
  for (size_t i = 0; i < request.inserts.size(); ++i) {
    if (i > 0) text += request.number == 8099 ? (i == 1 ? ": " : "  -  ") : ", ";
    text += request.inserts[i].text;
  }
  if (request.exception) {
    text += text.empty() ? "" : " ";
    text += request.is_full ? request.exception->describe() : request.exception->text;
  }
  if (is_traced) observation->line(node_, static_cast<int>(request.number), text);
  if (!request.is_event) return;
  base::log_event(level, "BIP" + std::to_string(request.number) + letter, text);
}

bool NodeHost::find_broker_property(std::string_view name, Value& out) {
  base::Arena& arena = invocation_.arena();
  auto is = [name](std::string_view known) {
    return text::equals_ignoring_ascii_case(name, known);
  };
  auto text = [&](std::string_view s) {
    out = Value::make_character(arena.copy(s));
    return true;
  };
  if (is("BrokerName") || is("IntegrationNodeName") || is("IntegrationServerName") ||
      is("ExecutionGroupLabel") || is("ExecutionGroupName")) {
    return text(facts_.application->server_name);
  }
  if (is("MessageFlowLabel")) return text(node_.flow().name());
  if (is("NodeLabel")) return text(node_.label());
  if (is("NodeType")) return text(node_.type().runtime_type);
  if (is("ApplicationLabel")) return text(node_.flow().application());
  if (is("LibraryLabel")) return text(facts_.library);
  if (is("BrokerVersion")) return text("13.0.0.0");
  if (is("BrokerVRMF")) return text("13000");
  if (is("BrokerPlatform")) return text("x86_64-linux");
  if (is("Family")) return text("UNIX");
  if (is("WorkPath")) return text(facts_.application->work_path);
  if (is("ProcessId")) {
    out = Value::make_integer(::getpid());
    return true;
  }
  if (is("AdditionalInstances")) {
    const size_t limit = node_.flow().instances().limit();
    out = Value::make_integer(limit ? static_cast<int64_t>(limit) - 1 : 0);
    return true;
  }
  if (is("CommitCount")) {
    out = Value::make_integer(1);
    return true;
  }
  if (is("CommitInterval")) {
    out = Value::make_integer(0);
    return true;
  }
  if (is("CoordinatedTransaction")) {
    out = Value::make_boolean(false);
    return true;
  }
  if (is("TransactionType")) return text("UNCOORDINATED");
  if (is("QueueManagerName") || is("DataSourceUserId") || is("ExecutionGroupUUID")) {
    return text("");
  }
  return false;
}

std::optional<std::string_view> NodeHost::find_user_property(std::string_view name) {
  for (const auto* values : {&facts_.user_properties, &facts_.application->user_variables}) {
    if (auto it = values->find(name); it != values->end()) return it->second;
  }
  return std::nullopt;
}

Result<EsqlFacts> make_esql_facts(flow::NodeBuildContext& context) {
  EsqlFacts facts;
  facts.application = context.services.find<common::Application>();
  facts.runtime = context.services.find<common::EsqlRuntime>();
  if (!facts.application || !facts.runtime) {
    return base::make_error(errors::kNoEsql, {context.definition.label});
  }
  facts.flow = &facts.runtime->flow(context.flow);
  facts.database.sources = context.services.find<sql::DataSources>();
  if (!facts.database.sources) facts.database.sources = &sql::DataSources::process();
  const uint32_t unit = context.definition.unit;
  if (unit > 0) facts.library = facts.application->library_names[unit - 1];
  const std::vector<flow::ScopeDefinition>& scopes = context.flow_definition.scopes;
  for (size_t scope = context.definition.scope;; scope = scopes[scope].parent) {
    for (const flow::UserDefinedProperty& p : scopes[scope].user_defined) {
      facts.user_properties.emplace(p.name, p.value);  // the inner scope came first
    }
    if (scope == 0) return facts;
  }
}

}  // namespace millstream::nodes::compute
