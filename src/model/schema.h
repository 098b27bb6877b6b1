// JSON Schema as OpenAPI uses it: compiled once from a document, then used to check JSON values.
// Dialects: Swagger 2.0 and OpenAPI 3.0 (draft-4 with nullable, discriminator, readOnly), OpenAPI
// 3.1 (2020-12). Numbers are compared exactly as far as they fit 64 bits, else as doubles.
//
// A keyword that restricts and is not implemented (unevaluatedProperties, $dynamicRef, ...) is a
// problem of compiling: what cannot be checked is said, not skipped.
// Ownership: a SchemaSet owns its schemas; pointers to them live as long. The document they came
// from must live too (enumerations point into it). Thread: compile one; validate any, concurrently.
#pragma once
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "model/references.h"
#include "text/regex.h"

namespace millstream::model {

enum class Dialect : uint8_t { kSwagger2, kOpenApi30, kOpenApi31 };

// Bits of Schema::types.
constexpr uint32_t kTypeNull = 1;
constexpr uint32_t kTypeBoolean = 2;
constexpr uint32_t kTypeInteger = 4;
constexpr uint32_t kTypeNumber = 8;
constexpr uint32_t kTypeString = 16;
constexpr uint32_t kTypeArray = 32;
constexpr uint32_t kTypeObject = 64;

enum class Format : uint8_t {
  kNone,
  kInt32,
  kInt64,
  kFloat,
  kDouble,
  kDate,
  kDateTime,
  kTime,
  kDuration,
  kEmail,
  kHostname,
  kIpv4,
  kIpv6,
  kUri,
  kUriReference,
  kUuid,
  kByte,
  kJsonPointer,
  kRegex,
};

struct Schema;

struct SchemaProperty {
  std::string name;
  const Schema* schema;
  bool is_reference = false;  // by $ref: what the target says of itself was not said for this place
};
struct SchemaPattern {
  text::Regex regex;
  std::string text;
};
struct SchemaPatternProperty {
  SchemaPattern pattern;
  const Schema* schema;
};
struct SchemaDependency {
  std::string name;
  std::vector<std::string> required;
  const Schema* schema = nullptr;
};

struct Discriminator {
  std::string property;
  // Value of the property -> schema; also each schema's own name.
  std::vector<SchemaProperty> schemas;
};

// How a value looks in XML: the `xml` object of OpenAPI.
struct XmlHints {
  std::string name, namespace_uri;
  bool is_attribute = false;
  bool is_wrapped = false;
};

// Absent keywords are empty or null. All pointers are to schemas of the same set.
struct Schema {
  std::string pointer;  // where it stands: "#/components/schemas/Order"
  DocumentPlace place;
  uint32_t types = 0;        // 0: any
  bool is_nullable = false;  // 3.0: null as well
  bool is_never = false;     // the schema `false`
  bool is_read_only = false;
  bool is_write_only = false;
  bool is_binary = false;  // bytes that are no text: a file
  bool must_be_unique = false;
  bool has_item_reference = false;     // items is a $ref
  bool has_closed_properties = false;  // additionalProperties: false
  bool has_closed_items = false;       // 2020-12: nothing after prefixItems
  const Schema* reference = nullptr;   // 3.1: $ref beside other keywords
  const json::Value* enumeration = nullptr;
  const json::Value* constant = nullptr;
  const json::Value* default_value = nullptr;
  std::optional<json::Value> minimum, maximum, exclusive_minimum, exclusive_maximum, multiple_of;
  std::optional<uint64_t> min_length, max_length, min_items, max_items, min_properties,
      max_properties, min_contains, max_contains;
  std::optional<SchemaPattern> pattern;
  Format format = Format::kNone;
  std::string format_name;
  const Schema* items = nullptr;
  std::vector<const Schema*> prefix_items;
  const Schema* contains = nullptr;
  std::vector<SchemaProperty> properties;
  std::vector<SchemaPatternProperty> pattern_properties;
  const Schema* additional_properties = nullptr;
  const Schema* property_names = nullptr;
  std::vector<std::string> required;
  std::vector<SchemaDependency> dependencies;
  std::vector<const Schema*> all_of, any_of, one_of;
  const Schema* not_schema = nullptr;
  const Schema* if_schema = nullptr;
  const Schema* then_schema = nullptr;
  const Schema* else_schema = nullptr;
  std::optional<Discriminator> discriminator;
  std::optional<XmlHints> xml;

  const Schema* find_property(std::string_view name) const;
};

class SchemaSet {
 public:
  static constexpr size_t kSchemasMax = 200'000;

  SchemaSet(References& references, Dialect dialect) : references_(references), dialect_(dialect) {}
  SchemaSet(const SchemaSet&) = delete;
  SchemaSet& operator=(const SchemaSet&) = delete;

  // The schema at `v`, compiled with all it refers to by finish().
  const Schema* add(const json::Value& v, std::string pointer);
  void finish();
  void add_problem(Status status);
  // What cannot be checked, in the order it was found; each once.
  const std::vector<std::unique_ptr<base::Error>>& problems() const { return problems_; }
  size_t size() const { return all_.size(); }

 private:
  static constexpr size_t kProblemsMax = 100;
  friend class SchemaCompiler;
  struct Pending {
    const json::Value* source;
    Schema* schema;
  };
  References& references_;
  const Dialect dialect_;
  std::vector<std::unique_ptr<Schema>> all_;
  std::unordered_map<const json::Value*, Schema*> by_source_;
  std::vector<Pending> pending_;
  std::vector<std::unique_ptr<base::Error>> problems_;
};

// One reason why a value does not fit.
struct SchemaProblem {
  std::string place;          // JSON pointer into the value, "" for the whole
  std::string text;           // "must not be longer than 10 characters"
  DocumentPlace source = {};  // of the schema that says so
};

// readOnly properties are not required of requests, writeOnly ones not of responses.
enum class Direction : uint8_t { kNone, kRequest, kResponse };

struct ValidationOptions {
  static constexpr size_t kProblemsMax = 10;
  static constexpr int kDepthMax = 100;           // what fits the stack of a fiber
  static constexpr size_t kStepsMax = 2'000'000;  // schemas applied to values
  Direction direction = Direction::kNone;
  int depth_max = kDepthMax;  // lower where there is less stack: about 600 bytes a level
};

// Empty: the value fits. At most kProblemsMax problems.
std::vector<SchemaProblem> validate(const Schema& schema, const json::Value& value,
                                    const ValidationOptions& options = {});

// Whether `text` has the format; true for Format::kNone.
bool has_format(std::string_view text, Format format);
Format find_format(std::string_view name);

// The types that a value may have by this schema and all it is composed of; 0: any.
uint32_t possible_types(const Schema& schema);
// The first schema in allOf, anyOf, oneOf order that describes items or the named property.
const Schema* find_items(const Schema& schema);
const Schema* find_property(const Schema& schema, std::string_view name);
// Names of all properties, those of composed schemas too.
void collect_property_names(const Schema& schema, std::vector<std::string>& out);
// The same as properties, the first one of each name.
void collect_properties(const Schema& schema, std::vector<const SchemaProperty*>& out);
// Whether some part of the schema forbids members that it does not name.
bool has_closed_properties(const Schema& schema);
// What the schema, or the one it is a reference to, says of XML; never null.
const XmlHints& xml_hints(const Schema& schema);

}  // namespace millstream::model
