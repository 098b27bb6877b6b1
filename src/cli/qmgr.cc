// millstream qmgr: a queue manager's data directory, made, checked, read and rescued.
#include <cstdio>
#include <string>

#include "base/json_value.h"
#include "base/log.h"
#include "base/thread_worker.h"
#include "cli/commands.h"
#include "cli/errors_gen.h"
#include "cli/queue_client.h"
#include "cli/queue_message.h"
#include "io/file.h"
#include "io/posix_disk.h"
#include "net/reactor_pool.h"
#include "queue/store/inspect.h"
#include "server/queue_managers.h"

namespace millstream::cli {
namespace {

using base::json::Value;

io::DiskWay disk_way(const base::ParsedFlags& flags) {
  return flags.is_on("buffered") ? io::DiskWay::kBuffered : io::DiskWay::kDirect;
}

// The data directory itself, or of a work directory the one of --qmgr, the only one, or QM1.
std::string store_folder(const base::ParsedFlags& flags, const std::string& folder) {
  const std::string all = io::join_path(folder, "qmgrs");
  if (io::path_kind(all) != io::PathKind::kFolder) return folder;
  if (flags.has("qmgr")) {
    return io::join_path(all, server::queue_manager_folder(flags.text("qmgr")));
  }
  std::vector<std::string> names;
  const Result<std::vector<io::FolderEntry>> entries = io::list_folder(all);
  if (entries.ok()) {
    for (const io::FolderEntry& entry : entries.value()) {
      if (entry.kind == io::PathKind::kFolder && !entry.name.starts_with('.')) {
        names.push_back(entry.name);
      }
    }
  }
  return io::join_path(all, names.size() == 1
                                ? names.front()
                                : server::queue_manager_folder(server::kDefaultQueueManager));
}

int create_manager(const base::ParsedFlags& flags, const std::string& folder) {
  const std::string name(flags.has("qmgr") ? flags.text("qmgr") : server::kDefaultQueueManager);
  const std::string data =
      io::join_path(io::join_path(folder, "qmgrs"), server::queue_manager_folder(name));
  if (io::path_kind(data) != io::PathKind::kMissing) {
    std::fprintf(stderr, "%s exists.\n", data.c_str());
    return kExitRefused;
  }
  auto create = [&]() -> Status {
    MS_TRY(base::configure_log({.level_min = base::LogLevel::kWarning}));
    MS_TRY(io::make_folders(folder));
    const std::unique_ptr<net::ReactorPool> reactors = MS_TRY(net::ReactorPool::create(1));
    server::QueueManagers managers;
    server::QueueManagersOptions options;
    options.work_folder = folder;
    options.default_name = name;
    options.is_only_default = true;
    options.is_default_wanted = true;
    options.is_buffered = flags.is_on("buffered");
    options.on_failure = [](const base::Error& error) {
      print_queue_error(error);
      std::_Exit(kExitRefused);
    };
    Status status = managers.start(std::move(options), *reactors);
    managers.stop();
    reactors->stop();
    return status;
  };
  const Status status = create();
  if (!status.ok()) return print_queue_error(status.error());
  std::printf("Queue manager %s is in %s.\n", name.c_str(), data.c_str());
  return kExitDone;
}

void print_findings(const std::vector<queue::StoreFinding>& findings, const char* what) {
  for (const queue::StoreFinding& f : findings) {
    std::printf("%s: %s\n", f.is_damage ? what : "note", f.describe().c_str());
  }
}

Value findings_json(const std::vector<queue::StoreFinding>& findings, bool is_damage) {
  Value out = Value::array();
  for (const queue::StoreFinding& f : findings) {
    if (f.is_damage != is_damage) continue;
    Value item = Value::object();
    item.set("file", f.file);
    item.set("offset", f.offset);
    item.set("what", f.what);
    Value queues = Value::array();
    for (const queue::QueueId id : f.queues) queues.push_back(uint64_t{id});
    item.set("queues", std::move(queues));
    out.push_back(std::move(item));
  }
  return out;
}

void print_json(const Value& value) { std::printf("%s\n", base::json::write(value).c_str()); }

void print_inspection(const queue::StoreInspection& i) {
  print_findings(i.findings, "damaged");
  std::printf(
      "%llu journal blocks with %llu frames, %llu spill files with %llu messages and %llu "
      "records, generation %llu: %s\n",
      static_cast<unsigned long long>(i.journal_blocks),
      static_cast<unsigned long long>(i.journal_frames),
      static_cast<unsigned long long>(i.spill_files),
      static_cast<unsigned long long>(i.spill_messages),
      static_cast<unsigned long long>(i.spill_records),
      static_cast<unsigned long long>(i.generation), i.is_damaged() ? "damaged" : "whole");
}

Value inspection_json(const queue::StoreInspection& i) {
  Value out = Value::object();
  out.set("whole", !i.is_damaged());
  out.set("journalBlocks", i.journal_blocks);
  out.set("journalFrames", i.journal_frames);
  out.set("spillFiles", i.spill_files);
  out.set("spillMessages", i.spill_messages);
  out.set("spillRecords", i.spill_records);
  out.set("generation", i.generation);
  out.set("damaged", findings_json(i.findings, true));
  out.set("notes", findings_json(i.findings, false));
  return out;
}

int report_inspection(const Result<queue::StoreInspection>& inspection, bool is_json) {
  if (!inspection.ok()) return print_queue_error(inspection.error());
  if (is_json) {
    print_json(inspection_json(inspection.value()));
  } else {
    print_inspection(inspection.value());
  }
  return inspection.value().is_damaged() ? kExitRefused : kExitDone;
}

void print_salvage(const queue::SalvageReport& report, const std::string& target) {
  print_findings(report.lost, "lost");
  for (const queue::StoreFinding& f : report.uncertain) {
    std::printf("uncertain: %s\n", f.describe().c_str());
  }
  std::printf("%llu messages, %llu records and %llu prepared units were copied to %s.\n",
              static_cast<unsigned long long>(report.messages),
              static_cast<unsigned long long>(report.records),
              static_cast<unsigned long long>(report.prepared), target.c_str());
}

Value salvage_json(const queue::SalvageReport& report, const std::string& target) {
  Value out = Value::object();
  out.set("target", target);
  out.set("messages", report.messages);
  out.set("records", report.records);
  out.set("prepared", report.prepared);
  out.set("lost", findings_json(report.lost, true));
  out.set("uncertain", findings_json(report.uncertain, false));
  return out;
}

int salvage(io::Disk& source, const base::ParsedFlags& flags, const std::string& target) {
  if (io::path_kind(target) != io::PathKind::kMissing) {
    std::fprintf(stderr, "%s exists; salvage makes a new directory.\n", target.c_str());
    return kExitRefused;
  }
  const size_t slash = target.find_last_not_of('/');
  const size_t parent = target.substr(0, slash + 1).rfind('/');
  if (parent != std::string::npos && parent > 0) {
    const Status made = io::make_folders(target.substr(0, parent));
    if (!made.ok()) return print_queue_error(made.error());
  }
  Result<std::unique_ptr<io::Disk>> disk = io::open_posix_disk(target, disk_way(flags));
  if (!disk.ok()) return print_queue_error(disk.error());
  base::ThreadWorkerFactory workers;
  Result<queue::SalvageReport> report = [&] {
    QueueProgress progress(flags.is_on("quiet"));
    return queue::salvage_store(
        source, {*disk.value(), base::system_clock(), base::system_random(), workers}, {},
        [&](std::string_view what, uint64_t done) { progress.show(what, done, 0); });
  }();
  if (!report.ok()) return print_queue_error(report.error());
  if (flags.is_on("json")) {
    print_json(salvage_json(report.value(), target));
  } else {
    print_salvage(report.value(), target);
  }
  return report.value().lost.empty() ? kExitDone : kExitRefused;
}

int verify(io::Disk& disk, const base::ParsedFlags& flags) {
  Result<queue::StoreInspection> inspection = [&] {
    QueueProgress progress(flags.is_on("quiet"));
    return queue::verify_store(
        disk, {}, [&](std::string_view what, uint64_t done) { progress.show(what, done, 0); });
  }();
  return report_inspection(inspection, flags.is_on("json"));
}

}  // namespace

const base::CommandSpec& qmgr_command() {
  static const base::CommandSpec kSpec{
      .name = "qmgr",
      .arguments = "create|verify|dump|salvage FOLDER [TARGET]",
      .summary = "Make, check, read or rescue the data directory of a queue manager.",
      .description =
          "FOLDER is a work directory, of which --qmgr, the only one, or QM1 is meant, or a data "
          "directory itself (WORK/qmgrs/NAME). `create` makes a new queue manager, and prints the "
          "password "
          "of "
          "the first user of a new work directory. `verify` reads every file and checksum. `dump` "
          "writes as text what the files say. `salvage` copies what can be read into the new "
          "directory TARGET and lists what is lost. All but create leave FOLDER as it is, and none "
          "works on one that a server uses. Exit code 0: done, or whole; 1: damaged, lost, or "
          "refused; 2: usage.",
      .arguments_min = 2,
      .arguments_max = 3,
      .flags = {{.name = "qmgr", .value_name = "NAME", .help = "The queue manager."},
                {.name = "buffered",
                 .help = "As the option of `millstream run`.",
                 .kind = base::FlagKind::kSwitch},
                {.name = "json",
                 .help = "Of verify and salvage, for programs: one line of JSON.",
                 .kind = base::FlagKind::kSwitch},
                quiet_flag()},
      .examples = {
          {"millstream qmgr create /var/mqsi/server1 --qmgr ORDERS", "a new one"},
          {"millstream qmgr verify /var/mqsi/server1 --json", "what is damaged, for a program"},
          {"millstream qmgr salvage /var/mqsi/server1/qmgrs/QM1 /var/rescue/qmgrs/QM1",
           "then: millstream run --work-dir /var/rescue --qmgr QM1"}}};
  return kSpec;
}

int run_qmgr(const base::ParsedFlags& flags) {
  const auto& arguments = flags.arguments();
  const std::string& action = arguments[0];
  const bool is_salvage = action == "salvage";
  if (action != "create" && action != "verify" && action != "dump" && !is_salvage) {
    std::fprintf(stderr, "'%s' is none of create, verify, dump, salvage.\n", action.c_str());
    return kExitUsage;
  }
  if (is_salvage != (arguments.size() == 3)) {
    std::fprintf(stderr, "TARGET is for salvage, and salvage needs it.\n");
    return kExitUsage;
  }
  if (flags.is_on("json") && action != "verify" && !is_salvage) {
    std::fprintf(stderr, "--json is for verify and salvage.\n");
    return kExitUsage;
  }
  if (action == "create") return create_manager(flags, arguments[1]);
  const std::string folder = store_folder(flags, arguments[1]);
  if (io::path_kind(folder) != io::PathKind::kFolder) {
    std::fprintf(stderr, "There is no folder %s.\n", folder.c_str());
    return kExitRefused;
  }
  Result<std::unique_ptr<io::Disk>> disk = io::open_posix_disk(folder, disk_way(flags));
  if (!disk.ok()) return print_queue_error(disk.error());
  const Status locked = disk.value()->lock();
  if (!locked.ok()) return print_queue_error(locked.error());
  if (is_salvage) return salvage(*disk.value(), flags, arguments[2]);
  if (action == "verify") return verify(*disk.value(), flags);
  return report_inspection(queue::dump_store(*disk.value(),
                                             [](std::string_view line) {
                                               std::fwrite(line.data(), 1, line.size(), stdout);
                                               std::fputc('\n', stdout);
                                             }),
                           false);
}

}  // namespace millstream::cli
