// The folders of MQRFH2: a small XML without declaration, namespaces, comments or CDATA.
#include <charconv>

#include "base/markup.h"
#include "mqi/errors_gen.h"
#include "parsers/common/scalar_text.h"
#include "parsers/headers/mq_headers.h"
#include "text/utf8.h"
#include "tree/edit.h"

namespace millstream::parsers::headers {
namespace {

using tree::Element;
using value::Kind;
using value::Value;

constexpr uint32_t kFolderDepthMax = 100;

class FolderReader {
 public:
  FolderReader(tree::TreeContext& context, std::string_view text) : context_(context), s_(text) {}

  Status run(Element* header) {
    Element* parent = header;
    uint32_t depth = 0;
    std::string text;
    skip_blanks();
    do {
      if (!at("<")) return fail("an element is expected");
      if (at("</")) {
        at_ += 2;
        if (take_name() != parent->local_name() || !close_tag())
          return fail("the end tag is wrong");
        finish(parent, text);
        parent = parent->parent;
        --depth;
      } else {
        if (++depth > kFolderDepthMax) return fail("it is nested too deeply");
        bool is_empty = false;
        parent = MS_TRY(open(parent, is_empty));
        if (is_empty) {
          text.clear();
          finish(parent, text);
          parent = parent->parent;
          --depth;
        }
      }
      text.clear();
      MS_TRY(take_text(text));
    } while (depth > 0);
    skip_blanks();
    return at_ == s_.size() ? Status() : fail("there is text after the folder");
  }

 private:
  bool at(std::string_view t) const { return s_.substr(at_, t.size()) == t; }
  Status fail(std::string_view reason) {
    return base::make_error(mqi::errors::kRfh2Folder, {s_.substr(0, 30), at_, reason});
  }
  void skip_blanks() {
    while (at_ < s_.size() && (s_[at_] == ' ' || s_[at_] == '\t' || s_[at_] == '\n' ||
                               s_[at_] == '\r' || s_[at_] == '\0')) {
      ++at_;
    }
  }
  std::string_view take_name() {
    size_t start = at_;
    constexpr std::string_view kEnds = "<>/= \t\r\n\"'&";
    while (at_ < s_.size() && kEnds.find(s_[at_]) == std::string_view::npos) ++at_;
    return s_.substr(start, at_ - start);
  }
  bool close_tag() {
    skip_blanks();
    if (!at(">")) return false;
    ++at_;
    return true;
  }

  // A start tag; `type_` and `is_nil_` keep what its attributes say.
  Result<Element*> open(Element* parent, bool& is_empty) {
    ++at_;
    std::string_view name = take_name();
    if (name.empty()) return fail("an element name is expected");
    type_.clear();
    is_nil_ = false;
    while (true) {
      skip_blanks();
      if (at("/>") || at(">")) break;
      std::string_view attribute = take_name();
      skip_blanks();
      if (attribute.empty() || !at("=")) return fail("an attribute is malformed");
      ++at_;
      skip_blanks();
      char quote = at_ < s_.size() ? s_[at_] : '\0';
      size_t end = quote == '"' || quote == '\'' ? s_.find(quote, at_ + 1) : std::string_view::npos;
      if (end == std::string_view::npos) return fail("an attribute has no value in quotes");
      std::string_view v = s_.substr(at_ + 1, end - at_ - 1);
      if (attribute == "dt") type_ = v;
      if (attribute == "xsi:nil") is_nil_ = v == "true";
      at_ = end + 1;
    }
    is_empty = at("/>");
    at_ += is_empty ? 2 : 1;
    Element* e = tree::make_element(context_, context_.names.qname(name), tree::kName);
    tree::append_child(parent, e);
    return e;
  }

  Status take_text(std::string& out) {
    while (at_ < s_.size() && s_[at_] != '<') {
      if (s_[at_] != '&') {
        out.push_back(s_[at_++]);
        continue;
      }
      size_t end = s_.find(';', at_);
      if (end == std::string_view::npos || end - at_ > 12) return fail("an entity is not closed");
      if (!append_entity(s_.substr(at_ + 1, end - at_ - 1), out))
        return fail("an entity is unknown");
      at_ = end + 1;
    }
    return {};
  }

