#include "queue/topic/topic_tree.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "base/assert.h"
#include "mqi/reasons.h"
#include "queue/topic/errors_gen.h"
#include "queue/topic/level_trie.h"

namespace millstream::queue::topic {

// Parts of TopicTree::Impl.
struct TopicPayload {
  std::unique_ptr<TopicAttributes> object;
  std::vector<SubscriptionId> exact;
  RetainedId retained = 0;
  uint32_t handles = 0;
  bool empty() const { return !object && exact.empty() && retained == 0 && handles == 0; }
};

struct PatternPayload {
  std::vector<SubscriptionId> subscriptions;
  uint32_t literal_levels = 0;  // the same for all, as they have one pattern
  bool empty() const { return subscriptions.empty(); }
};

using TopicTrie = LevelTrie<TopicPayload>;
using PatternTrie = LevelTrie<PatternPayload>;
using Node = uint32_t;
constexpr Node kNoNode = TopicTrie::kNone;

struct CharacterSubscription {
  SubscriptionId id;
  TopicPattern pattern;
};

struct PrefixHash {
  using is_transparent = void;
  size_t operator()(std::string_view s) const { return std::hash<std::string_view>()(s); }
};

struct SubscriptionRecord {
  enum class Kind : uint8_t { kExact, kLevels, kCharacters } kind;
  Node node = kNoNode;
  std::string prefix;
};

namespace {

template <typename T>
void override_with(T& current, const T& nearer, const T& as_parent) {
  if (nearer != as_parent) current = nearer;
}

void erase_id(std::vector<SubscriptionId>& ids, SubscriptionId id) {
  auto it = std::find(ids.begin(), ids.end(), id);
  MS_ASSERT(it != ids.end());
  *it = ids.back();
  ids.pop_back();
}

Status tree_full(size_t limit, const char* what) {
  Status s = base::make_error(errors::kTopicTreeFull, {limit, what});
  s.error().number = mqi::reason::kResourceProblem;
  return s;
}

}  // namespace

struct MatchScratch::State {
  std::vector<std::string_view> levels;
  std::vector<Node> active, next;
  // stamps[n] == stamp: node n is in `next` already.
  std::vector<uint32_t> stamps;
  uint32_t stamp = 0;

  void begin_level(size_t capacity) {
    next.clear();
    if (stamps.size() < capacity) stamps.resize(capacity, 0);
    if (++stamp == 0) {
      std::fill(stamps.begin(), stamps.end(), 0);
      stamp = 1;
    }
  }
  bool mark(Node n) { return std::exchange(stamps[n], stamp) != stamp; }
};
MatchScratch::MatchScratch() : state_(std::make_unique<State>()) {}
MatchScratch::~MatchScratch() = default;

const TopicAttributes& base_topic_attributes() {
  static const TopicAttributes attributes = {
      .object = "SYSTEM.BASE.TOPIC",
      .publish = Switch::kYes,
      .subscribe = Switch::kYes,
      .durable_subscriptions = Switch::kYes,
      .default_persistence = Switch::kNo,
      .default_async_put = Switch::kNo,
      .use_dead_letter_queue = Switch::kYes,
      .default_priority = 0,
      .persistent_delivery = Delivery::kAllDurable,
      .non_persistent_delivery = Delivery::kAllAvailable,
      .publish_scope = Scope::kAll,
      .subscribe_scope = Scope::kAll,
      .is_wildcard_blocked = false,
      .durable_model_queue = "SYSTEM.DURABLE.MODEL.QUEUE",
      .temporary_model_queue = "SYSTEM.NDURABLE.MODEL.QUEUE",
      .cap_expiry = -1,
  };
  return attributes;
}

struct TopicTree::Impl {
  explicit Impl(TreeLimits l) : limits(l) {}

  TreeLimits limits;
  TopicTrie topics;
  PatternTrie patterns;
  // By what they begin with; `lengths` says which lengths there are, and how many of each.
  std::unordered_map<std::string, std::vector<CharacterSubscription>, PrefixHash, std::equal_to<>>
      characters;
  std::map<size_t, size_t> lengths;
  std::unordered_map<SubscriptionId, SubscriptionRecord> subscriptions;
  uint64_t version = 1;

  Result<Node> make_topic(std::string_view topic) {
    MS_TRY(check_topic_string(topic));
    std::vector<std::string_view> levels;
    split_topic(topic, levels);
    Node n = topics.make(levels, limits.nodes_max);
    if (n == kNoNode) return tree_full(limits.nodes_max, "nodes");
    return n;
  }
  Node find_topic(std::string_view topic) const {
    std::vector<std::string_view> levels;
    split_topic(topic, levels);
    return topics.find(levels);
  }

