// The text of MQRFH2 folders, read and typed.
#include <charconv>

#include "base/ascii.h"
#include "mqi/errors_gen.h"
#include "mqi/rfh2.h"
#include "text/utf8.h"

namespace millstream::mqi {
namespace {

class FolderReader {
 public:
  FolderReader(std::string_view text, Rfh2FolderHandler& handler) : s_(text), handler_(handler) {}

  Status run() {
    skip_blanks();
    do {
      if (!at("<")) return fail("an element is expected");
      if (at("</")) {
        MS_TRY(close());
      } else {
        if (open_.size() == kRfh2DepthMax) return fail("it is nested too deeply");
        MS_TRY(open());
      }
      text_.clear();
      MS_TRY(take_text());
    } while (!open_.empty());
    skip_blanks();
    return at_ == s_.size() ? Status() : fail("there is text after the folder");
  }

 private:
  struct Open {
    Rfh2Tag tag;
    bool has_elements = false;
  };

  bool at(std::string_view t) const { return s_.substr(at_, t.size()) == t; }
  Status fail(std::string_view reason) {
    return base::make_error(errors::kRfh2Folder, {s_.substr(0, 30), at_, reason});
  }
  void skip_blanks() {
    while (at_ < s_.size() && (base::is_ascii_white_space(s_[at_]) || s_[at_] == '\0')) ++at_;
  }
  std::string_view take_name() {
    size_t start = at_;
    constexpr std::string_view kEnds = "<>/= \t\r\n\"'&";
    while (at_ < s_.size() && kEnds.find(s_[at_]) == std::string_view::npos) ++at_;
    return s_.substr(start, at_ - start);
  }

  Status close() {
    at_ += 2;
    bool is_same = !open_.empty() && take_name() == open_.back().tag.name;
    skip_blanks();
    if (!is_same || !at(">")) return fail("the end tag is wrong");
    ++at_;
    return finish();
  }
  Status finish() {
    Open e = open_.back();
    open_.pop_back();
    return e.has_elements ? handler_.end_group() : handler_.end_field(e.tag, text_);
  }

  Status open() {
    ++at_;
    Rfh2Tag tag{.name = take_name()};
    if (tag.name.empty()) return fail("an element name is expected");
    while (true) {
      skip_blanks();
      if (at("/>") || at(">")) break;
      MS_TRY(take_attribute(tag));
    }
    bool is_empty = at("/>");
    at_ += is_empty ? 2 : 1;
    if (!open_.empty()) open_.back().has_elements = true;
    open_.push_back({tag});
    MS_TRY(handler_.start(tag));
    if (!is_empty) return {};
    text_.clear();
    return finish();
  }

  Status take_attribute(Rfh2Tag& tag) {
    std::string_view name = take_name();
    skip_blanks();
    if (name.empty() || !at("=")) return fail("an attribute is malformed");
    ++at_;
    skip_blanks();
    char quote = at_ < s_.size() ? s_[at_] : '\0';
    size_t end = quote == '"' || quote == '\'' ? s_.find(quote, at_ + 1) : std::string_view::npos;
    if (end == std::string_view::npos) return fail("an attribute has no value in quotes");
    std::string_view v = s_.substr(at_ + 1, end - at_ - 1);
    if (name == "dt") tag.type = v;
    if (name == "content") tag.content = v;
    if (name == "xsi:nil") tag.is_nil = v == "true";
    at_ = end + 1;
    return {};
  }

  Status take_text() {
    while (at_ < s_.size() && s_[at_] != '<') {
      if (s_[at_] != '&') {
        text_.push_back(s_[at_++]);
        continue;
      }
      size_t end = s_.find(';', at_);
      if (end == std::string_view::npos || end - at_ > 12) return fail("an entity is not closed");
      if (!append_entity(s_.substr(at_ + 1, end - at_ - 1))) return fail("an entity is unknown");
      at_ = end + 1;
    }
    return {};
  }

