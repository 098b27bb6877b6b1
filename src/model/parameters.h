// Parameters of a request by the styles of OpenAPI: from what stands in path, query, headers and
// cookies to JSON values, and back for clients.
// Thread: any.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/openapi.h"

namespace millstream::model {

// One value as it was sent: text with percent-encoding where the place has it.
using RawPair = std::pair<std::string_view, std::string_view>;

struct RawRequest {
  const std::vector<std::pair<std::string, std::string_view>>* path = nullptr;  // PathMatch
  std::string_view query;
  std::string_view cookies;      // the Cookie header
  std::vector<RawPair> headers;  // those of one name in order of arrival
};

constexpr size_t kQueryPairsMax = 1000;  // later ones are dropped

struct ParameterValue {
  const Parameter* parameter = nullptr;
  bool is_present = false;  // false: `text` and `value` are the default, if there is one
  bool has_value = false;
  std::string text;   // decoded as far as that is unambiguous: "a,b" of a list
  json::Value value;  // by the types the schema allows; a string where the text fits none of them
};
// One entry for each parameter of the operation, in its order.
std::vector<ParameterValue> decode_parameters(const Operation& operation,
                                              const RawRequest& request);

// "1" of a schema that allows integers is a number, and so on: numbers as JSON writes them, an
// integer only without point and exponent. What is none of the types stays text.
json::Value typed_value(std::string_view text, const Schema* schema);
// The other way: what stands in a URL or header for a scalar.
std::string text_of(const json::Value& value);

// Where the parts of an outgoing request go.
struct EncodedRequest {
  std::string path;                                          // filled template
  std::string query;                                         // without '?'
  std::vector<std::pair<std::string, std::string>> headers;  // cookies are one Cookie header
};
// `values` are by name; parameters without a value are left out. An error names a path parameter
// that has none.
Result<EncodedRequest> encode_request(
    const Operation& operation,
    const std::vector<std::pair<const Parameter*, json::Value>>& values);

// The pairs of a query or form; those beyond `pairs_max` are dropped.
struct QueryPair {
  std::string name;  // decoded
  std::string_view raw;
};
std::vector<QueryPair> split_query(std::string_view query, size_t pairs_max = kQueryPairsMax);

}  // namespace millstream::model
