#include "model/schema.h"

#include <algorithm>

namespace millstream::model {
namespace {

constexpr int kComposedDepthMax = 8;

}  // namespace

const Schema* Schema::find_property(std::string_view name) const {
  for (const SchemaProperty& p : properties) {
    if (p.name == name) return p.schema;
  }
  return nullptr;
}

namespace {

// Calls `visit` for the schema and what it is composed of, until it returns true.
template <typename Visit>
bool visit_composed(const Schema& schema, int depth, const Visit& visit) {
  if (visit(schema)) return true;
  if (depth >= kComposedDepthMax) return false;
  if (schema.reference && visit_composed(*schema.reference, depth + 1, visit)) return true;
  for (const auto* list : {&schema.all_of, &schema.any_of, &schema.one_of}) {
    for (const Schema* s : *list) {
      if (visit_composed(*s, depth + 1, visit)) return true;
    }
  }
  return false;
}

uint32_t types_of(const Schema& schema, int depth) {
  uint32_t types = schema.types;
  if (schema.is_nullable && types) types |= kTypeNull;
  if (depth >= kComposedDepthMax) return types;
  auto narrow = [&types](uint32_t other) {
    if (other) types = types && (types & other) ? types & other : (types ? types : other);
  };
  if (schema.reference) narrow(types_of(*schema.reference, depth + 1));
  for (const Schema* s : schema.all_of) narrow(types_of(*s, depth + 1));
  for (const auto* list : {&schema.any_of, &schema.one_of}) {
    if (list->empty()) continue;
    uint32_t any = 0;
    bool is_open = false;
    for (const Schema* s : *list) {
      const uint32_t one = types_of(*s, depth + 1);
      is_open |= one == 0;
      any |= one;
    }
    if (!is_open) narrow(any);
  }
  return types;
}

}  // namespace

uint32_t possible_types(const Schema& schema) { return types_of(schema, 0); }

const Schema* find_items(const Schema& schema) {
  const Schema* found = nullptr;
  visit_composed(schema, 0, [&](const Schema& s) { return (found = s.items) != nullptr; });
  return found;
}

const Schema* find_property(const Schema& schema, std::string_view name) {
  const Schema* found = nullptr;
  visit_composed(schema, 0,
                 [&](const Schema& s) { return (found = s.find_property(name)) != nullptr; });
  if (found) return found;
  visit_composed(schema, 0,
                 [&](const Schema& s) { return (found = s.additional_properties) != nullptr; });
  return found;
}

void collect_property_names(const Schema& schema, std::vector<std::string>& out) {
  visit_composed(schema, 0, [&](const Schema& s) {
    for (const SchemaProperty& p : s.properties) {
      if (std::find(out.begin(), out.end(), p.name) == out.end()) out.push_back(p.name);
    }
    return false;
  });
}

void collect_properties(const Schema& schema, std::vector<const SchemaProperty*>& out) {
  visit_composed(schema, 0, [&](const Schema& s) {
    for (const SchemaProperty& p : s.properties) {
      if (std::none_of(out.begin(), out.end(), [&](const auto* o) { return o->name == p.name; })) {
        out.push_back(&p);
      }
    }
    return false;
  });
}

bool has_closed_properties(const Schema& schema) {
  return visit_composed(schema, 0, [](const Schema& s) { return s.has_closed_properties; });
}

const XmlHints& xml_hints(const Schema& schema) {
  static const XmlHints kNone;
  const Schema* s = &schema;
  for (int i = 0; i < kComposedDepthMax; ++i) {
    if (s->xml) return *s->xml;
    if (s->reference) {
      s = s->reference;
    } else if (s->all_of.size() == 1 && s->properties.empty()) {
      s = s->all_of[0];
    } else {
      break;
    }
  }
  return kNone;
}

void SchemaSet::add_problem(Status status) {
  std::unique_ptr<base::Error> error = status.take_error();
  if (problems_.size() >= kProblemsMax) return;
  const bool is_known = std::any_of(problems_.begin(), problems_.end(), [&](const auto& p) {
    return p->text == error->text && p->position.line == error->position.line;
  });
  if (!is_known) problems_.push_back(std::move(error));
}

}  // namespace millstream::model
