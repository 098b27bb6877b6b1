#include "model/schema.h"

#include <algorithm>

#include "base/ascii.h"
#include "model/errors_gen.h"

namespace millstream::model {
namespace {

constexpr int kComposedDepthMax = 8;

// %XX and ~1, ~0 of a JSON pointer in a URI fragment.
std::string decode_token(std::string_view token) {
  std::string out;
  for (size_t i = 0; i < token.size(); ++i) {
    const int high = i + 2 < token.size() ? base::hex_digit_value(token[i + 1]) : -1;
    const int low = i + 2 < token.size() ? base::hex_digit_value(token[i + 2]) : -1;
    if (token[i] == '%' && high >= 0 && low >= 0) {
      out += static_cast<char>(high * 16 + low);
      i += 2;
    } else if (token[i] == '~' && i + 1 < token.size() &&
               (token[i + 1] == '0' || token[i + 1] == '1')) {
      out += token[++i] == '0' ? '~' : '/';
    } else {
      out += token[i];
    }
  }
  return out;
}

const json::Value* find_step(const json::Value& at, const std::string& token) {
  if (at.is_object()) return at.find(token);
  if (!at.is_array() || token.empty() || token.size() > 9) return nullptr;
  size_t index = 0;
  for (char c : token) {
    if (c < '0' || c > '9') return nullptr;
    index = index * 10 + static_cast<size_t>(c - '0');
  }
  return index < at.items().size() ? &at.items()[index] : nullptr;
}

}  // namespace

std::string pointer_step(const std::string& pointer, std::string_view name) {
  std::string out = pointer + "/";
  for (char c : name) {
    if (c == '~') {
      out += "~0";
    } else if (c == '/') {
      out += "~1";
    } else {
      out += c;
    }
  }
  return out;
}

Result<const json::Value*> References::step(const std::string& reference,
                                            const std::string& from) const {
  auto fail = [&](const char* why) {
    return base::make_error(errors::kBadReference, {from, reference, why});
  };
  if (reference.empty() || reference[0] != '#') return fail("it names another document");
  if (reference.size() > 1 && reference[1] != '/') return fail("only JSON pointers are supported");
  const json::Value* at = &root_;
  size_t start = 2;
  while (start <= reference.size() && reference.size() > 1) {
    const size_t slash = std::min(reference.find('/', start), reference.size());
    at = find_step(*at, decode_token(std::string_view(reference).substr(start, slash - start)));
    if (!at) return fail("there is nothing at this place");
    start = slash + 1;
  }
  return at;
}

Result<const json::Value*> References::resolve(const json::Value& v, std::string& pointer) const {
  const json::Value* at = &v;
  for (int i = 0; i < kChainMax; ++i) {
    const json::Value* reference = at->find("$ref");
    if (!reference || !reference->is_string()) return at;
    at = MS_TRY(step(reference->as_string(), pointer));
    pointer = reference->as_string();
  }
  return base::make_error(errors::kBadReference,
                          {pointer, v.get("$ref").as_string(), "it leads back to itself"});
}

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

}  // namespace millstream::model
