#include "cli/queue_client.h"

#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <optional>
#include <sstream>

#include "admin/batch/batch_service.h"
#include "base/log.h"
#include "cli/admin_client.h"
#include "cli/amqp_queue_client.h"
#include "cli/errors_gen.h"
#include "http/client.h"
#include "io/file.h"
#include "mqi/reason_codes.h"
#include "net/reactor_pool.h"
#include "server/queue_managers.h"
#include "wire/amqp/client/url.h"

namespace millstream::cli {
namespace {

constexpr int64_t kCallNs = 300 * net::kSecond;
constexpr size_t kAnswerBytesMax = size_t{512} << 20;

class RemoteClient final : public QueueClient {
 public:
  RemoteClient(http::Url url, AdminTarget target)
      : url_(std::move(url)), target_(std::move(target)) {}
  ~RemoteClient() override {
    if (reactors_) reactors_->stop();
    pool_.reset();
  }
  Status start() {
    reactors_ = MS_TRY(net::ReactorPool::create(1));
    pool_ = std::make_unique<http::ClientPool>(reactors_->reactor(0));
    return {};
  }

  Result<batch::Answer> call(const batch::Request& request) override {
    std::optional<Result<batch::Answer>> answer;
    const std::string body = batch::encode(request);
    reactors_->run_on(0, [&] { answer.emplace(send(body, kCallNs)); });
    return std::move(*answer);
  }

  void guard(uint64_t token) override {
    batch::Request request;
    request.operation = batch::Operation::kGuard;
    request.token = token;
    reactors_->reactor(0).spawn([this, body = batch::encode(request)] {
      while (!net::is_current_cancelled()) {
        const Result<batch::Answer> answer = send(body, kCallNs);
        if (!answer.ok() || (answer.value().flags & batch::kNoMore) != 0) return;
      }
    });
  }

 private:
  Result<batch::Answer> send(const std::string& body, int64_t timeout_ns) {
    http::ClientRequest request;
    request.url = url_;
    request.body = body;
    request.deadline_ns = net::Reactor::current()->refresh_now() + timeout_ns;
    request.body_bytes_max = kAnswerBytesMax;
    request.headers.add("Content-Type", batch::kContentType);
    request.tls = target_.tls;
    if (!target_.authorization.empty()) {
      request.headers.add("Authorization", target_.authorization);
    }
    Result<http::ClientResponse> sent = pool_->send(request);
    if (!sent.ok()) {
      return base::make_error(errors::kNoServerAnswers,
                              {target_.url, sent.error().innermost().text});
    }
    const http::ClientResponse& response = sent.value();
    if (response.status == 200) return batch::decode_answer(response.body);
    const Result<base::json::Value> json = base::json::parse(std::string(response.body));
    const std::string message = json.ok() ? json.value().get("message").as_string() : "";
    const std::string status = "status " + std::to_string(response.status);
    return base::make_error(errors::kServerRefused, {message.empty() ? status : message});
  }

  const http::Url url_;
  const AdminTarget target_;
  std::unique_ptr<net::ReactorPool> reactors_;
  std::unique_ptr<http::ClientPool> pool_;
};

class LocalClient final : public QueueClient {
 public:
  ~LocalClient() override {
    if (service_) service_->stop();
    managers_.stop();
    service_.reset();
    if (reactors_) reactors_->stop();
  }
  Status start(const std::string& folder, const std::string& name, bool is_buffered) {
    MS_TRY(base::configure_log({.level_min = base::LogLevel::kWarning}));
    reactors_ = MS_TRY(net::ReactorPool::create(1));
    server::QueueManagersOptions options;
    options.work_folder = folder;
    options.default_name = name;
    options.is_only_default = true;
    options.is_dev = true;  // whoever may open the files needs no password
    options.is_buffered = is_buffered;
    options.on_failure = [](const base::Error& error) {
      print_queue_error(error);
      std::_Exit(kExitRefused);
    };
    MS_TRY(managers_.start(std::move(options), *reactors_));
    name_ = name;
    service_ = batch::BatchService::create(managers_, net::kNever);
    return {};
  }
  Result<batch::Answer> call(const batch::Request& request) override {
    std::optional<Result<batch::Answer>> answer;
    reactors_->run_on(0, [&] { answer.emplace(service_->run(name_, "mqm", request)); });
    return std::move(*answer);
  }
  void guard(uint64_t) override {}

