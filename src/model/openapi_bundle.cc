// Several files made into one document. The walk knows which objects stand where, so that a $ref in
// an example or a property of that name is left alone, and each target goes into the right section.
#include <map>
#include <set>

#include "model/errors_gen.h"
#include "model/openapi.h"

namespace millstream::model {
namespace {

enum class BundlePart : uint8_t {
  kNone,
  kRoot,
  kComponents,
  kPathItem,
  kOperation,
  kParameter,
  kBody,
  kReply,
  kHeader,
  kMediaType,
  kEncoding,
  kSchema,
  kExample,
  kLink,
  kCallback,
  kSecurityScheme,
};
enum class BundleForm : uint8_t { kOne, kList, kMap };

struct BundleRule {
  BundlePart owner;
  const char* member;  // null: every one
  BundlePart part;
  BundleForm form;
};

constexpr BundleRule kRules[] = {
    {BundlePart::kRoot, "paths", BundlePart::kPathItem, BundleForm::kMap},
    {BundlePart::kRoot, "webhooks", BundlePart::kPathItem, BundleForm::kMap},
    {BundlePart::kRoot, "components", BundlePart::kComponents, BundleForm::kOne},
    {BundlePart::kRoot, "definitions", BundlePart::kSchema, BundleForm::kMap},
    {BundlePart::kRoot, "parameters", BundlePart::kParameter, BundleForm::kMap},
    {BundlePart::kRoot, "responses", BundlePart::kReply, BundleForm::kMap},
    {BundlePart::kRoot, "securityDefinitions", BundlePart::kSecurityScheme, BundleForm::kMap},
    {BundlePart::kComponents, "schemas", BundlePart::kSchema, BundleForm::kMap},
    {BundlePart::kComponents, "responses", BundlePart::kReply, BundleForm::kMap},
    {BundlePart::kComponents, "parameters", BundlePart::kParameter, BundleForm::kMap},
    {BundlePart::kComponents, "examples", BundlePart::kExample, BundleForm::kMap},
    {BundlePart::kComponents, "requestBodies", BundlePart::kBody, BundleForm::kMap},
    {BundlePart::kComponents, "headers", BundlePart::kHeader, BundleForm::kMap},
    {BundlePart::kComponents, "securitySchemes", BundlePart::kSecurityScheme, BundleForm::kMap},
    {BundlePart::kComponents, "links", BundlePart::kLink, BundleForm::kMap},
    {BundlePart::kComponents, "callbacks", BundlePart::kCallback, BundleForm::kMap},
    {BundlePart::kComponents, "pathItems", BundlePart::kPathItem, BundleForm::kMap},
    {BundlePart::kPathItem, "parameters", BundlePart::kParameter, BundleForm::kList},
    {BundlePart::kPathItem, "get", BundlePart::kOperation, BundleForm::kOne},
    {BundlePart::kPathItem, "put", BundlePart::kOperation, BundleForm::kOne},
    {BundlePart::kPathItem, "post", BundlePart::kOperation, BundleForm::kOne},
    {BundlePart::kPathItem, "delete", BundlePart::kOperation, BundleForm::kOne},
    {BundlePart::kPathItem, "patch", BundlePart::kOperation, BundleForm::kOne},
    {BundlePart::kPathItem, "head", BundlePart::kOperation, BundleForm::kOne},
    {BundlePart::kPathItem, "options", BundlePart::kOperation, BundleForm::kOne},
    {BundlePart::kPathItem, "trace", BundlePart::kOperation, BundleForm::kOne},
    {BundlePart::kOperation, "parameters", BundlePart::kParameter, BundleForm::kList},
    {BundlePart::kOperation, "requestBody", BundlePart::kBody, BundleForm::kOne},
    {BundlePart::kOperation, "responses", BundlePart::kReply, BundleForm::kMap},
    {BundlePart::kOperation, "callbacks", BundlePart::kCallback, BundleForm::kMap},
    {BundlePart::kCallback, nullptr, BundlePart::kPathItem, BundleForm::kOne},
    {BundlePart::kParameter, "schema", BundlePart::kSchema, BundleForm::kOne},
    {BundlePart::kParameter, "items", BundlePart::kSchema, BundleForm::kOne},
    {BundlePart::kParameter, "content", BundlePart::kMediaType, BundleForm::kMap},
    {BundlePart::kParameter, "examples", BundlePart::kExample, BundleForm::kMap},
    {BundlePart::kHeader, "schema", BundlePart::kSchema, BundleForm::kOne},
    {BundlePart::kHeader, "items", BundlePart::kSchema, BundleForm::kOne},
    {BundlePart::kHeader, "content", BundlePart::kMediaType, BundleForm::kMap},
    {BundlePart::kHeader, "examples", BundlePart::kExample, BundleForm::kMap},
    {BundlePart::kBody, "content", BundlePart::kMediaType, BundleForm::kMap},
    {BundlePart::kReply, "headers", BundlePart::kHeader, BundleForm::kMap},
    {BundlePart::kReply, "content", BundlePart::kMediaType, BundleForm::kMap},
    {BundlePart::kReply, "links", BundlePart::kLink, BundleForm::kMap},
    {BundlePart::kReply, "schema", BundlePart::kSchema, BundleForm::kOne},
    {BundlePart::kMediaType, "schema", BundlePart::kSchema, BundleForm::kOne},
    {BundlePart::kMediaType, "examples", BundlePart::kExample, BundleForm::kMap},
    {BundlePart::kMediaType, "encoding", BundlePart::kEncoding, BundleForm::kMap},
    {BundlePart::kEncoding, "headers", BundlePart::kHeader, BundleForm::kMap},
    {BundlePart::kSchema, "properties", BundlePart::kSchema, BundleForm::kMap},
    {BundlePart::kSchema, "patternProperties", BundlePart::kSchema, BundleForm::kMap},
    {BundlePart::kSchema, "dependentSchemas", BundlePart::kSchema, BundleForm::kMap},
    {BundlePart::kSchema, "$defs", BundlePart::kSchema, BundleForm::kMap},
    {BundlePart::kSchema, "definitions", BundlePart::kSchema, BundleForm::kMap},
    {BundlePart::kSchema, "allOf", BundlePart::kSchema, BundleForm::kList},
    {BundlePart::kSchema, "anyOf", BundlePart::kSchema, BundleForm::kList},
    {BundlePart::kSchema, "oneOf", BundlePart::kSchema, BundleForm::kList},
    {BundlePart::kSchema, "prefixItems", BundlePart::kSchema, BundleForm::kList},
    {BundlePart::kSchema, "items", BundlePart::kSchema, BundleForm::kOne},
    {BundlePart::kSchema, "additionalProperties", BundlePart::kSchema, BundleForm::kOne},
    {BundlePart::kSchema, "not", BundlePart::kSchema, BundleForm::kOne},
    {BundlePart::kSchema, "if", BundlePart::kSchema, BundleForm::kOne},
    {BundlePart::kSchema, "then", BundlePart::kSchema, BundleForm::kOne},
    {BundlePart::kSchema, "else", BundlePart::kSchema, BundleForm::kOne},
    {BundlePart::kSchema, "contains", BundlePart::kSchema, BundleForm::kOne},
    {BundlePart::kSchema, "propertyNames", BundlePart::kSchema, BundleForm::kOne},
    {BundlePart::kSchema, "unevaluatedItems", BundlePart::kSchema, BundleForm::kOne},
    {BundlePart::kSchema, "unevaluatedProperties", BundlePart::kSchema, BundleForm::kOne},
};

const BundleRule* find_rule(BundlePart owner, const std::string& member) {
  for (const BundleRule& rule : kRules) {
    if (rule.owner == owner && (!rule.member || member == rule.member)) return &rule;
  }
  return nullptr;
}

// Where targets of a kind are kept; null: they are copied to where they are used.
const char* section_of(BundlePart part, bool is_2) {
  switch (part) {
    case BundlePart::kSchema:
      return is_2 ? "definitions" : "schemas";
    case BundlePart::kParameter:
      return "parameters";
    case BundlePart::kReply:
      return "responses";
    case BundlePart::kBody:
      return is_2 ? nullptr : "requestBodies";
    case BundlePart::kHeader:
      return is_2 ? nullptr : "headers";
    case BundlePart::kExample:
      return is_2 ? nullptr : "examples";
    case BundlePart::kLink:
      return is_2 ? nullptr : "links";
    case BundlePart::kCallback:
      return is_2 ? nullptr : "callbacks";
    case BundlePart::kSecurityScheme:
      return is_2 ? nullptr : "securitySchemes";
    default:
      return nullptr;
  }
}

class Bundler {
 public:
  Bundler(References& references, Dialect dialect,
          std::vector<std::unique_ptr<base::Error>>& warnings)
      : references_(references), is_2_(dialect == Dialect::kSwagger2), warnings_(warnings) {}

