// The folders of MQRFH2 as elements, read by mqi/rfh2.h.
#include "base/markup.h"
#include "mqi/rfh2.h"
#include "parsers/common/scalar_text.h"
#include "parsers/headers/mq_headers.h"
#include "tree/edit.h"

namespace millstream::parsers::headers {
namespace {

using tree::Element;
using value::Kind;
using value::Value;

class TreeBuilder final : public mqi::Rfh2FolderHandler {
 public:
  TreeBuilder(tree::TreeContext& context, Element* header) : context_(context), current_(header) {}

  Status start(const mqi::Rfh2Tag& tag) override {
    Element* e = tree::make_element(context_, context_.names.qname(tag.name), tree::kName);
    tree::append_child(current_, e);
    current_ = e;
    return {};
  }
  // An element without child elements is a field with a value of its type.
  Status end_field(const mqi::Rfh2Tag& tag, std::string_view text) override {
    tree::set_type(current_, tree::kNameValue);
    tree::set_value(current_, tag.is_nil ? Value::null() : typed_value(tag.type, text));
    return end_group();
  }
  Status end_group() override {
    current_ = current_->parent;
    return {};
  }

 private:
  Value typed_value(std::string_view type, std::string_view text) {
    mqi::PropertyView v = mqi::rfh2_value(type, text, scratch_);
    if (v.is_boolean()) return Value::make_boolean(v.integer != 0);
    if (v.is_integer()) return Value::make_integer(v.integer);
    if (v.is_bytes()) return Value::make_blob(context_.arena.copy(v.text()));
    if (!v.is_float()) return Value::make_character(context_.arena.copy(v.text()));
    // The tree has one kind of float: what r4 says is read as such again.
    return mqi::PropertyType::kFloat32 == v.type
               ? Value::make_float(mqi::rfh2_value("r8", text, scratch_).real)
               : Value::make_float(v.real);
  }

  tree::TreeContext& context_;
  Element* current_;
  std::string scratch_;
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
  TreeBuilder builder(context, header);
  return mqi::read_rfh2_folder(folder, builder);
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