 private:
  std::unique_ptr<net::ReactorPool> reactors_;
  server::QueueManagers managers_;
  std::shared_ptr<batch::BatchService> service_;
  std::string name_;
};

// The process that holds the lock of a store, by the kernel's table; 0: not found.
long locking_process(const std::string& lock_file) {
  struct stat info{};
  if (::stat(lock_file.c_str(), &info) != 0) return 0;
  std::ifstream locks("/proc/locks");
  std::string line;
  const std::string inode = ":" + std::to_string(info.st_ino);
  while (std::getline(locks, line)) {
    std::istringstream words(line);
    std::string number, kind, advisory, access, process, file;
    words >> number >> kind >> advisory >> access >> process >> file;
    if (kind == "FLOCK" && file.ends_with(inode)) return std::atol(process.c_str());
  }
  return 0;
}

Result<std::string> choose_queue_manager(const std::string& folder, std::string name) {
  const std::string all = io::join_path(folder, "qmgrs");
  std::vector<std::string> names;
  if (io::path_kind(all) == io::PathKind::kFolder) {
    for (const io::FolderEntry& entry : MS_TRY(io::list_folder(all))) {
      if (entry.kind != io::PathKind::kFolder || entry.name.starts_with('.')) continue;
      names.push_back(server::queue_manager_of_folder(entry.name));
    }
  }
  std::string known;
  for (const std::string& n : names) known += (known.empty() ? "" : ", ") + n;
  if (known.empty()) known = "none";
  if (name.empty() && names.size() == 1) name = names[0];
  if (name.empty()) name = server::kDefaultQueueManager;
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    return base::make_error(errors::kNoStoredQueueManager, {name, folder, known});
  }
  return name;
}

Result<std::unique_ptr<QueueClient>> open_local(const base::ParsedFlags& flags,
                                                const std::string& wanted) {
  const std::string folder(flags.text("work-dir"));
  const std::string name = MS_TRY(choose_queue_manager(folder, wanted));
  auto client = std::make_unique<LocalClient>();
  Status status = client->start(folder, name, flags.is_on("buffered"));
  if (status.ok()) return std::unique_ptr<QueueClient>(std::move(client));
  const std::string lock = io::join_path(
      io::join_path(io::join_path(folder, "qmgrs"), server::queue_manager_folder(name)), "lock");
  const long process = locking_process(lock);
  if (process == 0) return status;
  return base::make_error(errors::kWorkFolderRuns, {name, lock, process});
}

}  // namespace

std::vector<base::FlagSpec> queue_client_flags() {
  return with_admin_flags(
      {{.name = "qmgr",
        .value_name = "NAME",
        .help = "The queue manager; without, the default one of the server, or the only one of "
                "the work directory."},
       {.name = "work-dir",
        .value_name = "FOLDER",
        .help = "No server: open the queue manager of this work directory, which must not run."},
       {.name = "buffered",
        .help = "With --work-dir: as the option of `millstream run`.",
        .kind = base::FlagKind::kSwitch}});
}

std::vector<base::FlagSpec> message_client_flags() {
  std::vector<base::FlagSpec> flags = queue_client_flags();
  for (base::FlagSpec& flag : flags) {
    if (flag.name != "url") continue;
    flag.help =
        "Admin port of the server; or amqp://USER@HOST:PORT (amqps:// with TLS) of any broker of "
        "AMQP 1.0.";
  }
  return flags;
}

Result<std::unique_ptr<QueueClient>> open_queue_client(const base::ParsedFlags& flags,
                                                       std::string_view queue_manager) {
  const std::string name(queue_manager.empty() ? flags.text("qmgr") : queue_manager);
  if (flags.has("work-dir")) return open_local(flags, name);
  if (wire::amqp::client::is_broker_url(flags.text("url"))) return open_amqp_queue_client(flags);
  AdminTarget target = MS_TRY(admin_target_of(flags));
  const http::Url url = MS_TRY(admin_url_of(
      target, "/millstream/v1/qmgr/" + http::percent_encode(name.empty() ? "*" : name) + "/batch"));
  auto client = std::make_unique<RemoteClient>(url, std::move(target));
  MS_TRY(client->start());
  return std::unique_ptr<QueueClient>(std::move(client));
}

int print_queue_error(const base::Error& error) {
  std::fprintf(stderr, "%s\n", error.describe().c_str());
  return kExitRefused;
}

std::string reason_text(int32_t reason) {
  for (const mqi::NumberConstant& known : mqi::reason_codes()) {
    if (known.value == reason) return std::to_string(reason) + " " + std::string(known.name);
  }
  return std::to_string(reason);
}

int print_queue_refusal(const batch::Answer& answer) {
  if (answer.reason == 0) {
    std::fprintf(stderr, "%s\n", answer.detail.c_str());
    return kExitRefused;
  }
  std::fprintf(stderr, "%s%s%s\n", reason_text(answer.reason).c_str(),
               answer.detail.empty() ? "" : ": ", answer.detail.c_str());
  return kExitRefused;
}

}  // namespace millstream::cli
