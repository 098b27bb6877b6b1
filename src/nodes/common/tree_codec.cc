#include "nodes/common/tree_codec.h"

#include <cstring>
#include <unordered_map>

#include "nodes/common/errors_gen.h"
#include "parsers/domains.h"
#include "text/utf8.h"
#include "tree/edit.h"
#include "value/datetime.h"
#include "value/decimal.h"

namespace millstream::nodes::common {
namespace {

using value::Kind;
using value::Value;

constexpr char kTreeMagic[3] = {'M', 'S', 'T'};
constexpr uint8_t kElementMark = 0x80;  // every element begins with it; 0 ends a list of children
constexpr uint8_t kHasDomain = 1;
constexpr uint8_t kHasNamespace = 2;
constexpr uint8_t kHasValue = 4;
constexpr uint8_t kFlagMask = kHasDomain | kHasNamespace | kHasValue;
constexpr size_t kVarintBytesMax = 10;

class TreeWriter {
 public:
  explicit TreeWriter(std::string& out) : out_(out) {}

  void number(uint64_t n) {
    while (n >= 0x80) {
      out_ += static_cast<char>(n | 0x80);
      n >>= 7;
    }
    out_ += static_cast<char>(n);
  }
  void signed_number(int64_t n) {
    number((static_cast<uint64_t>(n) << 1) ^ static_cast<uint64_t>(n >> 63));
  }
  void text(std::string_view s) {
    number(s.size());
    out_ += s;
  }
  void name(std::string_view s) {
    auto [it, is_new] = names_.try_emplace(std::string(s), names_.size() + 1);
    number(is_new ? 0 : it->second);
    if (is_new) text(s);
  }

  void value(const Value& v) {
    out_ += static_cast<char>(v.kind);
    switch (v.kind) {
      case Kind::kNull:
        return;
      case Kind::kFloat:
        out_.append(reinterpret_cast<const char*>(&v.real), sizeof v.real);
        return;
      case Kind::kCharacter:
        is_text_valid_ = is_text_valid_ && text::is_valid_utf8(v.text());
        text(v.text());
        return;
      case Kind::kBlob:
        text(v.text());
        return;
      case Kind::kBit:
        number(v.size);
        out_.append(v.data, (v.size + 7) / 8);
        return;
      case Kind::kDecimal:
        text(v.as_decimal().to_scientific_text());
        return;
      case Kind::kInterval:
        out_ += static_cast<char>(v.qualifier);
        signed_number(v.integer);
        return;
      default:
        signed_number(v.integer);
    }
  }

  void head(tree::Element* e) {
    const bool is_domain = e->has_flag(tree::kFlagDomainRoot);
    const Value v = is_domain ? Value() : tree::scalar_value(e);
    const bool has_namespace = !e->namespace_uri().empty();
    out_ += static_cast<char>(kElementMark | (is_domain ? kHasDomain : 0) |
                              (has_namespace ? kHasNamespace : 0) | (v.is_null() ? 0 : kHasValue));
    if (is_domain) name(static_cast<tree::DomainRoot*>(e)->domain->name);
    if (has_namespace) name(e->namespace_uri());
    name(e->local_name());
    number(e->type);
    if (!v.is_null()) value(v);
  }

  // What would be refused when it is read must not be written.
  bool is_text_valid() const { return is_text_valid_; }

  // Iterative: documents may be nested deeper than a fiber's stack.
  void tree(tree::Element* top) {
    head(top);
    tree::Element* parent = top;
    tree::Element* e = tree::first_child(top);
    while (true) {
      if (e) {
        head(e);
        parent = e;
        e = tree::first_child(e);
        continue;
      }
      out_ += '\0';
      if (parent == top) return;
      e = tree::next_sibling(parent);
      parent = parent->parent;
    }
  }

 private:
  std::string& out_;
  std::unordered_map<std::string, size_t> names_;
  bool is_text_valid_ = true;
};

class TreeReader {
 public:
  TreeReader(tree::TreeContext& context, std::string_view bytes)
      : context_(context), at_(bytes.data()), end_(bytes.data() + bytes.size()) {}

