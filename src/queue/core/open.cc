// MQOPEN and MQCLOSE of queues: name resolution through aliases, remote definitions and
// transmission queues; model queues; the rules of sharing.
#include <algorithm>

#include "queue/core/connection.h"
#include "queue/core/get_operation.h"
#include "queue/objects/object_name.h"

namespace millstream::queue {
namespace {

constexpr int32_t kOpenActions =
    mqi::oo::kInputAny | mqi::oo::kBrowse | mqi::oo::kOutput | mqi::oo::kInquire | mqi::oo::kSet;
constexpr int32_t kOpenAll = 0x7FFFFF;

bool open_bits_conflict(int32_t options, int32_t mask) {
  int32_t bits = options & mask;
  return (bits & (bits - 1)) != 0;
}

}  // namespace

Outcome Connection::check_open_options(const OpenCall& call) const {
  int32_t o = call.options;
  if ((o & ~kOpenAll) != 0) return Outcome::failed(mqi::reason::kOptionsError);
  if ((o & (kOpenActions | mqi::oo::kResolveNames)) == 0) {
    return Outcome::failed(mqi::reason::kOptionsError);
  }
  if (open_bits_conflict(o, mqi::oo::kInputAny) ||
      open_bits_conflict(o, mqi::oo::kReadAhead | mqi::oo::kNoReadAhead) ||
      open_bits_conflict(o,
                         mqi::oo::kBindOnOpen | mqi::oo::kBindNotFixed | mqi::oo::kBindOnGroup)) {
    return Outcome::failed(mqi::reason::kOptionsError);
  }
  if ((o & mqi::oo::kContextOfPut) != 0 && (o & mqi::oo::kOutput) == 0) {
    return Outcome::failed(mqi::reason::kOptionsError);
  }
  if ((o & mqi::oo::kSaveAllContext) != 0 && (o & mqi::oo::kInputAny) == 0) {
    return Outcome::failed(mqi::reason::kOptionsError);
  }
  if ((o & mqi::oo::kCoOp) != 0 && (o & mqi::oo::kBrowse) == 0) {
    return Outcome::failed(mqi::reason::kOptionsError);
  }
  return Outcome::ok();
}

Outcome Connection::open(OpenCall& call, Done done) {
  Outcome outcome = open_object(call, std::move(done));
  if (outcome.is_failed()) {
    ManagerEvent event;
    event.qualifier = event_reason::kOpen;
    event.open_options = call.options;
    event.object_manager = trim_name(call.queue_manager_name);
    if (call.object_type == mqi::ot::kTopic) event.topic = call.object_string;
    report_failure(outcome, call.object_name, std::move(event));
  }
  return outcome;
}

Outcome Connection::open_object(OpenCall& call, Done done) {
  call.handle = kNoObject;
  if (!is_open_) return Outcome::failed(mqi::reason::kHconnError);
  if (!manager_.is_running()) return Outcome::failed(mqi::reason::kQMgrStopping);
  if (Outcome o = check_open_options(call); !o.is_ok()) return o;
  if (handles_.size() >= manager_.settings().handles_max) {
    return Outcome::failed(mqi::reason::kHandleNotAvailable);
  }
  auto handle = std::make_shared<Handle>();
  Outcome outcome;
  handle->type = call.object_type;
  handle->options = call.options;
  if (call.object_type == mqi::ot::kQueueManager) {
    constexpr int32_t kNotForManager = kOpenActions & ~(mqi::oo::kInquire);
    if ((call.options & kNotForManager) != 0) {
      return Outcome::failed(mqi::reason::kOptionNotValidForType);
    }
    Outcome o = check_access(call, mqi::ot::kQueueManager, manager_.name());
    if (!o.is_ok()) return o;
  } else if (call.object_type == mqi::ot::kQueue) {
    outcome = open_queue(call, *handle, std::move(done));
    if (outcome.is_failed()) return outcome;
  } else if (call.object_type == mqi::ot::kTopic) {
    if (Outcome o = open_topic(call, *handle); o.is_failed()) return o;
  } else {
    return Outcome::failed(mqi::reason::kObjectTypeError);
  }
  handle->id = ++last_handle_;
  handle->marker = id_ << 24 | static_cast<uint32_t>(handle->id);
  call.handle = handle->id;
  bool is_input = handle->is_input;
  QueueRef queue = handle->queue;
  handles_[handle->id] = std::move(handle);
  show_handles();
  // Perhaps a trigger monitor, and messages are there already.
  if (is_input) manager_.reconsider_triggers(queue->name());
  return outcome;
}

Outcome Connection::open_queue(OpenCall& call, Handle& handle, Done done) {
  std::string_view name = trim_name(call.object_name);
  std::string_view where = trim_name(call.queue_manager_name);
  bool takes = (call.options & (mqi::oo::kInputAny | mqi::oo::kBrowse)) != 0;
  bool is_here = where.empty() || where == manager_.name();
  if (is_here && manager_.settings().creates_unknown_queues &&
      manager_.objects().find(name) == nullptr) {
    create_unknown(std::string(name));
  }
  if (Outcome o = resolve_queue(manager_, name, where, takes, handle); !o.is_ok()) return o;
  if (!handle.topic_object.empty()) {  // an alias of a topic
    OpenCall topic = call;
    topic.object_name = handle.topic_object;
    Outcome o = open_topic(topic, handle);
    call.resolved_object_string = topic.resolved_object_string;
    return o;
  }
  // The rights are those of the name that was opened, not of what it leads to.
  std::string_view named = handle.object != nullptr ? std::string_view(handle.object->name)
                                                    : std::string_view(handle.queue->name());
  if (Outcome o = check_access(call, mqi::ot::kQueue, named); !o.is_ok()) return o;
  if (!trim_name(call.selection_string).empty()) {
    if ((call.options & (mqi::oo::kInputAny | mqi::oo::kBrowse)) == 0) {
      return Outcome::failed(mqi::reason::kOptionNotValidForType);
    }
    auto selector = selector::Selector::compile(call.selection_string);
    if (!selector.ok()) return Outcome::failed(selector.error().number);
    handle.selector = std::move(selector).take_value();
    if (handle.selector->selects_all()) handle.selector = nullptr;
  }
  Outcome outcome;
  if (handle.object != nullptr && handle.object->kind == QueueKind::kModel) {
    outcome = create_dynamic(call, handle, std::move(done));
    if (outcome.is_failed()) return outcome;
  }
  if (Outcome o = attach(handle); !o.is_ok()) return o;
  call.resolved_queue = handle.is_remote ? handle.remote_queue : handle.queue->name();
  call.resolved_queue_manager = handle.is_remote ? handle.remote_queue_manager : manager_.name();
  return outcome;  // pending: a permanent dynamic queue is not durable yet
}

// For development: whatever is opened is there, made like the default local queue.
void Connection::create_unknown(const std::string& name) {
  if (!objects::is_object_name(name) || name.rfind("SYSTEM.", 0) == 0) return;
  objects::DefinitionPtr from = manager_.admin().catalogue().find(objects::ObjectFamily::kQueue,
                                                                  "SYSTEM.DEFAULT.LOCAL.QUEUE");
  objects::Definition definition(objects::ObjectType::kQlocal, name);
  if (from != nullptr) definition.copy_attributes(*from);
  manager_.admin().define(std::move(definition), false, [](objects::AdminResult) {});
}

Outcome Connection::allow(int32_t type, std::string_view name, uint32_t rights,
                          std::string_view user) const {
  const AccessControl* access = manager_.options().access;
  if (access == nullptr || access->refuses({user, type, name, rights}).empty()) {
    return Outcome::ok();
  }
  return Outcome::failed(mqi::reason::kNotAuthorized);
}

// Whoever acts for another needs the right to do so; then the other's rights count.
Outcome Connection::acting_user(bool is_alternate, std::string_view alternate,
                                std::string_view& user) const {
  user = options_.user;
  if (!is_alternate) return Outcome::ok();
  user = trim_name(alternate);
  return allow(mqi::ot::kQueue, user, kRightAlternateUser, options_.user);
}

Outcome Connection::check_access(const OpenCall& call, int32_t type, std::string_view name) const {
  if (manager_.options().access == nullptr) return Outcome::ok();
  struct Need {
    int32_t option;
    uint32_t right;
  };
  constexpr Need kNeeds[] = {
      {mqi::oo::kInputAny, kRightGet},
      {mqi::oo::kBrowse, kRightBrowse},
      {mqi::oo::kInquire, kRightInquire},
      {mqi::oo::kSet, kRightSet},
      {mqi::oo::kPassIdentityContext, kRightPassIdentity},
      {mqi::oo::kPassAllContext, kRightPassContext},
      {mqi::oo::kSetIdentityContext, kRightSetIdentity},
      {mqi::oo::kSetAllContext, kRightSetContext},
  };
  uint32_t rights = 0;
  for (const Need& need : kNeeds) {
    if ((call.options & need.option) != 0) rights |= need.right;
  }
  if ((call.options & mqi::oo::kOutput) != 0) {
    rights |= type == mqi::ot::kTopic ? kRightPublish : kRightPut;
  }
  std::string_view user;
  Outcome o = acting_user((call.options & mqi::oo::kAlternateUserAuthority) != 0,
                          call.alternate_user, user);
  if (!o.is_ok() || rights == 0) return o;
  return allow(type, name, rights, user);
}

Outcome Connection::attach(Handle& handle) {
  Queue& queue = *handle.queue;
  std::lock_guard lock(queue.mutex());
  if (queue.is_deleted()) return Outcome::failed(mqi::reason::kUnknownObjectName);
  int32_t o = handle.options;
  bool is_alias = handle.object != nullptr && handle.object->kind == QueueKind::kAlias;
  handle.property_control =
      is_alias ? handle.object->alias.property_control : queue.settings().property_control;
  if ((o & mqi::oo::kInputAny) != 0) {
    const QueueSettings& settings = queue.settings();
    bool is_exclusive = (o & mqi::oo::kInputExclusive) != 0 ||
                        ((o & mqi::oo::kInputAsQueueDef) != 0 && !settings.default_shared);
    if (!settings.is_shareable) is_exclusive = true;
    if (queue.is_exclusive || (is_exclusive && queue.open_input > 0)) {
      return Outcome::failed(mqi::reason::kObjectInUse);
    }
    handle.is_input = true;
    handle.is_exclusive = is_exclusive;
    queue.is_exclusive = is_exclusive;
    ++queue.open_input;
  }
  if ((o & mqi::oo::kBrowse) != 0) ++queue.open_browse;
  if ((o & mqi::oo::kOutput) != 0) ++queue.open_output;
  return Outcome::ok();
}

void Connection::detach(Handle& handle) {
  if (handle.subscription != nullptr) close_subscription(handle, mqi::co::kNone);
  if (handle.queue == nullptr) return;
  if (handle.owns_dynamic) (void)manager_.admin().delete_dynamic(handle.object, true);
  Queue& queue = *handle.queue;
  Effects effects;
  {
    std::lock_guard lock(queue.mutex());
    queue.reset_cursor(handle.cursor);
    // Its marks end with it.
    for (auto it = queue.marks().begin(); it != queue.marks().end();) {
      Queue::Mark& mark = it->second;
      if (mark.by == handle.marker) mark.is_cooperative = false;
      std::erase(mark.handles, handle.marker);
      it = mark.is_cooperative || !mark.handles.empty() ? std::next(it) : queue.marks().erase(it);
    }
    if (handle.locked != kNoSlot) manager_.release(queue, handle.locked, effects);
    handle.locked = kNoSlot;
    if (handle.is_input) {
      --queue.open_input;
      if (handle.is_exclusive) queue.is_exclusive = false;
      // The last reader has gone and left messages: somebody has to be started for them.
      queue.reconsider_trigger(effects);
    }
    if ((handle.options & mqi::oo::kBrowse) != 0) --queue.open_browse;
    if ((handle.options & mqi::oo::kOutput) != 0) --queue.open_output;
  }
  manager_.apply(std::move(effects));
  handle.queue = nullptr;
}

// What MQCLOSE does with a dynamic queue, by its options.
Outcome Connection::delete_closed(const Handle& handle, int32_t options) {
  DynamicKind dynamic;
  {
    std::lock_guard lock(handle.queue->mutex());
    dynamic = handle.queue->settings().dynamic;
  }
  bool is_temporary = dynamic == DynamicKind::kTemporary;
  if (options == mqi::co::kNone || is_temporary) {
    if (!handle.owns_dynamic) {
      return options == mqi::co::kNone ? Outcome::ok()
                                       : Outcome::failed(mqi::reason::kOptionNotValidForType);
    }
    return is_temporary ? manager_.admin().delete_dynamic(handle.object, true) : Outcome::ok();
  }
  if (dynamic == DynamicKind::kPredefined) {
    return Outcome::failed(mqi::reason::kOptionNotValidForType);
  }
  if (!handle.is_creator) {
    Outcome o = allow(mqi::ot::kQueue, handle.queue->name(), kRightDelete, options_.user);
    if (!o.is_ok()) return o;
  }
  {
    std::lock_guard lock(handle.queue->mutex());
    bool is_used = handle.queue->uncommitted_puts() > 0 || handle.queue->has_locked();
    if (is_used) return Outcome::failed(mqi::reason::kQNotEmpty);
  }
  return manager_.admin().delete_dynamic(handle.object, options == mqi::co::kDeletePurge);
}

Outcome Connection::close(Hobj& id, int32_t options, Done) {
  if (!is_open_) return Outcome::failed(mqi::reason::kHconnError);
  HandleRef handle = find_handle(id);
  if (handle == nullptr) return Outcome::failed(mqi::reason::kHobjError);
  if (handle->type == kSubscriptionHandle) {
    constexpr int32_t kBoth = mqi::co::kKeepSub | mqi::co::kRemoveSub;
    if ((options & ~kBoth) != 0 || options == kBoth) {
      return Outcome::failed(mqi::reason::kOptionsError);
    }
    close_subscription(*handle, options);
    handles_.erase(id);
    id = kNoObject;
    show_handles();
    return Outcome::ok();
  }
  if (options != mqi::co::kNone && options != mqi::co::kDelete &&
      options != mqi::co::kDeletePurge) {
    return Outcome::failed(mqi::reason::kOptionsError);
  }
  Outcome outcome;
  if (handle->queue != nullptr && handle->object != nullptr && handle->object->queue != nullptr) {
    outcome = delete_closed(*handle, options);
    // The handle stays open when the option does not fit; a queue that is not empty closes it.
    if (outcome.reason == mqi::reason::kOptionNotValidForType) return outcome;
    if (outcome.reason == mqi::reason::kNotAuthorized) {
      report_failure(outcome, handle->queue->name(), {.qualifier = event_reason::kClose});
      return outcome;
    }
  } else if (options != mqi::co::kNone) {
    return Outcome::failed(mqi::reason::kOptionNotValidForType);
  }
  std::vector<std::shared_ptr<GetOperation>> waiting;
  for (auto& [call, operation] : waiting_) {
    if (operation->handle_id() == id) waiting.push_back(operation);
  }
  for (auto& operation : waiting) operation->end(Outcome::failed(mqi::reason::kHobjError));
  detach(*handle);
  handles_.erase(id);
  id = kNoObject;
  show_handles();
  return outcome;
}

// The name: a prefix and a star, which becomes something unique; or the name itself.
Outcome Connection::create_dynamic(OpenCall& call, Handle& handle, Done done) {
  constexpr size_t kPrefixMax = 32;
  constexpr size_t kNameMax = 48;
  std::string name(trim_name(call.dynamic_name));
  size_t star = name.find('*');
  if (name.empty() ||
      (star != std::string::npos && (star + 1 != name.size() || star > kPrefixMax))) {
    return Outcome::failed(mqi::reason::kDynamicQNameError);
  }
  if (star != std::string::npos) {
    constexpr char kDigits[] = "0123456789ABCDEF";
    name.pop_back();
    uint64_t unique = manager_.options().random->next_u64();
    for (int i = 0; i < 16; ++i) name += kDigits[unique >> (60 - 4 * i) & 15];
  }
  if (name.size() > kNameMax || !objects::is_object_name(name)) {
    return Outcome::failed(mqi::reason::kDynamicQNameError);
  }
  NamedQueueRef created;
  Outcome outcome = manager_.admin().create_dynamic(name, handle.object->name, false, created,
                                                    options_.executor, std::move(done));
  if (outcome.is_failed()) return outcome;
  handle.object = created;
  handle.queue = created->queue;
  {
    std::lock_guard lock(handle.queue->mutex());
    const QueueSettings& settings = handle.queue->settings();
    handle.default_priority = settings.default_priority;
    handle.default_persistent = settings.default_persistent;
    handle.expiry_cap = settings.expiry_cap;
    handle.owns_dynamic = settings.dynamic == DynamicKind::kTemporary;
    handle.is_creator = true;
  }
  call.object_name = name;
  return outcome;
}

}  // namespace millstream::queue
