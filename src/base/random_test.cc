#include "base/random.h"

#include <doctest/doctest.h>

#include <set>
#include <string>

namespace millstream::base {

TEST_CASE("random: the system source does not repeat itself") {
  std::set<uint64_t> seen;
  for (int i = 0; i < 1000; ++i) seen.insert(system_random().next_u64());
  CHECK(seen.size() == 1000);
  std::string large(1000, '\0');
  system_random().fill(large.data(), large.size());
  CHECK(large.find_first_not_of('\0') != std::string::npos);
}

TEST_CASE("random: a seed gives its sequence") {
  SeededRandom a(7), b(7), c(8);
  CHECK(SeededRandom(0).next_u64() == 0xE220A8397B1DCDAFull);  // the published first value
  uint64_t first = a.next_u64();
  CHECK(b.next_u64() == first);
  CHECK(c.next_u64() != first);
  char x[13], y[13];
  a.fill(x, sizeof x);
  b.fill(y, sizeof y);
  CHECK(std::string(x, 13) == std::string(y, 13));
}

}  // namespace millstream::base