  Result<std::vector<tree::Element*>> read() {
    std::vector<tree::Element*> trees;
    if (left() < sizeof kTreeMagic + 1 || std::memcmp(at_, kTreeMagic, sizeof kTreeMagic) != 0) {
      return bad("it does not begin as one");
    }
    const char version = at_[sizeof kTreeMagic];
    at_ += sizeof kTreeMagic + 1;
    if (version != kTreeFormVersion) {
      return bad("its version is " + std::to_string(static_cast<unsigned char>(version)) +
                 ", this server knows version " + std::to_string(kTreeFormVersion));
    }
    const uint64_t count = MS_TRY(number());
    if (count > kTreeFormTreesMax) return bad("it has too many trees");
    for (uint64_t i = 0; i < count; ++i) {
      if (left() == 0) return bad("it ends too early");
      if (*at_ == 0) {
        ++at_;
        trees.push_back(nullptr);
      } else {
        trees.push_back(MS_TRY(tree()));
      }
    }
    if (left() != 0) return bad("there are bytes behind its end");
    return trees;
  }

 private:
  static Status bad(std::string why) {
    return base::make_error(errors::kTreeForm, {std::move(why)});
  }
  size_t left() const { return static_cast<size_t>(end_ - at_); }

  Result<uint64_t> number() {
    uint64_t n = 0;
    for (size_t i = 0; i < kVarintBytesMax && at_ != end_; ++i) {
      const auto byte = static_cast<uint8_t>(*at_++);
      if (i == kVarintBytesMax - 1 && byte > 1) break;
      n |= static_cast<uint64_t>(byte & 0x7f) << (7 * i);
      if (byte < 0x80) return n;
    }
    return bad("a number in it has no end");
  }
  Result<int64_t> signed_number() {
    const uint64_t n = MS_TRY(number());
    return static_cast<int64_t>(n >> 1) ^ -static_cast<int64_t>(n & 1);
  }
  Result<std::string_view> bytes() {
    const uint64_t size = MS_TRY(number());
    if (size > left() || size > UINT32_MAX) return bad("a text in it is longer than the rest");
    const std::string_view s(at_, size);
    at_ += size;
    return s;
  }
  Result<std::string_view> text() {
    const std::string_view s = MS_TRY(bytes());
    if (!text::is_valid_utf8(s)) return bad("a text in it is not UTF-8");
    return s;
  }
  Result<std::string_view> name() {
    const uint64_t index = MS_TRY(number());
    if (index > names_.size()) return bad("it refers to a name that it does not have");
    if (index > 0) return names_[index - 1];
    names_.push_back(MS_TRY(text()));
    return names_.back();
  }

  Result<Value> value() {
    if (left() == 0) return bad("it ends too early");
    const auto kind = static_cast<Kind>(*at_++);
    Value v;
    switch (kind) {
      case Kind::kBoolean:
        return Value::make_boolean(MS_TRY(signed_number()) != 0);
      case Kind::kInteger:
        return Value::make_integer(MS_TRY(signed_number()));
      case Kind::kFloat: {
        if (left() < sizeof v.real) return bad("it ends too early");
        std::memcpy(&v.real, at_, sizeof v.real);
        at_ += sizeof v.real;
        return Value::make_float(v.real);
      }
      case Kind::kCharacter:
        return Value::make_character(context_.arena.copy(MS_TRY(text())));
      case Kind::kBlob:
        return Value::make_blob(context_.arena.copy(MS_TRY(bytes())));
      case Kind::kBit:
        return bits();
      case Kind::kDecimal: {
        value::Decimal d;
        if (!value::Decimal::parse(MS_TRY(text()), d)) return bad("a decimal in it is none");
        return Value::make_decimal(d, context_.arena);
      }
      case Kind::kInterval:
        return interval();
      case Kind::kDate:
      case Kind::kTime:
      case Kind::kGmtTime:
      case Kind::kTimestamp:
      case Kind::kGmtTimestamp:
        return point_in_time(kind);
      default:
        return bad("it has a value of an unknown kind");
    }
  }

