// The ESQL host of Compute, Filter and Trace nodes: what their ESQL may ask of the server, for one
// message. Compute adds PROPAGATE.
// Lifetime: one evaluate(). Thread: the message's fiber.
#pragma once
#include "esql/host.h"
#include "flow/invocation.h"
#include "nodes/common/application.h"
#include "nodes/common/database.h"
#include "nodes/common/esql_runtime.h"

namespace millstream::nodes::compute {

// What a host needs to know of its node beyond the engine's view; made while loading.
struct EsqlFacts {
  const common::Application* application = nullptr;
  common::EsqlRuntime* runtime = nullptr;
  common::FlowEsql* flow = nullptr;
  std::string library;  // the static library the node's file lies in, or empty
  // User-defined properties the node sees: those of its subflow, then of the flows around it.
  std::map<std::string, std::string, std::less<>> user_properties;
  common::DatabaseChoice database;
};
Result<EsqlFacts> make_esql_facts(flow::NodeBuildContext& context);

class NodeHost : public esql::Host {
 public:
  NodeHost(const flow::Node& node, flow::Invocation& invocation, const EsqlFacts& facts)
      : node_(node), invocation_(invocation), facts_(facts) {}

  const tree::Domain* find_domain(std::string_view name) override;
  Status run_database(const esql::DatabaseRequest& request, esql::DatabaseResult& result) override;
  Status call_database(esql::DatabaseCall& call, esql::DatabaseResult& result) override;
  Status end_database_work(std::string_view data_source, bool is_rollback,
                           esql::DatabaseResult& result) override;
  // After the ESQL has run: ends the work in databases when the node commits on its own.
  Status finish_databases();
  Status sleep(int64_t milliseconds) override;
  Status lock_atomic(std::string_view schema, std::string_view label) override;
  void unlock_atomic(std::string_view schema, std::string_view label) override;
  Status check_budget() override;
  size_t stack_remaining_bytes() override;
  void log(const esql::LogRequest& request) override;
  esql::Tracer* tracer() override { return tracer_; }
  void set_tracer(esql::Tracer* tracer) { tracer_ = tracer; }
  bool find_broker_property(std::string_view name, value::Value& out) override;
  std::optional<std::string_view> find_user_property(std::string_view name) override;

 protected:
  const flow::Node& node_;
  flow::Invocation& invocation_;

 private:
  Status finish_statement(Status status, std::string_view data_source, const sql::Outcome& outcome,
                          esql::DatabaseResult& result);
  void note_use(std::string_view data_source);

  const EsqlFacts& facts_;
  esql::Tracer* tracer_ = nullptr;
  std::vector<std::string> sources_to_commit_;
};

}  // namespace millstream::nodes::compute
