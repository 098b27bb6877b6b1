// Schema objects of a document -> Schema. A worklist instead of recursion, so that neither long
// chains of references nor recursive schemas cost stack.
#include <algorithm>

#include "model/errors_gen.h"
#include "model/schema.h"

namespace millstream::model {

class SchemaCompiler {
 public:
  SchemaCompiler(SchemaSet& set, const json::Value& source, Schema& out)
      : set_(set), source_(source), out_(out) {}

  void compile() {
    if (source_.is_bool()) {
      out_.is_never = !source_.as_bool();
      return;
    }
    if (!source_.is_object()) {
      return complain(base::make_error_at(errors::kBadApiDocument, out_.place.position(),
                                          {out_.pointer, "a schema is an object"}));
    }
    if (is_31() && source_.find("$ref")) out_.reference = add_reference();
    read_types();
    read_numbers();
    read_strings();
    read_arrays();
    read_objects();
    read_composition();
    read_discriminator();
    read_xml();
    refuse_unsupported();
  }

 private:
  bool is_31() const { return set_.dialect_ == Dialect::kOpenApi31; }
  void complain(Status status) { set_.add_problem(std::move(status)); }
  base::Position position_of(const char* keyword) const {
    base::Position position = out_.place.position();
    const json::Value* v = source_.find(keyword);
    if (v && v->line()) position.line = v->line();
    return position;
  }
  void complain_about(const char* keyword, const char* what) {
    complain(base::make_error_at(errors::kBadApiDocument, position_of(keyword),
                                 {pointer_step(out_.pointer, keyword), what}));
  }

  // $ref with siblings (3.1): the target is one schema, the siblings are another.
  const Schema* add_reference() {
    std::string pointer = out_.pointer;
    Result<const json::Value*> target = set_.references_.resolve(source_, pointer);
    if (!target.ok()) {
      complain(std::move(target).take_status());
      return nullptr;
    }
    return set_.add(*target.value(), pointer);
  }

  const Schema* child(const char* keyword) {
    const json::Value* v = source_.find(keyword);
    return v ? set_.add(*v, pointer_step(out_.pointer, keyword)) : nullptr;
  }
  void children(const char* keyword, std::vector<const Schema*>& out) {
    const json::Value* v = source_.find(keyword);
    if (!v) return;
    if (!v->is_array()) return complain_about(keyword, "it must be a list of schemas");
    const std::string pointer = pointer_step(out_.pointer, keyword);
    for (size_t i = 0; i < v->items().size(); ++i) {
      out.push_back(set_.add(v->items()[i], pointer_step(pointer, std::to_string(i))));
    }
  }

  uint32_t type_bit(const json::Value& name) {
    static constexpr struct {
      const char* name;
      uint32_t bit;
    } kTypes[] = {{"null", kTypeNull},     {"boolean", kTypeBoolean}, {"integer", kTypeInteger},
                  {"number", kTypeNumber}, {"string", kTypeString},   {"array", kTypeArray},
                  {"object", kTypeObject}, {"file", kTypeString}};
    for (const auto& t : kTypes) {
      if (name.as_string() == t.name) return t.bit;
    }
    complain_about("type", "it is no type of JSON Schema");
    return 0;
  }

  void read_types() {
    if (const json::Value* type = source_.find("type")) {
      if (type->is_array()) {
        for (const json::Value& t : type->items()) out_.types |= type_bit(t);
      } else {
        out_.types = type_bit(*type);
      }
    }
    out_.is_nullable = source_.get("nullable").as_bool() || source_.get("x-nullable").as_bool();
    out_.is_read_only = source_.get("readOnly").as_bool();
    out_.is_write_only = source_.get("writeOnly").as_bool();
    out_.enumeration = source_.find("enum");
    if (out_.enumeration && !out_.enumeration->is_array()) {
      complain_about("enum", "it must be a list");
      out_.enumeration = nullptr;
    }
    out_.constant = is_31() ? source_.find("const") : nullptr;
    out_.default_value = source_.find("default");
  }

  void read_number(const char* keyword, std::optional<json::Value>& out) {
    const json::Value* v = source_.find(keyword);
    if (!v) return;
    if (!v->is_number()) return complain_about(keyword, "it must be a number");
    out = *v;
  }
  void read_numbers() {
    read_number("minimum", out_.minimum);
    read_number("maximum", out_.maximum);
    read_number("multipleOf", out_.multiple_of);
    if (out_.multiple_of && out_.multiple_of->as_double() <= 0) {
      complain_about("multipleOf", "it must be above 0");
      out_.multiple_of.reset();
    }
    read_exclusive("exclusiveMinimum", out_.minimum, out_.exclusive_minimum);
    read_exclusive("exclusiveMaximum", out_.maximum, out_.exclusive_maximum);
  }
  // Up to 3.0 a boolean that sharpens the other bound, later a bound of its own.
  void read_exclusive(const char* keyword, std::optional<json::Value>& bound,
                      std::optional<json::Value>& out) {
    const json::Value* v = source_.find(keyword);
    if (!v) return;
    if (v->is_number()) {
      out = *v;
    } else if (v->as_bool()) {
      out = std::move(bound);
      bound.reset();
    }
  }