  Status add(SubscriptionId id, const TopicPattern& pattern);
  void remove(SubscriptionId id, const SubscriptionRecord& record);
  void match_levels(MatchScratch::State& s, uint32_t blocked_levels,
                    std::vector<SubscriptionId>& out) const;
  void reach(MatchScratch::State& s, Node n) const;
  void match_characters(std::string_view topic, uint32_t blocked_levels,
                        std::vector<SubscriptionId>& out) const;
  template <typename F>
  void visit(const TopicPattern& pattern, F&& f) const;
};

TopicTree::TopicTree(TreeLimits limits) : impl_(std::make_unique<Impl>(limits)) {}
TopicTree::~TopicTree() = default;

Status TopicTree::Impl::add(SubscriptionId id, const TopicPattern& pattern) {
  SubscriptionRecord record{SubscriptionRecord::Kind::kExact};
  if (!pattern.has_wildcard()) {
    record.node = MS_TRY(make_topic(pattern.topic()));
    topics.payload(record.node).exact.push_back(id);
  } else if (pattern.scheme() == WildcardScheme::kTopic) {
    record.kind = SubscriptionRecord::Kind::kLevels;
    std::vector<std::string_view> levels;
    split_topic(pattern.text(), levels);
    record.node = patterns.make(levels, limits.nodes_max);
    if (record.node == kNoNode) return tree_full(limits.nodes_max, "nodes");
    PatternPayload& p = patterns.payload(record.node);
    p.literal_levels = pattern.literal_levels();
    p.subscriptions.push_back(id);
  } else {
    record.kind = SubscriptionRecord::Kind::kCharacters;
    record.prefix = pattern.literal_prefix();
    characters[record.prefix].push_back({id, pattern});
    ++lengths[record.prefix.size()];
  }
  subscriptions.emplace(id, std::move(record));
  return {};
}

void TopicTree::Impl::remove(SubscriptionId id, const SubscriptionRecord& record) {
  switch (record.kind) {
    case SubscriptionRecord::Kind::kExact:
      erase_id(topics.payload(record.node).exact, id);
      return topics.prune(record.node);
    case SubscriptionRecord::Kind::kLevels:
      erase_id(patterns.payload(record.node).subscriptions, id);
      return patterns.prune(record.node);
    case SubscriptionRecord::Kind::kCharacters:
      break;
  }
  auto it = characters.find(record.prefix);
  MS_ASSERT(it != characters.end());
  std::erase_if(it->second, [id](const CharacterSubscription& s) { return s.id == id; });
  if (it->second.empty()) characters.erase(it);
  if (auto length = lengths.find(record.prefix.size()); --length->second == 0) {
    lengths.erase(length);
  }
}

// Adds a node of the patterns to those that the levels so far lead to, and what `#` below it makes
// of no level at all.
void TopicTree::Impl::reach(MatchScratch::State& s, Node n) const {
  while (n != kNoNode && s.mark(n)) {
    s.next.push_back(n);
    n = patterns.find_child(n, "#");
  }
}

// All patterns at once: a set of nodes moves down level by level. Each node is in it once, so the
// work is bounded by levels * nodes of patterns, whatever the patterns are.
void TopicTree::Impl::match_levels(MatchScratch::State& s, uint32_t blocked_levels,
                                   std::vector<SubscriptionId>& out) const {
  if (patterns.size() == 0) return;
  s.begin_level(patterns.capacity());
  reach(s, PatternTrie::kRoot);
  std::swap(s.active, s.next);
  for (std::string_view level : s.levels) {
    s.begin_level(patterns.capacity());
    for (Node n : s.active) {
      if (n != PatternTrie::kRoot && patterns.level(n) == "#") reach(s, n);
      // A level that is spelled like a wildcard is matched by wildcards alone.
      if (level != "+" && level != "#") reach(s, patterns.find_child(n, level));
      reach(s, patterns.find_child(n, "+"));
    }
    std::swap(s.active, s.next);
    if (s.active.empty()) return;
  }
  for (Node n : s.active) {
    const PatternPayload& p = patterns.payload(n);
    if (p.literal_levels < blocked_levels) continue;
    out.insert(out.end(), p.subscriptions.begin(), p.subscriptions.end());
  }
}

void TopicTree::Impl::match_characters(std::string_view topic, uint32_t blocked_levels,
                                       std::vector<SubscriptionId>& out) const {
  for (const auto& [length, count] : lengths) {
    if (length > topic.size()) return;
    auto it = characters.find(topic.substr(0, length));
    if (it == characters.end()) continue;
    for (const CharacterSubscription& s : it->second) {
      if (s.pattern.literal_levels() < blocked_levels) continue;
      if (s.pattern.matches(topic)) out.push_back(s.id);
    }
  }
}

Status TopicTree::subscribe(SubscriptionId id, const TopicPattern& pattern) {
  MS_ASSERT(!impl_->subscriptions.contains(id));
  if (impl_->subscriptions.size() >= impl_->limits.subscriptions_max) {
    return tree_full(impl_->limits.subscriptions_max, "subscriptions");
  }
  MS_TRY(impl_->add(id, pattern));
  ++impl_->version;
  return {};
}

bool TopicTree::unsubscribe(SubscriptionId id) {
  auto it = impl_->subscriptions.find(id);
  if (it == impl_->subscriptions.end()) return false;
  impl_->remove(id, it->second);
  impl_->subscriptions.erase(it);
  ++impl_->version;
  return true;
}

size_t TopicTree::subscription_count() const { return impl_->subscriptions.size(); }
uint64_t TopicTree::version() const { return impl_->version; }
size_t TopicTree::node_count() const { return impl_->topics.size(); }

void TopicTree::match(std::string_view topic, MatchScratch& scratch,
                      std::vector<SubscriptionId>& out) const {
  MatchScratch::State& s = scratch.state();
  split_topic(topic, s.levels);
  const TopicTrie& topics = impl_->topics;
  uint32_t blocked_levels = 0, depth = 0;
  Node n = TopicTrie::kRoot;
  for (std::string_view level : s.levels) {
    n = topics.find_child(n, level);
    if (n == kNoNode) break;
    ++depth;
    const TopicPayload& p = topics.payload(n);
    if (p.object && p.object->is_wildcard_blocked) blocked_levels = depth;
  }
  if (n != kNoNode) {
    const auto& exact = topics.payload(n).exact;
    out.insert(out.end(), exact.begin(), exact.end());
  }
  impl_->match_levels(s, blocked_levels, out);
  impl_->match_characters(topic, blocked_levels, out);
}

Result<bool> TopicTree::attach_object(std::string_view topic, TopicAttributes attributes) {
  Node n = MS_TRY(impl_->make_topic(topic));
  TopicPayload& p = impl_->topics.payload(n);
  if (p.object) return false;
  p.object = std::make_unique<TopicAttributes>(std::move(attributes));
  ++impl_->version;
  return true;
}

bool TopicTree::alter_object(std::string_view topic, TopicAttributes attributes) {
  Node n = impl_->find_topic(topic);
  if (n == kNoNode || !impl_->topics.payload(n).object) return false;
  *impl_->topics.payload(n).object = std::move(attributes);
  ++impl_->version;
  return true;
}

bool TopicTree::detach_object(std::string_view topic) {
  Node n = impl_->find_topic(topic);
  if (n == kNoNode || !impl_->topics.payload(n).object) return false;
  impl_->topics.payload(n).object.reset();
  impl_->topics.prune(n);
  ++impl_->version;
  return true;
}

TopicAttributes TopicTree::attributes(std::string_view topic) const {
  TopicAttributes a = base_topic_attributes();
  auto apply = [&a](const TopicAttributes* o) {
    if (!o) return;
    a.object = o->object;
    a.is_wildcard_blocked = o->is_wildcard_blocked;
    override_with(a.publish, o->publish, Switch::kAsParent);
    override_with(a.subscribe, o->subscribe, Switch::kAsParent);
    override_with(a.durable_subscriptions, o->durable_subscriptions, Switch::kAsParent);
    override_with(a.default_persistence, o->default_persistence, Switch::kAsParent);
    override_with(a.default_async_put, o->default_async_put, Switch::kAsParent);
    override_with(a.use_dead_letter_queue, o->use_dead_letter_queue, Switch::kAsParent);
    override_with(a.default_priority, o->default_priority, int8_t{-1});
    override_with(a.persistent_delivery, o->persistent_delivery, Delivery::kAsParent);
    override_with(a.non_persistent_delivery, o->non_persistent_delivery, Delivery::kAsParent);
    override_with(a.publish_scope, o->publish_scope, Scope::kAsParent);
    override_with(a.subscribe_scope, o->subscribe_scope, Scope::kAsParent);
    override_with(a.durable_model_queue, o->durable_model_queue, {});
    override_with(a.temporary_model_queue, o->temporary_model_queue, {});
    override_with(a.cap_expiry, o->cap_expiry, int64_t{-2});
  };
  std::vector<std::string_view> levels;
  split_topic(topic, levels);
  const TopicTrie& topics = impl_->topics;
  Node n = TopicTrie::kRoot;
  apply(topics.payload(n).object.get());
  for (std::string_view level : levels) {
    n = topics.find_child(n, level);
    if (n == kNoNode) break;
    apply(topics.payload(n).object.get());
  }
  return a;
}

std::vector<std::string> TopicTree::objects_above(std::string_view topic) const {
  std::vector<std::string> names;
  std::vector<std::string_view> levels;
  split_topic(topic, levels);
  const TopicTrie& topics = impl_->topics;
  Node n = TopicTrie::kRoot;
  for (size_t depth = 0; n != kNoNode; ++depth) {
    if (const auto& object = topics.payload(n).object) names.push_back(object->object);
    n = depth < levels.size() ? topics.find_child(n, levels[depth]) : kNoNode;
  }
  std::reverse(names.begin(), names.end());
  return names;
}

std::string_view TopicTree::object_at(std::string_view topic) const {
  Node n = impl_->find_topic(topic);
  if (n == kNoNode || !impl_->topics.payload(n).object) return {};
  return impl_->topics.payload(n).object->object;
}

Result<RetainedId> TopicTree::set_retained(std::string_view topic, RetainedId retained) {
  if (retained == 0) {
    Node n = impl_->find_topic(topic);
    if (n == kNoNode) return RetainedId{0};
    RetainedId before = std::exchange(impl_->topics.payload(n).retained, 0);
    impl_->topics.prune(n);
    return before;
  }
  Node n = MS_TRY(impl_->make_topic(topic));
  return std::exchange(impl_->topics.payload(n).retained, retained);
}

RetainedId TopicTree::retained(std::string_view topic) const {
  Node n = impl_->find_topic(topic);
  return n == kNoNode ? 0 : impl_->topics.payload(n).retained;
}

Status TopicTree::open_handle(std::string_view topic) {
  Node n = MS_TRY(impl_->make_topic(topic));
  ++impl_->topics.payload(n).handles;
  return {};
}

void TopicTree::close_handle(std::string_view topic) {
  Node n = impl_->find_topic(topic);
  if (n == kNoNode || impl_->topics.payload(n).handles == 0) return;
  --impl_->topics.payload(n).handles;
  impl_->topics.prune(n);
}

// f(node, topic, levels of the deepest node above or here that blocks wildcards); false stops.
template <typename F>
void TopicTree::Impl::visit(const TopicPattern& pattern, F&& f) const {
  std::vector<std::string_view> levels;
  split_topic(pattern.literal_prefix(), levels);
  levels.resize(std::min<size_t>(levels.size(), pattern.literal_levels()));
  std::string topic;
  uint32_t depth = 0;
  std::vector<uint32_t> blocked = {0};  // for each depth
  Node start = TopicTrie::kRoot;
  auto enter = [&](Node n) {
    if (depth++ > 0) topic += '/';
    topic += topics.level(n);
    const TopicPayload& p = topics.payload(n);
    blocked.push_back(p.object && p.object->is_wildcard_blocked ? depth : blocked.back());
  };
  for (std::string_view level : levels) {
    start = topics.find_child(start, level);
    if (start == kNoNode) return;
    enter(start);
  }
  for (Node n = start;;) {
    if (pattern.matches(topic) && !f(n, topic, blocked.back())) return;
    if (topics.first_child(n) != kNoNode && pattern.has_wildcard()) {
      n = topics.first_child(n);
      enter(n);
      continue;
    }
    while (n != start) {
      topic.resize(topic.size() - topics.level(n).size() - (depth > 1 ? 1 : 0));
      --depth;
      blocked.pop_back();
      if (topics.next_sibling(n) != kNoNode) break;
      n = topics.parent(n);
    }
    if (n == start) return;
    n = topics.next_sibling(n);
    enter(n);
  }
}

void TopicTree::for_each_retained(
    const TopicPattern& pattern, const std::function<void(std::string_view, RetainedId)>& f) const {
  impl_->visit(pattern, [&](Node n, const std::string& topic, uint32_t blocked_levels) {
    RetainedId r = impl_->topics.payload(n).retained;
    bool is_blocked = pattern.has_wildcard() && pattern.literal_levels() < blocked_levels;
    if (r != 0 && !is_blocked) f(topic, r);
    return true;
  });
}

void TopicTree::for_each_node(const TopicPattern& pattern,
                              const std::function<bool(const TopicNodeStatus&)>& f) const {
  impl_->visit(pattern, [&](Node n, const std::string& topic, uint32_t) {
    const TopicPayload& p = impl_->topics.payload(n);
    return f({.topic = topic,
              .object = p.object ? p.object->object : std::string(),
              .subscriptions = static_cast<uint32_t>(p.exact.size()),
              .handles = p.handles,
              .retained = p.retained});
  });
}

}  // namespace millstream::queue::topic
