// OpenAPI documents (Swagger 2.0, OpenAPI 3.0 and 3.1; JSON or YAML) as what a server or a client
// needs of them: operations by id and by request, their parameters, bodies and replies with
// compiled schemas. $ref is followed within the document and into other files of its project
// (model/references.h), recursive ones too.
//
// What makes the document useless (no paths, two operations with one id, a reference to nothing in
// a parameter) is an error; what only keeps schemas from being checked is in schema_problems().
// Limits: those of the readers, kOperationsMax, kParametersMax. Lifetime: all pointers live as long
// as the document. Thread: parse one; the rest any.
#pragma once
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/schema.h"

namespace millstream::model {

enum class ParameterPlace : uint8_t { kPath, kQuery, kHeader, kCookie };
// RFC 6570 and what OpenAPI adds; Swagger 2.0's collectionFormat maps onto them.
enum class ParameterStyle : uint8_t {
  kSimple,          // a,b
  kLabel,           // .a.b
  kMatrix,          // ;name=a,b
  kForm,            // name=a,b
  kSpaceDelimited,  // name=a b
  kPipeDelimited,   // name=a|b
  kTabDelimited,    // Swagger 2.0 only
  kDeepObject,      // name[member]=a
};

struct Parameter {
  std::string name;
  ParameterPlace place = ParameterPlace::kQuery;
  ParameterStyle style = ParameterStyle::kForm;
  bool explodes = true;
  bool is_required = false;
  bool allows_empty = false;
  bool allows_reserved = false;
  std::string description;
  const Schema* schema = nullptr;  // null: any text
  bool is_json = false;            // `content`: the text is a JSON document
  DocumentPlace source = {};
};

// How a property of a form is sent.
struct FormField {
  std::string name;
  std::vector<std::string> content_types;  // of a part; empty: any
  std::vector<std::string> required_headers;
  Parameter parameter;     // its style in application/x-www-form-urlencoded
  bool has_style = false;  // the document names one
};

struct MediaType {
  std::string name;  // lower case, without parameters: "application/json", "text/*"
  const Schema* schema = nullptr;
  std::vector<FormField> fields = {};     // of forms: one for each property of the schema
  const json::Value* encoding = nullptr;  // what the document says of the fields
  std::string pointer = {};
  DocumentPlace source = {};
};
// Whether check_body() (model/body.h) does what the schema asks for.
bool can_check_body(const MediaType& type);

bool is_json_media_type(std::string_view name);
bool is_xml_media_type(std::string_view name);
bool is_form_media_type(std::string_view name);  // both kinds

struct RequestBody {
  bool is_required = false;
  DocumentPlace source = {};
  std::string description;
  std::vector<MediaType> media_types;
};

struct ReplyHeader {
  std::string name;
  bool is_required = false;
  const Schema* schema = nullptr;
  DocumentPlace source = {};
  bool explodes = false;  // of an object: "a=1,b=2"
};
struct Reply {
  std::string status;  // "200", "4XX", "default"
  DocumentPlace source = {};
  std::string description;
  std::vector<MediaType> media_types;
  std::vector<ReplyHeader> headers;
};

struct SecurityScheme {
  // kBearer: OAuth 2 and OpenID Connect too. kHttp: another scheme of the Authorization header.
  enum class Kind : uint8_t { kApiKey, kBasic, kBearer, kHttp, kOther };
  std::string name;
  Kind kind = Kind::kOther;
  std::string http_scheme;                         // of kHttp: "Digest"
  ParameterPlace place = ParameterPlace::kHeader;  // of an API key
  std::string parameter;                           // its name
};
// One way to satisfy security: the names of all schemes that are needed together.
using SecurityRequirement = std::vector<std::string>;

struct Operation {
  std::string id;      // operationId, or made from method and path when there is none
  bool has_id = true;  // the document has one
  std::string method;  // upper case
  std::string path;    // template: "/orders/{id}"
  std::string summary, description;
  std::vector<std::string> tags;
  bool is_deprecated = false;
  std::vector<Parameter> parameters;  // those of the path too
  std::optional<RequestBody> body;
  std::vector<Reply> replies;
  std::vector<SecurityRequirement> security;  // empty: none; one of them: either will do
  DocumentPlace source = {};

