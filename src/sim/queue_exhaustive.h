// All short sequences of the operations that write, each with a crash after every operation of the
// disk: most bugs of this kind need no more (ALICE, CrashMonkey).
// Thread: any.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace millstream::sim {

enum class SmallOp : uint8_t {
  kPut,
  kGet,
  kCommit,
  kRollback,
  kPrepare,
  kXaCommit,
  kExpire,
  kCheckpoint,
  kDeleteQueue,
  kRollSegment,
};
inline constexpr int kSmallOps = 10;

struct SmallResult {
  uint64_t runs = 0;  // with a crash each
  std::vector<std::string> violations;
};

// The n-th sequence of at most `length` operations; false: there are no more.
bool small_sequence(uint64_t n, int length, std::vector<SmallOp>* out);
std::string describe(const std::vector<SmallOp>& sequence);
SmallResult run_small_sequence(const std::vector<SmallOp>& sequence, uint64_t seed);

}  // namespace millstream::sim
