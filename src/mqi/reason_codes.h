// The MQRC_* reason codes by name. Thread: any.
#pragma once
#include <cstdint>
#include <span>
#include <string_view>

namespace millstream::mqi {

struct NumberConstant {
  std::string_view name;
  int64_t value;
};

std::span<const NumberConstant> reason_codes();  // sorted by value

}  // namespace millstream::mqi
