#include "wire/mqtt/clients.h"

#include "base/ascii.h"
#include "base/assert.h"
#include "wire/mqtt/content.h"
#include "wire/mqtt/topic_names.h"

namespace millstream::wire::mqtt {

using queue::Outcome;

namespace {

namespace reason = mqi::reason;

constexpr std::string_view kTemporaryModel = "SYSTEM.NDURABLE.MODEL.QUEUE";
constexpr int64_t kRetainedSweepMs = 60'000;

void erase_records(const ClientState& state, std::vector<queue::UnitRecord>& to) {
  to.push_back(queue::erased_client_record(client_key(state.client_id)));
  for (uint16_t id : state.received) {
    to.push_back(
        queue::erased_client_record(packet_id_key(PacketIdKind::kReceived, state.client_id, id)));
  }
  for (uint16_t id : state.released) {
    to.push_back(
        queue::erased_client_record(packet_id_key(PacketIdKind::kReleased, state.client_id, id)));
  }
}

queue::objects::Definition subscription_definition(std::string name, std::string_view topic,
                                                   const std::string& queue,
                                                   const std::string& user) {
  using queue::objects::Attr;
  queue::objects::Definition d(queue::objects::ObjectType::kSub, std::move(name));
  d.set_text(Attr::kTopicstr, std::string(topic));
  d.set_text(Attr::kDest, queue);
  d.set_text(Attr::kSubuser, user);
  d.set_number(Attr::kDestclas, static_cast<int64_t>(queue::objects::DestinationClass::kProvided));
  d.set_number(Attr::kSubtype, static_cast<int64_t>(queue::objects::SubscriptionType::kApi));
  return d;
}

}  // namespace

std::shared_ptr<Clients> Clients::create(Broker& broker, Limits limits) {
  return std::shared_ptr<Clients>(new Clients(broker, limits));
}

// --- a start and an end ---

void Clients::recover() {
  std::map<std::string, ClientState, std::less<>> found;
  for (const auto& [key, value] : manager().client_records().take(kRecordPrefix)) {
    if (!recover_client_record(key, value, found)) {
      write({queue::erased_client_record(key)}, manager().executor(), nullptr);
    }
  }
  int64_t now = now_gmt_ms();
  for (auto& [id, state] : found) {
    // It was connected when the server went down: its time counts from now on.
    if (state.disconnected_gmt_ms == 0) {
      state.disconnected_gmt_ms = now;
      if (state.will.has_value()) state.will_due_gmt_ms = now + int64_t{state.will->delay_s} * 1000;
    }
  }
  reconcile(found);
  Lock lock(mutex_);
  for (auto& [id, state] : found) {
    Entry& entry = entries_[id];
    entry.state = std::make_shared<ClientState>(std::move(state));
    set_due(entry);
  }
  due_.emplace(now + kRetainedSweepMs, std::string());
  arm(now);
}

bool Clients::is_known(const ClientState& state, const ClientSubscription& s) const {
  std::string name = s.kind == SubscriptionKind::kShared
                         ? shared_subscription_name(s.filter)
                         : subscription_name(state.client_id, s.filter);
  return broker_.manager().pubsub().find(name) != nullptr;
}

// Subscriptions of the queue manager and those that clients know are written one after the other:
// a crash between them leaves one without the other, which nobody was told of.
void Clients::reconcile(std::map<std::string, ClientState, std::less<>>& found) {
  std::set<std::string> wanted;
  for (auto& [id, state] : found) {
    for (auto at = state.subscriptions.begin(); at != state.subscriptions.end();) {
      ClientSubscription& s = at->second;
      if (s.kind == SubscriptionKind::kQueue) {
        ++at;
        continue;
      }
      if (!is_known(state, s)) {
        at = state.subscriptions.erase(at);
        continue;
      }
      bool is_shared = s.kind == SubscriptionKind::kShared;
      std::string name =
          is_shared ? shared_subscription_name(s.filter) : subscription_name(id, s.filter);
      queue::SubscriptionRef subscription = manager().pubsub().find(name);
      auto route = std::make_shared<queue::PublicationRoute>();
      route->hides_dollar_topics = true;
      using Takes = queue::PublicationRoute::Takes;
      if (!is_shared)
        route->takes = s.options.qos == 0 ? Takes::kEverything : Takes::kNotPersistent;
      manager().pubsub().set_route(*subscription, std::move(route));
      if (is_shared) {
        Group& group = groups_[s.filter];
        group.queue = subscription->destination;
        ++group.members;
      }
      wanted.insert(std::move(name));
      ++at;
    }
  }
  for (const queue::SubscriptionRef& s : manager().pubsub().named(kSubscriptionPrefix)) {
    if (wanted.contains(s->name)) continue;
    bool is_used = false;
    for (const auto& [id, state] : found) is_used |= state.queue == s->destination;
    std::string queue = s->destination;
    manager().admin().erase(queue::objects::ObjectFamily::kSubscription, s->name, {},
                            [](queue::objects::AdminResult) {});
    if (!is_used) erase_queue(queue);
  }
}

void Clients::stop() {
  base::Executor::TimerId timer;
  {
    Lock lock(mutex_);
    is_stopped_ = true;
    timer = std::exchange(timer_, 0);
  }
  if (timer != 0) (void)manager().executor().cancel(timer);
}

// --- owners ---

Clients::Refusal Clients::claim(const std::string& client_id, const std::string& user,
                                std::shared_ptr<ClientOwner> owner, base::Executor& executor,
                                Ready ready) {
  StateRef state;
  {
    Lock lock(mutex_);
    auto found = entries_.find(client_id);
    if (found == entries_.end()) {
      if (entries_.size() >= limits_.clients_max) return Refusal::kTooMany;
      found = entries_.emplace(client_id, Entry()).first;
      found->second.state = std::make_shared<ClientState>();
      found->second.state->client_id = client_id;
      found->second.state->user = user;
    }
    Entry& entry = found->second;
    if (entry.state->user != user) return Refusal::kOtherUser;
    if (entry.owner != nullptr) {
      entry.waiting.push_back({std::move(owner), &executor, std::move(ready)});
      tell(entry);
      return Refusal::kNone;
    }
    entry.owner = std::move(owner);
    entry.executor = &executor;
    entry.is_told = false;
    entry.due_gmt_ms = INT64_MAX;
    state = entry.state;
  }
  ready(std::move(state));
  return Refusal::kNone;
}

void Clients::tell(Entry& entry) {
  if (entry.is_told) return;
  entry.is_told = true;
  entry.executor->post([owner = entry.owner] { owner->on_taken_over(); });
}

void Clients::release(const StateRef& state, bool sends_will) {
  int64_t now = now_gmt_ms();
  state->disconnected_gmt_ms = now;
  if (!sends_will) state->will.reset();
  if (state->will.has_value()) {
    state->will_due_gmt_ms = now + int64_t{state->will->delay_s} * 1000;
    // The end of the session is the end of the delay (3.1.3.2.2).
    if (!state->is_durable()) state->will_due_gmt_ms = now;
  }
  bool is_gone = !state->is_durable();
  if (is_gone) {
    discard_session(*state);
  } else {
    save(*state);
  }
  Lock lock(mutex_);
  auto found = entries_.find(state->client_id);
  if (found == entries_.end() || found->second.state != state) return;
  Entry& entry = found->second;
  entry.owner = nullptr;
  if (is_gone) {
    auto fresh = std::make_shared<ClientState>();
    fresh->client_id = state->client_id;
    fresh->user = state->user;
    entry.state = std::move(fresh);
  }
  if (entry.waiting.empty()) {
    if (is_gone) {
      entries_.erase(found);
    } else {
      set_due(entry);
    }
    return;
  }
  Waiting next = std::move(entry.waiting.front());
  entry.waiting.pop_front();
  entry.owner = next.owner;
  entry.executor = next.executor;
  entry.is_told = false;
  next.executor->post([ready = std::move(next.ready), state = entry.state] { ready(state); });
  if (!entry.waiting.empty()) tell(entry);
}

void Clients::discard_session(ClientState& state) {
  if (state.will.has_value() && state.disconnected_gmt_ms != 0) {
    manager().executor().post(
        [self = shared_from_this(), will = std::move(*state.will)] { self->publish_will(will); });
    state.will.reset();
  }
  std::vector<queue::UnitRecord> records;
  for (const auto& [filter, s] : state.subscriptions) drop_subscription(state, s);
  state.subscriptions.clear();
  if (!state.queue.empty()) erase_queue(state.queue);
  state.queue.clear();
  if (state.is_stored) {
    erase_records(state, records);
    state.is_stored = false;
  }
  state.received.clear();
  state.released.clear();
  state.is_new = true;
  if (!records.empty()) write(std::move(records), manager().executor(), nullptr);
}

void Clients::resume_will(ClientState& state) {
  std::optional<WillMessage> will = std::exchange(state.will, std::nullopt);
  if (!will.has_value() || state.will_due_gmt_ms > now_gmt_ms()) return;
  manager().executor().post(
      [self = shared_from_this(), will = std::move(*will)] { self->publish_will(will); });
}

// --- queues, groups, records ---

std::string Clients::new_queue_name() {
  uint64_t unique = manager().options().random->next_u64();
  std::string name = "SYSTEM.MQTT.";
  base::append_upper_hex(name, {reinterpret_cast<const char*>(&unique), sizeof unique});
  return name;
}

std::string Clients::new_mark() {
  uint64_t unique[2] = {manager().options().random->next_u64(),
                        manager().options().random->next_u64()};
  std::string mark = "MQTTSUB.";
  mark.append(reinterpret_cast<const char*>(unique), sizeof unique);
  mark.back() = static_cast<char>(mark.back() | 1);  // trailing nulls would not count
  return mark;
}

Outcome Clients::make_queue(ClientState& state) {
  if (!state.queue.empty()) return Outcome::ok();
  std::string name = new_queue_name();
  if (state.is_durable()) {
    queue::QueueSettings settings;
    settings.description = "MQTT session";
    settings.is_fifo = true;
    settings.depth_max = limits_.queue_depth_max;
    settings.message_bytes_max = manager().settings().message_bytes_max;
    if (!manager().define_local(name, settings)) return Outcome::failed(reason::kResourceProblem);
  } else {
    queue::NamedQueueRef made;
    Outcome outcome = manager().admin().create_dynamic(name, std::string(kTemporaryModel), true,
                                                       made, &manager().executor(), nullptr);
    if (outcome.is_failed()) return outcome;
  }
  state.queue = std::move(name);
  state.is_queue_permanent = state.is_durable();
  return Outcome::ok();
}

void Clients::erase_queue(const std::string& name) {
  queue::NamedQueueRef object = manager().objects().find(name);
  if (object == nullptr || object->queue == nullptr) return;
  bool is_temporary;
  {
    std::lock_guard lock(object->queue->mutex());
    is_temporary = object->queue->settings().dynamic == queue::DynamicKind::kTemporary;
  }
  if (is_temporary) {
    (void)manager().admin().delete_dynamic(object, true);
    return;
  }
  manager().admin().erase(queue::objects::ObjectFamily::kQueue, name, {.is_purge = true},
                          [](queue::objects::AdminResult) {});
}

Outcome Clients::add_subscription(const ClientState& state, const ClientSubscription& s,
                                  base::Executor& executor, queue::Done done) {
  std::string name = subscription_name(state.client_id, s.filter);
  if (!state.is_durable()) {
    auto made = std::make_shared<queue::Subscription>();
    made->name = std::move(name);
    made->topic = s.filter;
    made->destination = state.queue;
    made->user = state.user;
    made->correlation_id = mqi::Id(s.mark);
    return manager().pubsub().add(std::move(made));
  }
  queue::objects::Definition d = subscription_definition(name, s.filter, state.queue, state.user);
  std::string correlation;
  base::append_upper_hex(correlation, s.mark);
  d.set_text(queue::objects::Attr::kDestcorl, std::move(correlation));
  manager().admin().define(std::move(d), false,
                           [&executor, done = std::move(done)](queue::objects::AdminResult) {
                             executor.post([done] { done(Outcome::ok()); });
                           });
  if (manager().pubsub().find(name) != nullptr) return Outcome::pending();
  return Outcome::failed(reason::kTopicStringError);
}

Outcome Clients::join_group(std::string_view filter, const std::string& user,
                            std::string& queue_name) {
  FilterParts parts;
  if (!split_filter(filter, parts)) return Outcome::failed(reason::kTopicStringError);
  Lock lock(mutex_);
  auto found = groups_.find(filter);
  if (found == groups_.end()) {
    std::string name = new_queue_name();
    queue::QueueSettings settings;
    settings.description = "MQTT shared subscription";
    settings.is_fifo = true;
    settings.depth_max = limits_.queue_depth_max;
    settings.message_bytes_max = manager().settings().message_bytes_max;
    if (!manager().define_local(name, settings)) return Outcome::failed(reason::kResourceProblem);
    queue::objects::Definition d =
        subscription_definition(shared_subscription_name(filter), parts.filter, name, user);
    // It is durable before the members' records that name it are.
    manager().admin().define(std::move(d), false, [](queue::objects::AdminResult) {});
    queue::SubscriptionRef made = manager().pubsub().find(shared_subscription_name(filter));
    if (made == nullptr) {
      erase_queue(name);
      return Outcome::failed(reason::kTopicStringError);
    }
    auto route = std::make_shared<queue::PublicationRoute>();
    route->hides_dollar_topics = true;
    manager().pubsub().set_route(*made, std::move(route));
    found = groups_.emplace(std::string(filter), Group{name, 0}).first;
  }
  ++found->second.members;
  queue_name = found->second.queue;
  return Outcome::ok();
}

void Clients::leave_group(std::string_view filter) {
  std::string queue;
  {
    Lock lock(mutex_);
    auto found = groups_.find(filter);
    if (found == groups_.end() || --found->second.members > 0) return;
    queue = found->second.queue;
    groups_.erase(found);
    manager().admin().erase(queue::objects::ObjectFamily::kSubscription,
                            shared_subscription_name(filter), {},
                            [](queue::objects::AdminResult) {});
  }
  erase_queue(queue);
}

void Clients::drop_subscription(const ClientState& state, const ClientSubscription& s) {
  if (s.kind == SubscriptionKind::kQueue) return;
  if (s.kind == SubscriptionKind::kShared) return leave_group(s.filter);
  queue::SubscriptionRef found =
      manager().pubsub().find(subscription_name(state.client_id, s.filter));
  if (found == nullptr) return;
  if (!found->is_durable) return manager().pubsub().remove(found->id);
  manager().admin().erase(queue::objects::ObjectFamily::kSubscription, found->name, {},
                          [](queue::objects::AdminResult) {});
}

void Clients::write(std::vector<queue::UnitRecord> records, base::Executor& executor,
                    queue::Done done) {
  queue::UnitOfWork unit;
  unit.records = std::move(records);
  auto* operation = new queue::CommitOperation(manager(), std::move(unit), &executor, done);
  Outcome outcome = operation->run();
  if (!outcome.is_pending() && done) done(outcome);
}

void Clients::save(ClientState& state, base::Executor& executor, queue::Done done) {
  bool needs_record = state.is_durable() || state.will.has_value();
  if (!needs_record && !state.is_stored) {
    if (done) done(Outcome::ok());
    return;
  }
  state.is_stored = needs_record;
  std::vector<queue::UnitRecord> records;
  if (needs_record) {
    records.push_back(client_state_record(state));
  } else {
    erase_records(state, records);
  }
  write(std::move(records), executor, std::move(done));
}

// --- time ---

void Clients::set_due(Entry& entry) {
  const ClientState& state = *entry.state;
  int64_t due = state.expires_gmt_ms();
  if (state.will.has_value() && state.will_due_gmt_ms < due) due = state.will_due_gmt_ms;
  entry.due_gmt_ms = due;
  if (due == INT64_MAX) return;
  due_.emplace(due, state.client_id);
  arm(due);
}

// Under the lock.
void Clients::arm(int64_t due_gmt_ms) {
  if (is_stopped_ || due_gmt_ms >= timer_gmt_ms_) return;
  base::Executor& executor = manager().executor();
  if (timer_ != 0) (void)executor.cancel(timer_);
  timer_gmt_ms_ = due_gmt_ms;
  int64_t wait_ms = std::max<int64_t>(0, due_gmt_ms - now_gmt_ms());
  int64_t at_ns = executor.clock().monotonic_ns() + wait_ms * 1'000'000 + 1'000'000;
  timer_ = executor.post_at(at_ns, [weak = weak_from_this()] {
    if (auto self = weak.lock()) self->on_time();
  });
}

void Clients::on_time() {
  int64_t now = now_gmt_ms();
  std::vector<std::string> ids;
  bool sweeps = false;
  {
    Lock lock(mutex_);
    if (is_stopped_) return;
    timer_ = 0;
    timer_gmt_ms_ = INT64_MAX;
    while (!due_.empty() && due_.begin()->first <= now) {
      std::string id = std::move(due_.begin()->second);
      due_.erase(due_.begin());
      if (id.empty()) {
        sweeps = true;
      } else {
        ids.push_back(std::move(id));
      }
    }
    if (sweeps) due_.emplace(now + kRetainedSweepMs, std::string());
  }
  if (sweeps) (void)manager().pubsub().drop_expired_retained();
  for (const std::string& id : ids) look_at(id, now);
  Lock lock(mutex_);
  if (!due_.empty()) arm(due_.begin()->first);
}

void Clients::look_at(const std::string& client_id, int64_t now) {
  StateRef state;
  {
    Lock lock(mutex_);
    auto found = entries_.find(client_id);
    if (found == entries_.end() || found->second.owner != nullptr) return;
    Entry& entry = found->second;
    if (entry.due_gmt_ms > now) return;  // it was here meanwhile
    state = entry.state;
    bool is_over = state->expires_gmt_ms() <= now;
    if (is_over) {
      entries_.erase(found);
    } else {
      std::optional<WillMessage> will = std::exchange(state->will, std::nullopt);
      state->will_due_gmt_ms = 0;
      save(*state);
      set_due(entry);
      lock.unlock();
      if (will.has_value()) publish_will(*will);
      return;
    }
  }
  discard_session(*state);  // sends the will
}

void Clients::publish_will(const WillMessage& will) {
  {
    Lock lock(mutex_);
    if (is_stopped_) return;
  }
  // With the rights of who left it: a will is no way to topics that its user may not publish to.
  queue::ConnectOptions options;
  options.user = will.user;
  options.application_name = "MQTT will";
  options.executor = &manager().executor();
  std::shared_ptr<queue::Connection> connection;
  if (manager().connect(options, connection).is_failed()) return;
  Properties properties;
  if (is_error(properties.read(will.properties, kWillProperties))) return;
  queue::PutCall call;
  Publication publication{will.qos, will.is_retained, will.has_properties, &properties,
                          queue::Body::copy(will.payload)};
  if (!fill_put(publication, call)) return;
  queue::OpenCall object;
  const bool is_queue = will.topic.starts_with(kQueuePrefix);
  if (is_queue) {
    object.object_name = Broker::parse_address(will.topic, NodeKind::kQueue).name;
  } else {
    object.object_type = mqi::ot::kTopic;
    object.object_string = will.topic;
  }
  bool clears = will.is_retained && will.payload.empty() && !is_queue;
  if (will.is_retained && !clears && !is_queue) call.options |= mqi::pmo::kRetain;
  auto kept = std::make_shared<queue::PutCall>(std::move(call));
  auto done = [self = shared_from_this(), kept, connection, clears,
               name = will.topic](const Outcome& outcome) {
    if (outcome.is_failed() || !clears) return;
    self->manager().clear_retained(name, [](queue::objects::AdminResult) {});
  };
  Outcome outcome = connection->put1(object, *kept, done);
  if (!outcome.is_pending()) done(outcome);
}

size_t Clients::client_count() const {
  Lock lock(mutex_);
  return entries_.size();
}

size_t Clients::session_count() const {
  Lock lock(mutex_);
  size_t count = 0;
  for (const auto& [id, entry] : entries_) count += entry.owner == nullptr ? 1 : 0;
  return count;
}

}  // namespace millstream::wire::mqtt
