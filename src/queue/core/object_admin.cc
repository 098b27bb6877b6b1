#include "queue/core/object_admin.h"

#include "base/ascii.h"
#include "base/assert.h"
#include "queue/core/definitions.h"
#include "queue/core/errors_gen.h"
#include "queue/core/queue_manager.h"

namespace millstream::queue {

using objects::AdminDone;
using objects::AdminResult;
using objects::Definition;
using objects::ObjectFamily;
using objects::ObjectType;

namespace {

UnitRecord admin_record(RecordKind kind, std::string key, std::string value,
                        bool is_erased = false) {
  return {static_cast<uint8_t>(kind), std::move(key), std::move(value), is_erased};
}

std::string admin_number(uint32_t v) { return std::string(reinterpret_cast<char*>(&v), 4); }

}  // namespace

std::string ObjectAdmin::record_key(ObjectFamily family, std::string_view name) {
  std::string key(1, static_cast<char>(family));
  key += name;
  return key;
}

void ObjectAdmin::record(const Definition& definition, QueueId id, UnitOfWork& unit) {
  unit.records.push_back(admin_record(RecordKind::kDefinition,
                                      record_key(definition.family(), definition.name()),
                                      admin_number(id) + definition.encode()));
}

// Under the admin lock, so that the journal has changes in the order in which memory has.
void ObjectAdmin::begin_unit() {
  Lock lock(mutex_);
  MS_ASSERT(open_unit_ == nullptr);
  open_unit_ = std::make_unique<UnitOfWork>();
}

void ObjectAdmin::end_unit(AdminDone done) {
  Lock lock(mutex_);
  MS_ASSERT(open_unit_ != nullptr);
  const std::unique_ptr<UnitOfWork> unit = std::move(open_unit_);
  commit(std::move(*unit), lock, std::move(done));
}

void ObjectAdmin::commit(UnitOfWork unit, Lock& lock, AdminDone done) {
  if (open_unit_ != nullptr) {
    MS_ASSERT(unit.count() == 0);
    for (UnitRecord& record : unit.records) open_unit_->records.push_back(std::move(record));
    for (const RedoClear& clear : unit.clears) open_unit_->clears.push_back(clear);
    lock.unlock();
    if (done) done({});
    return;
  }
  auto shared = std::make_shared<AdminDone>(std::move(done));
  auto* operation =
      new CommitOperation(manager_, std::move(unit), &manager_.executor(), [shared](Outcome o) {
        if (*shared) (*shared)({o.completion, o.reason, {}});
      });
  Outcome outcome = operation->run();
  lock.unlock();
  if (!outcome.is_pending() && *shared) (*shared)({outcome.completion, outcome.reason, {}});
}

void ObjectAdmin::apply_queue(const Definition& definition, UnitOfWork* unit, QueueId known_id) {
  const std::string& name = definition.name();
  NamedQueueRef old = manager_.objects().find(name);
  if (definition.number(objects::Attr::kTrigger) != 0) manager_.note_triggering();
  if (definition.type() == ObjectType::kQlocal) {
    if (old != nullptr) {
      std::unique_lock lock(old->queue->mutex());
      old->queue->alter(queue_settings_of(definition));
      QueueId id = old->queue->id();
      lock.unlock();
      if (unit != nullptr) record(definition, id, *unit);
      return;
    }
    QueueId id = known_id != 0 ? known_id : ++last_queue_id_;
    auto object = std::make_shared<NamedQueue>(name, QueueKind::kLocal);
    object->queue =
        std::make_shared<Queue>(id, name, queue_settings_of(definition), manager_.clock());
    object->queue->reports_events = manager_.settings().reports_performance;
    manager_.add_queue(object->queue);
    manager_.objects().add(object);
    if (unit != nullptr) {
      record(definition, id, *unit);
      unit->records.push_back(admin_record(RecordKind::kQueueId, "", admin_number(id)));
    }
    return;
  }
  NamedQueueRef object;
  if (definition.type() == ObjectType::kQalias) {
    object = std::make_shared<NamedQueue>(name, QueueKind::kAlias);
    object->alias = alias_settings_of(definition);
    object->inhibits_put = object->alias.inhibits_put;
    object->inhibits_get = object->alias.inhibits_get;
  } else if (definition.type() == ObjectType::kQremote) {
    object = std::make_shared<NamedQueue>(name, QueueKind::kRemote);
    object->remote = remote_settings_of(definition);
    object->inhibits_put = object->remote.inhibits_put;
  } else {
    object = std::make_shared<NamedQueue>(name, QueueKind::kModel);
    object->model = queue_settings_of(definition);
  }
  manager_.objects().replace(std::move(object));
  if (unit != nullptr) record(definition, 0, *unit);
}

void ObjectAdmin::apply(Definition definition, UnitOfWork* unit) {
  switch (definition.family()) {
    case ObjectFamily::kQueue:
      apply_queue(definition, unit, 0);
      break;
    case ObjectFamily::kProcess:
      manager_.objects().set_process(definition.name(), std::make_shared<const ProcessSettings>(
                                                            process_settings_of(definition)));
      if (unit != nullptr) record(definition, 0, *unit);
      break;
    case ObjectFamily::kQmgr:
      manager_.set_settings(manager_settings_of(definition));
      if (unit != nullptr) record(definition, 0, *unit);
      break;
    default:
      if (unit != nullptr) record(definition, 0, *unit);
      break;
  }
  if (unit != nullptr && definition.family() == ObjectFamily::kTopic) {
    (void)manager_.pubsub().apply_topic(definition);
  }
  (void)catalogue_.put(std::make_shared<const Definition>(std::move(definition)));
}

void ObjectAdmin::define(Definition definition, bool is_replace, AdminDone done,
                         const AdminOrigin&) {
  ObjectFamily family = definition.family();
  std::string managed;
  if (family == ObjectFamily::kSubscription) {
    Outcome o = prepare_managed(definition, managed);
    if (o.is_failed()) return done(AdminResult::failed(o.reason, {definition.name()}));
  }
  Lock lock(mutex_);
  objects::DefinitionPtr old = catalogue_.find(family, definition.name());
  auto refuse = [&](int32_t reason) {
    lock.unlock();
    if (!managed.empty()) delete_managed(managed);
    done(AdminResult::failed(reason, {definition.name()}));
  };
  if (old != nullptr && !is_replace) {
    return refuse(family == ObjectFamily::kSubscription ? objects::reason::kSubscriptionExists
                                                        : mqi::reason::kObjectAlreadyExists);
  }
  if (old != nullptr && old->type() != definition.type()) {
    return refuse(objects::reason::kWrongType);
  }
  if (old == nullptr && catalogue_.size() >= objects::kDefinitionsMax) {
    return refuse(mqi::reason::kResourceProblem);
  }
  if (family == ObjectFamily::kSubscription) {
    Outcome o = manager_.pubsub().apply_subscription(definition);
    if (o.is_failed()) return refuse(o.reason);
  }
  int64_t now = manager_.now_gmt_micros() / 1000;
  definition.set_created(old != nullptr ? old->created_gmt_ms() : now);
  if (old != nullptr) definition.set_altered(now);
  UnitOfWork unit;
  apply(std::move(definition), &unit);
  commit(std::move(unit), lock, std::move(done));
}

void ObjectAdmin::alter(objects::DefinitionPtr seen, Definition changed, bool is_force,
                        AdminDone done, const AdminOrigin&) {
  Lock lock(mutex_);
  objects::DefinitionPtr current = catalogue_.find(changed.family(), changed.name());
  auto refuse = [&](int32_t reason) {
    lock.unlock();
    done(AdminResult::failed(reason, {changed.name()}));
  };
  if (current == nullptr) return refuse(mqi::reason::kUnknownObjectName);
  if (current != seen) return refuse(mqi::reason::kObjectChanged);
  if (changed.type() == ObjectType::kQlocal && !is_force) {
    bool changes_usage =
        changed.number(objects::Attr::kUsage) != current->number(objects::Attr::kUsage);
    NamedQueueRef object = manager_.objects().find(changed.name());
    if (changes_usage && object != nullptr) {
      std::unique_lock queue_lock(object->queue->mutex());
      bool is_open = object->queue->open_input + object->queue->open_output > 0;
      bool is_empty = object->queue->depth() == 0;
      queue_lock.unlock();
      if (is_open) return refuse(objects::reason::kObjectOpen);
      if (!is_empty) return refuse(mqi::reason::kQNotEmpty);
    }
  }
  if (changed.family() == ObjectFamily::kSubscription) {
    Outcome o = manager_.pubsub().apply_subscription(changed);
    if (o.is_failed()) return refuse(o.reason);
  }
  changed.set_created(current->created_gmt_ms());
  changed.set_altered(manager_.now_gmt_micros() / 1000);
  bool is_temporary = changed.type() == ObjectType::kQlocal &&
                      changed.number(objects::Attr::kDeftype) ==
                          static_cast<int64_t>(objects::QueueDefinitionType::kTempdyn);
  UnitOfWork unit;
  apply(std::move(changed), &unit);
  if (is_temporary) unit.records.clear();  // a temporary queue is never stored
  commit(std::move(unit), lock, std::move(done));
}

AdminResult ObjectAdmin::check_erase(const NamedQueueRef& object, bool is_purge) const {
  if (object->kind != QueueKind::kLocal) return {};
  Queue& queue = *object->queue;
  std::lock_guard lock(queue.mutex());
  if (queue.open_input + queue.open_output + queue.open_browse > 0) {
    return AdminResult::failed(objects::reason::kObjectOpen, {object->name});
  }
  if (queue.uncommitted_puts() > 0 || queue.has_locked()) {
    return AdminResult::failed(objects::reason::kObjectOpen, {object->name});
  }
  if (queue.depth() > 0 && !is_purge) {
    return AdminResult::failed(mqi::reason::kQNotEmpty, {object->name});
  }
  return {};
}

void ObjectAdmin::erase_queue(const NamedQueueRef& object, UnitOfWork& unit) {
  if (object->kind == QueueKind::kLocal) {
    Queue& queue = *object->queue;
    std::lock_guard lock(queue.mutex());
    manager_.drop_available(queue);
    queue.mark_deleted();
    unit.clears.push_back({queue.id(), queue.last_sequence(), true});
    manager_.remove_queue(queue.id());
  }
  manager_.objects().remove(object->name);
}

void ObjectAdmin::erase(ObjectFamily family, std::string name, objects::EraseOptions options,
                        AdminDone done, const AdminOrigin&) {
  Lock lock(mutex_);
  auto refuse = [&](AdminResult result) {
    lock.unlock();
    done(std::move(result));
  };
  if (catalogue_.find(family, name) == nullptr) {
    return refuse(AdminResult::failed(mqi::reason::kUnknownObjectName, {name}));
  }
  UnitOfWork unit;
  std::string managed;  // a subscription's queue goes with it
  if (family == ObjectFamily::kQueue) {
    NamedQueueRef object = manager_.objects().find(name);
    if (object != nullptr) {
      AdminResult result = check_erase(object, options.is_purge);
      if (!result.ok()) return refuse(std::move(result));
      erase_queue(object, unit);
    }
  } else if (family == ObjectFamily::kProcess) {
    manager_.objects().set_process(name, nullptr);
  } else if (family == ObjectFamily::kTopic) {
    manager_.pubsub().erase_topic(*catalogue_.find(family, name));
  } else if (family == ObjectFamily::kSubscription) {
    objects::SubscriptionAttributes s =
        objects::read_subscription_attributes(*catalogue_.find(family, name));
    if (s.destination_class == objects::DestinationClass::kManaged) managed = s.destination;
    manager_.pubsub().erase_subscription(name);
  } else if (family == ObjectFamily::kQmgr) {
    return refuse(AdminResult::failed(objects::reason::kUnsupported, {name}));
  }
  catalogue_.erase(family, name);
  unit.records.push_back(admin_record(RecordKind::kDefinition, record_key(family, name), "", true));
  if (options.erases_authorities) {
    for (const objects::AuthorityRecord& record : authorities_.all()) {
      if (record.profile != name) continue;
      std::string key = record.key();
      authorities_.erase(key);
      unit.records.push_back(admin_record(RecordKind::kAuthority, std::move(key), "", true));
    }
  }
  commit(std::move(unit), lock, std::move(done));
  if (!managed.empty()) delete_managed(managed);
}

void ObjectAdmin::clear_queue(const std::string& name, AdminDone done) {
  Lock lock(mutex_);
  auto refuse = [&](int32_t reason) {
    lock.unlock();
    done(AdminResult::failed(reason, {name}));
  };
  NamedQueueRef object = manager_.objects().find(name);
  if (object == nullptr) return refuse(mqi::reason::kUnknownObjectName);
  if (object->kind != QueueKind::kLocal) return refuse(objects::reason::kWrongType);
  UnitOfWork unit;
  {
    Queue& queue = *object->queue;
    std::unique_lock queue_lock(queue.mutex());
    bool is_used = queue.open_input + queue.open_output + queue.open_browse > 0 ||
                   queue.uncommitted_puts() > 0 || queue.has_locked();
    if (is_used) {
      queue_lock.unlock();
      return refuse(objects::reason::kObjectOpen);
    }
    manager_.drop_available(queue);
    unit.clears.push_back({queue.id(), queue.last_sequence(), false});
  }
  commit(std::move(unit), lock, std::move(done));
}

void ObjectAdmin::set_authority(objects::AuthorityRecord record, AdminDone done) {
  Lock lock(mutex_);
  UnitOfWork unit;
  unit.records.push_back(admin_record(RecordKind::kAuthority, record.key(), record.encode()));
  authorities_.put(std::move(record));
  commit(std::move(unit), lock, std::move(done));
}

void ObjectAdmin::erase_authority(const std::string& key, AdminDone done) {
  Lock lock(mutex_);
  if (!authorities_.erase(key)) {
    lock.unlock();
    return done(AdminResult::failed(mqi::reason::kUnknownObjectName, {key}));
  }
  UnitOfWork unit;
  unit.records.push_back(admin_record(RecordKind::kAuthority, key, "", true));
  commit(std::move(unit), lock, std::move(done));
}

void ObjectAdmin::set_channel_auth(objects::ChannelAuthRule rule, AdminDone done) {
  Lock lock(mutex_);
  UnitOfWork unit;
  unit.records.push_back(admin_record(RecordKind::kChannelAuth, rule.key(), rule.encode()));
  channel_auth_.put(std::move(rule));
  commit(std::move(unit), lock, std::move(done));
}

void ObjectAdmin::erase_channel_auth(const std::string& key, AdminDone done) {
  Lock lock(mutex_);
  if (!channel_auth_.erase(key)) {
    lock.unlock();
    return done(AdminResult::failed(mqi::reason::kUnknownObjectName, {key}));
  }
  UnitOfWork unit;
  unit.records.push_back(admin_record(RecordKind::kChannelAuth, key, "", true));
  commit(std::move(unit), lock, std::move(done));
}

void ObjectAdmin::trigger_off(const std::string& queue) {
  objects::DefinitionPtr current = catalogue_.find(ObjectFamily::kQueue, queue);
  if (current == nullptr) return;
  Definition changed = *current;
  changed.set_number(objects::Attr::kTrigger, 0);
  alter(std::move(current), std::move(changed), true, [](AdminResult) {});
}

std::string ObjectAdmin::applied_script(std::string_view name) const {
  std::lock_guard lock(mutex_);
  auto found = scripts_.find(name);
  return found == scripts_.end() ? std::string() : found->second;
}

void ObjectAdmin::set_applied_script(std::string name, std::string hash, AdminDone done) {
  Lock lock(mutex_);
  UnitOfWork unit;
  unit.records.push_back(admin_record(RecordKind::kScript, name, hash));
  scripts_[std::move(name)] = std::move(hash);
  commit(std::move(unit), lock, std::move(done));
}

Outcome ObjectAdmin::create_dynamic(const std::string& name, const std::string& model,
                                    bool is_shared, NamedQueueRef& out, base::Executor* executor,
                                    Done done) {
  Lock lock(mutex_);
  objects::DefinitionPtr from = catalogue_.find(ObjectFamily::kQueue, model);
  if (from == nullptr) return Outcome::failed(mqi::reason::kUnknownObjectName);
  if (catalogue_.find(ObjectFamily::kQueue, name) != nullptr) {
    return Outcome::failed(mqi::reason::kObjectAlreadyExists);
  }
  Definition definition(ObjectType::kQlocal, name);
  definition.copy_attributes(*from);
  definition.set_number(objects::Attr::kDeftype, from->number(objects::Attr::kDeftype));
  if (is_shared) {
    definition.set_number(objects::Attr::kShare, 1);
    definition.set_number(objects::Attr::kDefsopt,
                          static_cast<int64_t>(objects::InputDefault::kShared));
  }
  definition.set_created(manager_.now_gmt_micros() / 1000);
  bool is_permanent = queue_settings_of(definition).dynamic == DynamicKind::kPermanent;
  UnitOfWork unit;
  apply(std::move(definition), &unit);
  // The identifier counts even when the definition is not kept: it is never used again.
  if (!is_permanent)
    std::erase_if(unit.records, [](const UnitRecord& r) {
      return r.kind == static_cast<uint8_t>(RecordKind::kDefinition);
    });
  out = manager_.objects().find(name);
  auto* operation = new CommitOperation(manager_, std::move(unit), executor,
                                        is_permanent ? std::move(done) : nullptr);
  Outcome outcome = operation->run();
  return is_permanent ? outcome : outcome.is_pending() ? Outcome::ok() : outcome;
}

Outcome ObjectAdmin::create_managed(const std::string& topic, bool is_durable, bool is_shared,
                                    NamedQueueRef& out, base::Executor* executor) {
  topic::TopicAttributes attributes = manager_.pubsub().attributes(topic);
  std::string model =
      is_durable ? attributes.durable_model_queue : attributes.temporary_model_queue;
  if (model.empty()) {
    model = is_durable ? "SYSTEM.DURABLE.MODEL.QUEUE" : "SYSTEM.NDURABLE.MODEL.QUEUE";
  }
  std::string name = is_durable ? "SYSTEM.MANAGED.DURABLE." : "SYSTEM.MANAGED.NDURABLE.";
  uint64_t unique = manager_.options().random->next_u64();
  base::append_upper_hex(name, {reinterpret_cast<const char*>(&unique), sizeof unique});
  Outcome o = create_dynamic(name, model, is_shared, out, executor, nullptr);
  return o.is_failed() ? o : Outcome::ok();
}

void ObjectAdmin::delete_managed(const std::string& queue) {
  NamedQueueRef object = manager_.objects().find(queue);
  if (object != nullptr && object->queue != nullptr) (void)delete_dynamic(object, true);
}

// DEFINE SUB with DESTCLAS(MANAGED): its queue is made with it.
Outcome ObjectAdmin::prepare_managed(Definition& definition, std::string& made) {
  using objects::Attr;
  objects::SubscriptionAttributes from = objects::read_subscription_attributes(definition);
  if (from.destination_class != objects::DestinationClass::kManaged) return Outcome::ok();
  objects::DefinitionPtr old = catalogue_.find(ObjectFamily::kSubscription, definition.name());
  if (old != nullptr) {  // REPLACE keeps the queue, with what is on it
    definition.set_text(Attr::kDest, std::string(old->text(Attr::kDest)));
    return Outcome::ok();
  }
  if (!from.destination.empty()) return Outcome::ok();
  std::string topic;
  Outcome o = manager_.pubsub().full_topic(from.topic_object, from.topic_string, topic);
  if (!o.is_ok()) return o;
  NamedQueueRef queue;
  o = create_managed(topic, true, from.is_shared, queue, &manager_.executor());
  if (o.is_failed()) return o;
  made = queue->name;
  definition.set_text(Attr::kDest, made);
  return Outcome::ok();
}

Outcome ObjectAdmin::delete_dynamic(const NamedQueueRef& object, bool purges) {
  Lock lock(mutex_);
  bool is_temporary;
  {
    std::lock_guard queue_lock(object->queue->mutex());
    if (object->queue->is_deleted()) return Outcome::ok();
    is_temporary = object->queue->settings().dynamic == DynamicKind::kTemporary;
    if (!purges && object->queue->depth() > 0) return Outcome::failed(mqi::reason::kQNotEmpty);
  }
  UnitOfWork unit;
  erase_queue(object, unit);
  catalogue_.erase(ObjectFamily::kQueue, object->name);
  if (is_temporary) return Outcome::ok();  // nothing of it was ever stored
  unit.records.push_back(admin_record(RecordKind::kDefinition,
                                      record_key(ObjectFamily::kQueue, object->name), "", true));
  commit(std::move(unit), lock, nullptr);
  return Outcome::ok();
}

void ObjectAdmin::apply_recovered() {
  for (const auto& topic : catalogue_.find_generic(ObjectFamily::kTopic, "*")) {
    (void)manager_.pubsub().apply_topic(*topic);
  }
  for (const auto& subscription : catalogue_.find_generic(ObjectFamily::kSubscription, "*")) {
    (void)manager_.pubsub().apply_subscription(*subscription);
  }
}

Status ObjectAdmin::recover_definition(std::string_view key, std::string_view value) {
  QueueId id = 0;
  if (key.empty() || value.size() < sizeof id) {
    return base::make_error(core::errors::kStoredDefinition, {manager_.name(), 1, key});
  }
  std::memcpy(&id, value.data(), sizeof id);
  Definition definition = MS_TRY(Definition::decode(value.substr(sizeof id)));
  if (definition.family() == ObjectFamily::kQueue) {
    recovered_queue_id(id);
    apply_queue(definition, nullptr, id);
    (void)catalogue_.put(std::make_shared<const Definition>(std::move(definition)));
    return {};
  }
  apply(std::move(definition), nullptr);
  return {};
}

Status ObjectAdmin::recover_record(uint8_t kind, std::string_view key, std::string_view value) {
  switch (static_cast<RecordKind>(kind)) {
    case RecordKind::kDefinition:
      return recover_definition(key, value);
    case RecordKind::kQueueId: {
      QueueId id = 0;
      if (value.size() == sizeof id) std::memcpy(&id, value.data(), sizeof id);
      recovered_queue_id(id);
      return {};
    }
    case RecordKind::kAuthority:
      authorities_.put(MS_TRY(objects::AuthorityRecord::decode(value)));
      return {};
    case RecordKind::kChannelAuth:
      channel_auth_.put(MS_TRY(objects::ChannelAuthRule::decode(value)));
      return {};
    case RecordKind::kScript:
      scripts_[std::string(key)] = value;
      return {};
    default:
      return base::make_error(core::errors::kStoredDefinition,
                              {manager_.name(), static_cast<int64_t>(kind), key});
  }
}

}  // namespace millstream::queue