  void read_count(const char* keyword, std::optional<uint64_t>& out) {
    const json::Value* v = source_.find(keyword);
    if (!v) return;
    if (v->is_integer() && v->as_integer() >= 0) {
      out = static_cast<uint64_t>(v->as_integer());
    } else if (v->is_number() && v->as_double() >= 0 && v->as_double() < 1e15 &&
               v->as_double() == static_cast<double>(static_cast<uint64_t>(v->as_double()))) {
      out = static_cast<uint64_t>(v->as_double());
    } else {
      complain_about(keyword, "it must be a whole number from 0 on");
    }
  }

  std::optional<SchemaPattern> compile_pattern(const std::string& pattern) {
    std::string problem;
    std::optional<text::Regex> regex = text::Regex::compile(pattern, {}, &problem);
    if (!regex) {
      complain(base::make_error_at(errors::kBadPattern, position_of("pattern"),
                                   {out_.pointer, pattern, problem}));
      return std::nullopt;
    }
    return SchemaPattern{*std::move(regex), pattern};
  }
  void read_strings() {
    read_count("minLength", out_.min_length);
    read_count("maxLength", out_.max_length);
    if (const json::Value* p = source_.find("pattern"); p && p->is_string()) {
      out_.pattern = compile_pattern(p->as_string());
    }
    out_.format_name = source_.get("format").as_string();
    out_.format = find_format(out_.format_name);
    out_.is_binary = out_.format_name == "binary" || source_.get("type").as_string() == "file" ||
                     source_.find("contentMediaType") != nullptr;
  }

  void read_arrays() {
    read_count("minItems", out_.min_items);
    read_count("maxItems", out_.max_items);
    out_.must_be_unique = source_.get("uniqueItems").as_bool();
    const json::Value* items = source_.find("items");
    if (is_31()) {
      children("prefixItems", out_.prefix_items);
      out_.has_closed_items = items && items->is_bool() && !items->as_bool();
      out_.contains = child("contains");
      read_count("minContains", out_.min_contains);
      read_count("maxContains", out_.max_contains);
    }
    if (items && items->is_array()) {
      complain(base::make_error_at(errors::kUnsupportedKeyword, position_of("items"),
                                   {out_.pointer, "items as a list"}));
    } else {
      out_.items = child("items");
      out_.has_item_reference = items && items->find("$ref") != nullptr;
    }
  }

  void read_objects() {
    read_count("minProperties", out_.min_properties);
    read_count("maxProperties", out_.max_properties);
    if (const json::Value* properties = source_.find("properties")) {
      const std::string pointer = pointer_step(out_.pointer, "properties");
      for (const json::Member& m : properties->members()) {
        out_.properties.push_back({m.name, set_.add(m.value, pointer_step(pointer, m.name)),
                                   m.value.find("$ref") != nullptr});
      }
    }
    if (const json::Value* additional = source_.find("additionalProperties")) {
      out_.has_closed_properties = additional->is_bool() && !additional->as_bool();
      if (additional->is_object()) out_.additional_properties = child("additionalProperties");
    }
    if (const json::Value* required = source_.find("required")) {
      for (const json::Value& name : required->items()) out_.required.push_back(name.as_string());
    }
    if (!is_31()) return;
    if (const json::Value* patterns = source_.find("patternProperties")) {
      const std::string pointer = pointer_step(out_.pointer, "patternProperties");
      for (const json::Member& m : patterns->members()) {
        std::optional<SchemaPattern> pattern = compile_pattern(m.name);
        if (!pattern) continue;
        out_.pattern_properties.push_back(
            {*std::move(pattern), set_.add(m.value, pointer_step(pointer, m.name))});
      }
    }
    out_.property_names = child("propertyNames");
    read_dependencies();
  }

  void read_dependencies() {
    if (const json::Value* all = source_.find("dependentRequired")) {
      for (const json::Member& m : all->members()) {
        SchemaDependency d{m.name, {}, nullptr};
        for (const json::Value& name : m.value.items()) d.required.push_back(name.as_string());
        out_.dependencies.push_back(std::move(d));
      }
    }
    if (const json::Value* all = source_.find("dependentSchemas")) {
      const std::string pointer = pointer_step(out_.pointer, "dependentSchemas");
      for (const json::Member& m : all->members()) {
        out_.dependencies.push_back({m.name, {}, set_.add(m.value, pointer_step(pointer, m.name))});
      }
    }
  }

