// Publish/subscribe: topic objects and subscriptions over the topic tree, retained publications,
// and which queues a publication goes to. Publications are puts like others, one a subscription,
// that share one body; they become visible with their unit.
//
// Durable subscriptions are definitions (SUB) and survive; others live as long as their connection.
// Thread: any. Lock: shared for publishing, exclusive for changes; no queue is locked under it.
#pragma once
#include <map>
#include <memory>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "queue/core/name_resolution.h"
#include "queue/core/publication_route.h"
#include "queue/objects/admin_target.h"
#include "queue/selector/selector.h"
#include "queue/topic/topic_tree.h"

namespace millstream::queue {

struct Subscription {
  topic::SubscriptionId id = 0;
  std::string name;   // empty: not durable and without one
  std::string topic;  // the pattern
  topic::WildcardScheme scheme = topic::WildcardScheme::kTopic;
  std::shared_ptr<const selector::Selector> selector;
  std::string destination;
  std::string destination_manager;
  mqi::Id correlation_id;
  std::string user_data;
  std::string user;
  int32_t priority = -3;  // MQPRI_PRIORITY_AS_PUBLISHED
  int32_t level = 1;      // SUBLEVEL
  std::string selection;  // the selector's text
  bool is_durable = false;
  bool is_managed = false;
  mutable bool is_shared = false;  // several handles may use it at a time
  bool is_on_request = false;
  bool is_admin = false;
  uint64_t owner = 0;                         // connection of one that is not durable
  mutable std::atomic<uint64_t> not_from{0};  // the publisher whose publications it does not get
  mutable uint32_t users = 0;                 // handles; under the lock
  mutable RouteRef route;  // under the lock; null: everything goes to the destination
  mutable std::atomic<uint64_t> messages{0};
  mutable std::atomic<int64_t> last_message_gmt_ms{0};
};
using SubscriptionRef = std::shared_ptr<const Subscription>;

class PubSub {
 public:
  explicit PubSub(QueueManager& manager) : manager_(manager) {}

  // From definitions. Errors say why a topic or a subscription cannot be (2425, 2459).
  Outcome apply_topic(const objects::Definition& definition);
  void erase_topic(const objects::Definition& definition);
  Outcome apply_subscription(const objects::Definition& definition);
  void erase_subscription(std::string_view name);

  Outcome add(std::shared_ptr<Subscription> subscription);  // not durable
  void remove(topic::SubscriptionId id);
  SubscriptionRef find(std::string_view name) const;
  SubscriptionRef find(topic::SubscriptionId id) const;
  // Those whose names begin with the prefix.
  std::vector<SubscriptionRef> named(std::string_view prefix) const;
  void set_route(const Subscription& subscription, RouteRef route);
  // A handle more or less; returns how many are left.
  uint32_t use(const Subscription& subscription, int change);

  // TOPICSTR of a topic object and what was given: 2085, 2425.
  Outcome full_topic(std::string_view object, std::string_view given, std::string& out) const;
  topic::TopicAttributes attributes(std::string_view topic) const;
  // Topic objects at and above a topic string, the nearest first.
  std::vector<std::string> objects_above(std::string_view topic) const {
    std::shared_lock lock(mutex_);
    return tree_.objects_above(topic);
  }

  // Adds a put for each subscription to the unit, or hands it to its route. 2502 when a rule of the
  // topic says that a failed delivery fails the publication (nothing was added then).
  // Of the subscriptions that match only those of the highest level up to the publisher's get it:
  // whoever intercepts passes it on with a lower one.
  struct Publisher {
    uint64_t connection = 0;
    uint64_t group = 0;  // the client that it belongs to (ConnectOptions)
    bool excludes_own = false;
    int32_t level = 9;
  };
  Outcome publish(const std::string& topic, MessageRef message, const Publisher& from,
                  UnitOfWork& unit, size_t& delivered);
  // What is retained, to one subscription, by queue or route; returns how many.
  size_t send_retained(const Subscription& subscription, UnitOfWork& unit);
  void retain(const std::string& topic, MessageRef message);
  void clear_retained(const std::string& topic);
  // Whether the store has one for the topic.
  bool retains_persistent(const std::string& topic) const;
  // What has expired leaves memory; returns how many. Its record stays in the store until the topic
  // has another, because that may be on its way already.
  size_t drop_expired_retained();
  void recover_retained(std::string_view topic, MessageRef message) {
    retain(std::string(topic), std::move(message));
  }

  std::vector<objects::TopicStatus> topic_status(std::string_view pattern) const;
  std::vector<objects::SubscriptionStatus> subscription_status(std::string_view pattern) const;
  objects::PublishStatus publish_status() const;

 private:
  struct Matched {
    std::vector<SubscriptionRef> queued;
    std::vector<RouteRef> direct;
  };
  // Those that are to get it.
  void match(const std::string& topic, const Message& message, const Publisher& from, Matched& out,
             topic::TopicAttributes& attributes) const;
  Outcome insert(std::shared_ptr<Subscription> subscription);
  void drop_retained(topic::RetainedId id);
  Outcome deliver(const Subscription& subscription, const std::string& topic,
                  const Message& message, bool is_retained, UnitOfWork& unit);
  QueueManager& manager_;
  mutable std::shared_mutex mutex_;
  topic::TopicTree tree_;
  std::unordered_map<topic::SubscriptionId, SubscriptionRef> subscriptions_;
  std::map<std::string, SubscriptionRef, std::less<>> by_name_;
  std::unordered_map<topic::RetainedId, MessageRef> retained_;
  topic::SubscriptionId last_id_ = 0;
  topic::RetainedId last_retained_ = 0;
};

}  // namespace millstream::queue