  Result<Value> bits() {
    const uint64_t size = MS_TRY(number());
    if (size > UINT32_MAX || (size + 7) / 8 > left()) return bad("a bit string is too long");
    const size_t length = (size + 7) / 8;
    const std::string_view kept = context_.arena.copy({at_, length});
    at_ += length;
    return Value::make_bit(kept.data(), static_cast<uint32_t>(size));
  }

  Result<Value> interval() {
    if (left() == 0) return bad("it ends too early");
    const auto qualifier = static_cast<uint8_t>(*at_++);
    if (qualifier > static_cast<uint8_t>(value::IntervalQualifier::kSecond)) {
      return bad("it has an interval of an unknown kind");
    }
    return Value::make_interval(MS_TRY(signed_number()),
                                static_cast<value::IntervalQualifier>(qualifier));
  }

  Result<Value> point_in_time(Kind kind) {
    Value v;
    v.kind = kind;
    v.integer = MS_TRY(signed_number());
    if (kind == Kind::kDate) {
      MS_TRY(value::check_date(v.integer));
    } else if (kind == Kind::kTimestamp || kind == Kind::kGmtTimestamp) {
      MS_TRY(value::check_timestamp(v.integer));
    } else if (v.integer < 0 || v.integer >= value::kMicrosPerDay) {
      return bad("a time in it is not one");
    }
    return v;
  }

  Result<tree::Element*> head() {
    const auto flags = static_cast<uint8_t>(*at_++);
    if ((flags & kElementMark) == 0 || (flags & ~(kElementMark | kFlagMask)) != 0) {
      return bad("an element in it begins wrongly");
    }
    if (++elements_ > kTreeFormElementsMax) return bad("it has too many elements");
    const tree::Domain* domain = nullptr;
    if (flags & kHasDomain) {
      const std::string_view domain_name = MS_TRY(name());
      domain = parsers::find_domain(domain_name);
      if (!domain) return bad("there is no message domain " + std::string(domain_name));
    }
    std::string_view ns;
    if (flags & kHasNamespace) ns = MS_TRY(name());
    const base::QName* qname = context_.names.qname(ns, MS_TRY(name()));
    const uint64_t type = MS_TRY(number());
    if (type > UINT32_MAX) return bad("a field type in it is too large");
    tree::Element* e = nullptr;
    if (domain) {
      e = tree::make_domain_root(context_, *domain, qname);
      e->type = static_cast<tree::FieldType>(type);
    } else {
      e = tree::make_element(context_, qname, static_cast<tree::FieldType>(type));
    }
    if (flags & kHasValue) {
      const Value v = MS_TRY(value());
      const uint16_t kept = e->scalar.spare;
      e->scalar = v;
      e->scalar.spare = kept;
    }
    return e;
  }

  Result<tree::Element*> tree() {
    tree::Element* top = MS_TRY(head());
    tree::Element* parent = top;
    for (size_t depth = 1;;) {
      if (left() == 0) return bad("it ends too early");
      if (*at_ == 0) {
        ++at_;
        if (parent == top) return top;
        parent = parent->parent;
        --depth;
        continue;
      }
      tree::Element* e = MS_TRY(head());
      tree::link_child(parent, e);
      parent = e;
      if (++depth > kTreeFormDepthMax) return bad("it is nested too deeply");
    }
  }

  tree::TreeContext& context_;
  const char* at_;
  const char* end_;
  size_t elements_ = 0;
  std::vector<std::string_view> names_;
};

}  // namespace

Status encode_trees(tree::TreeContext& context, std::span<tree::Element* const> trees,
                    std::string& out) {
  out.append(kTreeMagic, sizeof kTreeMagic);
  out += kTreeFormVersion;
  TreeWriter writer(out);
  writer.number(trees.size());
  for (tree::Element* e : trees) {
    if (e) {
      writer.tree(e);
    } else {
      out += '\0';
    }
  }
  if (context.has_parse_error()) return context.take_parse_error();
  if (!writer.is_text_valid()) {
    return base::make_error(errors::kTreeForm, {"a text in it is not UTF-8"});
  }
  return {};
}

Result<std::vector<tree::Element*>> decode_trees(tree::TreeContext& context,
                                                 std::string_view bytes) {
  return TreeReader(context, bytes).read();
}

}  // namespace millstream::nodes::common
