#include <doctest/doctest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "esql/builtins/numeric_functions.h"
#include "esql/builtins/string_functions.h"
#include "value/decimal.h"
#include "value/number_format.h"
#include "value/time_zone.h"

namespace millstream::esql::builtins {
namespace {

using value::Decimal;
using value::Kind;
using value::Value;
using BuiltinCall = Status (*)(EvalContext&, std::span<const Value>, Value&);

// Values are written as a letter for the type and the text: c:abc i:3 f:1.5 d:1.50 x:0aff b:101
// t (TRUE), F (FALSE), n (NULL), D (a date).
struct FunctionsFixture {
  base::Arena arena;
  std::shared_ptr<base::NameTable> names = std::make_shared<base::NameTable>();
  tree::TreeContext tree{arena, names};
  value::TimeZone zone;
  EvalContext context{tree, zone, 0, nullptr};

  Value bits_of(std::string_view digits) {
    std::string bytes((digits.size() + 7) / 8, '\0');
    for (size_t i = 0; i < digits.size(); ++i) {
      if (digits[i] == '1') bytes[i / 8] = static_cast<char>(bytes[i / 8] | (0x80 >> (i % 8)));
    }
    return Value::make_bit(arena.copy(bytes).data(), static_cast<uint32_t>(digits.size()));
  }
  Value value_of(std::string_view written) {
    std::string_view body = written.size() > 1 ? written.substr(2) : std::string_view{};
    std::string text(body);
    Decimal d;
    switch (written[0]) {
      case 'c':
        return Value::make_character(arena.copy(body));
      case 'i':
        return Value::make_integer(std::stoll(text));
      case 'f':
        return Value::make_float(std::stod(text));
      case 'd':
        REQUIRE(Decimal::parse(body, d));
        return Value::make_decimal(d, arena);
      case 'x': {
        std::string bytes;
        for (size_t i = 0; i + 1 < text.size(); i += 2) {
          bytes += static_cast<char>(std::stoi(text.substr(i, 2), nullptr, 16));
        }
        return Value::make_blob(arena.copy(bytes));
      }
      case 'b':
        return bits_of(body);
      case 't':
        return Value::make_boolean(true);
      case 'F':
        return Value::make_boolean(false);
      case 'D':
        return Value::make_date(1);
      default:
        return Value::null();
    }
  }
  std::string written(const Value& v) {
    switch (v.kind) {
      case Kind::kCharacter:
        return "c:" + std::string(v.text());
      case Kind::kInteger:
        return "i:" + std::to_string(v.integer);
      case Kind::kFloat:
        return "f:" + value::float_to_text(v.real);
      case Kind::kDecimal:
        return "d:" + v.as_decimal().to_text();
      case Kind::kBoolean:
        return v.boolean() ? "t" : "F";
      case Kind::kBlob: {
        std::string out = "x:";
        for (char c : v.text()) {
          out += "0123456789abcdef"[static_cast<unsigned char>(c) >> 4];
          out += "0123456789abcdef"[static_cast<unsigned char>(c) & 15];
        }
        return out;
      }
      case Kind::kBit: {
        std::string out = "b:";
        for (uint32_t i = 0; i < v.size; ++i) {
          out += (static_cast<unsigned char>(v.data[i / 8]) >> (7 - i % 8)) & 1 ? '1' : '0';
        }
        return out;
      }
      default:
        return "n";
    }
  }
  std::string call(BuiltinCall f, std::string_view arguments) {
    std::vector<Value> args;
    while (!arguments.empty()) {
      size_t end = arguments.find('|');
      args.push_back(value_of(arguments.substr(0, end)));
      arguments = end == std::string_view::npos ? std::string_view{} : arguments.substr(end + 1);
    }
    Value out;
    Status s = f(context, args, out);
    return s.ok() ? written(out) : s.error().code->id;
  }
};

struct FunctionCase {
  BuiltinCall function;
  const char* arguments;
  const char* result;
};

const FunctionCase kStringCases[] = {
    {fn_contains, "c:Hello World|c:World", "t"},
    {fn_contains, "c:Hello|c:hello", "F"},
    {fn_contains, "c:a|c:", "t"},
    {fn_contains, "c:|c:a", "F"},
    {fn_contains, "x:010203|x:0203", "t"},
    {fn_contains, "b:0101|b:11", "F"},
    {fn_contains, "b:0110|b:11", "t"},
    {fn_contains, "c:a|x:61", "MS1521"},
    {fn_startswith, "c:Hello|c:He", "t"},
    {fn_startswith, "c:He|c:Hello", "F"},
    {fn_startswith, "b:1011|b:10", "t"},
    {fn_endswith, "c:Hello|c:lo", "t"},
    {fn_endswith, "c:Hello|c:Lo", "F"},
    {fn_endswith, "x:0102|x:02", "t"},
    {fn_left, "c:abcdef|i:2", "c:ab"},
    {fn_left, "c:abc|i:10", "c:abc"},
    {fn_left, "c:abc|i:0", "c:"},
    {fn_left, "c:abc|i:-1", "c:"},
    {fn_left, "c:\xC3\xA9t\xC3\xA9|i:1", "c:\xC3\xA9"},
    {fn_left, "c:abc|i:9223372036854775807", "c:abc"},
    {fn_left, "x:010203|i:2", "x:0102"},
    {fn_left, "b:10110|i:3", "b:101"},
    {fn_left, "c:abc|f:1", "MS1520"},
    {fn_right, "c:abcdef|i:2", "c:ef"},
    {fn_right, "c:abc|i:10", "c:abc"},
    {fn_right, "c:abc|i:0", "c:"},
    {fn_right, "c:abc|i:-9223372036854775808", "c:"},
    {fn_right, "c:\xC3\xA9t\xC3\xA9|i:2", "c:t\xC3\xA9"},
    {fn_right, "b:10110|i:3", "b:110"},
    {fn_right, "x:010203|i:1", "x:03"},
    {fn_length, "c:Hello World", "i:11"},
    {fn_length, "c:", "i:0"},
    {fn_length, "c:\xC3\xA9t\xC3\xA9", "i:3"},
    {fn_length, "c:\xF0\x9F\x98\x80", "i:1"},
    {fn_length, "x:0102", "i:2"},
    {fn_length, "b:101", "i:3"},
    {fn_length, "i:5", "MS1520"},
    {fn_lower, "c:Mr Smith", "c:mr smith"},
    {fn_lower, "c:\xC3\x89T\xC3\x89 @[Z", "c:\xC3\xA9t\xC3\xA9 @[z"},
    {fn_lower, "x:41", "MS1520"},
    {fn_upper, "c:ab{z`1", "c:AB{Z`1"},
    {fn_upper, "c:\xC3\xA9", "c:\xC3\x89"},
    {fn_upper, "c:", "c:"},
    {fn_upper, "b:1", "MS1520"},
    {fn_ltrim, "c:  a ", "c:a "},
    {fn_ltrim, "c:   ", "c:"},
    {fn_ltrim, "x:000100", "x:0100"},
    {fn_ltrim, "b:0010", "b:10"},
    {fn_rtrim, "c: a  ", "c: a"},
    {fn_rtrim, "x:000100", "x:0001"},
    {fn_rtrim, "b:0100", "b:01"},
    {fn_rtrim, "c:\ta\t", "c:\ta\t"},
    {fn_trim, "i:0|c:  a b  ", "c:a b"},
    {fn_trim, "i:1|c:  a ", "c:a "},
    {fn_trim, "i:2|c:aaabBb|c:b", "c:aaabB"},
    {fn_trim, "i:0|c:xxaxx|c:x", "c:a"},
    {fn_trim, "i:0|c:xxx|c:x", "c:"},
    {fn_trim,
     "i:0|c:\xC3\xA9"
     "a\xC3\xA9|c:\xC3\xA9",
     "c:a"},
    {fn_trim, "i:0|x:000100", "x:01"},
    {fn_trim, "i:2|x:010202|x:02", "x:01"},
    {fn_trim, "i:0|b:0110", "b:11"},
    {fn_trim, "i:0|b:1001|b:1", "b:00"},
    {fn_trim, "i:0|c:abc|c:ab", "MS1522"},
    {fn_trim, "i:0|c:abc|c:", "MS1522"},
    {fn_trim, "i:3|c:abc", "MS1522"},
    {fn_trim, "i:0|c:abc|x:20", "MS1521"},
    {fn_overlay, "c:ABCDEFGHIJ|c:1234|i:4|i:3", "c:ABC1234GHIJ"},
    {fn_overlay, "c:ABCDEF|c:xy|i:2", "c:AxyDEF"},
    {fn_overlay, "c:ABC|c:x|i:2|i:0", "c:AxBC"},
    {fn_overlay, "c:ABC|c:x|i:10", "c:ABCx"},
    {fn_overlay, "c:ABC|c:x|i:1|i:100", "c:x"},
    {fn_overlay, "c:ABC|c:x|i:2|i:9223372036854775807", "c:Ax"},
    {fn_overlay, "c:ABC|c:x|i:2|i:-4", "c:AxBC"},
    {fn_overlay, "c:\xC3\xA9\xC3\xA9\xC3\xA9|c:x|i:2", "c:\xC3\xA9x\xC3\xA9"},
    {fn_overlay, "b:1111|b:00|i:2", "b:1001"},
    {fn_overlay, "x:010203|x:ff|i:2", "x:01ff03"},
    {fn_overlay, "c:a|x:01|i:1", "MS1521"},
    {fn_position, "c:Village|c:Hursley Village", "i:9"},
    {fn_position, "c:Town|c:Hursley Village", "i:0"},
    {fn_position, "c:B|c:ABCABCABCABCABC", "i:2"},
    {fn_position, "c:A|c:ABCABCABCABCABC|i:4", "i:4"},
    {fn_position, "c:C|c:ABCABCABCABCABC|i:2", "i:3"},
    {fn_position, "c:B|c:ABCABCABCABCABC|i:1|i:2", "i:5"},
    {fn_position, "c:C|c:ABCABCABCABCABC|i:1|i:4", "i:12"},
    {fn_position, "c:A|c:ABCABCABCABCABC|i:4|i:2", "i:7"},
    {fn_position, "c:AB|c:ABCABCABCABCABC|i:2|i:3", "i:10"},
    {fn_position, "c:A|c:ABCABCABCABCABC|i:1|i:-2", "i:10"},
    {fn_position, "c:BC|c:ABCABCABCABCABC|i:2|i:-3", "i:5"},
    {fn_position, "c:A|c:ABCABCABCABCABC|i:1|i:-5", "i:1"},
    {fn_position, "c:A|c:ABCABCABCABCABC|i:1|i:-6", "i:0"},
    {fn_position, "c:A|c:ABC|i:100", "i:0"},
    {fn_position, "c:A|c:ABC|i:-100", "i:1"},
    {fn_position, "c:A|c:ABC|i:1|i:0", "i:0"},
    {fn_position, "c:A|c:ABC|i:1|i:-9223372036854775808", "i:0"},
    {fn_position, "c:|c:abc", "i:1"},
    {fn_position, "c:|c:", "i:1"},
    {fn_position, "c:a|c:", "i:0"},
    {fn_position, "c:t|c:\xC3\xA9\xC3\xA9t", "i:3"},
    {fn_position, "c:t|c:\xC3\xA9\xC3\xA9t|i:1|i:-1", "i:3"},
    {fn_position, "c:\xC3\xA9|c:\xC3\xA9\xC3\xA9t|i:2|i:-1", "i:2"},
    {fn_position, "x:02|x:010203", "i:2"},
    {fn_position, "b:1|b:0001", "i:4"},
    {fn_position, "c:a|x:61", "MS1521"},
    {fn_replace, "c:ABCDABCDABCDA|c:A|c:AA", "c:AABCDAABCDAABCDAA"},
    {fn_replace, "c:AAABCDEF|c:AA|c:A", "c:AABCDEF"},
    {fn_replace, "c:a-b-c|c:-", "c:abc"},
    {fn_replace, "c:abc|c:|c:x", "c:abc"},
    {fn_replace, "c:abc|c:abc|c:", "c:"},
    {fn_replace, "c:abc|c:x|c:y", "c:abc"},
    {fn_replace, "x:010201|x:01|x:ff", "x:ff02ff"},
    {fn_replace, "b:1010|b:10|b:1", "b:11"},
    {fn_replace, "c:a|c:a|x:01", "MS1521"},
    {fn_replicate, "c:ab|i:3", "c:ababab"},
    {fn_replicate, "c:ab|i:0", "c:"},
    {fn_replicate, "c:|i:9223372036854775807", "c:"},
    {fn_replicate, "b:10|i:5", "b:1010101010"},
    {fn_replicate, "x:01|i:2", "x:0101"},
    {fn_replicate, "c:ab|i:-1", "MS1522"},
    {fn_replicate, "c:ab|i:16777217", "MS1515"},
    {fn_replicate, "c:ab|i:9223372036854775807", "MS1515"},
    {fn_space, "i:3", "c:   "},
    {fn_space, "i:0", "c:"},
    {fn_space, "i:-1", "MS1522"},
    {fn_space, "i:33554433", "MS1515"},
    {fn_substring, "c:Hello World!|i:7|i:4", "c:Worl"},
    {fn_substring, "c:abc|i:2", "c:bc"},
    {fn_substring, "c:abc|i:0|i:2", "c:a"},
    {fn_substring, "c:abc|i:-5|i:3", "c:"},
    {fn_substring, "c:abc|i:-1|i:4", "c:ab"},
    {fn_substring, "c:abc|i:4", "c:"},
    {fn_substring, "c:abc|i:3|i:10", "c:c"},
    {fn_substring, "c:abc|i:1|i:0", "c:"},
    {fn_substring, "c:abc|i:2|i:-1", "c:"},
    {fn_substring, "c:abc|i:9223372036854775807|i:9223372036854775807", "c:"},
    {fn_substring, "c:abc|i:-9223372036854775808|i:9223372036854775807", "c:"},
    {fn_substring, "c:abc|i:-9223372036854775808|i:-1", "c:"},
    {fn_substring, "c:abc|i:-9223372036854775808", "c:abc"},
    {fn_substring, "c:\xC3\xA9t\xC3\xA9|i:2|i:2", "c:t\xC3\xA9"},
    {fn_substring, "x:010203|i:2|i:1", "x:02"},
    {fn_substring, "b:10110|i:2|i:3", "b:011"},
    {fn_substring, "c:abc|c:1", "MS1520"},
    {fn_substring_before, "c:Hello World!|c:World", "c:Hello "},
    {fn_substring_before, "c:abcdef|c:e|i:2", "c:cd"},
    {fn_substring_before, "c:abcdef|c:e|i:0", "c:"},
    {fn_substring_before, "c:abcdef|c:e|i:-3", "c:"},
    {fn_substring_before, "c:abcdef|c:e|i:50", "c:abcd"},
    {fn_substring_before, "c:abc|c:x", "c:"},
    {fn_substring_before, "c:abc|c:", "c:"},
    {fn_substring_before,
     "c:\xC3\xA9\xC3\xA9"
     "a|c:a|i:1",
     "c:\xC3\xA9"},
    {fn_substring_before, "x:010203|x:03", "x:0102"},
    {fn_substring_before, "b:0011|b:1", "b:00"},
    {fn_substring_after, "c:Hello World!|c:Hello ", "c:World!"},
    {fn_substring_after, "c:abcdef|c:b|i:2", "c:cd"},
    {fn_substring_after, "c:abcdef|c:b|i:0", "c:"},
    {fn_substring_after, "c:abc|c:x", "c:"},
    {fn_substring_after, "c:abc|c:", "c:abc"},
    {fn_substring_after, "c:a=b=c|c:=", "c:b=c"},
    {fn_substring_after, "c:a\xC3\xA9\xC3\xA9|c:a|i:1", "c:\xC3\xA9"},
    {fn_substring_after, "b:0011|b:01", "b:1"},
    {fn_translate, "c:abcabc|c:ab|c:xy", "c:xycxyc"},
    {fn_translate, "c:2024-01-31|c:-", "c:20240131"},
    {fn_translate, "c:abc|c:abc|c:x", "c:x"},
    {fn_translate, "c:abc|c:aa|c:xy", "c:xbc"},
    {fn_translate, "c:abc|c:|c:x", "c:abc"},
    {fn_translate,
     "c:\xC3\xA9"
     "a|c:\xC3\xA9"
     "a|c:e\xC3\xA9",
     "c:e\xC3\xA9"},
    {fn_translate, "x:0102|x:02|x:ff", "x:01ff"},
    {fn_translate, "b:1010|b:1|b:0", "b:0000"},
    {fn_translate, "c:a|c:a|x:01", "MS1521"},
};

const FunctionCase kNumericCases[] = {
    {fn_abs, "i:-3", "i:3"},
    {fn_abs, "i:3", "i:3"},
    {fn_abs, "f:-2.5", "f:2.5E+0"},
    {fn_abs, "d:-1.50", "d:1.50"},
    {fn_abs, "d:-INF", "d:INF"},
    {fn_abs, "i:-9223372036854775808", "MS1510"},
    {fn_sign, "i:-7", "i:-1"},
    {fn_sign, "i:0", "i:0"},
    {fn_sign, "f:2.5", "f:1E+0"},
    {fn_sign, "f:-2.5", "f:-1E+0"},
    {fn_sign, "d:0.00", "d:0"},
    {fn_sign, "d:-0.01", "d:-1"},
    {fn_sign, "d:NAN", "d:NAN"},
    {fn_ceil, "i:5", "i:5"},
    {fn_ceil, "f:1.2", "f:2E+0"},
    {fn_ceil, "d:1.2", "d:2"},
    {fn_ceil, "d:-1.2", "d:-1"},
    {fn_ceil, "d:INF", "d:INF"},
    {fn_floor, "f:1.2", "f:1E+0"},
    {fn_floor, "d:-1.2", "d:-2"},
    {fn_floor, "i:-5", "i:-5"},
    {fn_round, "f:27.75|i:2", "f:2.775E+1"},
    {fn_round, "f:27.75|i:1", "f:2.78E+1"},
    {fn_round, "f:27.75|i:0", "f:2.8E+1"},
    {fn_round, "f:27.75|i:-1", "f:3E+1"},
    {fn_round, "f:27.75|i:40", "f:2.775E+1"},
    {fn_round, "d:2.345|i:2", "d:2.34"},
    {fn_round, "d:2.355|i:2", "d:2.36"},
    {fn_round, "d:2.345|i:2|i:0", "d:2.35"},
    {fn_round, "d:2.349|i:2|i:1", "d:2.34"},
    {fn_round, "d:-2.341|i:2|i:2", "d:-2.34"},
    {fn_round, "d:-2.341|i:2|i:3", "d:-2.35"},
    {fn_round, "d:2.345|i:2|i:4", "d:2.35"},
    {fn_round, "d:2.345|i:2|i:5", "d:2.34"},
    {fn_round, "d:2.345|i:2|i:6", "d:2.34"},
    {fn_round, "d:1.5|i:3", "d:1.500"},
    {fn_round, "d:1.5|i:34", "d:INF"},
    {fn_round, "d:-1.5|i:99", "d:-INF"},
    {fn_round, "d:1234|i:-2", "d:1.2e+3"},
    {fn_round, "d:NAN|i:2", "d:NAN"},
    {fn_round, "i:1250|i:-2", "i:1200"},
    {fn_round, "i:1250|i:-2|i:4", "i:1300"},
    {fn_round, "i:7|i:5", "i:7"},
    {fn_round, "i:7|i:-1", "i:10"},
    {fn_round, "i:7|i:-50", "i:0"},
    {fn_round, "i:9223372036854775807|i:-1", "MS1510"},
    {fn_round, "d:1|i:1|i:7", "MS1522"},
    {fn_round, "d:1|i:1|i:-1", "MS1522"},
    {fn_round, "d:1|d:1", "MS1520"},
    {fn_truncate, "d:27.759|i:2", "d:27.75"},
    {fn_truncate, "d:-27.759|i:2", "d:-27.75"},
    {fn_truncate, "d:27.7|i:5", "d:27.7"},
    {fn_truncate, "f:27.75|i:1", "f:2.77E+1"},
    {fn_truncate, "f:-0.29|i:1", "f:-2E-1"},
    {fn_truncate, "i:1299|i:-2", "i:1200"},
    {fn_truncate, "i:1299|i:2", "i:1299"},
    {fn_mod, "i:7|i:3", "i:1"},
    {fn_mod, "i:-7|i:3", "i:-1"},
    {fn_mod, "i:7|i:-3", "i:1"},
    {fn_mod, "i:7|i:0", "BIP2450"},
    {fn_mod, "i:-9223372036854775808|i:-1", "i:0"},
    {fn_mod, "d:7|i:3", "MS1520"},
    {fn_bitand, "i:12|i:7", "i:4"},
    {fn_bitand, "i:15|i:7|i:2", "i:2"},
    {fn_bitor, "i:12|i:7", "i:15"},
    {fn_bitor, "i:1|i:2|i:4|i:8", "i:15"},
    {fn_bitxor, "i:12|i:7", "i:11"},
    {fn_bitnot, "i:7", "i:-8"},
    {fn_bitand, "i:1|f:1", "MS1520"},
    {fn_sqrt, "i:4", "f:2E+0"},
    {fn_sqrt, "f:2.25", "f:1.5E+0"},
    {fn_sqrt, "d:2", "d:1.414213562373095048801688724209698"},
    {fn_sqrt, "d:0.25", "d:0.5"},
    {fn_sqrt, "i:-1", "MS1522"},
    {fn_sqrt, "d:-0.1", "MS1522"},
    {fn_power, "i:2|i:3", "f:8E+0"},
    {fn_power, "d:1.1|i:2", "d:1.21"},
    {fn_power, "d:2|d:-1", "d:0.5"},
    {fn_power, "d:4|f:0.5", "f:2E+0"},
    {fn_power, "d:4|d:0.5", "f:2E+0"},
    {fn_power, "i:0|i:-1", "MS1522"},
    {fn_power, "i:0|i:0", "f:1E+0"},
    {fn_power, "d:0|i:0", "d:1"},
    {fn_power, "i:-8|f:0.5", "MS1522"},
    {fn_power, "i:10|i:400", "MS1511"},
    {fn_power, "d:10|i:1000000000", "MS1500"},
    {fn_exp, "i:0", "f:1E+0"},
    {fn_exp, "i:2", "f:7.38905609893065E+0"},
    {fn_exp, "i:1000", "MS1511"},
    {fn_ln, "i:1", "f:0E+0"},
    {fn_ln, "d:10", "f:2.30258509299405E+0"},
    {fn_ln, "i:0", "MS1522"},
    {fn_ln, "i:-1", "MS1522"},
    {fn_log10, "i:1000", "f:3E+0"},
    {fn_log10, "i:0", "MS1522"},
    {fn_sin, "i:0", "f:0E+0"},
    {fn_cos, "i:0", "f:1E+0"},
    {fn_tan, "i:0", "f:0E+0"},
    {fn_cot, "i:1", "f:6.42092615934331E-1"},
    {fn_cot, "i:0", "MS1522"},
    {fn_asin, "i:1", "f:1.5707963267949E+0"},
    {fn_asin, "f:1.01", "MS1522"},
    {fn_acos, "i:1", "f:0E+0"},
    {fn_acos, "d:-2", "MS1522"},
    {fn_atan, "i:1", "f:7.85398163397448E-1"},
    {fn_atan2, "i:1|i:1", "f:7.85398163397448E-1"},
    {fn_atan2, "i:0|i:-1", "f:3.14159265358979E+0"},
    {fn_sinh, "i:0", "f:0E+0"},
    {fn_sinh, "i:1000", "MS1511"},
    {fn_cosh, "i:0", "f:1E+0"},
    {fn_cosh, "i:-1000", "MS1511"},
    {fn_tanh, "i:0", "f:0E+0"},
    {fn_tanh, "i:1000", "f:1E+0"},
    {fn_degrees, "i:0", "f:0E+0"},
    {fn_radians, "i:180", "f:3.14159265358979E+0"},
};

TEST_CASE_FIXTURE(FunctionsFixture, "string functions") {
  for (const FunctionCase& c : kStringCases) {
    INFO((&c - kStringCases), " ", std::string(c.arguments));
    CHECK(call(c.function, c.arguments) == std::string(c.result));
  }
}

TEST_CASE_FIXTURE(FunctionsFixture, "numeric functions") {
  for (const FunctionCase& c : kNumericCases) {
    INFO((&c - kNumericCases), " ", std::string(c.arguments));
    CHECK(call(c.function, c.arguments) == std::string(c.result));
  }
}

// Every argument of every function, given a value of a type that no function here takes.
TEST_CASE_FIXTURE(FunctionsFixture, "arguments of a wrong type are refused") {
  const FunctionCase good[] = {
      {fn_contains, "c:a|c:b", ""},
      {fn_startswith, "c:a|c:b", ""},
      {fn_endswith, "c:a|c:b", ""},
      {fn_left, "c:a|i:1", ""},
      {fn_right, "c:a|i:1", ""},
      {fn_length, "c:a", ""},
      {fn_lower, "c:a", ""},
      {fn_upper, "c:a", ""},
      {fn_ltrim, "c:a", ""},
      {fn_rtrim, "c:a", ""},
      {fn_trim, "i:0|c:a|c:b", ""},
      {fn_overlay, "c:a|c:b|i:1|i:1", ""},
      {fn_position, "c:a|c:b|i:1|i:1", ""},
      {fn_replace, "c:a|c:b|c:c", ""},
      {fn_replicate, "c:a|i:1", ""},
      {fn_space, "i:1", ""},
      {fn_substring, "c:a|i:1|i:1", ""},
      {fn_substring_before, "c:a|c:b|i:1", ""},
      {fn_substring_after, "c:a|c:b|i:1", ""},
      {fn_translate, "c:a|c:b|c:c", ""},
      {fn_abs, "i:1", ""},
      {fn_acos, "i:1", ""},
      {fn_asin, "i:1", ""},
      {fn_atan, "i:1", ""},
      {fn_atan2, "i:1|i:1", ""},
      {fn_bitand, "i:1|i:1", ""},
      {fn_bitnot, "i:1", ""},
      {fn_bitor, "i:1|i:1", ""},
      {fn_bitxor, "i:1|i:1|i:1", ""},
      {fn_ceil, "i:1", ""},
      {fn_cos, "i:1", ""},
      {fn_cosh, "i:1", ""},
      {fn_cot, "i:1", ""},
      {fn_degrees, "i:1", ""},
      {fn_exp, "i:1", ""},
      {fn_floor, "i:1", ""},
      {fn_ln, "i:1", ""},
      {fn_log10, "i:1", ""},
      {fn_mod, "i:1|i:1", ""},
      {fn_power, "i:1|i:1", ""},
      {fn_radians, "i:1", ""},
      {fn_rand, "i:1", ""},
      {fn_round, "d:1|i:1|i:1", ""},
      {fn_sign, "i:1", ""},
      {fn_sin, "i:1", ""},
      {fn_sinh, "i:1", ""},
      {fn_sqrt, "i:1", ""},
      {fn_tan, "i:1", ""},
      {fn_tanh, "i:1", ""},
      {fn_truncate, "d:1|i:1", ""},
  };
  for (const FunctionCase& c : good) {
    std::string arguments = c.arguments;
    INFO((&c - good), " ", arguments);
    CHECK(call(c.function, arguments).substr(0, 2) != "MS");
    for (size_t start = 0; start != std::string::npos;) {
      size_t end = arguments.find('|', start);
      size_t size = end == std::string::npos ? end : end - start;
      for (const char* wrong : {"t", "D", "n"}) {
        std::string changed = arguments;
        changed.replace(start, size, wrong);
        CHECK(call(c.function, changed) == "MS1520");
      }
      start = end == std::string::npos ? end : end + 1;
    }
  }
}

TEST_CASE_FIXTURE(FunctionsFixture, "RAND is in range, and a seed repeats its sequence") {
  Value out, again;
  double sum = 0;
  for (int i = 0; i < 1000; ++i) {
    REQUIRE(fn_rand(context, {}, out).ok());
    REQUIRE(out.kind == Kind::kFloat);
    CHECK(out.real >= 0);
    CHECK(out.real < 1);
    sum += out.real;
  }
  CHECK(sum > 400);
  CHECK(sum < 600);
  Value seed = Value::make_integer(42);
  REQUIRE(fn_rand(context, {&seed, 1}, out).ok());
  REQUIRE(fn_rand(context, {&seed, 1}, again).ok());
  CHECK(out.real == again.real);
  REQUIRE(fn_rand(context, {}, again).ok());
  CHECK(out.real != again.real);
}

TEST_CASE_FIXTURE(FunctionsFixture, "parts of long texts, ASCII or not, count characters") {
  std::string record(1000, 'x');
  std::string longer = record + "\xC3\xA9\xC3\xA9y";
  Value args[] = {Value::make_character(std::string_view(longer).substr(0, 1000)),
                  Value::make_integer(999), Value::make_integer(5)};
  Value out;
  REQUIRE(fn_substring(context, args, out).ok());
  CHECK(out.text() == "xx");
  args[0] = Value::make_character(longer);  // the same start, no longer ASCII
  REQUIRE(fn_substring(context, args, out).ok());
  CHECK(out.text() == "xx\xC3\xA9\xC3\xA9y");
  REQUIRE(fn_length(context, {args, 1}, out).ok());
  CHECK(out.integer == 1003);
  args[0] = Value::make_character(std::string_view(longer).substr(0, 500));
  args[1] = Value::make_integer(500);
  REQUIRE(fn_substring(context, args, out).ok());
  CHECK(out.text() == "x");
}

TEST_CASE_FIXTURE(FunctionsFixture, "hostile texts take linear time") {
  constexpr size_t kSize = 400'000;
  std::string source(kSize, 'a'), part(kSize / 2, 'a');
  part.back() = 'b';
  std::string from;
  for (size_t i = 0; i < 20'000; ++i)
    from += "\xE4\xB8" + std::string(1, static_cast<char>(0x80 + i % 64));
  Value args[] = {Value::make_character(source), Value::make_character(part)};
  Value out;
  REQUIRE(fn_contains(context, args, out).ok());
  CHECK(!out.boolean());
  REQUIRE(fn_replace(context, args, out).ok());
  Value position[] = {args[1], args[0], Value::make_integer(1), Value::make_integer(-1)};
  REQUIRE(fn_position(context, position, out).ok());
  CHECK(out.integer == 0);
  Value translate[] = {Value::make_character(source), Value::make_character(from)};
  REQUIRE(fn_translate(context, translate, out).ok());
  CHECK(out.size == kSize);
}

}  // namespace
}  // namespace millstream::esql::builtins
