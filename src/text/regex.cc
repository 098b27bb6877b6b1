#include "text/regex.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

namespace millstream::text {

struct Regex::Code {
  pcre2_code* compiled = nullptr;
  pcre2_match_context* limits = nullptr;
  ~Code() {
    pcre2_code_free(compiled);
    pcre2_match_context_free(limits);
  }
};

std::optional<Regex> Regex::compile(std::string_view pattern, const RegexOptions& options,
                                    std::string* problem) {
  if (pattern.size() > kPatternBytesMax) {
    *problem = "it is longer than " + std::to_string(kPatternBytesMax) + " bytes";
    return std::nullopt;
  }
  uint32_t flags = PCRE2_UTF | PCRE2_ALT_BSUX | PCRE2_DOLLAR_ENDONLY | PCRE2_NEVER_BACKSLASH_C |
                   PCRE2_ALLOW_EMPTY_CLASS | PCRE2_MATCH_UNSET_BACKREF;
  if (options.is_case_insensitive) flags |= PCRE2_CASELESS;
  int error = 0;
  size_t offset = 0;
  auto code = std::make_shared<Code>();
  code->compiled = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(),
                                 flags, &error, &offset, nullptr);
  if (!code->compiled) {
    PCRE2_UCHAR text[256] = {};
    pcre2_get_error_message(error, text, sizeof(text));
    *problem = std::string(reinterpret_cast<const char*>(text)) + " (at offset " +
               std::to_string(offset) + ")";
    return std::nullopt;
  }
  code->limits = pcre2_match_context_create(nullptr);
  pcre2_set_match_limit(code->limits, kMatchStepsMax);
  pcre2_set_heap_limit(code->limits, kHeapKibMax);
  return Regex(std::move(code));
}

Regex::Outcome Regex::search(std::string_view subject) const {
  // Room for the whole match only: nobody asks for groups.
  pcre2_match_data* data = pcre2_match_data_create(1, nullptr);
  const char* start = subject.data() ? subject.data() : "";
  const int found = pcre2_match(code_->compiled, reinterpret_cast<PCRE2_SPTR>(start),
                                subject.size(), 0, 0, data, code_->limits);
  pcre2_match_data_free(data);
  if (found >= 0) return Outcome::kMatch;
  return found == PCRE2_ERROR_NOMATCH ? Outcome::kNoMatch : Outcome::kTooHard;
}

}  // namespace millstream::text
