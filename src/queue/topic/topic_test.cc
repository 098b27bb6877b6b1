#include <doctest/doctest.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/random.h"
#include "queue/topic/topic_tree.h"

namespace millstream::queue::topic {
namespace {

TopicPattern topic_pattern(std::string_view text, WildcardScheme scheme = WildcardScheme::kTopic) {
  auto p = TopicPattern::create(text, scheme);
  REQUIRE(p.ok());
  return std::move(p).take_value();
}

bool pattern_matches(std::string_view text, std::string_view topic) {
  return topic_pattern(text).matches(topic);
}
bool characters_match(std::string_view text, std::string_view topic) {
  return topic_pattern(text, WildcardScheme::kCharacter).matches(topic);
}

std::vector<SubscriptionId> matched(const TopicTree& tree, std::string_view topic) {
  MatchScratch scratch;
  std::vector<SubscriptionId> out;
  tree.match(topic, scratch, out);
  std::sort(out.begin(), out.end());
  return out;
}
using Ids = std::vector<SubscriptionId>;

TEST_CASE("topic: wildcards of the topic scheme") {
  CHECK(pattern_matches("a/b", "a/b"));
  CHECK_FALSE(pattern_matches("a/b", "a/B"));
  CHECK(pattern_matches("a/+", "a/b"));
  CHECK(pattern_matches("a/+", "a/"));  // an empty level is a level
  CHECK_FALSE(pattern_matches("a/+", "a"));
  CHECK_FALSE(pattern_matches("a/+", "a/b/c"));
  CHECK(pattern_matches("a/#", "a"));
  CHECK(pattern_matches("a/#", "a/b/c"));
  CHECK_FALSE(pattern_matches("a/#", "ab"));
  CHECK(pattern_matches("#", "a/b"));
  CHECK(pattern_matches("#/c", "c"));
  CHECK(pattern_matches("#/c", "a/b/c"));
  CHECK(pattern_matches("a/#/d", "a/d"));
  CHECK(pattern_matches("a/#/d", "a/b/c/d"));
  CHECK_FALSE(pattern_matches("a/#/d", "a/b/c"));
  CHECK(pattern_matches("+/#/+", "a/b"));
  CHECK_FALSE(pattern_matches("+/#/+", "a"));
  CHECK(pattern_matches("a+/b#", "a+/b#"));  // beside other characters they are ordinary
  CHECK_FALSE(pattern_matches("a+/b#", "ax/bx"));
  CHECK_FALSE(topic_pattern("a+/##").has_wildcard());
  CHECK(pattern_matches("/+", "/x"));
  CHECK_FALSE(pattern_matches("+", "/x"));
}

TEST_CASE("topic: wildcards of the character scheme") {
  CHECK(characters_match("a*", "a/b/c"));
  CHECK(characters_match("*c", "a/b/c"));
  CHECK(characters_match("a/?", "a/b"));
  CHECK(characters_match("a/?", "a/\xC3\xBC"));
  CHECK_FALSE(characters_match("a/?", "a/bc"));
  CHECK_FALSE(characters_match("a/?", "a/"));
  CHECK(characters_match("a%*", "a*"));
  CHECK_FALSE(characters_match("a%*", "ab"));
  CHECK(characters_match("100%%", "100%"));
  CHECK(characters_match("100%", "100%"));
  CHECK(characters_match("%x", "%x"));
  CHECK(characters_match("a/+", "a/+"));
  CHECK_FALSE(characters_match("a/+", "a/b"));
  CHECK(topic_pattern("a%*b", WildcardScheme::kCharacter).topic() == "a*b");
}

TEST_CASE("topic: strings and their limits") {
  CHECK(compose_topic("dev", "x/y").value() == "dev/x/y");
  CHECK(compose_topic("dev/", "x").value() == "dev//x");  // empty levels count
  CHECK(compose_topic("", "x").value() == "x");
  CHECK(compose_topic("dev", "").value() == "dev");
  std::string longest(kTopicCharactersMax, 'x'), wide;
  for (size_t i = 0; i < kTopicCharactersMax; ++i) wide += "\xC3\xBC";
  CHECK(check_topic_string(longest).ok());
  CHECK(check_topic_string(wide).ok());  // counted in characters
  auto number = [](Status s) { return s.ok() ? 0 : s.error().number; };
  CHECK(number(check_topic_string(longest + "x")) == 2425);
  CHECK(number(check_topic_string(wide + "x")) == 2425);
  CHECK(number(check_topic_string("\xFF")) == 2425);
  CHECK(number(check_topic_string(std::string_view("a\0b", 3))) == 2425);
  CHECK_FALSE(compose_topic("a", longest).ok());
  std::string many;
  for (size_t i = 0; i < kPatternWildcardsMax; ++i) many += "+/";
  CHECK(TopicPattern::create(many, WildcardScheme::kTopic).ok());
  CHECK_FALSE(TopicPattern::create(many + "#", WildcardScheme::kTopic).ok());
}

TEST_CASE("topic: subscriptions of every kind find their publications") {
  TopicTree tree;
  REQUIRE(tree.subscribe(1, topic_pattern("sport/soccer")).ok());
  REQUIRE(tree.subscribe(2, topic_pattern("sport/soccer")).ok());
  REQUIRE(tree.subscribe(3, topic_pattern("sport/#")).ok());
  REQUIRE(tree.subscribe(4, topic_pattern("+/soccer")).ok());
  REQUIRE(tree.subscribe(5, topic_pattern("sport/s*", WildcardScheme::kCharacter)).ok());
  REQUIRE(tree.subscribe(6, topic_pattern("*", WildcardScheme::kCharacter)).ok());
  REQUIRE(tree.subscribe(7, topic_pattern("#/soccer/#")).ok());
  CHECK(matched(tree, "sport/soccer") == Ids{1, 2, 3, 4, 5, 6, 7});
  CHECK(matched(tree, "sport") == Ids{3, 6});
  CHECK(matched(tree, "sport/swim") == Ids{3, 5, 6});
  CHECK(matched(tree, "sport/soccer/x") == Ids{3, 5, 6, 7});
  CHECK(matched(tree, "sport/+") == Ids{3, 6});  // published literally
  CHECK(matched(tree, "sport/#") == Ids{3, 6});
  uint64_t version = tree.version();
  CHECK(tree.unsubscribe(3));
  CHECK_FALSE(tree.unsubscribe(3));
  CHECK(tree.version() != version);
  CHECK(matched(tree, "sport") == Ids{6});
  for (SubscriptionId id : {1, 2, 4, 5, 6, 7}) CHECK(tree.unsubscribe(id));
  CHECK(matched(tree, "sport/soccer").empty());
  CHECK(tree.node_count() == 0);
  CHECK(tree.subscription_count() == 0);
}

// Independent of the shipped matchers: straight from the definition.
bool naive_levels(const std::vector<std::string>& p, size_t i, const std::vector<std::string>& t,
                  size_t j) {
  if (i == p.size()) return j == t.size();
  if (p[i] == "#") {
    return naive_levels(p, i + 1, t, j) || (j < t.size() && naive_levels(p, i, t, j + 1));
  }
  return j < t.size() && (p[i] == "+" || p[i] == t[j]) && naive_levels(p, i + 1, t, j + 1);
}
bool naive_characters(std::string_view p, std::string_view t) {
  if (p.empty()) return t.empty();
  if (p[0] == '*') {
    return naive_characters(p.substr(1), t) || (!t.empty() && naive_characters(p, t.substr(1)));
  }
  if (p[0] == '%' && p.size() > 1 && (p[1] == '*' || p[1] == '?' || p[1] == '%')) {
    return !t.empty() && t[0] == p[1] && naive_characters(p.substr(2), t.substr(1));
  }
  return !t.empty() && (p[0] == '?' || p[0] == t[0]) && naive_characters(p.substr(1), t.substr(1));
}
std::vector<std::string> naive_split(std::string_view s) {
  std::vector<std::string> levels;
  if (s.empty()) return levels;
  std::string level;
  for (char c : s) {
    if (c == '/') {
      levels.push_back(level);
      level.clear();
    } else {
      level += c;
    }
  }
  levels.push_back(level);
  return levels;
}

TEST_CASE("topic: the tree agrees with a naive matcher") {
  constexpr uint64_t kSeed = 4711;
  CAPTURE(kSeed);
  base::SeededRandom random(kSeed);
  auto below = [&](uint32_t n) { return static_cast<uint32_t>(random.next_u64() % n); };
  auto make = [&](std::initializer_list<const char*> parts, uint32_t longest, char between) {
    std::string s;
    for (uint32_t n = below(longest + 1); n > 0; --n) {
      s += parts.begin()[below(parts.size())];
      if (between && n > 1) s += between;
    }
    return s;
  };
  TopicTree tree;
  struct Subscription {
    std::string text;
    bool is_levels;
  };
  std::map<SubscriptionId, Subscription> live;
  SubscriptionId next = 1;
  MatchScratch scratch;
  size_t found = 0;
  for (int step = 0; step < 6'000; ++step) {
    if (live.size() < 60 || below(3) == 0) {
      bool is_levels = below(3) != 0;
      std::string text = is_levels ? make({"a", "b", "", "+", "#", "+", "#", "a+"}, 6, '/')
                                   : make({"a", "b", "/", "*", "?", "%*", "%", "*"}, 7, 0);
      auto scheme = is_levels ? WildcardScheme::kTopic : WildcardScheme::kCharacter;
      REQUIRE(tree.subscribe(next, topic_pattern(text, scheme)).ok());
      live[next++] = {text, is_levels};
    }
    if (live.size() > 100 || below(4) == 0) {
      auto it = std::next(live.begin(), below(static_cast<uint32_t>(live.size())));
      REQUIRE(tree.unsubscribe(it->first));
      live.erase(it);
    }
    std::string topic = below(2) ? make({"a", "b", "", "+", "#", "a+", "*"}, 6, '/')
                                 : make({"a", "b", "/", "*", "?", "%"}, 7, 0);
    std::vector<SubscriptionId> got, wanted;
    tree.match(topic, scratch, got);
    std::sort(got.begin(), got.end());
    for (const auto& [id, s] : live) {
      bool is_match = s.is_levels ? naive_levels(naive_split(s.text), 0, naive_split(topic), 0)
                                  : naive_characters(s.text, topic);
      if (is_match) wanted.push_back(id);
    }
    CAPTURE(topic);
    REQUIRE(got == wanted);
    found += wanted.size();
  }
  CHECK(found > 10'000);
  for (const auto& [id, s] : live) REQUIRE(tree.unsubscribe(id));
  CHECK(tree.node_count() == 0);
}

TEST_CASE("topic: attributes come from the nearest object that says something") {
  TopicTree tree;
  CHECK(tree.attributes("a/b").publish == Switch::kYes);
  CHECK(tree.attributes("a/b").object == "SYSTEM.BASE.TOPIC");
  TopicAttributes a{.object = "A"};
  a.publish = Switch::kNo;
  a.default_priority = 7;
  REQUIRE(tree.attach_object("a", a).value());
  CHECK_FALSE(tree.attach_object("a", a).value());  // one a node
  TopicAttributes c{.object = "C"};
  c.publish = Switch::kYes;
  c.durable_model_queue = "M";
  REQUIRE(tree.attach_object("a/b/c", c).value());
  CHECK(tree.attributes("a").publish == Switch::kNo);
  CHECK(tree.attributes("a/b").publish == Switch::kNo);
  CHECK(tree.attributes("a/b/x").default_priority == 7);
  TopicAttributes at = tree.attributes("a/b/c/d");
  CHECK(at.object == "C");
  CHECK(at.publish == Switch::kYes);
  CHECK(at.default_priority == 7);
  CHECK(at.durable_model_queue == "M");
  CHECK(at.temporary_model_queue == "SYSTEM.NDURABLE.MODEL.QUEUE");
  CHECK(tree.attributes("ab").publish == Switch::kYes);
  CHECK(tree.object_at("a/b/c") == "C");
  CHECK(tree.object_at("a/b").empty());
  TopicAttributes root{.object = "SYSTEM.BASE.TOPIC"};
  root.subscribe = Switch::kNo;
  REQUIRE(tree.attach_object("", root).value());
  CHECK(tree.attributes("a/b/c").subscribe == Switch::kNo);
  CHECK(tree.objects_above("a/b/c/d") == std::vector<std::string>{"C", "A", "SYSTEM.BASE.TOPIC"});
  CHECK(tree.objects_above("z") == std::vector<std::string>{"SYSTEM.BASE.TOPIC"});
  a.publish = Switch::kAsParent;
  CHECK(tree.alter_object("a", a));
  CHECK(tree.attributes("a/b").publish == Switch::kYes);
  CHECK(tree.detach_object("a/b/c"));
  CHECK_FALSE(tree.detach_object("a/b/c"));
  CHECK(tree.node_count() == 1);
  CHECK(tree.attributes("a/b/c").object == "A");
}

TEST_CASE("topic: WILDCARD(BLOCK) stops patterns from above") {
  TopicTree tree;
  TopicAttributes block{.object = "B"};
  block.is_wildcard_blocked = true;
  REQUIRE(tree.attach_object("a/b", block).value());
  REQUIRE(tree.subscribe(1, topic_pattern("a/#")).ok());
  REQUIRE(tree.subscribe(2, topic_pattern("a/b/#")).ok());
  REQUIRE(tree.subscribe(3, topic_pattern("a/b/c")).ok());
  REQUIRE(tree.subscribe(4, topic_pattern("a/b*", WildcardScheme::kCharacter)).ok());
  REQUIRE(tree.subscribe(5, topic_pattern("a/b/*", WildcardScheme::kCharacter)).ok());
  CHECK(matched(tree, "a/b/c") == Ids{2, 3, 5});
  CHECK(matched(tree, "a/b") == Ids{2});
  CHECK(matched(tree, "a/bx") == Ids{1, 4});
  REQUIRE(tree.set_retained("a/b/c", 9).ok());
  REQUIRE(tree.set_retained("a/x", 8).ok());
  std::vector<std::string> seen;
  auto note = [&](std::string_view topic, RetainedId) { seen.emplace_back(topic); };
  tree.for_each_retained(topic_pattern("a/#"), note);
  CHECK(seen == std::vector<std::string>{"a/x"});
  seen.clear();
  tree.for_each_retained(topic_pattern("a/b/+"), note);
  tree.for_each_retained(topic_pattern("a/b/c"), note);
  CHECK(seen == std::vector<std::string>{"a/b/c", "a/b/c"});
}

TEST_CASE("topic: retained publications, handles and the list of nodes") {
  TopicTree tree;
  CHECK(tree.set_retained("a/b", 5).value() == 0);
  CHECK(tree.set_retained("a/b", 6).value() == 5);
  CHECK(tree.retained("a/b") == 6);
  CHECK(tree.retained("a") == 0);
  REQUIRE(tree.set_retained("/", 7).ok());
  REQUIRE(tree.set_retained("//x", 8).ok());
  REQUIRE(tree.open_handle("z").ok());
  REQUIRE(tree.subscribe(1, topic_pattern("a/b")).ok());
  std::vector<std::string> seen;
  tree.for_each_node(topic_pattern("#"), [&](const TopicNodeStatus& s) {
    seen.push_back("'" + s.topic + "'" + std::to_string(s.subscriptions) +
                   std::to_string(s.handles) + std::to_string(s.retained));
    return true;
  });
  CHECK(seen == std::vector<std::string>{"''000", "'a'000", "'a/b'106", "''000", "'/'007",
                                         "'//x'008", "'z'010"});
  size_t count = 0;
  tree.for_each_node(topic_pattern("#"), [&](const TopicNodeStatus&) { return ++count < 2; });
  CHECK(count == 2);
  std::set<std::string> found;
  tree.for_each_retained(topic_pattern("/*", WildcardScheme::kCharacter),
                         [&](std::string_view topic, RetainedId) { found.emplace(topic); });
  CHECK(found == std::set<std::string>{"/", "//x"});
  tree.close_handle("z");
  tree.close_handle("z");
  CHECK(tree.set_retained("/", 0).value() == 7);
  CHECK(tree.set_retained("//x", 0).value() == 8);
  CHECK(tree.set_retained("never", 0).value() == 0);
  CHECK(tree.node_count() == 2);
  CHECK(tree.set_retained("a/b", 0).value() == 6);
  CHECK(tree.node_count() == 2);  // the subscription holds it
  CHECK(tree.unsubscribe(1));
  CHECK(tree.node_count() == 0);
}

TEST_CASE("topic: nothing is left of topics that were used once, and there are limits") {
  TopicTree tree({.nodes_max = 10, .subscriptions_max = 3});
  MatchScratch scratch;
  std::vector<SubscriptionId> out;
  for (int i = 0; i < 1'000'000; ++i) {
    out.clear();
    tree.match("once/" + std::to_string(i), scratch, out);
  }
  CHECK(tree.node_count() == 0);
  for (int i = 0; i < 1'000; ++i) {
    std::string topic = "r/" + std::to_string(i);
    REQUIRE(tree.set_retained(topic, 1).ok());
    REQUIRE(tree.set_retained(topic, 0).value() == 1);
  }
  CHECK(tree.node_count() == 0);
  auto failed = tree.set_retained("1/2/3/4/5/6/7/8/9/10/11", 1);
  REQUIRE_FALSE(failed.ok());
  CHECK(failed.error().number == 2102);
  CHECK(tree.node_count() == 0);  // nothing half-made
  for (SubscriptionId id : {1, 2, 3}) REQUIRE(tree.subscribe(id, topic_pattern("a")).ok());
  CHECK_FALSE(tree.subscribe(4, topic_pattern("a")).ok());
  // As many levels as a string can have: no recursion anywhere.
  TopicTree deep;
  std::string slashes(kTopicCharactersMax, '/');
  REQUIRE(deep.set_retained(slashes, 1).ok());
  REQUIRE(deep.subscribe(1, topic_pattern("#")).ok());
  CHECK(matched(deep, slashes) == Ids{1});
  size_t nodes = 0;
  deep.for_each_node(topic_pattern("#"), [&](const TopicNodeStatus&) { return ++nodes < 20; });
  CHECK(nodes == 20);
  REQUIRE(deep.set_retained(slashes, 0).ok());
  CHECK(deep.node_count() == 0);
}

}  // namespace
}  // namespace millstream::queue::topic