  Result<json::Value> run() {
    json::Value out = copy(references_.root(), BundlePart::kRoot, "#", 0);
    json::Value* sections = &out;
    for (size_t i = 0; i < targets_.size() && !is_too_large_; ++i) {
      const Target target = targets_[i];
      json::Value value = copy(*target.value, target.part, target.pointer, 0);
      if (!is_2_) sections = out.find("components");
      if (!sections) sections = &out.set("components", json::Value::object());
      json::Value* section = sections->find(target.section);
      if (!section) section = &sections->set(target.section, json::Value::object());
      section->append_new_member(target.name, std::move(value));
    }
    if (is_too_large_) {
      return base::make_error_at(errors::kApiDocumentTooLarge, {references_.files()[0]->name, 0, 0},
                                 {kBundleValuesMax, "values together with the files it refers to"});
    }
    return out;
  }

 private:
  static constexpr int kDepthMax = 500;
  struct Target {
    const json::Value* value;
    BundlePart part;
    std::string pointer;
    const char* section;
    std::string name;
  };

  json::Value copy(const json::Value& v, BundlePart part, const std::string& pointer, int depth) {
    if (++values_ > kBundleValuesMax || depth > kDepthMax) is_too_large_ = true;
    if (is_too_large_) return {};
    if (part == BundlePart::kNone || !v.is_object()) return plain_copy(v);
    const json::Value* reference = v.find("$ref");
    const bool refers = reference && reference->is_string() && part != BundlePart::kRoot;
    if (refers && !section_of(part, is_2_) && leads_elsewhere(*reference, pointer)) {
      return inlined(v, *reference, part, pointer, depth);
    }
    json::Value out = json::Value::object();
    for (const json::Member& m : v.members()) {
      if (refers && &m.value == reference) {
        out.append_new_member(m.name, moved_reference(*reference, part, pointer));
      } else if (part == BundlePart::kSchema && m.name == "discriminator") {
        out.append_new_member(m.name, copy_discriminator(m.value, pointer));
      } else {
        out.append_new_member(m.name, copy_member(m, part, pointer, depth));
      }
    }
    return out;
  }

