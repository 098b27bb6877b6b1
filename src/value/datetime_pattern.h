// A datetime FORMAT pattern cut into its parts; shared by formatting and parsing. Private to the
// folder. The tokens point into the pattern.
// Thread: any.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace millstream::value {

struct PatternToken {
  char letter = 0;      // 0 = literal text
  bool has_u = false;   // ZZZU, IU, TU: Z for offset zero
  int count = 0;        // how often the letter is repeated
  std::string literal;  // without its quotes
  std::string source;   // as written, for messages
};

using PatternTokens = std::vector<PatternToken>;

Status split_pattern(std::string_view pattern, PatternTokens& out);
// The same from a small cache of the thread: flows use few patterns, many times. Valid until the
// next call on this thread.
Result<const PatternTokens*> cached_pattern(std::string_view pattern);

// English names; index 0 = January, Sunday.
std::string_view month_name(int index);
std::string_view weekday_name(int index);

}  // namespace millstream::value
