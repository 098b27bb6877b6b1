#include "queue/core/pubsub.h"

#include <algorithm>

#include "queue/core/message_properties.h"
#include "queue/core/queue_manager.h"
#include "queue/core/report.h"
#include "queue/objects/object_name.h"

namespace millstream::queue {
namespace {

using objects::Attr;

topic::Switch pubsub_switch(int32_t value, int32_t no, int32_t yes) {
  return value == no    ? topic::Switch::kNo
         : value == yes ? topic::Switch::kYes
                        : topic::Switch::kAsParent;
}

topic::TopicAttributes topic_attributes_of(const objects::Definition& definition) {
  objects::TopicAttributes from = objects::read_topic_attributes(definition);
  topic::TopicAttributes to;
  to.object = definition.name();
  to.publish = pubsub_switch(static_cast<int32_t>(from.publish), 1, 2);
  to.subscribe = pubsub_switch(static_cast<int32_t>(from.subscribe), 1, 2);
  to.durable_subscriptions = pubsub_switch(static_cast<int32_t>(from.durable_subscriptions), 2, 1);
  to.default_persistence = pubsub_switch(static_cast<int32_t>(from.persistence_default), 0, 1);
  to.use_dead_letter_queue = pubsub_switch(static_cast<int32_t>(from.use_dead_letter_queue), 1, 2);
  to.default_priority = static_cast<int8_t>(from.priority_default < 0 ? -1 : from.priority_default);
  to.default_async_put = pubsub_switch(static_cast<int32_t>(from.put_response_default), 1, 2);
  to.cap_expiry = from.expiry_cap_tenths;
  to.persistent_delivery = static_cast<topic::Delivery>(from.persistent_delivery);
  to.non_persistent_delivery = static_cast<topic::Delivery>(from.nonpersistent_delivery);
  to.is_wildcard_blocked = from.wildcard == objects::TopicWildcard::kBlock;
  to.durable_model_queue = from.managed_durable_model;
  to.temporary_model_queue = from.managed_nondurable_model;
  return to;
}

int32_t pubsub_number(topic::Switch value, int32_t no, int32_t yes, int32_t as_parent) {
  if (value == topic::Switch::kNo) return no;
  return value == topic::Switch::kYes ? yes : as_parent;
}

// What holds at a topic, for displays.
objects::TopicAttributes shown_attributes_of(const topic::TopicAttributes& from) {
  objects::TopicAttributes to;
  to.publish = static_cast<objects::TopicPublish>(pubsub_number(from.publish, 1, 2, 0));
  to.subscribe = static_cast<objects::TopicPublish>(pubsub_number(from.subscribe, 1, 2, 0));
  to.durable_subscriptions =
      static_cast<objects::TopicDurable>(pubsub_number(from.durable_subscriptions, 2, 1, 0));
  to.persistence_default =
      static_cast<objects::TopicPersistence>(pubsub_number(from.default_persistence, 0, 1, -1));
  to.put_response_default =
      static_cast<objects::TopicResponse>(pubsub_number(from.default_async_put, 1, 2, 0));
  to.use_dead_letter_queue =
      static_cast<objects::TopicDeadLetter>(pubsub_number(from.use_dead_letter_queue, 1, 2, 0));
  to.priority_default = from.default_priority < 0 ? -2 : from.default_priority;
  to.persistent_delivery = static_cast<objects::TopicDelivery>(from.persistent_delivery);
  to.nonpersistent_delivery = static_cast<objects::TopicDelivery>(from.non_persistent_delivery);
  to.managed_durable_model = from.durable_model_queue;
  to.managed_nondurable_model = from.temporary_model_queue;
  to.expiry_cap_tenths = static_cast<int32_t>(from.cap_expiry);
  return to;
}

mqi::Id pubsub_id_from_hex(std::string_view hex) {
  std::string bytes;
  auto digit = [](char c) { return c <= '9' ? c - '0' : (c | 32) - 'a' + 10; };
  for (size_t i = 0; i + 1 < hex.size(); i += 2) {
    bytes += static_cast<char>(digit(hex[i]) << 4 | digit(hex[i + 1]));
  }
  return mqi::Id(bytes);
}

// Wakes the topic tree's scratch memory once a thread.
topic::MatchScratch& pubsub_scratch() {
  thread_local topic::MatchScratch scratch;
  return scratch;
}

}  // namespace

Outcome PubSub::apply_topic(const objects::Definition& definition) {
  objects::TopicAttributes from = objects::read_topic_attributes(definition);
  if (!topic::check_topic_string(from.topic_string).ok()) {
    return Outcome::failed(mqi::reason::kTopicStringError);
  }
  topic::TopicAttributes to = topic_attributes_of(definition);
  std::unique_lock lock(mutex_);
  if (tree_.object_at(from.topic_string) == definition.name()) {
    tree_.alter_object(from.topic_string, std::move(to));
    return Outcome::ok();
  }
  auto attached = tree_.attach_object(from.topic_string, std::move(to));
  if (!attached.ok()) return Outcome::failed(mqi::reason::kResourceProblem);
  return attached.value() ? Outcome::ok() : Outcome::failed(mqi::reason::kObjectAlreadyExists);
}

void PubSub::erase_topic(const objects::Definition& definition) {
  std::unique_lock lock(mutex_);
  tree_.detach_object(objects::read_topic_attributes(definition).topic_string);
}

Outcome PubSub::apply_subscription(const objects::Definition& definition) {
  objects::SubscriptionAttributes from = objects::read_subscription_attributes(definition);
  auto s = std::make_shared<Subscription>();
  s->name = definition.name();
  if (Outcome o = full_topic(from.topic_object, from.topic_string, s->topic); !o.is_ok()) return o;
  s->scheme = from.wildcard_schema == objects::WildcardSchema::kChar
                  ? topic::WildcardScheme::kCharacter
                  : topic::WildcardScheme::kTopic;
  if (!from.selector.empty()) {
    auto selector = selector::Selector::compile(from.selector);
    if (!selector.ok()) return Outcome::failed(selector.error().number);
    s->selector = std::move(selector).take_value();
  }
  s->destination = from.destination;
  s->destination_manager = from.destination_manager;
  s->correlation_id = pubsub_id_from_hex(from.destination_correlation);
  s->user_data = from.user_data;
  s->user = from.user;
  s->is_durable = true;
  s->is_managed = from.destination_class == objects::DestinationClass::kManaged;
  s->is_on_request = from.is_on_request;
  s->is_admin = from.origin == objects::SubscriptionType::kAdmin;
  s->priority = from.publish_priority;
  s->level = from.level;
  s->is_shared = from.is_shared;
  s->selection = from.selector;
  erase_subscription(s->name);
  return insert(std::move(s));
}

void PubSub::erase_subscription(std::string_view name) {
  SubscriptionRef found = find(name);
  if (found != nullptr) remove(found->id);
}

Outcome PubSub::add(std::shared_ptr<Subscription> subscription) {
  return insert(std::move(subscription));
}

Outcome PubSub::insert(std::shared_ptr<Subscription> s) {
  auto pattern = topic::TopicPattern::create(s->topic, s->scheme);
  if (!pattern.ok()) return Outcome::failed(mqi::reason::kTopicStringError);
  std::unique_lock lock(mutex_);
  s->id = ++last_id_;
  if (s->correlation_id.is_null()) manager_.make_message_id(s->correlation_id);
  if (!tree_.subscribe(s->id, pattern.value()).ok()) {
    return Outcome::failed(mqi::reason::kResourceProblem);
  }
  if (!s->name.empty()) by_name_[s->name] = s;
  subscriptions_[s->id] = std::move(s);
  return Outcome::ok();
}

void PubSub::remove(topic::SubscriptionId id) {
  std::unique_lock lock(mutex_);
  auto found = subscriptions_.find(id);
  if (found == subscriptions_.end()) return;
  tree_.unsubscribe(id);
  if (!found->second->name.empty()) by_name_.erase(found->second->name);
  subscriptions_.erase(found);
}

SubscriptionRef PubSub::find(std::string_view name) const {
  std::shared_lock lock(mutex_);
  auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second;
}

SubscriptionRef PubSub::find(topic::SubscriptionId id) const {
  std::shared_lock lock(mutex_);
  auto found = subscriptions_.find(id);
  return found == subscriptions_.end() ? nullptr : found->second;
}

uint32_t PubSub::use(const Subscription& subscription, int change) {
  std::unique_lock lock(mutex_);
  subscription.users = static_cast<uint32_t>(static_cast<int>(subscription.users) + change);
  return subscription.users;
}

Outcome PubSub::full_topic(std::string_view object, std::string_view given,
                           std::string& out) const {
  object = trim_name(object);
  std::string base;
  if (!object.empty()) {
    objects::DefinitionPtr definition =
        manager_.admin().catalogue().find(objects::ObjectFamily::kTopic, object);
    if (definition == nullptr) return Outcome::failed(mqi::reason::kUnknownObjectName);
    base = objects::read_topic_attributes(*definition).topic_string;
  }
  if (!topic::check_topic_string(given).ok()) {
    return Outcome::failed(mqi::reason::kTopicStringError);
  }
  auto composed = topic::compose_topic(base, given);
  if (!composed.ok()) return Outcome::failed(mqi::reason::kTopicStringError);
  out = std::move(composed).take_value();
  return Outcome::ok();
}

topic::TopicAttributes PubSub::attributes(std::string_view topic) const {
  std::shared_lock lock(mutex_);
  return tree_.attributes(topic);
}

Outcome PubSub::deliver(const Subscription& s, const std::string& topic, const Message& message,
                        bool is_retained, UnitOfWork& unit) {
  MessageRef copy = copy_message(message);
  manager_.make_message_id(copy->md.message_id);
  copy->md.correlation_id = s.correlation_id;
  if (copy->long_ids != nullptr) copy->long_ids = nullptr;
  if (s.priority >= 0) copy->md.priority = std::min(s.priority, mqi::kPriorityMax);
  auto list = mqi::PropertyList::from_bytes(copy->properties);
  if (list.ok()) {
    mqi::PropertyList properties = std::move(list).take_value();
    (void)properties.set_unchecked_name("mqps.Top", mqi::PropertyView::string(topic));
    if (!s.user_data.empty()) {
      (void)properties.set_unchecked_name("mqps.Sud", mqi::PropertyView::string(s.user_data));
    }
    if (is_retained) (void)properties.set_unchecked_name("mqps.Ret", mqi::PropertyView::int32(1));
    copy->properties = properties.bytes();
  }
  Resolved to;
  UnitPut put;
  Outcome o = resolve_queue(manager_, s.destination, s.destination_manager, false, to);
  if (o.is_ok()) o = make_manager_put(manager_, to, std::move(copy), put);
  if (o.is_failed()) return o;
  unit.puts.push_back(std::move(put));
  s.messages.fetch_add(1, std::memory_order_relaxed);
  s.last_message_gmt_ms.store(manager_.now_gmt_micros() / 1000, std::memory_order_relaxed);
  return Outcome::ok();
}

void PubSub::match(const std::string& topic, const Message& message, const Publisher& from,
                   Matched& out, topic::TopicAttributes& attributes) const {
  thread_local std::vector<topic::SubscriptionId> ids;
  ids.clear();
  bool is_persistent = message.is_persistent();
  int32_t level = -1;
  MessageProperties properties(message, 0);
  std::shared_lock lock(mutex_);
  tree_.match(topic, pubsub_scratch(), ids);
  attributes = tree_.attributes(topic);
  for (topic::SubscriptionId id : ids) {
    const SubscriptionRef& s = subscriptions_.at(id);
    if (s->level > from.level || s->level < level) continue;
    const RouteRef& route = s->route;
    if (route != nullptr && route->hides(topic, s->topic)) continue;
    bool is_direct = route != nullptr && route->takes_it(is_persistent);
    bool is_left_out = is_direct
                           ? route->sink == nullptr
                           : s->is_on_request || (from.excludes_own && s->owner == from.connection);
    uint64_t not_from = s->not_from.load(std::memory_order_relaxed);
    if (is_left_out || (not_from != 0 && not_from == from.group)) continue;
    if (s->selector != nullptr && !s->selector->matches(properties)) continue;
    if (s->level > level) out = {};
    level = s->level;
    if (is_direct) {
      s->messages.fetch_add(1, std::memory_order_relaxed);
      out.direct.push_back(route);
    } else {
      out.queued.push_back(s);
    }
  }
}

Outcome PubSub::publish(const std::string& topic, MessageRef shared, const Publisher& from,
                        UnitOfWork& unit, size_t& delivered) {
  const Message& message = *shared;
  Matched matched;
  topic::TopicAttributes attributes;
  match(topic, message, from, matched, attributes);
  topic::Delivery rule =
      message.is_persistent() ? attributes.persistent_delivery : attributes.non_persistent_delivery;
  size_t puts_before = unit.puts.size();
  delivered = matched.direct.size();
  for (const SubscriptionRef& s : matched.queued) {
    Outcome o = deliver(*s, topic, message, false, unit);
    if (o.is_ok()) {
      ++delivered;
      continue;
    }
    bool must =
        rule == topic::Delivery::kAll || (rule == topic::Delivery::kAllDurable && s->is_durable);
    bool has_dead_letter =
        attributes.use_dead_letter_queue != topic::Switch::kNo &&
        add_dead_letter(manager_, message, o.reason, s->destination, s->destination_manager, unit)
            .is_ok();
    if (has_dead_letter || !must) continue;
    for (size_t i = puts_before; i < unit.puts.size(); ++i) {
      std::lock_guard lock(unit.puts[i].queue->mutex());
      unit.puts[i].queue->unreserve();
    }
    unit.puts.resize(puts_before);
    return Outcome::failed(mqi::reason::kPublicationFailure);
  }
  if (!matched.direct.empty()) {
    auto publication = std::make_shared<DirectPublication>();
    publication->topic = topic;
    publication->message = std::move(shared);
    unit.direct.push_back({std::move(publication), std::move(matched.direct)});
  }
  return Outcome::ok();
}

size_t PubSub::send_retained(const Subscription& s, UnitOfWork& unit) {
  auto pattern = topic::TopicPattern::create(s.topic, s.scheme);
  if (!pattern.ok()) return 0;
  std::vector<std::pair<std::string, MessageRef>> found;
  RouteRef route;
  {
    std::shared_lock lock(mutex_);
    route = s.route;
    tree_.for_each_retained(pattern.value(), [&](std::string_view topic, topic::RetainedId id) {
      auto message = retained_.find(id);
      bool is_hidden = route != nullptr && route->hides(topic, s.topic);
      if (message != retained_.end() && !is_hidden) {
        found.emplace_back(std::string(topic), message->second);
      }
    });
  }
  size_t sent = 0;
  for (auto& [topic, message] : found) {
    MessageProperties properties(*message, 0);
    if (s.selector != nullptr && !s.selector->matches(properties)) continue;
    bool is_expired =
        message->expires_gmt_ms != 0 && message->expires_gmt_ms <= manager_.now_gmt_micros() / 1000;
    if (is_expired) continue;
    if (route != nullptr && route->takes_it(message->is_persistent())) {
      if (route->sink == nullptr) continue;
      auto publication = std::make_shared<DirectPublication>();
      publication->topic = topic;
      publication->message = message;
      publication->is_retained = true;
      unit.direct.push_back({std::move(publication), {route}});
      ++sent;
    } else if (deliver(s, topic, *message, true, unit).is_ok()) {
      ++sent;
    }
  }
  return sent;
}

std::vector<SubscriptionRef> PubSub::named(std::string_view prefix) const {
  std::vector<SubscriptionRef> out;
  std::shared_lock lock(mutex_);
  for (auto at = by_name_.lower_bound(prefix); at != by_name_.end(); ++at) {
    if (!std::string_view(at->first).starts_with(prefix)) break;
    out.push_back(at->second);
  }
  return out;
}

void PubSub::set_route(const Subscription& subscription, RouteRef route) {
  std::unique_lock lock(mutex_);
  subscription.route = std::move(route);
}

size_t PubSub::drop_expired_retained() {
  std::vector<std::string> topics;
  int64_t now = manager_.now_gmt_micros() / 1000;
  auto everything = topic::TopicPattern::create("#", topic::WildcardScheme::kTopic);
  if (!everything.ok()) return 0;
  std::unique_lock lock(mutex_);
  tree_.for_each_retained(everything.value(), [&](std::string_view topic, topic::RetainedId id) {
    auto found = retained_.find(id);
    if (found == retained_.end()) return;
    int64_t expires = found->second->expires_gmt_ms;
    if (expires != 0 && expires <= now) topics.emplace_back(topic);
  });
  for (const std::string& topic : topics) {
    auto before = tree_.set_retained(topic, 0);
    if (before.ok()) drop_retained(before.value());
  }
  return topics.size();
}

void PubSub::retain(const std::string& topic, MessageRef message) {
  std::unique_lock lock(mutex_);
  topic::RetainedId id = message ? ++last_retained_ : 0;
  auto before = tree_.set_retained(topic, id);
  if (!before.ok()) return;
  drop_retained(before.value());
  if (id == 0) return;
  manager_.count_memory(static_cast<int64_t>(message->memory_bytes()));
  retained_[id] = std::move(message);
}

void PubSub::drop_retained(topic::RetainedId id) {
  auto found = retained_.find(id);
  if (found == retained_.end()) return;
  manager_.count_memory(-static_cast<int64_t>(found->second->memory_bytes()));
  retained_.erase(found);
}

bool PubSub::retains_persistent(const std::string& topic) const {
  std::shared_lock lock(mutex_);
  auto found = retained_.find(tree_.retained(topic));
  return found != retained_.end() && found->second->is_persistent();
}

void PubSub::clear_retained(const std::string& topic) { retain(topic, nullptr); }

std::vector<objects::TopicStatus> PubSub::topic_status(std::string_view text) const {
  std::vector<objects::TopicStatus> out;
  auto pattern = topic::TopicPattern::create(text, topic::WildcardScheme::kTopic);
  if (!pattern.ok()) return out;
  std::shared_lock lock(mutex_);
  tree_.for_each_node(pattern.value(), [&](const topic::TopicNodeStatus& node) {
    objects::TopicStatus status;
    status.topic = node.topic;
    status.object = node.object;
    status.resolved = shown_attributes_of(tree_.attributes(node.topic));
    status.has_retained = node.retained != 0;
    status.subscriptions = node.subscriptions;
    status.publishers = node.handles;
    out.push_back(std::move(status));
    return true;
  });
  return out;
}

std::vector<objects::SubscriptionStatus> PubSub::subscription_status(
    std::string_view pattern) const {
  std::vector<objects::SubscriptionStatus> out;
  std::shared_lock lock(mutex_);
  for (const auto& [id, s] : subscriptions_) {
    if (!objects::matches_generic(pattern, s->name)) continue;
    objects::SubscriptionStatus status;
    status.subscription = s->name;
    status.id = s->correlation_id.view();
    status.user = s->user;
    status.topic = s->topic;
    status.durable =
        s->is_durable ? objects::SubscriptionDurable::kYes : objects::SubscriptionDurable::kNo;
    status.origin =
        s->is_admin ? objects::SubscriptionType::kAdmin : objects::SubscriptionType::kApi;
    status.is_active = s->users > 0 || s->is_admin;
    status.messages = static_cast<int64_t>(s->messages.load());
    status.last_message_gmt_ms = s->last_message_gmt_ms.load();
    out.push_back(std::move(status));
  }
  std::sort(out.begin(), out.end(),
            [](const auto& a, const auto& b) { return a.subscription < b.subscription; });
  return out;
}

objects::PublishStatus PubSub::publish_status() const {
  std::shared_lock lock(mutex_);
  objects::PublishStatus status;
  status.topics = static_cast<int64_t>(tree_.node_count());
  status.subscriptions = static_cast<int64_t>(subscriptions_.size());
  return status;
}

}  // namespace millstream::queue
