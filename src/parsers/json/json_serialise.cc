// JSON trees -> bytes. Iterative: trees built by a program may be deeper than a fiber's stack.
#include <unordered_map>

#include "format/json_writer.h"
#include "parsers/common/scalar_text.h"
#include "parsers/json/errors_gen.h"
#include "parsers/json/json_domain.h"
#include "parsers/json/json_parser.h"
#include "text/ccsid.h"
#include "tree/edit.h"

namespace millstream::parsers::json {
namespace {

using tree::Element;
using value::Kind;
using value::Value;

enum class Shape { kScalar, kObject, kArray };

bool is_array_type(const Element* e) { return e->type == tree::json::kArray; }

Shape shape_of(Element* e) {
  if (is_array_type(e)) return Shape::kArray;
  if (tree::first_child(e)) return Shape::kObject;
  if (!tree::scalar_value(e).is_null()) return Shape::kScalar;
  return (e->type & tree::kTypeClassMask) == tree::kName ? Shape::kObject : Shape::kScalar;
}

bool same_value(const Value& a, const Value& b) {
  return a.kind == b.kind && a.qualifier == b.qualifier && a.size == b.size &&
         a.integer == b.integer;
}

class Writer {
 public:
  Writer(std::string& out, const JsonParser* parser) : out_(out) {
    options_.escapes_slash = write_settings().escapes_slash;
    if (!parser) return;
    for (const RawNumber* n = parser->raw_numbers(); n; n = n->next) raw_.emplace(n->element, n);
  }

  // `top` as the outermost value; its own name is not written.
  Status write(Element* top) {
    Element* e = top;
    bool is_entering = true;
    while (true) {
      if (is_entering) {
        Shape shape = shape_of(e);
        if (shape == Shape::kScalar) {
          MS_TRY(write_scalar(e));
        } else {
          bool is_array = shape == Shape::kArray;
          out_.push_back(is_array ? '[' : '{');
          Value own = tree::scalar_value(e);
          bool has_own = !is_array && !own.is_null();
          if (has_own) {
            out_ += "\"\":";
            MS_TRY(write_value(own));
          }
          if (Element* child = tree::first_child(e)) {
            if (has_own) out_.push_back(',');
            if (!is_array) write_name(child);
            e = child;
            continue;
          }
          out_.push_back(is_array ? ']' : '}');
        }
      }
      if (e == top) return {};
      bool in_array = is_array_type(e->parent);
      if (Element* next = tree::next_sibling(e)) {
        out_.push_back(',');
        if (!in_array) write_name(next);
        e = next;
        is_entering = true;
      } else {
        out_.push_back(in_array ? ']' : '}');
        e = e->parent;
        is_entering = false;
      }
    }
  }

 private:
  void write_name(Element* e) {
    format::append_json_string(out_, e->local_name(), options_);
    out_.push_back(':');
  }

  Status write_scalar(Element* e) {
    Value v = tree::scalar_value(e);
    if (!raw_.empty()) {
      auto found = raw_.find(e);
      if (found != raw_.end() && same_value(found->second->value, v)) {
        out_ += found->second->text;
        return {};
      }
    }
    return write_value(v);
  }

  Status write_value(const Value& v) {
    switch (v.kind) {
      case Kind::kNull:
        out_ += "null";
        return {};
      case Kind::kBoolean:
        out_ += v.boolean() ? "true" : "false";
        return {};
      case Kind::kInteger:
        append_integer(out_, v.integer);
        return {};
      case Kind::kFloat:
        if (format::append_json_double(out_, v.real)) return {};
        return base::make_error(errors::kJsonNumber, {append_scalar(v)});
      case Kind::kDecimal:
        if (append_plain_decimal(out_, v)) return {};
        return base::make_error(errors::kJsonNumber, {append_scalar(v)});
      case Kind::kCharacter:
        format::append_json_string(out_, v.text(), options_);
        return {};
      case Kind::kBlob:
        out_.push_back('"');
        append_base64(out_, v.text());
        out_.push_back('"');
        return {};
      default:
        format::append_json_string(out_, append_scalar(v), options_);
        return {};
    }
  }

  static std::string append_scalar(const Value& v) {
    std::string s;
    append_scalar_text(s, v);
    return s;
  }

  std::string& out_;
  format::JsonWriteOptions options_;
  std::unordered_map<const Element*, const RawNumber*> raw_;
};

// What a root or folder stands for: Data below a JSON root, else the element itself. Null with an
// OK status: nothing to write.
Result<Element*> outermost(Element* e) {
  if (!e->has_flag(tree::kFlagDomainRoot)) return e;
  if (Element* data = tree::find_child(e, "Data")) return data;
  if (!tree::first_child(e)) return static_cast<Element*>(nullptr);
  return base::make_error(errors::kJsonNoData, {e->local_name()});
}

}  // namespace

WriteSettings& write_settings() {
  static WriteSettings settings;
  return settings;
}

Status serialise(tree::TreeContext&, Element* e, const tree::SerialiseOptions& options,
                 std::string& out) {
  Element* top = MS_TRY(outermost(e));
  if (!top) return {};
  if (shape_of(top) == Shape::kScalar) {
    return base::make_error(errors::kJsonScalarRoot, {top->local_name()});
  }
  tree::DomainRoot* root = tree::domain_root_of(e);
  const JsonParser* parser = root && root->domain == &kDomain && root->parser
                                 ? static_cast<const JsonParser*>(root->parser)
                                 : nullptr;
  if (options.ccsid == 0 || options.ccsid == 1208 || options.ccsid == 1209) {
    return Writer(out, parser).write(top);
  }
  std::string utf8, bytes;
  MS_TRY(Writer(utf8, parser).write(top));
  MS_TRY(text::from_utf8(utf8, static_cast<int32_t>(options.ccsid), bytes));
  out += bytes;
  return {};
}

}  // namespace millstream::parsers::json