  json::Value plain_copy(const json::Value& v) {
    count(v, 0);
    return is_too_large_ ? json::Value() : v;
  }
  void count(const json::Value& v, int depth) {
    values_ += v.size();
    if (values_ > kBundleValuesMax || depth > kDepthMax) is_too_large_ = true;
    if (is_too_large_) return;
    for (const json::Value& item : v.items()) count(item, depth + 1);
    for (const json::Member& m : v.members()) count(m.value, depth + 1);
  }

  json::Value copy_member(const json::Member& m, BundlePart owner, const std::string& pointer,
                          int depth) {
    const BundleRule* rule = find_rule(owner, m.name);
    if (!rule) return plain_copy(m.value);
    if (rule->form == BundleForm::kOne && !m.value.is_array()) {
      return copy(m.value, rule->part, pointer, depth + 1);
    }
    if (m.value.is_array()) {
      json::Value out = json::Value::array();
      for (const json::Value& item : m.value.items()) {
        out.push_back(copy(item, rule->part, pointer, depth + 2));
      }
      return out;
    }
    if (!m.value.is_object()) return plain_copy(m.value);
    json::Value out = json::Value::object();
    for (const json::Member& entry : m.value.members()) {
      out.append_new_member(entry.name, copy(entry.value, rule->part, pointer, depth + 2));
    }
    return out;
  }

  static bool is_of_document(const std::string& pointer) { return pointer.starts_with('#'); }
  static bool leads_elsewhere(const json::Value& reference, const std::string& pointer) {
    return !is_of_document(pointer) || !reference.as_string().starts_with('#');
  }

