// The objects of a queue manager by name, as messages need them: local queues, aliases, remote
// definitions, model queues, processes. One name space for all kinds of queues, as MQSC has.
// Thread: any; look-ups share a lock. An object stays usable while somebody holds it.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "queue/core/queue.h"
#include "queue/core/settings.h"

namespace millstream::queue {

enum class QueueKind : uint8_t { kLocal, kAlias, kRemote, kModel };

// One name. The settings of the kind it is; altering replaces the object, but for a local queue,
// whose Queue is altered. An open handle keeps what it opened and reads the inhibits live.
struct NamedQueue {
  NamedQueue(std::string object_name, QueueKind object_kind)
      : name(std::move(object_name)), kind(object_kind) {}
  const std::string name;
  const QueueKind kind;
  QueueRef queue;         // kLocal
  AliasSettings alias;    // kAlias
  RemoteSettings remote;  // kRemote
  QueueSettings model;    // kModel
  // Live, of aliases and remote definitions.
  std::atomic<bool> inhibits_put{false};
  std::atomic<bool> inhibits_get{false};
};
using NamedQueueRef = std::shared_ptr<NamedQueue>;

class ObjectTable {
 public:
  NamedQueueRef find(std::string_view name) const;
  // False: the name is taken.
  bool add(NamedQueueRef object);
  // The same name with other settings; inhibits of the old one follow.
  void replace(NamedQueueRef object);
  void remove(std::string_view name);
  std::vector<NamedQueueRef> all() const;

  std::shared_ptr<const ProcessSettings> find_process(std::string_view name) const;
  void set_process(std::string_view name, std::shared_ptr<const ProcessSettings> settings);

 private:
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view s) const { return std::hash<std::string_view>()(s); }
  };
  template <typename T>
  using Map = std::unordered_map<std::string, T, Hash, std::equal_to<>>;
  mutable std::shared_mutex mutex_;
  Map<NamedQueueRef> queues_;
  Map<std::shared_ptr<const ProcessSettings>> processes_;
};

}  // namespace millstream::queue
