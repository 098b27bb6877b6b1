// From the definitions that administrators write (queue/objects) to the typed settings that the
// queue manager works with, and back where it makes an object itself.
// Thread: any.
#pragma once
#include <string>

#include "queue/core/settings.h"
#include "queue/objects/definition.h"

namespace millstream::queue {

// Kinds of what the core keeps as records in the store. Stored: never renumber.
enum class RecordKind : uint8_t {
  kDefinition = 1,  // key: family, name; value: queue id, Definition
  kQueueId = 2,     // the highest ever given
  kAuthority = 3,
  kChannelAuth = 4,
  kScript = 5,  // key: name; value: hash
  kCleanStop = 6,
  kSubscription = 7,
  kRetained = 8,
  kMaybeSeen = 9,  // key: queue id; value: the highest sequence that an unclean start found
  kClient = 10,    // what protocols keep of their clients (client_records.h)
};

QueueSettings queue_settings_of(const objects::Definition& definition);
AliasSettings alias_settings_of(const objects::Definition& definition);
RemoteSettings remote_settings_of(const objects::Definition& definition);
ProcessSettings process_settings_of(const objects::Definition& definition);
QueueManagerSettings manager_settings_of(const objects::Definition& definition);
objects::Definition local_queue_definition(std::string name, const QueueSettings& settings);
objects::Definition manager_definition(const QueueManagerSettings& settings);

}  // namespace millstream::queue
