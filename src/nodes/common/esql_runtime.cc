#include "nodes/common/esql_runtime.h"

#include "esql/shared.h"
#include "mqi/constants.h"

namespace millstream::nodes::common {

esql::LinkOptions esql_link_options(base::NameTable& names) {
  esql::LinkOptions options;
  options.names = &names;
  options.find_constant = mqi::find_mq_constant;
  return options;
}

FlowEsql::FlowEsql(std::shared_ptr<const esql::CompiledProgram> program,
                   std::shared_ptr<const base::NameTable> names) {
  if (program->has_shared_variables()) shared_ = program->make_shared_store(std::move(names));
}

net::FiberMutex& FlowEsql::lock_for(std::string_view schema, std::string_view label) {
  std::string key(schema);
  key += '\0';
  key += label;
  std::lock_guard lock(mutex_);
  std::unique_ptr<net::FiberMutex>& slot = locks_[std::move(key)];
  if (!slot) slot = std::make_unique<net::FiberMutex>();
  return *slot;
}

EsqlRuntime::EsqlRuntime(std::shared_ptr<const esql::Program> program,
                         std::shared_ptr<const base::NameTable> names, const value::TimeZone* zone)
    : zone_(zone ? *zone : value::TimeZone::local()),
      names_(std::move(names)),
      source_(std::move(program)),
      compiled_(esql::CompiledProgram::compile(source_, zone_)) {}

const std::shared_ptr<const esql::CompiledProgram>& EsqlRuntime::traced_program() {
  std::call_once(traced_once_, [this] {
    traced_ = esql::CompiledProgram::compile(source_, zone_, /*is_traced=*/true);
  });
  return traced_;
}

FlowEsql& EsqlRuntime::flow(const flow::Flow& flow) {
  std::unique_ptr<FlowEsql>& slot = flows_[&flow];
  if (!slot) slot = std::make_unique<FlowEsql>(compiled_, names_);
  return *slot;
}

ModulePool::Lease::Lease(ModulePool& pool) : pool_(pool), shard_(flow::thread_number() % kShards) {
  Shard& shard = pool_.shards_[shard_];
  std::lock_guard lock(shard.mutex);
  if (shard.idle.empty()) {
    instance_ = std::make_unique<esql::ModuleInstance>(pool_.program_, pool_.module_);
  } else {
    instance_ = std::move(shard.idle.back());
    shard.idle.pop_back();
  }
}

ModulePool::Lease::~Lease() {
  Shard& shard = pool_.shards_[shard_];
  std::lock_guard lock(shard.mutex);
  shard.idle.push_back(std::move(instance_));
}

bool parse_routine_reference(std::string_view text, const std::string& flow_schema,
                             RoutineReference& out) {
  constexpr std::string_view kScheme = "esql://routine/";
  if (text.substr(0, kScheme.size()) == kScheme) {
    text.remove_prefix(kScheme.size());
    size_t hash = text.find('#');
    if (hash == std::string_view::npos) return false;
    out.schema = text.substr(0, hash);
    text.remove_prefix(hash + 1);
  } else {
    // Flows of old releases hold the module's name alone.
    out.schema = flow_schema;
  }
  constexpr std::string_view kMain = ".Main";
  if (text.size() > kMain.size() && text.substr(text.size() - kMain.size()) == kMain) {
    text.remove_suffix(kMain.size());
  }
  // Names that are no identifiers are written as in the ESQL: #"a.b_Module".Main.
  if (text.size() > 2 && text.front() == '"' && text.back() == '"') {
    text = text.substr(1, text.size() - 2);
  }
  out.module = text;
  return !out.module.empty() && text.find_first_of("#/ ") == std::string_view::npos;
}

}  // namespace millstream::nodes::common
