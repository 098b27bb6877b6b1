#include "value/number_format.h"

#include <algorithm>
#include <charconv>

#include "base/ascii.h"
#include "value/errors_gen.h"

namespace millstream::value {

namespace {

constexpr std::string_view kPerMille = "\xE2\x80\xB0";

bool consume(std::string_view& s, std::string_view prefix) {
  if (prefix.empty() || !s.starts_with(prefix)) return false;
  s.remove_prefix(prefix.size());
  return true;
}

bool is_digit_char(char c) { return c >= '0' && c <= '9'; }

size_t utf8_length(char lead) {
  unsigned char c = static_cast<unsigned char>(lead);
  return c < 0x80 ? 1 : c < 0xE0 ? 2 : c < 0xF0 ? 3 : 4;
}

// Digits before and after the point, without a sign; neither has zeros that pad it.
struct SplitDigits {
  std::string integer, fraction;
};

SplitDigits split_digits(const Decimal& magnitude) {
  SplitDigits out;
  std::string plain = magnitude.to_plain_text(NumberFormat::kFormattedDigitsMax + 100);
  size_t point = plain.find('.');
  out.integer = plain.substr(0, point);
  if (point != std::string::npos) out.fraction = plain.substr(point + 1);
  out.integer.erase(0, std::min(out.integer.find_first_not_of('0'), out.integer.size()));
  size_t last = out.fraction.find_last_not_of('0');
  out.fraction.erase(last == std::string::npos ? 0 : last + 1);
  return out;
}

Status text_error(std::string_view text, const std::string& pattern) {
  return base::make_error(errors::kNumberText, {std::string(text), pattern});
}

}  // namespace

// Reads a pattern from left to right.
struct NumberFormat::Scanner {
  std::string_view rest;
  const char* problem = nullptr;  // what is wrong, in words

  bool at_digits() const {
    return !rest.empty() && (rest[0] == '#' || rest[0] == '0' || rest[0] == ',' || rest[0] == '.');
  }

  // Up to the digits (prefix) or to the end of the subpattern (suffix).
  std::string read_affix(bool is_prefix, int& multiplier_power) {
    std::string out;
    while (!rest.empty() && rest[0] != ';') {
      char c = rest[0];
      if (c == '\'') {
        read_quoted(out);
        continue;
      }
      if (at_digits() || (c >= '1' && c <= '9') || c == '@' || c == '*') {
        if (is_prefix && at_digits()) return out;
        problem = "digits, @ and * must be quoted in a prefix or suffix";
        return out;
      }
      if (c == '%') multiplier_power = 2;
      if (rest.starts_with(kPerMille)) multiplier_power = 3;
      out.append(rest.substr(0, utf8_length(c)));
      rest.remove_prefix(std::min(utf8_length(c), rest.size()));
    }
    return out;
  }

  void read_quoted(std::string& out) {
    rest.remove_prefix(1);
    if (consume(rest, "'")) {
      out += '\'';
      return;
    }
    while (!rest.empty()) {
      if (consume(rest, "''")) {
        out += '\'';
      } else if (consume(rest, "'")) {
        return;
      } else {
        out += rest[0];
        rest.remove_prefix(1);
      }
    }
    problem = "a quote is not closed";
  }

  void read_digits(NumberFormat& f) {
    int optional = 0, padded = 0, since_comma = -1, outer = -1;
    for (; !rest.empty() && (rest[0] == '#' || rest[0] == '0' || rest[0] == ',');
         rest.remove_prefix(1)) {
      if (rest[0] == ',') {
        outer = since_comma;
        since_comma = 0;
        continue;
      }
      if (rest[0] == '#' && padded > 0) {
        problem = "# stands behind 0 before the decimal point";
        return;
      }
      ++(rest[0] == '#' ? optional : padded);
      if (since_comma >= 0) ++since_comma;
    }
    if (since_comma == 0 || outer == 0) {
      problem = "a grouping comma has no digits behind it";
      return;
    }
    f.group_ = std::max(since_comma, 0);
    f.outer_group_ = outer > 0 ? outer : f.group_;
    f.integer_min_ = padded;
    f.integer_total_ = optional + padded;
    read_fraction(f);
    if (problem == nullptr) read_exponent(f);
  }