  bool append_entity(std::string_view name) {
    if (name == "lt") return text_.push_back('<'), true;
    if (name == "gt") return text_.push_back('>'), true;
    if (name == "amp") return text_.push_back('&'), true;
    if (name == "quot") return text_.push_back('"'), true;
    if (name == "apos") return text_.push_back('\''), true;
    if (name.size() < 2 || name[0] != '#') return false;
    bool is_hex = name[1] == 'x';
    std::string_view digits = name.substr(is_hex ? 2 : 1);
    uint32_t code = 0;
    auto r = std::from_chars(digits.data(), digits.data() + digits.size(), code, is_hex ? 16 : 10);
    if (digits.empty() || r.ec != std::errc() || r.ptr != digits.data() + digits.size() ||
        code == 0 || code > 0x10FFFF) {
      return false;
    }
    text::append_utf8(text_, code);
    return true;
  }

  std::string_view s_;
  Rfh2FolderHandler& handler_;
  size_t at_ = 0;
  std::vector<Open> open_;
  std::string text_;  // since the last tag
};

constexpr std::pair<std::string_view, PropertyType> kRfh2Types[] = {
    {"i1", PropertyType::kInt8},         {"i2", PropertyType::kInt16},
    {"i4", PropertyType::kInt32},        {"i8", PropertyType::kInt64},
    {"r4", PropertyType::kFloat32},      {"r8", PropertyType::kFloat64},
    {"boolean", PropertyType::kBoolean}, {"bin.hex", PropertyType::kBytes},
    {"int", PropertyType::kInt32},
};

// The type that was stated, or the smallest wider one that can hold the value.
PropertyType widened(PropertyType type, int64_t n) {
  auto fits = [n](int64_t limit) { return n >= -limit && n < limit; };
  if (type == PropertyType::kInt8 && fits(1 << 7)) return PropertyType::kInt8;
  if (type <= PropertyType::kInt16 && fits(1 << 15)) return PropertyType::kInt16;
  if (type <= PropertyType::kInt32 && fits(int64_t{1} << 31)) return PropertyType::kInt32;
  return PropertyType::kInt64;
}

bool read_hex(std::string_view text, std::string& out) {
  out.clear();
  if (text.size() % 2) return false;
  for (size_t i = 0; i < text.size(); i += 2) {
    int high = base::hex_digit_value(text[i]), low = base::hex_digit_value(text[i + 1]);
    if (high < 0 || low < 0) return false;
    out.push_back(static_cast<char>(high * 16 + low));
  }
  return true;
}

}  // namespace

Status read_rfh2_folder(std::string_view folder, Rfh2FolderHandler& handler) {
  return FolderReader(folder, handler).run();
}

std::string_view rfh2_type_name(PropertyType type) {
  for (const auto& [name, value] : kRfh2Types) {
    if (value == type) return name;
  }
  return {};
}

PropertyView rfh2_value(std::string_view type_name, std::string_view text, std::string& scratch) {
  PropertyType type = PropertyType::kString;
  for (const auto& [name, value] : kRfh2Types) {
    if (name == type_name) type = value;
  }
  const char* end = text.data() + text.size();
  switch (type) {
    case PropertyType::kInt8:
    case PropertyType::kInt16:
    case PropertyType::kInt32:
    case PropertyType::kInt64: {
      int64_t n = 0;
      auto r = std::from_chars(text.data(), end, n);
      if (r.ec == std::errc() && r.ptr == end) return PropertyView::make(widened(type, n), n);
      break;
    }
    case PropertyType::kFloat32: {
      float f = 0;
      auto r = std::from_chars(text.data(), end, f);
      if (r.ec == std::errc() && r.ptr == end) return PropertyView::float32(f);
      break;
    }
    case PropertyType::kFloat64: {
      double d = 0;
      auto r = std::from_chars(text.data(), end, d);
      if (r.ec == std::errc() && r.ptr == end) return PropertyView::float64(d);
      break;
    }
    case PropertyType::kBoolean:
      if (text == "1" || text::equals_ignoring_ascii_case(text, "true")) {
        return PropertyView::boolean(true);
      }
      if (text == "0" || text::equals_ignoring_ascii_case(text, "false")) {
        return PropertyView::boolean(false);
      }
      break;
    case PropertyType::kBytes:
      if (read_hex(text, scratch)) return PropertyView::bytes(scratch);
      break;
    default:
      break;
  }
  return PropertyView::string(text);
}

}  // namespace millstream::mqi
