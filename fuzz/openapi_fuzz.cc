// OpenAPI documents: whatever the bytes are, loading ends with a document or an error; a document
// then takes requests, checks values against its schemas and encodes what it decoded.
#include "model/body.h"
#include "model/parameters.h"

namespace {
namespace model = millstream::model;
namespace json = millstream::base::json;

const json::Value& sample() {
  static const json::Value value =
      json::parse(R"({"id":1,"name":"a","tags":["x","y",1.5],"next":{"id":null}})", {})
          .take_value();
  return value;
}

void try_body(const model::MediaType& type) {
  if (type.schema) model::validate(*type.schema, sample());
  static constexpr struct {
    const char *media_type, *body;
  } kBodies[] = {
      {"application/json", R"({"id":1,"name":"a"})"},
      {"application/xml", "<a id='1'><name>a</name><tags><tag>x</tag></tags><name/>t</a>"},
      {"application/x-www-form-urlencoded", "a=1&b=x,y&c[d]=2&name=%41&id=7"},
      {"multipart/form-data",
       "--b\r\nContent-Disposition: form-data; name=\"id\"\r\n\r\n1\r\n--b--"},
      {"text/plain", "1"}};
  for (const auto& b : kBodies) model::check_body(b.body, {b.media_type, {}, "b"}, type, {});
}

void try_operation(const model::ApiDocument& document, const model::Operation& operation) {
  std::string path;
  for (char c : operation.path) path += c == '{' || c == '}' ? 'a' : c;
  const model::PathMatch match = document.match(operation.method, path);
  model::RawRequest raw;
  raw.path = &match.parameters;
  raw.query = "a=1&b=x,y&c[d]=2&name=%41&id=7&limit=10";
  raw.cookies = "a=1; b=2";
  raw.headers = {{"A", "1,2"}, {"X-Id", "x=1"}};
  std::vector<std::pair<const model::Parameter*, json::Value>> values;
  for (model::ParameterValue& v : model::decode_parameters(operation, raw)) {
    if (v.parameter->schema) model::validate(*v.parameter->schema, v.value);
    if (v.has_value) values.emplace_back(v.parameter, std::move(v.value));
  }
  auto encoded = model::encode_request(operation, values);
  if (operation.body) {
    for (const model::MediaType& m : operation.body->media_types) try_body(m);
  }
  for (const model::Reply& r : operation.replies) {
    for (const model::MediaType& m : r.media_types) {
      if (m.schema) model::validate(*m.schema, sample());
    }
  }
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  auto document =
      model::ApiDocument::parse(std::string(reinterpret_cast<const char*>(data), size), "f");
  if (!document.ok()) return 0;
  constexpr size_t kTriedMax = 20;
  size_t tried = 0;
  for (const model::Operation& o : document.value()->operations()) {
    if (++tried > kTriedMax) break;
    try_operation(*document.value(), o);
  }
  return 0;
}
