// From containers to applications that can run: flows put in line, ESQL compiled, nodes made.
// Everything that is wrong is a diagnostic; an application with an error is refused whole, the
// others are not touched by it.
// Thread: building on one; start and stop too. Running flows are used by every reactor.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "ace/workspace.h"
#include "base/diagnostics.h"
#include "base/names.h"
#include "esql/program.h"
#include "flow/flow.h"
#include "flow/services.h"
#include "nodes/common/api_documents.h"
#include "nodes/common/application.h"
#include "nodes/common/esql_runtime.h"
#include "nodes/common/policies.h"
#include "nodes/rest/rest_api.h"

namespace millstream::ace {

struct BuildOptions {
  std::string server_name = "integration_server";
  std::string work_path = ".";
  std::map<std::string, std::string, std::less<>> user_variables;
  nodes::common::DriveMapping drives;
  Overrides* overrides = nullptr;            // of overrides files; never null
  const flow::Services* services = nullptr;  // of the process; never null
  // Null: there are none. Shared with the applications, which keep those they were built with.
  std::shared_ptr<nodes::common::Policies> policies;
  bool checks_unused_subflows = false;  // for `check`: build also what no flow refers to
  std::set<std::string> reported;       // places with a diagnostic, kept by the builder
  // Asked between two files and two flows; true: nobody wants the result any more.
  std::function<bool()> is_cancelled;
};

class Application {
 public:
  const std::string& name() const { return context_.name; }
  const std::vector<std::unique_ptr<flow::Flow>>& flows() const { return flows_; }
  ContainerKind kind() const { return kind_; }
  const std::vector<std::string>& library_names() const { return context_.library_names; }
  flow::Flow* find_flow(std::string_view name) const;  // null: none
  // What it was built from (content_hash of all of it); 0 when nobody asked for it.
  uint64_t content_hash() const { return content_hash_; }
  void set_content_hash(uint64_t hash) { content_hash_ = hash; }
  // Starts the flows that are not set to start by hand. On an error nothing of it runs.
  Status start() { return start_all({}); }
  // The same for a new version of an application: a flow in `stopped` stays so, unless its
  // startMode is automatic.
  Status start_all(const std::set<std::string, std::less<>>& stopped);
  std::set<std::string, std::less<>> stopped_flows() const;
  // Starts just the flows named, as after a stop() that has to be undone.
  Status restart(const std::set<std::string, std::less<>>& flows);
  // True when nothing is on its way in any of its flows.
  bool is_idle() const;
  // For `check`: as start(), but goes on after an error; all are reported. False: there were some.
  bool try_start(base::Diagnostics& diagnostics);
  void stop();

 private:
  friend class ApplicationBuilder;
  std::shared_ptr<esql::Program> program_;  // shared with the compiled code
  std::unique_ptr<nodes::common::EsqlRuntime> runtime_;
  std::shared_ptr<base::NameTable> names_;
  nodes::common::Application context_;
  flow::Services services_;
  std::shared_ptr<nodes::common::Policies> policies_;  // see BuildOptions; may be null
  std::unique_ptr<nodes::common::ApiDocuments> documents_;
  // Null unless it is a REST API; shared with replies that are still to be checked.
  std::shared_ptr<nodes::rest::RestApi> rest_api_;
  std::vector<std::unique_ptr<flow::Flow>> flows_;
  struct FlowStart {
    bool is_by_hand = false;    // startMode manual
    bool is_automatic = false;  // startMode automatic
    base::Position position;    // of its input node, for messages
  };
  std::vector<FlowStart> starts_;  // as flows_
  ContainerKind kind_ = ContainerKind::kApplication;
  uint64_t content_hash_ = 0;
  Status start_flow_at(size_t index);
};

// Null when there were errors, or when it was cancelled.
std::unique_ptr<Application> build_application(const Workspace& workspace,
                                               const Container& container, BuildOptions& options,
                                               base::Diagnostics& diagnostics);
// A library of the workspace that no application uses: its ESQL and subflows are checked alone.
void check_library(const Workspace& workspace, const Container& library, BuildOptions& options,
                   base::Diagnostics& diagnostics);

}  // namespace millstream::ace