  void read_fraction(NumberFormat& f) {
    int padded = 0, optional = 0;
    bool has_point = consume(rest, ".");
    for (; has_point && !rest.empty() && (rest[0] == '#' || rest[0] == '0');
         rest.remove_prefix(1)) {
      if (rest[0] == '0' && optional > 0) {
        problem = "0 stands behind # after the decimal point";
        return;
      }
      ++(rest[0] == '#' ? optional : padded);
    }
    int total = padded + optional;
    if (f.integer_total_ + total == 0) problem = "it has no digits";
    f.fraction_max_ = total;
    f.fraction_min_ = padded;
    f.shows_point_always_ = has_point && total == 0;
    if (f.integer_total_ == 0) {
      f.fraction_min_ = std::max(padded, 1);
    } else if (f.integer_min_ == 0 && padded == 0) {
      f.integer_min_ = 1;
    }
  }

  void read_exponent(NumberFormat& f) {
    if (rest.empty() || rest[0] != 'E') return;
    size_t zeros = rest.starts_with("E+") ? 2 : 1;
    size_t end = zeros;
    while (end < rest.size() && rest[end] == '0') ++end;
    if (end == zeros) return;  // a letter of the suffix
    f.shows_exponent_plus_ = zeros == 2;
    f.exponent_digits_ = static_cast<int>(end - zeros);
    f.group_ = 0;
    rest.remove_prefix(end);
  }
};

namespace {

// Takes ":name=c" off the end of the pattern; false: there is none.
bool take_separator(std::string_view& pattern, std::string_view name, std::string& out) {
  size_t at = pattern.rfind(name);
  if (at == std::string_view::npos) return false;
  std::string_view value = pattern.substr(at + name.size());
  if (value.empty() || value.size() != utf8_length(value[0])) return false;
  out = std::string(value);
  pattern = pattern.substr(0, at);
  return true;
}

}  // namespace

Result<NumberFormat> NumberFormat::create(std::string_view pattern) {
  NumberFormat f;
  f.pattern_ = std::string(pattern);
  auto refuse = [&](const char* why) {
    return base::make_error(errors::kNumberPattern, {f.pattern_, why});
  };
  if (pattern.size() > kPatternBytesMax) return refuse("it is longer than 1024 bytes");
  std::string_view body = pattern;
  bool has_decimal = take_separator(body, ":decsep=", f.decimal_separator_);
  take_separator(body, ":groupsep=", f.group_separator_);
  if (!has_decimal) take_separator(body, ":decsep=", f.decimal_separator_);
  Scanner scanner{body};
  f.positive_.prefix = scanner.read_affix(true, f.multiplier_power_);
  if (scanner.problem == nullptr) scanner.read_digits(f);
  if (scanner.problem == nullptr)
    f.positive_.suffix = scanner.read_affix(false, f.multiplier_power_);
  if (scanner.problem == nullptr && consume(scanner.rest, ";")) {
    NumberFormat ignored;  // digits of the negative form only mark where its prefix ends
    f.negative_.prefix = scanner.read_affix(true, f.multiplier_power_);
    if (scanner.problem == nullptr && scanner.at_digits()) scanner.read_digits(ignored);
    if (scanner.problem == nullptr) {
      f.negative_.suffix = scanner.read_affix(false, f.multiplier_power_);
    }
    if (!scanner.rest.empty()) scanner.problem = "it has more than two forms";
    f.has_negative_form_ =
        f.negative_.prefix != f.positive_.prefix || f.negative_.suffix != f.positive_.suffix;
  }
  if (scanner.problem != nullptr) return refuse(scanner.problem);
  if (f.group_ > 0 && f.group_separator_ == f.decimal_separator_)
    return refuse("both separators are the same");
  if (!f.has_negative_form_) f.negative_ = {"-" + f.positive_.prefix, f.positive_.suffix};
  return f;
}

std::string NumberFormat::join_digits(std::string integer, std::string fraction) const {
  if (static_cast<int>(integer.size()) < integer_min_) {
    integer.insert(0, static_cast<size_t>(integer_min_) - integer.size(), '0');
  }
  if (static_cast<int>(fraction.size()) < fraction_min_) {
    fraction.append(static_cast<size_t>(fraction_min_) - fraction.size(), '0');
  }
  if (integer.empty() && fraction.empty()) integer = "0";
  std::string out;
  size_t size = integer.size();
  for (size_t i = 0; i < size; ++i) {
    size_t left = size - i;  // digits from here to the point
    size_t group = static_cast<size_t>(group_), outer = static_cast<size_t>(outer_group_);
    bool is_boundary = group_ > 0 && i > 0 && left >= group && (left - group) % outer == 0;
    if (is_boundary) out += group_separator_;
    out += integer[i];
  }
  if (!fraction.empty() || shows_point_always_) out += decimal_separator_;
  return out + fraction;
}

std::string NumberFormat::format_magnitude(const Decimal& magnitude) const {
  Decimal rounded = magnitude;
  if (magnitude.scale() > fraction_max_) rounded = magnitude.round_to_scale(fraction_max_);
  SplitDigits digits = split_digits(rounded);
  return join_digits(std::move(digits.integer), std::move(digits.fraction));
}

std::string NumberFormat::format_exponent_form(const Decimal& magnitude) const {
  // How many digits stand before the point: a fixed number, or one to integer_total_ so that the
  // exponent is a multiple of it.
  bool is_stepped = integer_total_ > integer_min_ && integer_total_ > 1;
  int64_t step = integer_total_;
  auto exponent_for = [&](int64_t first) {
    if (!is_stepped) return first - std::max<int64_t>(integer_min_, integer_total_ > 0) + 1;
    return (first >= 0 ? first / step : -((-first + step - 1) / step)) * step;
  };
  auto first_of = [](const Decimal& d) {
    return d.is_zero() ? 0 : static_cast<int64_t>(d.exponent()) + d.digits() - 1;
  };
  Decimal value = magnitude;
  int64_t first = first_of(value);
  int64_t exponent = magnitude.is_zero() ? 0 : exponent_for(first);
  for (int round = 0; round < 2 && !magnitude.is_zero(); ++round) {  // rounding may add a digit
    int64_t kept = integer_min_ + fraction_max_;
    if (is_stepped && fraction_max_ == 0) kept = first - exponent + 1;
    int64_t scale = kept - 1 - first;
    if (magnitude.scale() > scale) value = magnitude.round_to_scale(scale);
    first = first_of(value);
    exponent = exponent_for(first);
  }
  SplitDigits digits = split_digits(value.scaled_by(-exponent));
  std::string out = join_digits(std::move(digits.integer), std::move(digits.fraction));
  std::string power = std::to_string(exponent < 0 ? -exponent : exponent);
  if (static_cast<int>(power.size()) < exponent_digits_) {
    power.insert(0, static_cast<size_t>(exponent_digits_) - power.size(), '0');
  }
  return out + "E" + (exponent < 0 ? "-" : shows_exponent_plus_ ? "+" : "") + power;
}

Status NumberFormat::format(const Decimal& number, std::string& out) const {
  const Affixes& affixes = number.is_negative() ? negative_ : positive_;
  Decimal magnitude = number.absolute().scaled_by(multiplier_power_);
  std::string digits;
  if (!number.is_finite() || magnitude.is_infinite()) {
    digits = number.is_nan() ? "NAN" : "INF";
  } else if (exponent_digits_ > 0) {
    digits = format_exponent_form(magnitude);
  } else if (!magnitude.is_zero() && magnitude.exponent() > kFormattedDigitsMax) {
    return text_error(number.to_text(), pattern_);
  } else {
    digits = format_magnitude(magnitude);
  }
  out = affixes.prefix + digits + affixes.suffix;
  return {};
}

bool NumberFormat::parse_magnitude(std::string_view text, bool is_negative, Decimal& out) const {
  std::string plain(is_negative ? "-" : "");
  if (text == "INF" || text == "NAN") return Decimal::parse(plain.append(text), out);
  bool has_point = false, has_digits = false;
  while (!text.empty()) {
    if (is_digit_char(text[0])) {
      has_digits = true;
      plain += text[0];
      text.remove_prefix(1);
    } else if (!has_point && consume(text, decimal_separator_)) {
      has_point = true;
      plain += '.';
    } else if (group_ > 0 && !has_point && has_digits && consume(text, group_separator_)) {
      if (text.empty() || !is_digit_char(text[0])) return false;
    } else {
      break;
    }
  }
  if (!has_digits) return false;
  if (!text.empty()) {
    if (text[0] != 'E' && text[0] != 'e') return false;
    plain.append(text);
  }
  if (!Decimal::parse(plain, out)) return false;
  out = out.scaled_by(-multiplier_power_);
  return true;
}

Status NumberFormat::parse(std::string_view text, Decimal& out) const {
  auto matches = [&](std::string_view t, std::string_view prefix, std::string_view suffix,
                     bool is_negative) {
    if (!t.starts_with(prefix)) return false;
    t.remove_prefix(prefix.size());
    if (!t.ends_with(suffix)) return false;
    t.remove_suffix(suffix.size());
    return parse_magnitude(t, is_negative, out);
  };
  std::string_view bare = base::trim_white_space(text);
  bool is_match = matches(text, positive_.prefix, positive_.suffix, false) ||
                  matches(text, negative_.prefix, negative_.suffix, true) ||
                  matches(bare, base::trim_white_space(positive_.prefix),
                          base::trim_white_space(positive_.suffix), false) ||
                  matches(bare, base::trim_white_space(negative_.prefix),
                          base::trim_white_space(negative_.suffix), true);
  if (!is_match && !has_negative_form_ && bare.starts_with('+')) {
    is_match = matches(bare.substr(1), base::trim_white_space(positive_.prefix),
                       base::trim_white_space(positive_.suffix), false);
  }
  return is_match ? Status{} : text_error(text, pattern_);
}

std::string float_to_text(double d) {
  Decimal number = Decimal::from_double(d);
  if (!number.is_finite()) return number.to_text();
  constexpr int kFloatDigits = 15;
  char buffer[40];
  auto result = std::to_chars(buffer, buffer + sizeof buffer, d, std::chars_format::scientific,
                              kFloatDigits - 1);
  std::string_view text(buffer, static_cast<size_t>(result.ptr - buffer));
  size_t e = text.find('e');
  std::string_view mantissa = text.substr(0, e);
  std::string_view digits = text.substr(e + 2);
  while (mantissa.back() == '0') mantissa.remove_suffix(1);
  if (mantissa.back() == '.') mantissa.remove_suffix(1);
  while (digits.size() > 1 && digits[0] == '0') digits.remove_prefix(1);
  if (number.is_zero()) return "0E+0";
  return std::string(mantissa) + "E" + text[e + 1] + std::string(digits);
}

NumberParse parse_integer_text(std::string_view text, int64_t& out) {
  text = base::trim_white_space(text);
  if (text.size() > 1 && text[0] == '+' && is_digit_char(text[1])) text.remove_prefix(1);
  auto result = std::from_chars(text.data(), text.data() + text.size(), out);
  if (result.ptr != text.data() + text.size() || result.ec == std::errc::invalid_argument) {
    return NumberParse::kNotANumber;
  }
  return result.ec == std::errc{} ? NumberParse::kOk : NumberParse::kOutOfRange;
}

NumberParse parse_float_text(std::string_view text, double& out) {
  text = base::trim_white_space(text);
  std::string_view body = text;
  bool is_negative = consume(body, "-");
  if (!is_negative) consume(body, "+");
  if (body.empty()) return NumberParse::kNotANumber;
  if (!is_digit_char(body[0]) && body[0] != '.') {
    Decimal word;
    if (!Decimal::parse(text, word)) return NumberParse::kNotANumber;
    out = word.to_double();
    return NumberParse::kOk;
  }
  auto result = std::from_chars(body.data(), body.data() + body.size(), out);
  if (result.ptr != body.data() + body.size() || result.ec == std::errc::invalid_argument) {
    return NumberParse::kNotANumber;
  }
  if (result.ec == std::errc::result_out_of_range) {
    Decimal exact;
    if (!Decimal::parse(body, exact)) return NumberParse::kOutOfRange;
    out = exact.to_double();
    if (out != 0) return NumberParse::kOutOfRange;  // too large; too small is 0
  }
  if (is_negative) out = -out;
  return NumberParse::kOk;
}

NumberParse parse_decimal_text(std::string_view text, Decimal& out) {
  text = base::trim_white_space(text);
  if (Decimal::parse(text, out)) return NumberParse::kOk;
  // A number above the range has the form of a number with a smaller exponent.
  size_t e = text.find_first_of("eE");
  bool is_number =
      e != std::string_view::npos && Decimal::parse(text.substr(0, e), out) && out.is_finite();
  std::string_view exponent = is_number ? text.substr(e + 1) : std::string_view{};
  if (is_number && !exponent.empty() && (exponent[0] == '+' || exponent[0] == '-')) {
    exponent.remove_prefix(1);
  }
  is_number = is_number && !exponent.empty() &&
              std::all_of(exponent.begin(), exponent.end(), is_digit_char);
  return is_number ? NumberParse::kOutOfRange : NumberParse::kNotANumber;
}

}  // namespace millstream::value
