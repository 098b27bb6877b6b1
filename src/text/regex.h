// Regular expressions over UTF-8 text, by PCRE2, for patterns that come from outside: every search
// is bounded, so that no pattern can keep a thread busy for ever.
//   Regex r = ...; std::string problem;
//   if (std::optional<Regex> r = Regex::compile("^a+$", {}, &problem)) r->search(text);
// The dialect is Perl's, as near to that of ECMAScript (JSON Schema) as PCRE2 comes: \d and \w are
// ASCII, `$` matches only at the end. Thread: any, concurrently.
#pragma once
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace millstream::text {

struct RegexOptions {
  bool is_case_insensitive = false;
};

class Regex {
 public:
  static constexpr size_t kPatternBytesMax = 16 * 1024;
  // Steps of one search, and the memory it may take for going back.
  static constexpr uint32_t kMatchStepsMax = 500'000;
  static constexpr uint32_t kHeapKibMax = 4 * 1024;

  enum class Outcome : uint8_t {
    kMatch,
    kNoMatch,
    kTooHard,  // a limit was reached: neither answer is known
  };

  // Nothing when the pattern is wrong or too long; `problem` then says why.
  static std::optional<Regex> compile(std::string_view pattern, const RegexOptions& options,
                                      std::string* problem);
  // Somewhere in `subject`, which is valid UTF-8.
  Outcome search(std::string_view subject) const;

 private:
  struct Code;
  explicit Regex(std::shared_ptr<const Code> code) : code_(std::move(code)) {}
  std::shared_ptr<const Code> code_;  // shared by copies of this object
};

}  // namespace millstream::text
