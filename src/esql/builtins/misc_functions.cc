// UUIDs, base 64, COALESCE and NULLIF.
#include "base/arena.h"
#include "base/ascii.h"
#include "base/base64.h"
#include "base/random.h"
#include "esql/builtin.h"
#include "esql/errors_gen.h"
#include "esql/host.h"
#include "esql/operators.h"

namespace millstream::esql::builtins {

using value::Kind;
using value::Value;

namespace {

constexpr size_t kUuidBytes = 16;
constexpr size_t kUuidChars = 36;
constexpr size_t kBase64BytesMax = size_t{1} << 30;

// Random, version 4.
void make_uuid(char* out) {
  base::system_random().fill(out, kUuidBytes);
  out[6] = static_cast<char>((out[6] & 0x0F) | 0x40);
  out[8] = static_cast<char>((out[8] & 0x3F) | 0x80);
}

bool is_uuid_dash(size_t at) { return at == 8 || at == 13 || at == 18 || at == 23; }

std::string_view uuid_text(base::Arena& arena, const char* bytes) {
  char* text = arena.bytes(kUuidChars);
  size_t byte = 0;
  for (size_t i = 0; i < kUuidChars;) {
    if (is_uuid_dash(i)) {
      text[i++] = '-';
      continue;
    }
    auto b = static_cast<unsigned char>(bytes[byte++]);
    text[i++] = base::kLowerHexDigits[b >> 4];
    text[i++] = base::kLowerHexDigits[b & 15];
  }
  return {text, kUuidChars};
}

bool parse_uuid(std::string_view text, char* out) {
  if (text.size() != kUuidChars) return false;
  size_t nibble = 0;
  for (size_t i = 0; i < kUuidChars; ++i) {
    if (is_uuid_dash(i)) {
      if (text[i] != '-') return false;
      continue;
    }
    int d = base::hex_digit_value(text[i]);
    if (d < 0) return false;
    char& byte = out[nibble / 2];
    byte = static_cast<char>(nibble % 2 == 0 ? d << 4 : byte | d);
    ++nibble;
  }
  return true;
}

Status wrong_type(const char* function, const Value& v, const char* needed) {
  return base::make_error(errors::kArgumentType, {function, 1, kind_name(v.kind), needed});
}

}  // namespace

Status fn_uuidasblob(EvalContext& context, std::span<const Value> args, Value& out) {
  char* bytes = context.arena().bytes(kUuidBytes);
  if (args.empty()) {
    make_uuid(bytes);
  } else if (args[0].kind != Kind::kCharacter) {
    return wrong_type("UUIDASBLOB", args[0], "CHARACTER");
  } else if (!parse_uuid(args[0].text(), bytes)) {
    return base::make_error(errors::kUuidText, {args[0].text()});
  }
  out = Value::make_blob({bytes, kUuidBytes});
  return {};
}

Status fn_uuidaschar(EvalContext& context, std::span<const Value> args, Value& out) {
  if (args.empty()) {
    char bytes[kUuidBytes];
    make_uuid(bytes);
    out = Value::make_character(uuid_text(context.arena(), bytes));
    return {};
  }
  if (args[0].kind != Kind::kBlob) return wrong_type("UUIDASCHAR", args[0], "BLOB");
  if (args[0].size != kUuidBytes) {
    return base::make_error(errors::kUuidText,
                            {"a BLOB of " + std::to_string(args[0].size) + " bytes"});
  }
  out = Value::make_character(uuid_text(context.arena(), args[0].data));
  return {};
}

Status fn_base64encode(EvalContext& context, std::span<const Value> args, Value& out) {
  const Value& v = args[0];
  if (v.kind != Kind::kBlob && v.kind != Kind::kCharacter) {
    return wrong_type("BASE64ENCODE", v, "BLOB or CHARACTER");
  }
  std::string_view in = v.text();
  const size_t size = base::base64_size(in.size());
  if (size > kBase64BytesMax) {
    return base::make_error(errors::kResultTooLong, {"BASE64ENCODE", kBase64BytesMax});
  }
  char* p = context.arena().bytes(size);
  base::base64_encode_to(in, p);
  out = Value::make_character({p, size});
  return {};
}

Status fn_base64decode(EvalContext& context, std::span<const Value> args, Value& out) {
  const Value& v = args[0];
  if (v.kind != Kind::kBlob && v.kind != Kind::kCharacter) {
    return wrong_type("BASE64DECODE", v, "CHARACTER or BLOB");
  }
  std::string_view in = v.text();
  char* p = context.arena().bytes(in.size() / 4 * 3 + 3);
  size_t n = 0, digits = 0, padding = 0;
  uint32_t group = 0;
  for (size_t i = 0; i < in.size(); ++i) {
    char c = in[i];
    if (c == ' ' || c == '\t' || c == '\r' || c == '\n') continue;
    int d = base::base64_value(c);
    bool is_padding = c == '=' && digits % 4 >= 2 && padding < 4 - digits % 4;
    if (is_padding) {
      ++padding;
      continue;
    }
    if (d < 0 || padding > 0) return base::make_error(errors::kBase64Text, {i + 1});
    group = group << 6 | static_cast<uint32_t>(d);
    if (++digits % 4 == 0) {
      p[n++] = static_cast<char>(group >> 16);
      p[n++] = static_cast<char>(group >> 8);
      p[n++] = static_cast<char>(group);
    }
  }
  // The last group may come without its padding, but not with half of it.
  size_t rest = digits % 4;
  if (rest == 1 || (padding > 0 && padding != 4 - rest)) {
    return base::make_error(errors::kBase64Text, {in.size() + 1});
  }
  if (rest == 2) p[n++] = static_cast<char>(group >> 4);
  if (rest == 3) {
    p[n++] = static_cast<char>(group >> 10);
    p[n++] = static_cast<char>(group >> 2);
  }
  out = Value::make_blob({p, n});
  return {};
}

Status fn_coalesce(EvalContext&, std::span<const Value> args, Value& out) {
  out = Value::null();
  for (const Value& v : args) {
    if (v.is_null()) continue;
    out = v;
    break;
  }
  return {};
}

Status fn_nullif(EvalContext& context, std::span<const Value> args, Value& out) {
  Tri is_equal = Tri::kUnknown;
  MS_TRY(compare(context, CompareOp::kEqual, args[0], args[1], is_equal));
  out = is_equal == Tri::kTrue ? Value::null() : args[0];
  return {};
}

// Suspends the fiber; negative times do not wait.
Status fn_sleep(EvalContext& context, std::span<const Value> args, Value& out) {
  if (args[0].kind != Kind::kInteger) return wrong_type("SLEEP", args[0], "INTEGER");
  if (args[0].integer > 0 && context.host) MS_TRY(context.host->sleep(args[0].integer));
  out = Value::make_boolean(true);
  return {};
}

}  // namespace millstream::esql::builtins
