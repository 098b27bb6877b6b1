#include "queue/objects/memory_target.h"

#include "mqi/reasons.h"
#include "queue/objects/object_name.h"

namespace millstream::queue::objects {
namespace {

AdminResult unknown_object(std::string name) {
  return AdminResult::failed(mqi::reason::kUnknownObjectName, {std::move(name)});
}

}  // namespace

MemoryTarget::MemoryTarget(std::string name, const base::Clock& clock)
    : name_(std::move(name)), clock_(clock) {
  auto manager = std::make_shared<Definition>(ObjectType::kQmgr, name_);
  manager->set_created(now_gmt_ms());
  manager->set_text(Attr::kQmid, name_ + "_2026-01-01_00.00.00");
  catalogue_.put(std::move(manager));
}

void MemoryTarget::define(Definition definition, bool is_replace, AdminDone done) {
  DefinitionPtr old = catalogue_.find(definition.family(), definition.name());
  if (old && !is_replace) {
    return done(AdminResult::failed(mqi::reason::kObjectAlreadyExists, {definition.name()}));
  }
  if (old && old->type() != definition.type()) {
    return done(AdminResult::failed(reason::kWrongType, {definition.name()}));
  }
  definition.set_created(old ? old->created_gmt_ms() : now_gmt_ms());
  definition.set_altered(now_gmt_ms());
  bool is_put = catalogue_.put(std::make_shared<const Definition>(std::move(definition)));
  done(is_put ? AdminResult() : AdminResult::failed(mqi::reason::kResourceProblem));
}

void MemoryTarget::alter(DefinitionPtr seen, Definition changed, bool, AdminDone done) {
  if (catalogue_.find(changed.family(), changed.name()) != seen) {
    return done(AdminResult::failed(mqi::reason::kObjectChanged));
  }
  changed.set_altered(now_gmt_ms());
  catalogue_.put(std::make_shared<const Definition>(std::move(changed)));
  done({});
}

void MemoryTarget::erase(ObjectFamily family, std::string name, EraseOptions options,
                         AdminDone done) {
  auto status = status_.find(name);
  if (family == ObjectFamily::kQueue && status != status_.end()) {
    if (status->second.inputs + status->second.outputs > 0) {
      return done(AdminResult::failed(mqi::reason::kObjectInUse, {name}));
    }
    if (status->second.depth > 0 && !options.is_purge) {
      return done(AdminResult::failed(mqi::reason::kQNotEmpty, {name}));
    }
    status_.erase(status);
  }
  done(catalogue_.erase(family, name) ? AdminResult() : unknown_object(name));
}

void MemoryTarget::clear_queue(std::string queue, AdminDone done) {
  if (!catalogue_.find(ObjectFamily::kQueue, queue)) return done(unknown_object(queue));
  auto status = status_.find(queue);
  if (status == status_.end()) return done({});
  if (status->second.inputs + status->second.outputs > 0) {
    return done(AdminResult::failed(mqi::reason::kObjectInUse, {queue}));
  }
  status->second.depth = 0;
  done({});
}

void MemoryTarget::clear_retained(std::string, AdminDone done) { done({}); }

void MemoryTarget::move_messages(std::string from, std::string to, AdminDone done) {
  for (const std::string& queue : {from, to}) {
    if (!catalogue_.find(ObjectFamily::kQueue, queue)) return done(unknown_object(queue));
  }
  int64_t moved = 0;
  auto status = status_.find(from);
  if (status != status_.end()) {
    moved = status->second.depth;
    status->second.depth = 0;
    QueueStatus& target = status_[to];
    target.queue = to;
    target.depth += moved;
  }
  done({0, 0, {std::to_string(moved)}});
}

std::vector<QueueStatus> MemoryTarget::queue_status(std::string_view pattern) const {
  std::vector<QueueStatus> out;
  for (const DefinitionPtr& d : catalogue_.find_generic(ObjectFamily::kQueue, pattern)) {
    if (d->type() != ObjectType::kQlocal) continue;
    auto at = status_.find(d->name());
    out.push_back(at == status_.end() ? QueueStatus{.queue = d->name()} : at->second);
  }
  return out;
}

std::vector<ChannelStatus> MemoryTarget::channel_status(std::string_view pattern) const {
  std::vector<ChannelStatus> out;
  for (const ChannelStatus& s : channels_) {
    if (matches_generic(pattern, s.channel)) out.push_back(s);
  }
  return out;
}

std::vector<ListenerStatus> MemoryTarget::listener_status(std::string_view pattern) const {
  std::vector<ListenerStatus> out;
  for (const auto& [name, since] : listeners_) {
    DefinitionPtr d = catalogue_.find(ObjectFamily::kListener, name);
    if (!d || !matches_generic(pattern, name)) continue;
    ListenerAttributes attributes = read_listener_attributes(*d);
    ListenerStatus s;
    s.listener = name;
    s.address = attributes.address;
    s.port = attributes.port;
    s.backlog = attributes.backlog;
    s.control = attributes.control;
    s.started_gmt_ms = since;
    out.push_back(std::move(s));
  }
  return out;
}

ManagerStatus MemoryTarget::manager_status() const {
  ManagerStatus out;
  out.connections = static_cast<int64_t>(connections_.size());
  return out;
}

std::vector<TopicStatus> MemoryTarget::topic_status(std::string_view pattern) const {
  std::vector<TopicStatus> out;
  for (const DefinitionPtr& d : catalogue_.find_generic(ObjectFamily::kTopic, "*")) {
    std::string topic = d->text(Attr::kTopicstr);
    if (pattern != "#" && topic != pattern) continue;
    TopicStatus s;
    s.topic = topic;
    s.object = d->name();
    s.resolved = read_topic_attributes(*d);
    out.push_back(std::move(s));
  }
  return out;
}

std::vector<SubscriptionStatus> MemoryTarget::subscription_status(std::string_view pattern) const {
  std::vector<SubscriptionStatus> out;
  for (const DefinitionPtr& d : catalogue_.find_generic(ObjectFamily::kSubscription, pattern)) {
    SubscriptionStatus s;
    s.subscription = d->name();
    s.id = std::string(16, '\0') + d->name().substr(0, 8);
    s.id.resize(24, '\0');
    s.topic = d->text(Attr::kTopicstr);
    out.push_back(std::move(s));
  }
  return out;
}

void MemoryTarget::set_authority(AuthorityRecord record, AdminDone done) {
  authorities_.put(std::move(record));
  done({});
}

void MemoryTarget::erase_authority(std::string key, AdminDone done) {
  done(authorities_.erase(key) ? AdminResult() : unknown_object(""));
}

void MemoryTarget::set_channel_auth(ChannelAuthRule rule, AdminDone done) {
  rule.altered_gmt_ms = now_gmt_ms();
  channel_auth_.put(std::move(rule));
  done({});
}

void MemoryTarget::erase_channel_auth(std::string key, AdminDone done) {
  done(channel_auth_.erase(key) ? AdminResult() : unknown_object(""));
}

void MemoryTarget::control(ControlRequest request, AdminDone done) {
  bool is_start = request.verb == ControlVerb::kStart;
  bool is_stop = request.verb == ControlVerb::kStop;
  if (request.object == ControlObject::kListener && (is_start || is_stop)) {
    if (!catalogue_.find(ObjectFamily::kListener, request.name)) {
      return done(unknown_object(request.name));
    }
    bool is_running = listeners_.count(request.name) > 0;
    if (is_running == is_start && !request.ignores_state) {
      return done(AdminResult::failed(
          is_start ? reason::kListenerRunning : reason::kListenerNotRunning, {request.name}));
    }
    if (is_start) listeners_.emplace(request.name, now_gmt_ms());
    if (is_stop) listeners_.erase(request.name);
    return done({});
  }
  if (request.object == ControlObject::kManager && request.verb == ControlVerb::kPing) {
    return done({});
  }
  if (request.object == ControlObject::kSecurity) return done({});
  if (request.object == ControlObject::kChannel && (is_start || is_stop)) {
    if (catalogue_.find(ObjectFamily::kChannel, request.name)) return done({});
    return done(AdminResult::failed(reason::kChannelNotFound, {request.name}));
  }
  done(AdminResult::failed(reason::kUnsupported, {request.name, "Nothing runs here."}));
}

std::string MemoryTarget::applied_script(std::string_view name) const {
  auto at = applied_.find(name);
  return at == applied_.end() ? "" : at->second;
}

void MemoryTarget::set_applied_script(std::string name, std::string hash, AdminDone done) {
  applied_.insert_or_assign(std::move(name), std::move(hash));
  done({});
}

}  // namespace millstream::queue::objects
