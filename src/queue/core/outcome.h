// How a call of the queue manager ended: completion and reason code exactly as the MQI has them, or
// "pending", when the answer comes later through the caller's callback on its own executor.
// Thread: any.
#pragma once
#include <cstdint>
#include <functional>

#include "mqi/options.h"
#include "mqi/reasons.h"

namespace millstream::queue {

struct [[nodiscard]] Outcome {
  int32_t completion = mqi::cc::kOk;
  int32_t reason = mqi::reason::kNone;

  bool is_ok() const { return completion == mqi::cc::kOk; }
  bool is_warning() const { return completion == mqi::cc::kWarning; }
  bool is_failed() const { return completion == mqi::cc::kFailed; }
  bool is_pending() const { return completion == kPendingCode; }
  bool operator==(const Outcome&) const = default;

  static constexpr Outcome ok() { return {}; }
  static constexpr Outcome warning(int32_t reason) { return {mqi::cc::kWarning, reason}; }
  static constexpr Outcome failed(int32_t reason) { return {mqi::cc::kFailed, reason}; }
  static constexpr Outcome pending() { return {kPendingCode, 0}; }

 private:
  static constexpr int32_t kPendingCode = -2;

 public:
  constexpr Outcome() = default;
  constexpr Outcome(int32_t completion_code, int32_t reason_code)
      : completion(completion_code), reason(reason_code) {}
};

// Called at most once, on the connection's executor, and only after the call has returned pending.
using Done = std::function<void(const Outcome&)>;

}  // namespace millstream::queue
