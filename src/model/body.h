// Bodies of requests and replies against the schema of their media type: JSON; XML by the `xml`
// objects of the schema; both kinds of forms by their fields; plain text as one value.
//
// XML becomes the JSON value that the schema describes, and that is checked. Not defined by
// OpenAPI, and so not checked: the name of a root element whose schema has no xml.name, prefixes,
// namespaces where the schema names none, the order of elements, attributes that an open schema
// does not name. Lifetime: problems point into the document. Thread: any. Stack: what `depth_max`
// asks for.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "model/openapi.h"

namespace millstream::model {

enum class BodyFormat : uint8_t { kJson, kXml, kForm, kMultipart, kText, kOther };
// By the name in lower case, without parameters.
BodyFormat body_format(std::string_view media_type);

struct BodyLabel {
  std::string_view media_type;  // as in Content-Type, without parameters
  std::string_view charset;     // empty when absent
  std::string_view boundary;
};

struct BodyOptions {
  static constexpr uint32_t kDepthMax = 60;
  static constexpr size_t kFieldsMax = 1000;           // of a form
  static constexpr size_t kPartHeadBytesMax = 16'384;  // of a part of a multipart form
  Direction direction = Direction::kNone;
  uint32_t depth_max = kDepthMax;  // of the body
  int validation_depth_max = ValidationOptions::kDepthMax;
};

// What is wrong; nothing for what is not checked (see can_check_body).
std::vector<SchemaProblem> check_body(std::string_view body, const BodyLabel& label,
                                      const MediaType& type, const BodyOptions& options);

// A value that was read from other than JSON, with what did not fit on the way.
struct ReadBody {
  json::Value value;
  std::vector<SchemaProblem> problems;
};
ReadBody read_xml(std::string_view body, std::string_view charset, const Schema& schema,
                  uint32_t depth_max);
// application/x-www-form-urlencoded.
ReadBody read_form(std::string_view body, const MediaType& type, const BodyOptions& options);
// multipart/form-data (RFC 7578).
ReadBody read_multipart(std::string_view body, std::string_view boundary, const MediaType& type,
                        const BodyOptions& options);

}  // namespace millstream::model
