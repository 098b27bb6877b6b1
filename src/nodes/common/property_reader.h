// Turns the property texts of one node into typed values and says what does not fit, at the place
// it was written. The generated read_..._properties() functions call it, one call a property of the
// record; what the record does not know is an error, because a property that is skipped in silence
// makes a flow behave differently from the product.
// Thread: one, while loading.
#pragma once
#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "base/diagnostics.h"
#include "base/result.h"
#include "flow/property_set.h"

namespace millstream::nodes::common {

class PropertyReader {
 public:
  PropertyReader(std::string_view node_type, const flow::PropertySet& set,
                 base::Diagnostics& diagnostics);

  // An absent property leaves `out` (its default) alone.
  void read_text(std::string_view name, std::string& out);
  void read_boolean(std::string_view name, bool& out);  // true, false, yes, no
  void read_integer(std::string_view name, int64_t min, int64_t max, int64_t& out);
  void read_hex(std::string_view name, std::string& out);  // "0D0A" gives two bytes
  // The index of the value; a wrong one gives `fallback`, with a warning if `is_tolerant`.
  size_t read_choice(std::string_view name, std::span<const std::string_view> values,
                     size_t fallback, bool is_tolerant);

  void require(std::string_view name);  // present and not empty
  void ignore(std::string_view name);   // known, without effect here
  void refuse(std::string_view name, std::string_view reason);
  void refuse_unless(std::string_view name, std::string_view default_text, std::string_view reason);
  void refuse_value(std::string_view name, std::string_view value, std::string_view reason);
  void allow_table(std::string_view name);

  // Reports unknown properties and tables. All errors but the last are in the diagnostics by now;
  // the last one is returned, for the caller to report.
  Status finish();

 private:
  const flow::Property* find(std::string_view name);
  void fail(Status status, const base::Position& position);

  std::string_view node_type_;
  const flow::PropertySet& set_;
  base::Diagnostics& diagnostics_;
  std::set<std::string_view> known_;
  Status last_error_;
};

}  // namespace millstream::nodes::common
