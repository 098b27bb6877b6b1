// XML as the JSON value that a schema describes (OpenAPI, XML object): elements and attributes are
// members, repeated or wrapped elements are lists, text has the type that the schema allows.
#include <unordered_map>

#include "base/ascii.h"
#include "format/xml_chars.h"
#include "format/xml_scopes.h"
#include "model/body.h"
#include "model/parameters.h"
#include "text/ccsid.h"
#include "text/utf8.h"

namespace millstream::model {
namespace {

constexpr std::string_view kXsiNamespace = "http://www.w3.org/2001/XMLSchema-instance";
constexpr size_t kElementsMax = 500'000;

struct ElementName {
  std::string_view local, uri;
};
struct ElementAttribute {
  ElementName name;
  std::string_view value;
};
struct Element {
  ElementName name;
  std::vector<ElementAttribute> attributes;
  std::vector<Element*> children;
  std::string text;
};

// Elements with their namespaces; nothing else of a document matters to a schema.
class ElementBuilder {
 public:
  ElementBuilder(std::string_view utf8, uint32_t depth_max)
      : tokenizer_(arena_, utf8, {.depth_max = depth_max}) {}

  // Null when it is no XML; `why` says what is wrong. Lives as long as this object.
  const Element* build(std::string& why) {
    const Element* root = nullptr;
    for (;;) {
      switch (tokenizer_.next()) {
        case format::XmlEvent::kError:
          why = tokenizer_.error().error().text;
          return nullptr;
        case format::XmlEvent::kEnd:
          return root;
        case format::XmlEvent::kStartTag: {
          Element* e = open(why);
          if (!e) return nullptr;
          if (!root) root = e;
          break;
        }
        case format::XmlEvent::kEndTag:
          scopes_.leave();
          open_.pop_back();
          break;
        case format::XmlEvent::kText:
        case format::XmlEvent::kCData:
          if (!open_.empty()) open_.back()->text += tokenizer_.text();
          break;
        default:
          break;
      }
    }
  }

 private:
  Element* open(std::string& why) {
    if (elements_.size() == kElementsMax) {
      why = "it has too many elements";
      return nullptr;
    }
    elements_.push_back(std::make_unique<Element>());
    Element* e = elements_.back().get();
    scopes_.enter({tokenizer_.attributes().begin(), tokenizer_.attributes().size()});
    bool is_bound = resolve(tokenizer_.name(), true, e->name);
    for (const format::XmlAttribute& a : tokenizer_.attributes()) {
      if (format::is_xml_declaration(a.name)) continue;
      ElementAttribute& attribute = e->attributes.emplace_back();
      attribute.value = a.value;
      is_bound = is_bound && resolve(a.name, false, attribute.name);
    }
    if (!is_bound) {
      why = "a prefix of the element " + std::string(tokenizer_.name()) + " is not declared";
      return nullptr;
    }
    if (!open_.empty()) open_.back()->children.push_back(e);
    open_.push_back(e);
    return e;
  }

  // False: the prefix is not declared.
  bool resolve(std::string_view name, bool is_element, ElementName& out) const {
    const format::XmlNameParts parts = format::split_xml_name(name);
    out.local = parts.local;
    if (parts.prefix.empty() && !is_element) return true;
    const std::optional<std::string_view> uri = scopes_.resolve(parts.prefix);
    out.uri = uri.value_or(std::string_view());
    return uri.has_value();
  }

  base::Arena arena_;
  format::XmlTokenizer tokenizer_;
  std::vector<std::unique_ptr<Element>> elements_;
  std::vector<Element*> open_;
  format::XmlScopes scopes_;
};

uint32_t types_in_xml(const Schema* schema) {
  if (!schema) return 0;
  const uint32_t types = possible_types(*schema);
  if (types != 0) return types;
  if (find_items(*schema)) return kTypeArray;
  std::vector<std::string> names;
  collect_property_names(*schema, names);
  return names.empty() ? 0 : kTypeObject;
}

bool is_blank(std::string_view s) { return format::is_all_xml_space(s); }

class XmlToJson {
 public:
  explicit XmlToJson(ReadBody& out) : out_(out) {}

  void read_root(const Element& root, const Schema& schema) {
    const XmlHints& hints = xml_hints(schema);
    if (!hints.name.empty() && root.name.local != hints.name) {
      return complain(
          "", "must have the root element " + hints.name + ", not " + std::string(root.name.local),
          schema);
    }
    check_namespace(root.name, hints, "", schema);
    out_.value = value_of(root, &schema, "");
  }

 private:
  using Place = const std::string&;

  // A property as XML shows it.
  struct Shape {
    const SchemaProperty* property;
    XmlHints hints;
    bool is_list = false;
    const Schema* item = nullptr;
  };
  struct Shapes {
    std::vector<Shape> all;
    bool is_closed = false;
  };

