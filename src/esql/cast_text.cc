// CAST to the string types CHARACTER, BLOB and BIT.
#include "base/arena.h"
#include "base/ascii.h"
#include "esql/cast_internal.h"
#include "esql/errors_gen.h"
#include "text/ccsid.h"
#include "value/datetime.h"
#include "value/datetime_format.h"
#include "value/number_format.h"

namespace millstream::esql::internal {

using value::Kind;
using value::Value;

namespace {

constexpr size_t kIntegerBytes = 8;

// The low four bits of an ENCODING word; 2 = reversed (little endian) integers.
constexpr int64_t kEncodingIntegerMask = 0xF;
constexpr int64_t kEncodingIntegerReversed = 2;

Result<int64_t> clause_integer(const CastJob& job, const Value& clause, const char* name) {
  if (clause.kind == Kind::kInteger) return clause.integer;
  if (!is_number(clause.kind) && clause.kind != Kind::kCharacter) {
    return base::make_error(errors::kCastClauseType, {name, kind_name(clause.kind), "INTEGER"});
  }
  CastTarget target;
  target.kind = Kind::kInteger;
  CastClauses none;
  Value v;
  MS_TRY(cast_to_integer(CastJob{job.context, clause, target, none, v}));
  return v.integer;
}

// The byte order of an ENCODING word counts for the wide sets that leave it open.
int32_t with_byte_order(int32_t ccsid, bool is_reversed) {
  if (!is_reversed) return ccsid;
  switch (ccsid) {
    case text::kCcsidUtf16:
    case 13488:
    case 17584:
      return text::kCcsidUtf16LittleEndian;
    case text::kCcsidUtf32:
      return text::kCcsidUtf32LittleEndian;
    default:
      return ccsid;
  }
}

Status check_length(size_t bytes) {
  if (bytes <= kCastBytesMax) return {};
  return base::make_error(errors::kCastTooLong, {bytes, kCastBytesMax});
}

Status put_hex_literal(const CastJob& job, std::string_view bytes) {
  size_t size = bytes.size() * 2 + 3;
  MS_TRY(check_length(size));
  char* p = job.context.arena().bytes(size);
  size_t n = 0;
  p[n++] = 'X';
  p[n++] = '\'';
  for (char c : bytes) {
    auto b = static_cast<unsigned char>(c);
    p[n++] = base::kLowerHexDigits[b >> 4];
    p[n++] = base::kLowerHexDigits[b & 15];
  }
  p[n++] = '\'';
  job.out = Value::make_character({p, n});
  return {};
}

Status put_bit_literal(const CastJob& job, const char* bytes, size_t bits) {
  size_t size = bits + 3;
  MS_TRY(check_length(size));
  char* p = job.context.arena().bytes(size);
  size_t n = 0;
  p[n++] = 'B';
  p[n++] = '\'';
  for (size_t i = 0; i < bits; ++i) p[n++] = (bytes[i / 8] >> (7 - i % 8) & 1) != 0 ? '1' : '0';
  p[n++] = '\'';
  job.out = Value::make_character({p, n});
  return {};
}

// The digits of X'..', B'..' or of a bare text; `from` is their offset in it.
std::string_view literal_digits(std::string_view text, char prefix, size_t& from) {
  from = 0;
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  while (!text.empty() && text.front() == ' ') {
    text.remove_prefix(1);
    ++from;
  }
  char lower = static_cast<char>(prefix + 32);
  if (text.size() >= 3 && (text[0] == prefix || text[0] == lower) && text[1] == '\'' &&
      text.back() == '\'') {
    from += 2;
    return text.substr(2, text.size() - 3);
  }
  return text;
}

Status parse_blob_literal(const CastJob& job) {
  size_t from = 0;
  std::string_view digits = literal_digits(job.source.text(), 'X', from);
  char* p = job.context.arena().bytes(digits.size() / 2);
  for (size_t i = 0; i < digits.size(); ++i) {
    int d = base::hex_digit_value(digits[i]);
    bool is_odd_end = i + 1 == digits.size() && i % 2 == 0;
    if (d < 0 || is_odd_end) {
      size_t place = from + i + 1 + (d < 0 ? 0 : 1);
      return base::make_error(errors::kCastBytesText, {"BLOB", place});
    }
    if (i % 2 == 0) {
      p[i / 2] = static_cast<char>(d << 4);
    } else {
      p[i / 2] = static_cast<char>(p[i / 2] | d);
    }
  }
  job.out = Value::make_blob({p, digits.size() / 2});
  return {};
}

Status parse_bit_literal(const CastJob& job) {
  size_t from = 0;
  std::string_view digits = literal_digits(job.source.text(), 'B', from);
  size_t bytes = (digits.size() + 7) / 8;
  char* p = job.context.arena().bytes(bytes);
  std::memset(p, 0, bytes);
  for (size_t i = 0; i < digits.size(); ++i) {
    if (digits[i] != '0' && digits[i] != '1') {
      return base::make_error(errors::kCastBytesText, {"BIT", from + i + 1});
    }
    if (digits[i] == '1') p[i / 8] = static_cast<char>(p[i / 8] | 0x80 >> (i % 8));
  }
  job.out = Value::make_bit(p, static_cast<uint32_t>(digits.size()));
  return {};
}

std::string_view integer_bytes(const CastJob& job) {
  char* p = job.context.arena().bytes(kIntegerBytes);
  auto v = static_cast<uint64_t>(job.source.integer);
  for (size_t i = 0; i < kIntegerBytes; ++i) p[i] = static_cast<char>(v >> (56 - 8 * i));
  return {p, kIntegerBytes};
}

bool takes_format(Kind kind) { return is_number(kind) || value::is_datetime(kind); }

// Numbers and datetimes by the pattern of the FORMAT clause.
Result<std::string> formatted_text(const CastJob& job) {
  std::string_view pattern = MS_TRY(clause_format(job));
  std::string text;
  const Value& v = job.source;
  if (value::is_datetime(v.kind)) {
    MS_TRY(value::format_datetime(v, pattern, job.context.local_zone, job.context.now_gmt_micros,
                                  text));
    return text;
  }
  value::NumberFormat format = MS_TRY(value::NumberFormat::create(pattern));
  if (v.kind == Kind::kInteger) {
    MS_TRY(format.format(v.integer, text));
  } else if (v.kind == Kind::kFloat) {
    MS_TRY(format.format(v.real, text));
  } else {
    MS_TRY(format.format(v.as_decimal(), text));
  }
  return text;
}

}  // namespace

Result<int32_t> clause_ccsid(const CastJob& job) {
  int64_t ccsid = 0, encoding = 0;
  if (!job.clauses.ccsid.is_null()) {
    ccsid = MS_TRY(clause_integer(job, job.clauses.ccsid, "CCSID"));
  }
  if (!job.clauses.encoding.is_null()) {
    encoding = MS_TRY(clause_integer(job, job.clauses.encoding, "ENCODING"));
  }
  if (ccsid == 0) ccsid = text::kCcsidUtf8;  // the server's own
  if (ccsid < 0 || ccsid > INT32_MAX) ccsid = -1;
  return with_byte_order(static_cast<int32_t>(ccsid),
                         (encoding & kEncodingIntegerMask) == kEncodingIntegerReversed);
}

Result<std::string_view> clause_format(const CastJob& job) {
  const Value& format = job.clauses.format;
  if (format.kind == Kind::kCharacter) return format.text();
  return base::make_error(errors::kCastClauseType, {"FORMAT", kind_name(format.kind), "CHARACTER"});
}

Result<std::string_view> source_text(const CastJob& job) {
  const Value& v = job.source;
  if (v.kind == Kind::kCharacter) return v.text();
  if (v.kind == Kind::kBit && v.size % 8 != 0) {
    return base::make_error(errors::kCastBytesLength,
                            {"BIT", v.size, kind_name(job.target.kind), "whole bytes"});
  }
  std::string_view bytes(v.data, v.kind == Kind::kBit ? v.size / 8 : v.size);
  int32_t ccsid = MS_TRY(clause_ccsid(job));
  return text::to_utf8(bytes, ccsid, job.context.arena());
}

Status put_text(const CastJob& job, std::string_view text) {
  if (job.target.kind == Kind::kCharacter) {
    job.out = Value::make_character(text);
    return {};
  }
  int32_t ccsid = MS_TRY(clause_ccsid(job));
  std::string_view bytes = MS_TRY(text::from_utf8(text, ccsid, job.context.arena()));
  MS_TRY(check_length(bytes.size()));
  if (job.target.kind == Kind::kBlob) {
    job.out = Value::make_blob(bytes);
    return {};
  }
  MS_TRY(check_length(bytes.size() * 8));
  job.out = Value::make_bit(bytes.data(), static_cast<uint32_t>(bytes.size() * 8));
  return {};
}

Status cast_to_character(const CastJob& job) {
  const Value& v = job.source;
  if (v.kind == Kind::kCharacter) {
    job.out = v;
    job.out.spare = 0;
    return {};
  }
  if (job.has_format() && takes_format(v.kind)) {
    std::string text = MS_TRY(formatted_text(job));
    job.out = Value::make_character(job.context.arena().copy(text));
    return {};
  }
  if (v.kind == Kind::kBlob || v.kind == Kind::kBit) {
    if (job.has_character_set()) {
      job.out = Value::make_character(MS_TRY(source_text(job)));
      return {};
    }
    return v.kind == Kind::kBlob ? put_hex_literal(job, v.text())
                                 : put_bit_literal(job, v.data, v.size);
  }
  job.out = Value::make_character(job.context.arena().copy(plain_text(v)));
  return {};
}

Status cast_to_blob(const CastJob& job) {
  const Value& v = job.source;
  switch (v.kind) {
    case Kind::kBlob:
      job.out = v;
      job.out.spare = 0;
      return {};
    case Kind::kBit:
      if (v.size % 8 != 0) {
        return base::make_error(errors::kCastBytesLength, {"BIT", v.size, "BLOB", "whole bytes"});
      }
      job.out = Value::make_blob({v.data, v.size / 8});
      return {};
    case Kind::kCharacter:
      return job.has_character_set() ? put_text(job, v.text()) : parse_blob_literal(job);
    default:
      break;
  }
  if (job.has_format() && takes_format(v.kind)) {
    std::string text = MS_TRY(formatted_text(job));
    return put_text(job, job.context.arena().copy(text));
  }
  if (v.kind != Kind::kInteger) return unsupported_cast(job);
  job.out = Value::make_blob(integer_bytes(job));
  return {};
}

Status cast_to_bit(const CastJob& job) {
  const Value& v = job.source;
  switch (v.kind) {
    case Kind::kBit:
      job.out = v;
      job.out.spare = 0;
      return {};
    case Kind::kBlob:
      MS_TRY(check_length(size_t{v.size} * 8));
      job.out = Value::make_bit(v.data, v.size * 8);
      return {};
    case Kind::kCharacter:
      return job.has_character_set() ? put_text(job, v.text()) : parse_bit_literal(job);
    default:
      break;
  }
  if (job.has_format() && takes_format(v.kind)) {
    std::string text = MS_TRY(formatted_text(job));
    return put_text(job, job.context.arena().copy(text));
  }
  if (v.kind != Kind::kInteger) return unsupported_cast(job);
  job.out = Value::make_bit(integer_bytes(job).data(), kIntegerBytes * 8);
  return {};
}

}  // namespace millstream::esql::internal
