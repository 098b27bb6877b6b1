// The properties of a simulated message, which follow from its key, and selectors over them with a
// predicate each that says the same in C++.
// Thread: any.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "base/random.h"

namespace millstream::sim {

struct SimProperties {
  explicit SimProperties(std::string_view key);
  // A mqi::PropertyList's; empty when the message has none.
  std::string bytes() const;

  bool has_any = true;
  std::string color;  // empty: it has none
  int32_t size = 0;
};

struct SimSelector {
  const char* text;
  bool (*matches)(const SimProperties&);
};
const SimSelector& any_selector(base::Random& random);

}  // namespace millstream::sim
