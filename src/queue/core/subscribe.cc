// MQSUB, MQSUBRQ, and what handles of topics do.
#include <algorithm>

#include "base/ascii.h"
#include "queue/core/connection.h"
#include "queue/core/pubsub.h"

namespace millstream::queue {
namespace {

namespace so = mqi::so;
namespace reason = mqi::reason;

constexpr int32_t kSubscribeOrigin = 6;  // MQEVO_MQSUB
constexpr int32_t kLevelMax = 9;

std::string subscribe_hex(std::string_view bytes) {
  std::string out;
  base::append_upper_hex(out, bytes);
  return out;
}

Outcome subscribe_check(const SubscribeCall& call) {
  int32_t o = call.options;
  constexpr int32_t kWhat = so::kCreate | so::kAlter | so::kResume;
  constexpr int32_t kWildcards = so::kWildcardChar | so::kWildcardTopic;
  if ((o & kWhat) == 0 || (o & kWildcards) == kWildcards) {
    return Outcome::failed(reason::kOptionsError);
  }
  if ((o & (so::kAlter | so::kResume)) == (so::kAlter | so::kResume)) {
    return Outcome::failed(reason::kOptionsError);
  }
  if (call.level < 0 || call.level > kLevelMax) return Outcome::failed(reason::kSdError);
  bool needs_name = (o & (so::kDurable | so::kAlter | so::kResume)) != 0 || call.is_shared;
  if (needs_name && call.name.empty()) return Outcome::failed(reason::kSubNameError);
  return Outcome::ok();
}

}  // namespace

Outcome Connection::open_topic(OpenCall& call, Handle& handle) {
  constexpr int32_t kNotForTopics =
      mqi::oo::kInputAny | mqi::oo::kBrowse | mqi::oo::kSaveAllContext;
  if ((call.options & kNotForTopics) != 0) return Outcome::failed(reason::kOptionNotValidForType);
  PubSub& pubsub = manager_.pubsub();
  if (Outcome o = pubsub.full_topic(call.object_name, call.object_string, handle.topic);
      !o.is_ok()) {
    return o;
  }
  if (handle.topic.empty()) return Outcome::failed(reason::kObjectStringError);
  topic::TopicAttributes attributes = pubsub.attributes(handle.topic);
  if (Outcome o = check_access(call, mqi::ot::kTopic, handle.topic); !o.is_ok()) return o;
  handle.type = mqi::ot::kTopic;
  handle.default_priority = static_cast<uint8_t>(std::max<int>(0, attributes.default_priority));
  handle.default_persistent = attributes.default_persistence == topic::Switch::kYes;
  handle.expiry_cap = static_cast<int32_t>(std::max<int64_t>(attributes.cap_expiry, -1));
  call.resolved_object_string = handle.topic;
  return Outcome::ok();
}

Outcome Connection::publish_to(Handle& handle, PutCall& call, MessageRef message, Done done) {
  PubSub& pubsub = manager_.pubsub();
  topic::TopicAttributes attributes = pubsub.attributes(handle.topic);
  if (attributes.publish == topic::Switch::kNo) return Outcome::failed(reason::kPutInhibited);
  if (message->body.size() > manager_.settings().message_bytes_max) {
    return Outcome::failed(reason::kMsgTooBigForQMgr);
  }
  bool in_unit = (call.options & mqi::pmo::kSyncpoint) != 0;
  UnitOfWork own;
  size_t delivered = 0;
  if (call.publish_level < 0 || call.publish_level > kLevelMax) {
    return Outcome::failed(reason::kPmoError);
  }
  PubSub::Publisher from{id_, publisher(), (call.options & mqi::pmo::kNotOwnSubs) != 0,
                         call.publish_level};
  if (in_unit) {
    if (Outcome o = check_unit(1, message->body.size()); !o.is_ok()) return o;
  }
  bool is_retained = (call.options & mqi::pmo::kRetain) != 0;
  if ((is_retained || !message->is_persistent()) && !manager_.has_memory(message->memory_bytes())) {
    return Outcome::failed(reason::kStorageNotAvailable);
  }
  if (message->is_persistent() && !manager_.store().admit(message->body.size())) {
    return Outcome::failed(reason::kQSpaceNotAvailable);
  }
  Outcome outcome = pubsub.publish(handle.topic, message, from, own, delivered);
  if (outcome.is_failed()) return outcome;
  if (is_retained) own.retained.emplace_back(handle.topic, message);
  bool is_unmatched = delivered == 0 && (call.options & mqi::pmo::kWarnIfNoSubsMatched) != 0;
  Outcome good = is_unmatched ? Outcome::warning(reason::kNoSubsMatched) : Outcome::ok();
  if (in_unit) {
    (void)unit_owner();
    unit_.bytes += message->body.size();
    for (UnitPut& put : own.puts) unit_.puts.push_back(std::move(put));
    for (DirectDelivery& d : own.direct) unit_.direct.push_back(std::move(d));
    for (auto& r : own.retained) unit_.retained.push_back(std::move(r));
    return good;
  }
  if (own.puts.empty() && own.retained.empty()) {
    for (DirectDelivery& direct : own.direct) direct.run();
    return good;
  }
  auto* operation =
      new CommitOperation(manager_, std::move(own), options_.executor, std::move(done));
  outcome = operation->run();
  return outcome.is_ok() ? good : outcome;
}

Outcome Connection::open_managed(const NamedQueueRef& object, Hobj& out) {
  OpenCall open_call;
  open_call.object_name = object->name;
  open_call.options = mqi::oo::kInputShared | mqi::oo::kBrowse;
  auto handle = std::make_shared<Handle>();
  handle->options = open_call.options;
  handle->object = object;
  handle->queue = object->queue;
  if (Outcome o = attach(*handle); o.is_failed()) return o;
  handle->id = ++last_handle_;
  handle->marker = id_ << 24 | static_cast<uint32_t>(handle->id);
  out = handle->id;
  handles_[out] = std::move(handle);
  return Outcome::ok();
}

Outcome Connection::open_private(const std::string& queue, Hobj& out) {
  if (!is_open_) return Outcome::failed(reason::kHconnError);
  NamedQueueRef object = manager_.objects().find(queue);
  if (object == nullptr || object->queue == nullptr) {
    return Outcome::failed(reason::kUnknownObjectName);
  }
  return open_managed(object, out);
}

Outcome Connection::resume_subscription(const SubscriptionRef& s, SubscribeCall& call) {
  bool in_use = s->users > 0 && !s->is_shared;
  if (s->users == 0) {
    if (s->is_admin) s->is_shared = call.is_shared;
    s->not_from = call.is_no_local ? publisher() : 0;
  }
  if (in_use) return Outcome::failed(reason::kSubscriptionInUse);
  NamedQueueRef destination = manager_.objects().find(s->destination);
  if (s->is_managed) {
    if (destination == nullptr) return Outcome::failed(reason::kQDeleted);
    if (Outcome o = open_managed(destination, call.destination); o.is_failed()) return o;
  }
  call.correlation_id = s->correlation_id;
  return add_subscription_handle(s, call);
}

Outcome Connection::add_subscription_handle(const SubscriptionRef& s, SubscribeCall& call) {
  manager_.pubsub().use(*s, 1);
  auto handle = std::make_shared<Handle>();
  handle->type = kSubscriptionHandle;
  handle->subscription = s;
  handle->id = ++last_handle_;
  call.handle = handle->id;
  handles_[handle->id] = std::move(handle);
  call.resolved_topic = s->topic;
  show_handles();
  return Outcome::ok();
}

Outcome Connection::subscribe(SubscribeCall& call, Done done) {
  Outcome outcome = subscribe_to(call, std::move(done));
  if (outcome.reason == reason::kNotAuthorized) {
    ManagerEvent event;
    event.qualifier = event_reason::kSubscribe;
    event.topic = call.object_string;
    report_failure(outcome, {}, std::move(event));
  }
  return outcome;
}

Outcome Connection::subscribe_to(SubscribeCall& call, Done done) {
  call.handle = kNoObject;
  if (!is_open_) return Outcome::failed(reason::kHconnError);
  if (!manager_.is_running()) return Outcome::failed(reason::kQMgrStopping);
  if (Outcome o = subscribe_check(call); !o.is_ok()) return o;
  PubSub& pubsub = manager_.pubsub();
  SubscriptionRef existing = call.name.empty() ? nullptr : pubsub.find(call.name);
  bool may_create = (call.options & so::kCreate) != 0;
  bool may_resume = (call.options & (so::kResume | so::kAlter)) != 0;
  if (existing != nullptr) {
    std::string_view user;
    if (Outcome o = may_subscribe(call, existing->topic, user); !o.is_ok()) return o;
    if (existing->is_shared && call.is_shared) return resume_subscription(existing, call);
    // A subscription is shared or not for good, but one that an administrator made.
    bool is_another = existing->is_shared != call.is_shared && !existing->is_admin;
    if (!may_resume || is_another) return Outcome::failed(reason::kSubAlreadyExists);
    if ((call.options & so::kAlter) == 0) return resume_subscription(existing, call);
    return alter_subscription(existing, call, std::move(done));
  }
  if (!may_create) return Outcome::failed(reason::kNoSubscription);
  auto s = std::make_shared<Subscription>();
  if (Outcome o = fill_subscription(call, *s); !o.is_ok()) return o;
  return create_subscription(std::move(s), call, std::move(done));
}

Outcome Connection::may_subscribe(const SubscribeCall& call, const std::string& topic,
                                  std::string_view& user) const {
  Outcome o =
      acting_user((call.options & so::kAlternateUserAuthority) != 0, call.alternate_user, user);
  return o.is_ok() ? allow(mqi::ot::kTopic, topic, kRightSubscribe, user) : o;
}

Outcome Connection::fill_subscription(const SubscribeCall& call, Subscription& s) {
  PubSub& pubsub = manager_.pubsub();
  if (Outcome o = pubsub.full_topic(call.object_name, call.object_string, s.topic); !o.is_ok()) {
    return o;
  }
  topic::TopicAttributes attributes = pubsub.attributes(s.topic);
  s.is_durable = (call.options & so::kDurable) != 0;
  if (attributes.subscribe == topic::Switch::kNo) return Outcome::failed(reason::kSubInhibited);
  if (s.is_durable && attributes.durable_subscriptions == topic::Switch::kNo) {
    return Outcome::failed(reason::kDurabilityNotAllowed);
  }
  std::string_view user;
  if (Outcome o = may_subscribe(call, s.topic, user); !o.is_ok()) return o;
  s.scheme = (call.options & so::kWildcardChar) != 0 ? topic::WildcardScheme::kCharacter
                                                     : topic::WildcardScheme::kTopic;
  if (!topic::TopicPattern::create(s.topic, s.scheme).ok()) {
    return Outcome::failed(reason::kTopicStringError);
  }
  if (!trim_name(call.selection_string).empty()) {
    auto selector = selector::Selector::compile(call.selection_string);
    if (!selector.ok()) return Outcome::failed(selector.error().number);
    s.selector = std::move(selector).take_value();
  }
  s.name = call.name;
  s.user_data = call.user_data;
  s.user = user;
  s.is_managed = (call.options & so::kManaged) != 0;
  s.is_shared = call.is_shared;
  s.not_from = call.is_no_local ? publisher() : 0;
  s.is_on_request = (call.options & so::kPublicationsOnRequest) != 0;
  s.priority = call.priority;
  s.level = call.level;
  s.selection = call.selection_string;
  s.owner = s.is_durable ? 0 : id_;
  if ((call.options & so::kSetCorrelationId) != 0) s.correlation_id = call.correlation_id;
  if (s.correlation_id.is_null()) manager_.make_message_id(s.correlation_id);
  return Outcome::ok();
}

Outcome Connection::create_subscription(std::shared_ptr<Subscription> s, SubscribeCall& call,
                                        Done done) {
  PubSub& pubsub = manager_.pubsub();
  NamedQueueRef managed;
  if (s->is_managed) {
    Outcome o = manager_.admin().create_managed(s->topic, s->is_durable, s->is_shared, managed,
                                                options_.executor);
    if (o.is_failed()) return o;
    s->destination = managed->name;
  } else {
    HandleRef destination = find_handle(call.destination);
    if (destination == nullptr || destination->queue == nullptr || destination->is_remote) {
      return Outcome::failed(reason::kHobjError);
    }
    s->destination = destination->queue->name();
    Outcome o = allow(mqi::ot::kQueue, s->destination, kRightPut, s->user);
    if (!o.is_ok()) return o;
  }
  call.correlation_id = s->correlation_id;
  Outcome outcome;
  SubscriptionRef added = s;
  if (s->is_durable) {
    outcome = define_subscription(*s, call, std::move(done));
    added = pubsub.find(s->name);
    if (!outcome.is_failed() && added == nullptr) {
      outcome = Outcome::failed(reason::kTopicStringError);
    }
  } else {
    outcome = pubsub.add(std::move(s));
  }
  if (outcome.is_failed()) {
    if (managed != nullptr) (void)manager_.admin().delete_dynamic(managed, true);
    return outcome;
  }
  if (managed != nullptr) {
    if (Outcome o = open_managed(managed, call.destination); o.is_failed()) return o;
  }
  if (Outcome o = add_subscription_handle(added, call); o.is_failed()) return o;
  constexpr int32_t kNothingYet = so::kNewPublicationsOnly | so::kPublicationsOnRequest;
  if ((call.options & kNothingYet) == 0) {
    UnitOfWork unit;
    pubsub.send_retained(*added, unit);
    manager_.run_detached(std::move(unit));
  }
  return outcome;
}

Outcome Connection::define_subscription(const Subscription& s, const SubscribeCall& call,
                                        Done done) {
  using objects::Attr;
  objects::Definition d(objects::ObjectType::kSub, s.name);
  d.set_text(Attr::kTopicstr, s.topic);
  d.set_text(Attr::kDest, s.destination);
  d.set_text(Attr::kDestcorl, subscribe_hex(s.correlation_id.view()));
  if (s.selector != nullptr) d.set_text(Attr::kSelector, std::string(call.selection_string));
  if (!s.user_data.empty()) d.set_text(Attr::kUserdata, s.user_data);
  d.set_text(Attr::kSubuser, s.user);
  d.set_number(Attr::kDestclas,
               static_cast<int64_t>(s.is_managed ? objects::DestinationClass::kManaged
                                                 : objects::DestinationClass::kProvided));
  d.set_number(Attr::kWschema, static_cast<int64_t>(s.scheme == topic::WildcardScheme::kCharacter
                                                        ? objects::WildcardSchema::kChar
                                                        : objects::WildcardSchema::kTopic));
  d.set_number(Attr::kSubtype, static_cast<int64_t>(objects::SubscriptionType::kApi));
  if (s.is_on_request) d.set_number(Attr::kReqonly, 1);
  if (s.priority >= 0) d.set_number(Attr::kPubprty, s.priority);
  d.set_number(Attr::kSublevel, s.level);
  if (s.is_shared) d.set_number(Attr::kShared, 1);
  return administer(
      [&](objects::AdminDone defined) {
        manager_.admin().define(std::move(d), false, std::move(defined),
                                {options_.user, kSubscribeOrigin});
      },
      std::move(done));
}

// What MQSO_ALTER may change: user data, priority, correlation identifier and the queue that gets
// the publications. Whoever uses it has to end first.
Outcome Connection::alter_subscription(const SubscriptionRef& s, SubscribeCall& call, Done done) {
  using objects::Attr;
  if (s->users > 0) return Outcome::failed(reason::kSubscriptionInUse);
  if (Outcome o = check_alter(*s, call); !o.is_ok()) return o;
  objects::DefinitionPtr seen =
      manager_.admin().catalogue().find(objects::ObjectFamily::kSubscription, s->name);
  if (seen == nullptr) return Outcome::failed(reason::kNoSubscription);
  objects::Definition changed = *seen;
  changed.set_text(Attr::kUserdata, call.user_data);
  changed.set_number(Attr::kPubprty, call.priority);
  if ((call.options & so::kSetCorrelationId) != 0) {
    changed.set_text(Attr::kDestcorl, subscribe_hex(call.correlation_id.view()));
  }
  Hobj managed = kNoObject;
  if (s->is_managed) {
    NamedQueueRef queue = manager_.objects().find(s->destination);
    if (queue == nullptr) return Outcome::failed(reason::kQDeleted);
    if (Outcome o = open_managed(queue, managed); o.is_failed()) return o;
    call.destination = managed;
  } else {
    HandleRef destination = find_handle(call.destination);
    if (destination == nullptr || destination->queue == nullptr || destination->is_remote) {
      return Outcome::failed(reason::kHobjError);
    }
    changed.set_text(Attr::kDest, destination->queue->name());
  }
  Outcome outcome = administer(
      [&](objects::AdminDone altered) {
        manager_.admin().alter(std::move(seen), std::move(changed), false, std::move(altered),
                               {options_.user, kSubscribeOrigin});
      },
      std::move(done));
  if (outcome.is_failed()) {
    if (managed != kNoObject) (void)close(managed);
    return outcome;
  }
  SubscriptionRef altered = manager_.pubsub().find(call.name);
  if (altered == nullptr) return outcome;  // deleted meanwhile: the handle is of nothing
  call.correlation_id = altered->correlation_id;
  (void)add_subscription_handle(altered, call);
  return outcome;
}

// What it may not change has to be as it is, or not said.
Outcome Connection::check_alter(const Subscription& s, const SubscribeCall& call) const {
  if (!call.object_name.empty() || !call.object_string.empty()) {
    std::string topic;
    Outcome o = manager_.pubsub().full_topic(call.object_name, call.object_string, topic);
    if (!o.is_ok() || topic != s.topic) return Outcome::failed(reason::kTopicNotAlterable);
  }
  if (((call.options & so::kDurable) != 0) != s.is_durable) {
    return Outcome::failed(reason::kDurabilityNotAlterable);
  }
  if (((call.options & so::kManaged) != 0) != s.is_managed) {
    return Outcome::failed(reason::kDestClassNotAlterable);
  }
  std::string_view selection = trim_name(call.selection_string);
  if (!selection.empty() && selection != trim_name(s.selection)) {
    return Outcome::failed(reason::kSelectorNotAlterable);
  }
  return call.level == s.level ? Outcome::ok() : Outcome::failed(reason::kSublevelNotAlterable);
}

Outcome Connection::request_retained(Hobj id, int32_t& count, Done done) {
  count = 0;
  if (!is_open_) return Outcome::failed(reason::kHconnError);
  HandleRef handle = find_handle(id);
  if (handle == nullptr || handle->subscription == nullptr) {
    return Outcome::failed(reason::kHobjError);
  }
  UnitOfWork unit;
  count = static_cast<int32_t>(manager_.pubsub().send_retained(*handle->subscription, unit));
  if (count == 0) return Outcome::failed(reason::kNoRetainedMsg);
  auto* operation =
      new CommitOperation(manager_, std::move(unit), options_.executor, std::move(done));
  return operation->run();
}

// The subscription goes with its last handle, unless it is durable and is not to be removed.
void Connection::close_subscription(Handle& handle, int32_t options) {
  SubscriptionRef s = std::move(handle.subscription);
  if (s == nullptr) return;
  PubSub& pubsub = manager_.pubsub();
  uint32_t left = pubsub.use(*s, -1);
  bool is_removed = s->is_durable ? (options & mqi::co::kRemoveSub) != 0 : left == 0;
  if (!is_removed) return;
  if (s->is_durable) {
    manager_.admin().erase(objects::ObjectFamily::kSubscription, s->name, {},
                           [](objects::AdminResult) {});
  } else {
    pubsub.remove(s->id);
  }
  NamedQueueRef queue = manager_.objects().find(s->destination);
  if (s->is_managed && queue != nullptr) (void)manager_.admin().delete_dynamic(queue, true);
}

}  // namespace millstream::queue