  void read_composition() {
    children("allOf", out_.all_of);
    children("anyOf", out_.any_of);
    children("oneOf", out_.one_of);
    out_.not_schema = child("not");
    if (!is_31()) return;
    out_.if_schema = child("if");
    out_.then_schema = child("then");
    out_.else_schema = child("else");
  }

  // A mapping names a schema of the document, or is a reference.
  const json::Value* mapped_schema(const json::Value& meant) {
    const std::string name = "#/components/schemas/" + meant.as_string();
    const std::pair<const std::string&, const std::string> tries[] = {
        {name, out_.pointer}, {name, "#"}, {meant.as_string(), out_.pointer}};
    for (const auto& [text, from] : tries) {
      json::Value reference = json::Value::object();
      reference.set("$ref", text);
      std::string pointer = from;
      Result<const json::Value*> target = set_.references_.resolve(reference, pointer);
      if (target.ok()) return target.value();
    }
    return nullptr;
  }

  // Chooses among the schemas of oneOf or anyOf. In Swagger 2.0 it only names the property.
  void read_discriminator() {
    const json::Value* d = source_.find("discriminator");
    if (!d || !d->is_object() || (out_.one_of.empty() && out_.any_of.empty())) return;
    Discriminator discriminator;
    discriminator.property = d->get("propertyName").as_string();
    for (const char* keyword : {"oneOf", "anyOf"}) {
      const json::Value* list = source_.find(keyword);
      if (!list) continue;
      for (const json::Value& branch : list->items()) {
        const std::string& reference = branch.get("$ref").as_string();
        if (reference.empty()) continue;
        std::string pointer = out_.pointer;
        Result<const json::Value*> target = set_.references_.resolve(branch, pointer);
        if (!target.ok()) continue;  // reported where the branch is compiled
        const Schema* schema = set_.add(*target.value(), pointer);
        if (reference.find('#') != std::string::npos) {
          discriminator.schemas.push_back({reference.substr(reference.rfind('/') + 1), schema});
        }
        for (const json::Member& m : d->get("mapping").members()) {
          if (mapped_schema(m.value) == target.value()) {
            discriminator.schemas.push_back({m.name, schema});
          }
        }
      }
    }
    if (!discriminator.property.empty()) out_.discriminator = std::move(discriminator);
  }

  void read_xml() {
    const json::Value* v = source_.find("xml");
    if (!v || !v->is_object()) return;
    XmlHints& hints = out_.xml.emplace();
    hints.name = v->get("name").as_string();
    // Some write the prefix into the name.
    if (const size_t colon = hints.name.find(':'); colon != std::string::npos) {
      hints.name.erase(0, colon + 1);
    }
    hints.namespace_uri = v->get("namespace").as_string();
    hints.is_attribute = v->get("attribute").as_bool();
    hints.is_wrapped = v->get("wrapped").as_bool();
  }

  void refuse_unsupported() {
    static constexpr const char* kRefused[] = {"unevaluatedProperties", "unevaluatedItems",
                                               "$dynamicRef", "$recursiveRef"};
    if (!is_31()) return;
    for (const char* keyword : kRefused) {
      const json::Value* v = source_.find(keyword);
      if (v && !(v->is_bool() && v->as_bool())) {
        complain(base::make_error_at(errors::kUnsupportedKeyword, position_of(keyword),
                                     {out_.pointer, keyword}));
      }
    }
  }

  SchemaSet& set_;
  const json::Value& source_;
  Schema& out_;
};

const Schema* SchemaSet::add(const json::Value& v, std::string pointer) {
  const json::Value* source = &v;
  const bool has_siblings = dialect_ == Dialect::kOpenApi31 && v.members().size() > 1;
  if (!has_siblings) {
    Result<const json::Value*> target = references_.resolve(v, pointer);
    if (target.ok()) {
      source = target.value();
    } else {
      add_problem(std::move(target).take_status());
      static const json::Value kAnything(true);
      source = &kAnything;
    }
  }
  auto [it, is_new] = by_source_.try_emplace(source, nullptr);
  if (!is_new) return it->second;
  all_.push_back(std::make_unique<Schema>());
  Schema* schema = all_.back().get();
  schema->place = references_.place_of(*source, pointer);
  schema->pointer = std::move(pointer);
  it->second = schema;
  if (all_.size() <= kSchemasMax) {
    pending_.push_back({source, schema});
  } else if (all_.size() == kSchemasMax + 1) {
    add_problem(base::make_error(errors::kApiDocumentTooLarge, {kSchemasMax, "schemas"}));
  }
  return schema;
}

void SchemaSet::finish() {
  while (!pending_.empty()) {
    const Pending next = pending_.back();
    pending_.pop_back();
    SchemaCompiler(*this, *next.source, *next.schema).compile();
  }
}

}  // namespace millstream::model