  void complain(Place place, std::string text, const Schema& source) {
    if (out_.problems.size() >= ValidationOptions::kProblemsMax) return;
    out_.problems.push_back({place, std::move(text), source.place});
  }

  void check_namespace(const ElementName& name, const XmlHints& hints, Place place,
                       const Schema& source) {
    if (hints.namespace_uri.empty() || name.uri == hints.namespace_uri) return;
    complain(place, "must be in the namespace " + hints.namespace_uri, source);
  }

  json::Value value_of(const Element& e, const Schema* schema, Place place) {
    if (is_nil(e)) return {};
    const uint32_t types = types_in_xml(schema);
    const bool has_parts = !e.children.empty();
    if ((types & kTypeArray) != 0) return wrapped_list(e, *schema, place);
    if ((types & kTypeObject) != 0 && (has_parts || (types & kTypeString) == 0)) {
      return object_of(e, *schema, place);
    }
    if (has_parts && types == 0) return open_object(e, place);
    if (has_parts && schema) {
      complain(place, "must have text only, no elements", *schema);
      return {};
    }
    return scalar_of(e.text, schema);
  }

  static bool is_nil(const Element& e) {
    for (const ElementAttribute& a : e.attributes) {
      if (a.name.uri == kXsiNamespace && a.name.local == "nil") {
        return a.value == "true" || a.value == "1";
      }
    }
    return false;
  }

  // White space around what is no string does not count.
  static json::Value scalar_of(std::string_view text, const Schema* schema) {
    json::Value typed = typed_value(base::trim_white_space(text), schema);
    return typed.is_string() ? json::Value(text) : typed;
  }

  // Without a schema: text, or the elements as members.
  json::Value open_object(const Element& e, Place place) {
    json::Value out = json::Value::object();
    for (const Element* child : e.children) {
      const std::string name(child->name.local);
      json::Value value = value_of(*child, nullptr, place);
      json::Value* before = out.find(name);
      if (!before) {
        out.append_new_member(name, std::move(value));
      } else if (before->is_array()) {
        before->push_back(std::move(value));
      } else {
        json::Value list = json::Value::array();
        list.push_back(std::move(*before));
        list.push_back(std::move(value));
        *before = std::move(list);
      }
    }
    return out;
  }

  json::Value wrapped_list(const Element& e, const Schema& schema, Place place) {
    json::Value out = json::Value::array();
    const Schema* item = find_items(schema);
    const std::string name = item ? xml_hints(*item).name : std::string();
    if (!is_blank(e.text)) complain(place, "must have elements only, no text", schema);
    for (const Element* child : e.children) {
      const std::string at = place + "/" + std::to_string(out.items().size());
      // A schema that is used in several places may call itself something else than the list does.
      const bool is_named = name.empty() || child->name.local == name || schema.has_item_reference;
      if (!is_named) {
        complain(at, "must be an element " + name + ", not " + std::string(child->name.local),
                 schema);
        break;
      }
      if (item) check_namespace(child->name, xml_hints(*item), at, *item);
      out.push_back(value_of(*child, item, at));
    }
    return out;
  }

  json::Value object_of(const Element& e, const Schema& schema, Place place) {
    const Shapes& shapes = shapes_of(schema);
    json::Value out = json::Value::object();
    for (const ElementAttribute& a : e.attributes) take_attribute(a, shapes, schema, place, out);
    for (const Element* child : e.children) take_element(*child, shapes, schema, place, out);
    if (!is_blank(e.text)) complain(place, "must have elements only, no text", schema);
    return out;
  }

  const Shapes& shapes_of(const Schema& schema) {
    auto [it, is_new] = shapes_.try_emplace(&schema);
    if (!is_new) return it->second;
    Shapes& out = it->second;
    out.is_closed = has_closed_properties(schema);
    std::vector<const SchemaProperty*> properties;
    collect_properties(schema, properties);
    for (const SchemaProperty* p : properties) {
      Shape shape{p, xml_hints(*p->schema)};
      shape.is_list = (types_in_xml(p->schema) & kTypeArray) != 0;
      if (shape.is_list) shape.item = find_items(*p->schema);
      out.all.push_back(std::move(shape));
    }
    return out;
  }

  void take_attribute(const ElementAttribute& a, const Shapes& shapes, const Schema& schema,
                      Place place, json::Value& out) {
    if (a.name.uri == kXsiNamespace || a.name.uri == format::kXmlNamespaceUri) return;
    for (const Shape& s : shapes.all) {
      const std::string& name = s.hints.name.empty() ? s.property->name : s.hints.name;
      if (!s.hints.is_attribute || a.name.local != name) continue;
      check_namespace(a.name, s.hints, pointer_step(place, s.property->name), *s.property->schema);
      out.set(s.property->name, scalar_of(a.value, s.property->schema));
      return;
    }
    if (shapes.is_closed) {
      complain(pointer_step(place, "@" + std::string(a.name.local)),
               "is not an attribute that the schema knows", schema);
    }
  }

