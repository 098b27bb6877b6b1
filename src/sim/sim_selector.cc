#include "sim/sim_selector.h"

#include <iterator>

#include "mqi/properties.h"
#include "queue/core/message.h"

namespace millstream::sim {
namespace {

constexpr const char* kColors[] = {"red", "green", "blue", ""};

constexpr SimSelector kSelectors[] = {
    {"color = 'red'", [](const SimProperties& p) { return p.color == "red"; }},
    {"size < 50", [](const SimProperties& p) { return p.has_any && p.size < 50; }},
    {"color IN ('red', 'blue') AND size BETWEEN 10 AND 70",
     [](const SimProperties& p) {
       return (p.color == "red" || p.color == "blue") && p.size >= 10 && p.size <= 70;
     }},
    {"color IS NULL", [](const SimProperties& p) { return p.color.empty(); }},
    {"NOT (size * 2 >= 100 OR color LIKE '%e%')",
     [](const SimProperties& p) {
       // A property that is missing makes its half unknown; only a true one decides alone.
       return p.has_any && p.size < 50 && !p.color.empty() &&
              p.color.find('e') == std::string::npos;
     }},
};

}  // namespace

SimProperties::SimProperties(std::string_view key) {
  const uint64_t hash = queue::hash_identifier(key);
  has_any = hash % 5 != 0;
  if (!has_any) return;
  color = kColors[hash / 5 % std::size(kColors)];
  size = static_cast<int32_t>(hash / 20 % 100);
}

std::string SimProperties::bytes() const {
  if (!has_any) return {};
  mqi::PropertyList list;
  if (!color.empty()) (void)list.set("color", mqi::PropertyView::string(color));
  (void)list.set("size", mqi::PropertyView::int32(size));
  return list.bytes();
}

const SimSelector& any_selector(base::Random& random) {
  return kSelectors[random.next_u64() % std::size(kSelectors)];
}

}  // namespace millstream::sim
