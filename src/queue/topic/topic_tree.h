// The topic tree: which subscriptions a publication goes to, which attributes hold at a topic, and
// what was retained there.
//
// - A node exists while something is attached to it or below: a topic object, an exact
//   subscription, a retained publication or an open handle; it goes with the last of them. A
//   publication to a topic makes no node, so a million topics that are used once leave nothing.
// - Subscriptions without wildcards hang at their node; `+` and `#` have a trie of their own;
//   character patterns are found by what they begin with and then compared.
// - A topic object counts for its node and all below, attribute by attribute, until a nearer object
//   says something else than ASPARENT.
// - WILDCARD(BLOCK) at a node stops patterns whose first wildcard is at or above that level from
//   seeing topics at the node and below.
// Ids are the caller's and opaque. Limits: TreeLimits (2102 beyond).
// Thread: const functions any, all others alone (the caller's lock: shared and exclusive).
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "queue/topic/topic_pattern.h"

namespace millstream::queue::topic {

using SubscriptionId = uint64_t;
using RetainedId = uint64_t;  // 0: none

// Values are what MQSC calls them; kAsParent where the attribute can say so.
enum class Switch : uint8_t { kAsParent, kYes, kNo };  // PUB, SUB: ENABLED, DISABLED
enum class Delivery : uint8_t { kAsParent, kAll, kAllDurable, kAllAvailable };
enum class Scope : uint8_t { kAsParent, kAll, kQueueManager };

struct TopicAttributes {
  std::string object;  // name of the topic object; in resolved ones the nearest object's
  Switch publish = Switch::kAsParent;
  Switch subscribe = Switch::kAsParent;
  Switch durable_subscriptions = Switch::kAsParent;  // DURSUB
  Switch default_persistence = Switch::kAsParent;    // DEFPSIST
  Switch default_async_put = Switch::kAsParent;      // DEFPRESP: kYes is ASYNC
  Switch use_dead_letter_queue = Switch::kAsParent;  // USEDLQ
  int8_t default_priority = -1;                      // DEFPRTY; -1: ASPARENT
  Delivery persistent_delivery = Delivery::kAsParent;
  Delivery non_persistent_delivery = Delivery::kAsParent;
  Scope publish_scope = Scope::kAsParent;
  Scope subscribe_scope = Scope::kAsParent;
  bool is_wildcard_blocked = false;   // WILDCARD(BLOCK): of this object alone
  std::string durable_model_queue;    // MDURMDL; empty: as parent
  std::string temporary_model_queue;  // MNDURMDL
  int64_t cap_expiry = -2;            // CAPEXPRY in tenths of seconds; -1 NOLIMIT, -2 ASPARENT
};
// What holds where no object says anything (SYSTEM.BASE.TOPIC as it is installed).
const TopicAttributes& base_topic_attributes();

struct TreeLimits {
  size_t nodes_max = 2'000'000;  // of topics and of patterns, each
  size_t subscriptions_max = 1'000'000;
};

// Working memory of match(), kept by the caller so that matching does not allocate once warm.
class MatchScratch {
 public:
  MatchScratch();
  ~MatchScratch();
  struct State;
  State& state() { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

struct TopicNodeStatus {
  std::string topic;
  std::string object;  // empty: none at this very node
  uint32_t subscriptions = 0;
  uint32_t handles = 0;
  RetainedId retained = 0;
};

class TopicTree {
 public:
  explicit TopicTree(TreeLimits limits = {});
  ~TopicTree();
  TopicTree(const TopicTree&) = delete;
  TopicTree& operator=(const TopicTree&) = delete;

  // An id belongs to one pattern at a time.
  Status subscribe(SubscriptionId id, const TopicPattern& pattern);
  // False: no such subscription.
  bool unsubscribe(SubscriptionId id);
  size_t subscription_count() const;

  // Appends every subscription that a publication to `topic` goes to, each once, in no order.
  void match(std::string_view topic, MatchScratch& scratch, std::vector<SubscriptionId>& out) const;
  // Is raised by whatever could change a result of match() or attributes(): for callers that keep
  // results.
  uint64_t version() const;

  // One object a node: false when there is another already, 2102 at the limit. The root is "".
  Result<bool> attach_object(std::string_view topic, TopicAttributes attributes);
  // Changes those of the object that is there; false: none.
  bool alter_object(std::string_view topic, TopicAttributes attributes);
  bool detach_object(std::string_view topic);
  // What holds at a topic, whether it has a node or not: nothing is ASPARENT.
  TopicAttributes attributes(std::string_view topic) const;
  // Names of the objects at the topic and above it, the nearest first: where rights are looked up.
  std::vector<std::string> objects_above(std::string_view topic) const;
  // The name of the object at this very node, else empty.
  std::string_view object_at(std::string_view topic) const;

  // Returns what was there before. 0 takes it away.
  Result<RetainedId> set_retained(std::string_view topic, RetainedId retained);
  RetainedId retained(std::string_view topic) const;
  // For a new subscription: each retained publication that it sees.
  void for_each_retained(const TopicPattern& pattern,
                         const std::function<void(std::string_view topic, RetainedId)>& f) const;

  // Open handles keep a node for status displays.
  Status open_handle(std::string_view topic);
  void close_handle(std::string_view topic);

  // Nodes whose topic matches, parents before children, children in the order they came. f returns
  // false to stop.
  void for_each_node(const TopicPattern& pattern,
                     const std::function<bool(const TopicNodeStatus&)>& f) const;
  size_t node_count() const;  // of topics, the root not counted

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace millstream::queue::topic
