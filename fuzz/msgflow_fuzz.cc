// Flow files -> a flow in line -> nodes: never crashes, hangs or fails without a reason. The input
// is files one after the other, parted by lines of "====": the main flow, then S1.subflow,
// S2.subflow, ..., and, after a line "====O", overrides. An input that begins with "PK" is an
// archive instead.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "ace/flatten.h"
#include "ace/overrides.h"
#include "esql/program.h"
#include "flow/flow.h"
#include "io/zip.h"
#include "nodes/common/application.h"
#include "nodes/common/esql_runtime.h"
#include "nodes/http/listener.h"
#include "nodes/registry.h"

namespace ace = millstream::ace;
namespace base = millstream::base;
namespace flow = millstream::flow;
namespace nodes = millstream::nodes;

namespace {

// What an application gives its nodes, without any ESQL module.
struct World {
  std::shared_ptr<base::NameTable> names = std::make_shared<base::NameTable>();
  std::shared_ptr<millstream::esql::Program> program =
      std::make_shared<millstream::esql::Program>();
  std::unique_ptr<nodes::common::EsqlRuntime> runtime;
  nodes::http::HttpListener listener;
  nodes::common::Application application;
  flow::Services services;

  World() {
    program->link(nodes::common::esql_link_options(*names));
    runtime = std::make_unique<nodes::common::EsqlRuntime>(program, names);
    services.set(&listener);
    services.set(runtime.get());
    services.set(&application);
  }
};

void require_reasons(const base::Diagnostics& diagnostics) {
  for (const base::Diagnostic& d : diagnostics.all()) {
    if (d.text.empty() || d.code.empty()) std::abort();
  }
}

void run_archive(std::string_view bytes) {
  millstream::io::ZipLimits limits;
  limits.entry_bytes_max = 1 << 20;
  auto entries = millstream::io::read_zip(bytes, "f.bar", limits);
  if (!entries.ok() && entries.error().text.empty()) std::abort();
}

void run_flows(std::string_view input) {
  std::map<std::string, std::unique_ptr<ace::FlowFile>, std::less<>> files;
  ace::Overrides overrides;
  base::Diagnostics diagnostics;
  const ace::FlowFile* main = nullptr;
  for (size_t number = 0; number < 16; ++number) {
    const size_t end = input.find("\n====");
    std::string_view text = input.substr(0, end);
    const std::string path =
        number == 0 ? "Main.msgflow" : "S" + std::to_string(number) + ".subflow";
    auto file = ace::parse_flow_file(text, path, path);
    if (file.ok()) {
      auto& slot = files[path];
      slot = std::make_unique<ace::FlowFile>(std::move(file).value());
      if (number == 0) main = slot.get();
    } else if (file.error().text.empty()) {
      std::abort();
    }
    if (end == std::string_view::npos) break;
    input.remove_prefix(end + 5);
    if (input.substr(0, 1) == "O") {
      overrides.add_lines(input.substr(1), "o.txt", diagnostics);
      break;
    }
  }
  if (!main) return;
  ace::SubflowFinder finder = [&](std::string_view path) -> const ace::FlowFile* {
    auto it = files.find(path);
    return it == files.end() ? nullptr : it->second.get();
  };
  auto definition = ace::flatten_flow(*main, "App", finder, overrides, diagnostics);
  if (!definition && !diagnostics.has_errors()) std::abort();
  if (definition) {
    for (const auto& c : definition->connections) {
      if (c.source >= definition->nodes.size() || c.target >= definition->nodes.size()) {
        std::abort();
      }
    }
    static World& world = *new World;
    // Large flows say nothing new about the nodes.
    if (definition->nodes.size() < 1000) {
      auto built = flow::build_flow(*definition, nodes::node_registry(), world.services,
                                    world.names, "server", diagnostics);
      if (!built && !diagnostics.has_errors()) std::abort();
    }
  }
  require_reasons(diagnostics);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view input(reinterpret_cast<const char*>(data), size);
  if (input.substr(0, 2) == "PK") {
    run_archive(input);
  } else {
    run_flows(input);
  }
  return 0;
}
