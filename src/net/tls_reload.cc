#include "net/tls_reload.h"

#include <sys/stat.h>

#include "base/log.h"
#include "net/blocking_pool.h"

namespace millstream::net {

std::string file_stamps(const std::vector<std::string>& paths) {
  std::string out;
  for (const std::string& path : paths) {
    struct stat found{};
    if (path.empty() || ::stat(path.c_str(), &found) != 0) {
      out += "-;";
      continue;
    }
    for (int64_t part : {static_cast<int64_t>(found.st_ino), static_cast<int64_t>(found.st_size),
                         static_cast<int64_t>(found.st_mtim.tv_sec),
                         static_cast<int64_t>(found.st_mtim.tv_nsec)}) {
      out += std::to_string(part) + ",";
    }
    out += ";";
  }
  return out;
}

std::vector<std::string> TlsServer::files(const TlsServerSettings& settings) {
  std::vector<std::string> out = settings.crl_files;
  out.push_back(settings.keystore.path);
  out.push_back(settings.keystore.key_path);
  out.push_back(settings.truststore.path);
  return out;
}

Result<std::shared_ptr<TlsServer>> TlsServer::create(TlsServerSettings settings) {
  std::shared_ptr<TlsServer> made(new TlsServer);
  made->settings_ = std::move(settings);
  made->stamps_ = file_stamps(files(made->settings_));
  made->context_ = MS_TRY(TlsContext::create_server(made->settings_));
  return made;
}

bool TlsServer::reload() {
  std::lock_guard lock(reload_mutex_);
  std::string found = file_stamps(files(settings_));
  if (found == stamps_) return false;
  stamps_ = std::move(found);
  auto made = TlsContext::create_server(settings_);
  if (!made.ok()) {
    base::log_error(made.error());
    return false;
  }
  std::atomic_store(&context_, std::move(made).take_value());
  base::log_info("The keys and certificates of the HTTPS listener have been read anew.");
  return true;
}

Status TlsServer::configure(TlsServerSettings settings) {
  std::lock_guard lock(reload_mutex_);
  std::string stamps = file_stamps(files(settings));
  std::atomic_store(&context_, MS_TRY(TlsContext::create_server(settings)));
  settings_ = std::move(settings);
  stamps_ = std::move(stamps);
  return {};
}

std::shared_ptr<const TlsContext> TlsServer::current(int64_t now_ns) {
  if (now_ns >= next_check_ns_.load(std::memory_order_relaxed) &&
      !is_checking_.exchange(true, std::memory_order_acq_rel)) {
    next_check_ns_.store(now_ns + kRecheckNs, std::memory_order_relaxed);
    BlockingPool::shared().submit([self = shared_from_this()] {
      self->reload();
      self->is_checking_.store(false, std::memory_order_release);
    });
  }
  return std::atomic_load(&context_);
}

}  // namespace millstream::net
