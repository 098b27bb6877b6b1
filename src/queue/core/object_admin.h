// Definitions of a queue manager and everything else an administrator changes: they are changed
// here, in memory and in the store in the same order, and what messages need is derived from them.
//
// A change counts at once in memory; `done` says when it is durable. What is put on a new queue
// before that is behind its definition in the journal, so it cannot outlive it.
// Thread: any; changes are made one after another (lock: admin, before those of queues).
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "queue/core/object_table.h"
#include "queue/core/outcome.h"
#include "queue/core/unit_of_work.h"
#include "queue/objects/admin_target.h"

namespace millstream::queue {

class QueueManager;

// Who changes something, and by what (MQEVO_), for events.
struct AdminOrigin {
  std::string user;
  int32_t origin = 5;  // the queue manager itself
};

class ObjectAdmin {
 public:
  explicit ObjectAdmin(QueueManager& manager) : manager_(manager) {}

  const objects::Catalogue& catalogue() const { return catalogue_; }
  objects::AuthorityTable& authorities() { return authorities_; }
  objects::ChannelAuthTable& channel_auth() { return channel_auth_; }

  void define(objects::Definition definition, bool is_replace, objects::AdminDone done,
              const AdminOrigin& origin = {});
  void alter(objects::DefinitionPtr seen, objects::Definition changed, bool is_force,
             objects::AdminDone done, const AdminOrigin& origin = {});
  void erase(objects::ObjectFamily family, std::string name, objects::EraseOptions options,
             objects::AdminDone done, const AdminOrigin& origin = {});
  void clear_queue(const std::string& name, objects::AdminDone done);
  void set_authority(objects::AuthorityRecord record, objects::AdminDone done);
  void erase_authority(const std::string& key, objects::AdminDone done);
  void set_channel_auth(objects::ChannelAuthRule rule, objects::AdminDone done);
  void erase_channel_auth(const std::string& key, objects::AdminDone done);
  std::string applied_script(std::string_view name) const;
  void set_applied_script(std::string name, std::string hash, objects::AdminDone done);

  // What is changed between the two is one unit of work: it counts at once, is answered at once,
  // and durable as a whole or not at all. For the objects of a new queue manager, before anybody
  // else can reach it: messages on a queue of the unit would be in the journal before the queue.
  void begin_unit();
  void end_unit(objects::AdminDone done);

  // NOTRIGGER after a trigger of type DEPTH.
  void trigger_off(const std::string& queue);

  // A dynamic queue after a model. 2100 when the name is taken. `done` only for permanent ones,
  // and only after it returned pending.
  // `is_shared`: several may get, whatever the model says.
  Outcome create_dynamic(const std::string& name, const std::string& model, bool is_shared,
                         NamedQueueRef& out, base::Executor* executor, Done done);
  // The queue of a managed subscription, made after the topic's model.
  Outcome create_managed(const std::string& topic, bool is_durable, bool is_shared,
                         NamedQueueRef& out, base::Executor* executor);
  // With its messages, when `purges`; 2055 when there are some otherwise.
  Outcome delete_dynamic(const NamedQueueRef& object, bool purges);

  // At start. Topics and subscriptions are applied when all definitions are known.
  void apply_recovered();
  Status recover_definition(std::string_view key, std::string_view value);
  Status recover_record(uint8_t kind, std::string_view key, std::string_view value);
  void recovered_queue_id(QueueId id) {
    if (id > last_queue_id_) last_queue_id_ = id;
  }

 private:
  using Lock = std::unique_lock<std::mutex>;
  // Puts it into the catalogue and the object table; `unit` gets its records.
  void apply(objects::Definition definition, UnitOfWork* unit);
  void apply_queue(const objects::Definition& definition, UnitOfWork* unit, QueueId known_id);
  void record(const objects::Definition& definition, QueueId id, UnitOfWork& unit);
  void commit(UnitOfWork unit, Lock& lock, objects::AdminDone done);
  Outcome prepare_managed(objects::Definition& definition, std::string& made);
  void delete_managed(const std::string& queue);
  objects::AdminResult check_erase(const NamedQueueRef& object, bool is_purge) const;
  void erase_queue(const NamedQueueRef& object, UnitOfWork& unit);
  static std::string record_key(objects::ObjectFamily family, std::string_view name);

  QueueManager& manager_;
  mutable std::mutex mutex_;  // guards changes; readers use the tables' own
  objects::Catalogue catalogue_;
  objects::AuthorityTable authorities_;
  objects::ChannelAuthTable channel_auth_;
  std::map<std::string, std::string, std::less<>> scripts_;
  QueueId last_queue_id_ = 0;
  std::unique_ptr<UnitOfWork> open_unit_;  // between begin_unit() and end_unit()
};

// The face of an ObjectAdmin for one user.
std::unique_ptr<objects::AdminTarget> make_admin_target(QueueManager& manager, std::string user);

}  // namespace millstream::queue