  static bool append_entity(std::string_view name, std::string& out) {
    if (name == "lt") return out.push_back('<'), true;
    if (name == "gt") return out.push_back('>'), true;
    if (name == "amp") return out.push_back('&'), true;
    if (name == "quot") return out.push_back('"'), true;
    if (name == "apos") return out.push_back('\''), true;
    if (name.size() < 2 || name[0] != '#') return false;
    bool is_hex = name[1] == 'x';
    std::string_view digits = name.substr(is_hex ? 2 : 1);
    uint32_t code = 0;
    auto r = std::from_chars(digits.data(), digits.data() + digits.size(), code, is_hex ? 16 : 10);
    if (digits.empty() || r.ec != std::errc() || r.ptr != digits.data() + digits.size() ||
        code == 0 || code > 0x10FFFF) {
      return false;
    }
    text::append_utf8(out, code);
    return true;
  }

  // An element without child elements is a field with a value of its type.
  void finish(Element* e, const std::string& text) {
    if (e->first) return;
    tree::set_type(e, tree::kNameValue);
    tree::set_value(e, is_nil_ ? Value::null() : typed_value(text));
    is_nil_ = false;
  }

  Value typed_value(const std::string& text) {
    if (type_ == "i1" || type_ == "i2" || type_ == "i4" || type_ == "i8" || type_ == "int") {
      int64_t n = 0;
      auto r = std::from_chars(text.data(), text.data() + text.size(), n);
      if (r.ec == std::errc() && r.ptr == text.data() + text.size()) return Value::make_integer(n);
    } else if (type_ == "r4" || type_ == "r8") {
      double d = 0;
      auto r = std::from_chars(text.data(), text.data() + text.size(), d);
      if (r.ec == std::errc() && r.ptr == text.data() + text.size()) return Value::make_float(d);
    } else if (type_ == "boolean") {
      if (text == "1" || text::equals_ignoring_ascii_case(text, "true")) {
        return Value::make_boolean(true);
      }
      if (text == "0" || text::equals_ignoring_ascii_case(text, "false")) {
        return Value::make_boolean(false);
      }
    } else if (type_ == "bin.hex") {
      std::string bytes;
      if (decode_hex(text, bytes)) return Value::make_blob(context_.arena.copy(bytes));
    }
    return Value::make_character(context_.arena.copy(text));
  }

  static bool decode_hex(std::string_view text, std::string& out) {
    if (text.size() % 2) return false;
    for (size_t i = 0; i < text.size(); i += 2) {
      uint32_t byte = 0;
      auto r = std::from_chars(text.data() + i, text.data() + i + 2, byte, 16);
      if (r.ec != std::errc() || r.ptr != text.data() + i + 2) return false;
      out.push_back(static_cast<char>(byte));
    }
    return true;
  }

  tree::TreeContext& context_;
  std::string_view s_;
  size_t at_ = 0;
  std::string type_;
  bool is_nil_ = false;
};

std::string_view dt_of(const Value& v) {
  switch (v.kind) {
    case Kind::kInteger:
      return v.integer == static_cast<int32_t>(v.integer) ? "i4" : "i8";
    case Kind::kFloat:
      return "r8";
    case Kind::kBoolean:
      return "boolean";
    case Kind::kBlob:
      return "bin.hex";
    default:
      return {};
  }
}

void append_start(Element* e, std::string& out) {
  out.push_back('<');
  out += e->local_name();
  Value v = tree::scalar_value(e);
  bool has_children = tree::first_child(e) != nullptr;
  if (!has_children && v.is_null() && (e->type & tree::kTypeClassMask) != tree::kName) {
    out += " xsi:nil=\"true\"";
  }
  std::string_view dt = has_children ? std::string_view() : dt_of(v);
  if (!dt.empty()) {
    out += " dt=\"";
    out += dt;
    out.push_back('"');
  }
  out.push_back('>');
  if (v.kind == Kind::kBoolean) {
    out.push_back(v.boolean() ? '1' : '0');
  } else {
    base::append_markup(out, scalar_text(v));
  }
}

}  // namespace

Status parse_rfh2_folder(tree::TreeContext& context, Element* header, std::string_view folder) {
  return FolderReader(context, folder).run(header);
}

// Iterative: a program may have built anything. Nameless Value children are text.
void write_rfh2_folder(Element* folder, std::string& out) {
  Element* e = folder;
  while (true) {
    bool is_text = (e->type & tree::kTypeClassMask) == tree::kValue;
    if (is_text) {
      base::append_markup(out, scalar_text(tree::scalar_value(e)));
    } else {
      append_start(e, out);
      if (Element* child = tree::first_child(e)) {
        e = child;
        continue;
      }
      out += "</" + std::string(e->local_name()) + ">";
    }
    while (e != folder && !tree::next_sibling(e)) {
      e = e->parent;
      out += "</" + std::string(e->local_name()) + ">";
    }
    if (e == folder) return;
    e = tree::next_sibling(e);
  }
}

}  // namespace millstream::parsers::headers
