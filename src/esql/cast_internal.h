// The parts of CAST by target type. Private to the folder. Sources are never NULL here.
// Thread: any.
#pragma once
#include <string>
#include <string_view>

#include "esql/cast.h"

namespace millstream::esql::internal {

// Longest text or byte string that a CAST makes.
constexpr size_t kCastBytesMax = size_t{1} << 30;

struct CastJob {
  EvalContext& context;
  const value::Value& source;
  const CastTarget& target;
  const CastClauses& clauses;
  value::Value& out;

  bool has_format() const { return !clauses.format.is_null(); }
  bool has_character_set() const { return !clauses.ccsid.is_null() || !clauses.encoding.is_null(); }
};

Status cast_to_boolean(const CastJob& job);
Status cast_to_character(const CastJob& job);
Status cast_to_blob(const CastJob& job);
Status cast_to_bit(const CastJob& job);
Status cast_to_integer(const CastJob& job);
Status cast_to_float(const CastJob& job);
Status cast_to_decimal(const CastJob& job);
Status cast_to_datetime(const CastJob& job);
Status cast_to_interval(const CastJob& job);
Status cast_many(EvalContext& context, std::span<const value::Value> sources,
                 const CastTarget& target, value::Value& out);

Status unsupported_cast(const CastJob& job);
// "DECIMAL(10,2)", "INTERVAL DAY".
std::string target_name(const CastTarget& target);
// Text of a string source: CHARACTER as it is, BLOB and BIT decoded by the clauses (1208 when there
// are none).
Result<std::string_view> source_text(const CastJob& job);
// `text` as the wanted string type: CHARACTER as it is, else encoded by the clauses.
Status put_text(const CastJob& job, std::string_view text);
// The plain text of a number, boolean, date, interval: what CAST without clauses gives.
std::string plain_text(const value::Value& v);
// Clauses of the job as a CCSID; 1208 when both are absent.
Result<int32_t> clause_ccsid(const CastJob& job);
Result<std::string_view> clause_format(const CastJob& job);
bool is_number(value::Kind kind);
bool is_string(value::Kind kind);

}  // namespace millstream::esql::internal