  // Whether an element of this name is the property: itself, one item of it, or all items wrapped.
  static bool is_shaped(const Shape& s, std::string_view local) {
    if (s.hints.is_attribute) return false;
    const std::string& own = s.property->name;
    if (!s.is_list || s.hints.is_wrapped) {
      if (s.hints.name.empty()) return local == own;
      return local == s.hints.name || (s.property->is_reference && local == own);
    }
    const std::string& name = s.item ? xml_hints(*s.item).name : s.hints.name;
    if (name.empty()) return local == own;
    return local == name || (s.property->schema->has_item_reference && local == own);
  }

  void take_element(const Element& child, const Shapes& shapes, const Schema& schema, Place place,
                    json::Value& out) {
    for (const Shape& s : shapes.all) {
      if (!is_shaped(s, child.name.local)) continue;
      return take_property(child, s, pointer_step(place, s.property->name), out);
    }
    const std::string name(child.name.local);
    const std::string at = pointer_step(place, name);
    if (shapes.is_closed) {
      return complain(at, "is not an element that the schema knows", schema);
    }
    // One that has the name of a property which looks otherwise in XML is none of its.
    const bool is_taken = out.find(name) || schema.find_property(name) ||
                          std::any_of(shapes.all.begin(), shapes.all.end(),
                                      [&](const Shape& s) { return s.property->name == name; });
    if (is_taken) return;
    const Schema* additional = find_property(schema, name);
    out.append_new_member(name, value_of(child, additional, at));
  }

  void take_property(const Element& child, const Shape& s, Place place, json::Value& out) {
    const Schema& schema = *s.property->schema;
    json::Value* before = out.find(s.property->name);
    if (s.is_list && !s.hints.is_wrapped) {
      const std::string at =
          place + "/" + std::to_string(before ? before->items().size() : size_t{0});
      if (s.item) check_namespace(child.name, xml_hints(*s.item), at, *s.item);
      json::Value value = value_of(child, s.item, at);
      if (!before) before = &out.set(s.property->name, json::Value::array());
      before->push_back(std::move(value));
      return;
    }
    check_namespace(child.name, s.hints, place, schema);
    if (before) return complain(place, "is there more than once", schema);
    out.append_new_member(s.property->name, value_of(child, &schema, place));
  }

  ReadBody& out_;
  std::unordered_map<const Schema*, Shapes> shapes_;
};

// What Content-Type says, else the byte order mark or the XML declaration.
Result<std::string_view> xml_as_utf8(std::string_view body, std::string_view charset,
                                     base::Arena& arena, std::string_view& shown) {
  shown = charset;
  if (shown.empty() && (body.starts_with("\xFE\xFF") || body.starts_with("\xFF\xFE"))) {
    shown = "UTF-16";
  }
  if (shown.empty() && body.starts_with("<?xml")) {
    const std::string_view declaration = body.substr(0, body.find("?>"));
    const size_t name = declaration.find("encoding");
    const size_t open =
        name == std::string_view::npos ? name : declaration.find_first_of("'\"", name);
    const size_t close =
        open == std::string_view::npos ? open : declaration.find(declaration[open], open + 1);
    if (close != std::string_view::npos) shown = declaration.substr(open + 1, close - open - 1);
  }
  if (shown.empty()) return body;
  const auto ccsid = text::ccsid_of_encoding(shown);
  return ccsid ? text::to_utf8(body, *ccsid, arena) : text::to_utf8(body, text::kCcsidUtf8, arena);
}

}  // namespace

ReadBody read_xml(std::string_view body, std::string_view charset, const Schema& schema,
                  uint32_t depth_max) {
  ReadBody out;
  base::Arena arena;
  std::string_view shown;
  Result<std::string_view> utf8 = xml_as_utf8(body, charset, arena, shown);
  if (!utf8.ok() || (!shown.empty() && !text::ccsid_of_encoding(shown))) {
    out.problems.push_back({"", "cannot be read as " + std::string(shown), {}});
    return out;
  }
  std::string_view text = utf8.value();
  if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
  ElementBuilder builder(text, depth_max);
  std::string why;
  const Element* root = builder.build(why);
  if (!root) {
    out.problems.push_back({"", "is not XML: " + why, {}});
    return out;
  }
  XmlToJson(out).read_root(*root, schema);
  return out;
}

}  // namespace millstream::model
