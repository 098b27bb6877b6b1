#include "queue/core/name_resolution.h"

#include "queue/core/queue_manager.h"

namespace millstream::queue {
namespace {

// The transmission queue that is named, else the one with the queue manager's name, else the
// default one.
Outcome resolve_transmission(QueueManager& manager, const std::string& where,
                             const std::string& named, QueueRef& out) {
  namespace reason = mqi::reason;
  NamedQueueRef target;
  bool is_default = false;
  if (!named.empty()) {
    target = manager.objects().find(named);
    if (target == nullptr) return Outcome::failed(reason::kUnknownXmitQ);
  } else {
    target = manager.objects().find(where);
    const std::string& fallback = manager.settings().default_transmission_queue;
    bool is_usable = target != nullptr && target->kind == QueueKind::kLocal;
    if (!is_usable && fallback.empty()) return Outcome::failed(reason::kUnknownRemoteQMgr);
    if (!is_usable) {
      is_default = true;
      target = manager.objects().find(fallback);
      if (target == nullptr) return Outcome::failed(reason::kUnknownDefXmitQ);
    }
  }
  if (target->kind != QueueKind::kLocal) {
    return Outcome::failed(is_default ? reason::kDefXmitQTypeError : reason::kXmitQTypeError);
  }
  std::lock_guard lock(target->queue->mutex());
  if (!target->queue->settings().is_transmission) {
    return Outcome::failed(is_default ? reason::kDefXmitQUsageError : reason::kXmitQUsageError);
  }
  out = target->queue;
  return Outcome::ok();
}

void resolve_cap(Resolved& out, int32_t cap) {
  if (cap >= 0 && (out.expiry_cap < 0 || cap < out.expiry_cap)) out.expiry_cap = cap;
}

void resolve_queue_cap(Resolved& out) {
  std::lock_guard lock(out.queue->mutex());
  resolve_cap(out, out.queue->settings().expiry_cap);
}

void resolve_defaults(Resolved& out) {
  std::lock_guard lock(out.queue->mutex());
  out.default_priority = out.queue->settings().default_priority;
  out.default_persistent = out.queue->settings().default_persistent;
  resolve_cap(out, out.queue->settings().expiry_cap);
}

Outcome resolve_remote(QueueManager& manager, std::string_view queue, const std::string& where,
                       const std::string& transmission, bool takes, Resolved& out) {
  if (takes) return Outcome::failed(mqi::reason::kOptionNotValidForType);
  if (Outcome o = resolve_transmission(manager, where, transmission, out.queue); !o.is_ok()) {
    return o;
  }
  out.is_remote = true;
  out.remote_queue = queue;
  out.remote_queue_manager = where;
  if (out.object == nullptr) resolve_defaults(out);
  return Outcome::ok();
}

Outcome resolve_definition(QueueManager& manager, const NamedQueue& definition, bool takes,
                           Resolved& out) {
  const RemoteSettings& remote = definition.remote;
  resolve_cap(out, remote.expiry_cap);
  if (remote.remote_queue_manager == manager.name() && remote.transmission_queue.empty()) {
    // A remote definition that leads back here is the local queue.
    NamedQueueRef target = manager.objects().find(remote.remote_queue);
    if (target == nullptr || target->kind != QueueKind::kLocal) {
      return Outcome::failed(mqi::reason::kUnknownObjectName);
    }
    if (takes) return Outcome::failed(mqi::reason::kOptionNotValidForType);
    out.queue = target->queue;
    resolve_queue_cap(out);
    return Outcome::ok();
  }
  return resolve_remote(manager, remote.remote_queue, remote.remote_queue_manager,
                        remote.transmission_queue, takes, out);
}

Outcome resolve_alias(QueueManager& manager, const AliasSettings& alias, bool takes,
                      Resolved& out) {
  out.default_priority = alias.default_priority;
  out.default_persistent = alias.default_persistent;
  resolve_cap(out, alias.expiry_cap);
  if (alias.targets_topic) {
    if (takes) return Outcome::failed(mqi::reason::kOptionNotValidForType);
    out.topic_object = alias.target;
    return Outcome::ok();
  }
  NamedQueueRef base = manager.objects().find(alias.target);
  if (base == nullptr) return Outcome::failed(mqi::reason::kUnknownAliasBaseQ);
  switch (base->kind) {
    case QueueKind::kAlias:
    case QueueKind::kModel:
      return Outcome::failed(mqi::reason::kAliasBaseQTypeError);
    case QueueKind::kRemote:
      return resolve_definition(manager, *base, takes, out);
    case QueueKind::kLocal:
      break;
  }
  out.queue = base->queue;
  resolve_queue_cap(out);
  return Outcome::ok();
}

}  // namespace

std::string_view trim_name(std::string_view name) {
  size_t end = name.find('\0');
  if (end != std::string_view::npos) name = name.substr(0, end);
  while (!name.empty() && name.back() == ' ') name.remove_suffix(1);
  return name;
}

Outcome resolve_queue(QueueManager& manager, std::string_view name, std::string_view where,
                      bool takes, Resolved& out) {
  if (!where.empty() && where != manager.name()) {
    NamedQueueRef alias = manager.objects().find(where);
    bool is_manager_alias =
        alias != nullptr && alias->kind == QueueKind::kRemote && alias->remote.remote_queue.empty();
    if (!is_manager_alias) return resolve_remote(manager, name, std::string(where), {}, takes, out);
    if (alias->remote.remote_queue_manager != manager.name()) {
      return resolve_remote(manager, name, alias->remote.remote_queue_manager,
                            alias->remote.transmission_queue, takes, out);
    }
  }
  out.object = manager.objects().find(name);
  if (out.object == nullptr) return Outcome::failed(mqi::reason::kUnknownObjectName);
  switch (out.object->kind) {
    case QueueKind::kModel:
      return Outcome::ok();
    case QueueKind::kAlias:
      return resolve_alias(manager, out.object->alias, takes, out);
    case QueueKind::kRemote:
      out.default_priority = out.object->remote.default_priority;
      out.default_persistent = out.object->remote.default_persistent;
      return resolve_definition(manager, *out.object, takes, out);
    case QueueKind::kLocal:
      break;
  }
  out.queue = out.object->queue;
  resolve_defaults(out);
  return Outcome::ok();
}

// MQXQH: where the message goes, and its own descriptor; the message's data follows. What a
// version 1 descriptor cannot hold goes into an MQMDE between them.
void wrap_for_transmission(QueueManager& manager, const Resolved& to, Message& message) {
  auto number = [](std::string& out, int32_t v) {
    out.append(reinterpret_cast<const char*>(&v), 4);
  };
  mqi::MessageDescriptor inner = message.md;
  std::string extension;
  bool needs_extension = !inner.group_id.is_null() || inner.flags != 0 || inner.offset != 0 ||
                         inner.sequence_number != 1 || inner.original_length != -1;
  if (needs_extension) {
    extension = "MDE ";
    number(extension, 2);
    number(extension, 72);
    number(extension, inner.encoding);
    number(extension, inner.ccsid);
    extension += inner.format.padded();
    number(extension, 0);
    extension += inner.group_id.view();
    number(extension, inner.sequence_number);
    number(extension, inner.offset);
    number(extension, inner.flags);
    number(extension, inner.original_length);
    inner.format = "MQHMDE";
  }
  std::string header = "XQH ";
  number(header, 1);
  header += mqi::FixedText<48>(to.remote_queue).padded();
  header += mqi::FixedText<48>(to.remote_queue_manager).padded();
  std::string descriptor;
  mqi::encode_message_descriptor(inner, descriptor);
  descriptor[4] = 1;
  header += std::string_view(descriptor).substr(0, mqi::kMqmd1Bytes);
  header += extension;
  message.body = Body::join(header, message.body.view());
  mqi::MessageDescriptor& md = message.md;
  md.format = "MQXMIT";
  md.encoding = 546;
  md.report = 0;
  md.message_type = mqi::mt::kDatagram;
  md.correlation_id = md.message_id;
  md.group_id = {};
  md.flags = md.offset = 0;
  md.sequence_number = 1;
  md.original_length = -1;
  manager.make_message_id(md.message_id);
}

Outcome make_manager_put(QueueManager& manager, const Resolved& to, MessageRef message,
                         UnitPut& out) {
  if (to.queue == nullptr) return Outcome::failed(mqi::reason::kUnknownObjectName);
  if (to.object != nullptr && to.object->inhibits_put.load()) {
    return Outcome::failed(mqi::reason::kPutInhibited);
  }
  if (to.expiry_cap >= 0) {
    int64_t latest_ms = manager.now_gmt_micros() / 1000 + int64_t{to.expiry_cap} * 100;
    if (message->expires_gmt_ms == 0 || message->expires_gmt_ms > latest_ms) {
      message->expires_gmt_ms = latest_ms;
      message->md.expiry = to.expiry_cap;
    }
  }
  if (to.is_remote) wrap_for_transmission(manager, to, *message);
  uint64_t bytes = message->body.size();
  if (message->is_persistent() && !manager.store().admit(bytes)) {
    return Outcome::failed(mqi::reason::kQSpaceNotAvailable);
  }
  std::unique_lock lock(to.queue->mutex());
  if (Outcome o = to.queue->check_put(bytes); !o.is_ok()) {
    Effects effects;
    if (o.reason == mqi::reason::kQFull) to.queue->note_full(effects);
    lock.unlock();
    manager.apply(std::move(effects));
    return o;
  }
  bool is_temporary = to.queue->settings().dynamic == DynamicKind::kTemporary;
  if (message->is_persistent() && is_temporary) message->md.persistence = mqi::kNotPersistent;
  to.queue->reserve();
  out.queue = to.queue;
  out.index = make_index_entry(*message);
  out.message = std::move(message);
  out.place = {out.message->md.sequence_number, out.message->md.offset, out.message->md.flags,
               out.message->md.original_length};
  return Outcome::ok();
}

}  // namespace millstream::queue