  // Null, with a warning, when it cannot be followed.
  const json::Value* follow(const json::Value& reference, std::string& pointer) {
    Result<const json::Value*> target = references_.step(reference, pointer);
    if (target.ok()) return target.value();
    constexpr size_t kWarningsMax = 100;
    if (warnings_.size() < kWarningsMax && warned_.insert(&reference).second) {
      warnings_.push_back(target.take_error());
    }
    return nullptr;
  }

  json::Value moved_reference(const json::Value& reference, BundlePart part,
                              const std::string& from) {
    if (!leads_elsewhere(reference, from)) return reference;
    std::string pointer = from;
    const json::Value* target = follow(reference, pointer);
    if (!target) return reference;
    if (is_of_document(pointer)) return json::Value(pointer);
    const char* section = section_of(part, is_2_);
    if (!section) return reference;
    const std::string place = is_2_ ? "#" : "#/components";
    auto [known, is_new] = names_.try_emplace({target, part}, "");
    if (is_new) {
      known->second = new_name(section, pointer);
      targets_.push_back({target, part, pointer, section, known->second});
    }
    return json::Value(pointer_step(pointer_step(place, section), known->second));
  }

  // The last step of the pointer, or the name of the file; with a number where that is taken.
  std::string new_name(const char* section, const std::string& pointer) {
    const size_t hash = pointer.find('#');
    std::string stem = pointer.substr(pointer.rfind('/') + 1);
    if (hash + 1 == pointer.size()) {
      stem = pointer.substr(0, hash);
      stem = stem.substr(stem.rfind('/') + 1);
      stem = stem.substr(0, stem.rfind('.'));
    }
    for (char& c : stem) {
      const bool is_allowed = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
                              (c >= 'a' && c <= 'z') || c == '.' || c == '-' || c == '_';
      if (!is_allowed) c = '_';
    }
    if (stem.empty()) stem = "part";
    const json::Value& root = references_.root();
    const json::Value& own = is_2_ ? root.get(section) : root.get("components").get(section);
    std::string name = stem;
    for (int i = 2; own.find(name) || !taken_.insert(section + ("/" + name)).second; ++i) {
      name = stem + "_" + std::to_string(i);
    }
    return name;
  }

  // A path item is copied; what stands beside the reference wins.
  json::Value inlined(const json::Value& v, const json::Value& reference, BundlePart part,
                      const std::string& from, int depth) {
    std::string pointer = from;
    const json::Value* target = follow(reference, pointer);
    if (!target || is_of_document(pointer)) {
      json::Value out = v;
      if (target) out.set("$ref", json::Value(pointer));
      return out;
    }
    json::Value out = copy(*target, part, pointer, depth + 1);
    for (const json::Member& m : v.members()) {
      if (&m.value != &reference) out.set(m.name, copy_member(m, part, from, depth));
    }
    return out;
  }

  json::Value copy_discriminator(const json::Value& v, const std::string& pointer) {
    const json::Value* mapping = v.find("mapping");
    if (!mapping || !mapping->is_object()) return plain_copy(v);
    json::Value moved = json::Value::object();
    for (const json::Member& m : mapping->members()) {
      moved.append_new_member(m.name, moved_mapping(m.value, pointer));
    }
    json::Value out = v;
    out.set("mapping", std::move(moved));
    return out;
  }
  json::Value moved_mapping(const json::Value& v, const std::string& pointer) {
    const std::string& text = v.as_string();
    if (text.find_first_of("#/") != std::string::npos || text.find('.') != std::string::npos) {
      return moved_reference(v, BundlePart::kSchema, pointer);
    }
    if (is_of_document(pointer)) return v;
    json::Value reference("#/components/schemas/" + text);
    std::string at = pointer;
    if (!references_.step(reference, at).ok()) return v;
    return moved_reference(reference, BundlePart::kSchema, pointer);
  }

  References& references_;
  const bool is_2_;
  std::vector<std::unique_ptr<base::Error>>& warnings_;
  std::vector<Target> targets_;
  std::map<std::pair<const json::Value*, BundlePart>, std::string> names_;
  std::set<std::string> taken_;
  std::set<const json::Value*> warned_;
  size_t values_ = 0;
  bool is_too_large_ = false;
};

}  // namespace

Result<json::Value> bundle_document(References& references, Dialect dialect,
                                    std::vector<std::unique_ptr<base::Error>>& warnings) {
  return Bundler(references, dialect, warnings).run();
}

}  // namespace millstream::model
