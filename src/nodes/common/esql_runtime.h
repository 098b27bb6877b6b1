// The ESQL of one application as its nodes use it: compiled once, with the SHARED variables and
// ATOMIC locks of each flow.
// Lifetime: the application's. Thread: made while loading; instances and locks from any reactor.
#pragma once
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "esql/executor.h"
#include "flow/flow.h"
#include "net/waiting.h"
#include "nodes/common/application.h"
#include "value/time_zone.h"

namespace millstream::nodes::common {

// How ESQL is linked everywhere: names into `names`, and the MQ constants.
esql::LinkOptions esql_link_options(base::NameTable& names);

// What all ESQL nodes of one flow share.
class FlowEsql {
 public:
  FlowEsql(std::shared_ptr<const esql::CompiledProgram> program,
           std::shared_ptr<const base::NameTable> names);
  esql::SharedStore* shared() const { return shared_.get(); }
  // BEGIN ATOMIC: one lock for each schema and label.
  net::FiberMutex& lock_for(std::string_view schema, std::string_view label);

 private:
  std::shared_ptr<esql::SharedStore> shared_;
  std::mutex mutex_;  // leaf lock: guards the map, not the locks in it
  std::map<std::string, std::unique_ptr<net::FiberMutex>> locks_;
};

class EsqlRuntime {
 public:
  // `zone`: null for that of the machine.
  EsqlRuntime(std::shared_ptr<const esql::Program> program,
              std::shared_ptr<const base::NameTable> names, const value::TimeZone* zone = nullptr);
  const std::shared_ptr<const esql::CompiledProgram>& program() const { return compiled_; }
  // The same, telling what it does; made when it is asked for. Any thread.
  const std::shared_ptr<const esql::CompiledProgram>& traced_program();
  const esql::Program& source() const { return *source_; }
  const value::TimeZone& zone() const { return zone_; }
  FlowEsql& flow(const flow::Flow& flow);  // while loading

 private:
  value::TimeZone zone_;
  std::shared_ptr<const base::NameTable> names_;
  std::shared_ptr<const esql::Program> source_;  // shared by the compiled form
  std::shared_ptr<const esql::CompiledProgram> compiled_;
  std::once_flag traced_once_;
  std::shared_ptr<const esql::CompiledProgram> traced_;
  std::map<const flow::Flow*, std::unique_ptr<FlowEsql>> flows_;
};

// The instances of one module in one node: as many as run at once, kept for reuse.
class ModulePool {
 public:
  ModulePool(std::shared_ptr<const esql::CompiledProgram> program, const esql::ModuleCode& module)
      : program_(std::move(program)), module_(module) {}
  class Lease {
   public:
    explicit Lease(ModulePool& pool);
    ~Lease();
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;
    esql::ModuleInstance* operator->() const { return instance_.get(); }

   private:
    ModulePool& pool_;
    size_t shard_;
    std::unique_ptr<esql::ModuleInstance> instance_;
  };

 private:
  static constexpr size_t kShards = 16;
  struct alignas(64) Shard {
    std::mutex mutex;  // leaf lock, rarely contended: a thread mostly meets only itself
    std::vector<std::unique_ptr<esql::ModuleInstance>> idle;
  };
  std::shared_ptr<const esql::CompiledProgram> program_;
  const esql::ModuleCode& module_;
  Shard shards_[kShards];
};

// schema and module of "esql://routine/<schema>#<Module>.Main", or of a bare module name.
struct RoutineReference {
  std::string schema, module;
};
bool parse_routine_reference(std::string_view text, const std::string& flow_schema,
                             RoutineReference& out);

}  // namespace millstream::nodes::common
