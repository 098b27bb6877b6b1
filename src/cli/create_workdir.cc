// millstream create-workdir: the folders and the settings of a server.
#include <cstdio>
#include <string>

#include "cli/commands.h"
#include "io/file.h"

namespace millstream::cli {
namespace {

constexpr const char* kConf =
    "# Settings of a server; docs/operate/server-conf.md has all keys. What stands in\n"
    "# overrides/server.conf.yaml wins, key by key.\n"
    "#serverName: integration_server\n"
    "\n"
    "#ResourceManagers:\n"
    "#  HTTPConnector:\n"
    "#    ListenerPort: 7800\n"
    "\n"
    "#RestAdminListener:\n"
    "#  port: 7600\n"
    "#  host: 127.0.0.1\n";

Status create_workdir(const std::string& folder) {
  for (const char* name : {"run", "overrides", "log", "config"}) {
    MS_TRY(io::make_folders(io::join_path(folder, name)));
  }
  const std::string conf = io::join_path(folder, "server.conf.yaml");
  if (io::path_kind(conf) != io::PathKind::kMissing) return {};
  return io::write_file(conf, kConf);
}

}  // namespace

const base::CommandSpec& create_workdir_command() {
  static const base::CommandSpec kSpec{
      .name = "create-workdir",
      .arguments = "FOLDER",
      .summary = "Make a work directory: server.conf.yaml, run/, overrides/, log/, config/.",
      .description = "What is there already stays as it is.",
      .arguments_min = 1,
      .arguments_max = 1,
      .examples = {{"millstream create-workdir /var/millstream/orders", ""}}};
  return kSpec;
}

int run_create_workdir(const base::ParsedFlags& flags) {
  const std::string& folder = flags.arguments()[0];
  Status status = create_workdir(folder);
  if (!status.ok()) {
    std::fprintf(stderr, "%s\n", status.error().describe().c_str());
    return 1;
  }
  std::printf("Made %s. Start a server with: millstream run --work-dir %s\n", folder.c_str(),
              folder.c_str());
  return 0;
}

}  // namespace millstream::cli