  const Parameter* find_parameter(std::string_view name) const;
  // By the exact status, then its class, then "default"; null when none fits.
  const Reply* find_reply(int status) const;
};

// The media type of the list that describes a body of this Content-Type; null: none does.
const MediaType* find_media_type(const std::vector<MediaType>& list, std::string_view content_type);

// What a request for a path means.
struct PathMatch {
  const Operation* operation = nullptr;
  bool has_path = false;  // some template fits, though not with this method
  std::vector<std::pair<std::string, std::string_view>> parameters;  // as sent, not decoded
  std::string allow;  // "GET, HEAD, POST" of the best template
};

class ApiDocument {
 public:
  static constexpr size_t kOperationsMax = 10'000;
  static constexpr size_t kParametersMax = 500;  // an operation
  static constexpr size_t kPathPiecesMax = 100;  // a template
  static constexpr int kMatchStepsMax = 20'000;  // a request; beyond, nothing fits

  // `file` is for error positions; YAML unless the text begins with '{'.
  static Result<std::shared_ptr<const ApiDocument>> parse(std::string text,
                                                          const std::string& file);
  // The same of a file of a project, with the others that it refers to.
  static Result<std::shared_ptr<const ApiDocument>> load(DocumentFile document,
                                                         ProjectReader reader);

  Dialect dialect() const { return dialect_; }
  const std::string& title() const { return title_; }
  const std::string& version() const { return version_; }
  const std::string& description() const { return description_; }
  // The path of the first server, or basePath; "" when there is none. No '/' at the end.
  const std::string& base_path() const { return base_path_; }
  // Of the first server, or scheme, host and basePath; "" when the document names no host.
  const std::string& base_url() const { return base_url_; }
  const std::vector<Operation>& operations() const { return operations_; }
  const std::vector<SecurityScheme>& security_schemes() const { return security_schemes_; }
  const Operation* find_operation(std::string_view id) const;
  const SecurityScheme* find_security_scheme(std::string_view name) const;
  // `path` is below the base path, as sent: the most specific template wins, and the method is
  // looked for in that one only. HEAD is answered by GET when the path has no HEAD.
  PathMatch match(std::string_view method, std::string_view path) const;
  const std::vector<std::unique_ptr<base::Error>>& schema_problems() const {
    return schemas_->problems();
  }
  // Bodies that have a schema but are of a kind that is not checked, and references of unused parts
  // that cannot be followed.
  const std::vector<std::unique_ptr<base::Error>>& warnings() const { return warnings_; }
  // The document, then what it refers to.
  const std::vector<std::unique_ptr<DocumentFile>>& files() const { return references_->files(); }
  const std::string& source() const { return files()[0]->text; }
  bool is_yaml() const { return files()[0]->is_yaml; }
  const json::Value& root() const { return references_->root(); }
  // The whole API in one: what other files hold is among the document's own components.
  const json::Value& bundled_root() const { return bundle_.is_null() ? root() : bundle_; }

 private:
  friend class ApiLoader;
  // A part of a path segment: text, or a parameter of at least one character.
  struct Piece {
    std::string text;
    bool is_parameter = false;
  };
  struct PathTemplate {
    std::string text;
    std::vector<std::vector<Piece>> segments;
    std::vector<const Operation*> operations;
  };
  ApiDocument() = default;
  // Each path once, with its operations; the most specific come first.
  Status make_templates();
  static bool is_more_specific(const PathTemplate& a, const PathTemplate& b);
  static bool match_segment(const std::vector<Piece>& pieces, size_t at, std::string_view text,
                            PathMatch& out, int& steps_left);

  Dialect dialect_ = Dialect::kOpenApi30;
  std::string title_, version_, description_, base_path_, base_url_;
  std::unique_ptr<References> references_;
  std::vector<std::unique_ptr<json::Value>> made_schemas_;  // of Swagger 2.0's form fields
  std::unique_ptr<SchemaSet> schemas_;
  std::vector<std::unique_ptr<base::Error>> warnings_;
  json::Value bundle_;
  std::vector<Operation> operations_;
  std::vector<SecurityScheme> security_schemes_;
  std::vector<PathTemplate> templates_;  // most specific first
};

// The document with everything that its other files hold put into its components, and every
// reference pointing there. Reads files that only unused parts refer to; a reference that cannot be
// followed stays as it is and goes to `warnings`. An error when the result is too large.
constexpr size_t kBundleValuesMax = 2'000'000;
Result<json::Value> bundle_document(References& references, Dialect dialect,
                                    std::vector<std::unique_ptr<base::Error>>& warnings);

// YAML as the JSON it stands for: scalars by the core schema of YAML 1.2, lines kept.
Result<json::Value> yaml_to_json(std::string_view text, const std::string& file);

}  // namespace millstream::model
