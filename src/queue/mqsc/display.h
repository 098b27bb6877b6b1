// What a DISPLAY asks for: attributes, ALL, WHERE(attribute operator value). The same for objects
// and status: whoever answers makes whole rows, and this picks.
// Thread: any.
#pragma once
#include <functional>
#include <optional>
#include <span>

#include "queue/mqsc/command.h"

namespace millstream::queue::mqsc {

struct DisplayAttribute {
  std::string keyword;  // as it is shown; of a flag the keyword that it belongs to
  bool is_number = false;
  std::span<const objects::NamedNumber> names;  // words that stand for numbers
};
// By keyword or synonym; nothing when there is no such attribute.
using DisplayResolver = std::function<std::optional<DisplayAttribute>(const std::string&)>;

enum class WhereOperator : uint8_t { kEq, kNe, kLt, kGt, kLe, kGe, kLk, kNl, kCt, kEx, kCtg, kExg };

struct Where {
  std::string keyword;
  WhereOperator op = WhereOperator::kEq;
  std::string value;
  bool has_number = false;
  int64_t number = 0;
};

struct DisplayRequest {
  bool is_all = false;
  std::vector<std::string> keywords;
  std::optional<Where> where;

  bool asks_nothing() const { return !is_all && keywords.empty(); }
  // Whether the row passes WHERE; a row without the attribute does not.
  bool matches(const Row& row) const;
  // Without what was not asked for. The first `keys` fields always stay; `shown` is what is shown
  // when nothing was asked for (empty: everything).
  Row select(const Row& row, size_t keys, std::span<const std::string_view> shown) const;
};

// Reads one clause into the request. False: it is none of ALL, WHERE and the attributes.
bool read_display_clause(const Clause& clause, const DisplayResolver& resolve, DisplayRequest& out,
                         SyntaxError& problem);

// Of a command on records whose attributes are plain words (authorities, channel rules): checks its
// parameters; with `is_display` ALL, WHERE and attributes go to `out`.
SyntaxError check_record_parameters(const Command& command, bool is_display, DisplayRequest& out);

}  // namespace millstream::queue::mqsc
