// A server's TLS context that follows its files: when a key store, trust store or revocation list
// changes, new connections get a new context, and running ones keep theirs. A file that cannot be
// used is logged, and the former context stays.
// Thread: any. current() reads no file itself: the look at them runs in the blocking pool.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "net/deadline.h"
#include "net/tls_context.h"

namespace millstream::net {

// Sizes and times of the files as one text; equal texts: nothing has changed. Looks at the disk.
std::string file_stamps(const std::vector<std::string>& paths);

class TlsServer : public std::enable_shared_from_this<TlsServer> {
 public:
  static constexpr int64_t kRecheckNs = 2 * kSecond;

  static Result<std::shared_ptr<TlsServer>> create(TlsServerSettings settings);
  // The newest context. Looks for changes when `now_ns` is late enough after the last look.
  std::shared_ptr<const TlsContext> current(int64_t now_ns);
  // Looks now, and says whether there is a new context.
  bool reload();
  // Other settings, for new connections. After an error the former ones hold. Blocking.
  Status configure(TlsServerSettings settings);

 private:
  TlsServer() = default;
  static std::vector<std::string> files(const TlsServerSettings& settings);

  TlsServerSettings settings_;                 // under reload_mutex_
  std::shared_ptr<const TlsContext> context_;  // by atomic_load and atomic_store
  std::atomic<int64_t> next_check_ns_{0};
  std::mutex reload_mutex_;  // one look at a time; never waited for on a reactor
  std::string stamps_;       // under reload_mutex_
  std::atomic<bool> is_checking_{false};
};

}  // namespace millstream::net
