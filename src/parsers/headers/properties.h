// The Properties folder: the first child of every message Root (spec B1; field order and defaults
// are those of the product's traces). Thread: that of the message.
#pragma once
#include <cstdint>
#include <string_view>

#include "tree/domain.h"

namespace millstream::parsers::headers {

extern const tree::Domain kProperties;

struct PropertiesInput {
  std::string_view message_set, message_type, message_format;
  int64_t encoding = 546;
  int64_t coded_char_set_id = 1208;
  bool is_transactional = false;
  bool is_persistent = false;
  int64_t creation_time_micros = 0;  // GMT
  int64_t expiration_time = -1;
  int64_t priority = 0;
  std::string_view reply_identifier;        // 24 bytes; empty = 24 zero bytes
  std::string_view reply_protocol;          // "MQ", "SOAP-HTTP", ...
  const std::string_view* topic = nullptr;  // null = NULL
  std::string_view content_type;
};

// The names of the folder and its fields, looked up once a deployment instead of once a message.
struct PropertiesNames {
  static constexpr size_t kFields = 22;
  const base::QName* folder;
  const base::QName* fields[kFields];
};
PropertiesNames intern_properties_names(base::NameTable& table);

// Makes the folder and links it as first child of `root`. Texts are views: they must live as long
// as the message. Without `names` they are looked up.
tree::DomainRoot* make_properties(tree::TreeContext& context, tree::Element* root,
                                  const PropertiesInput& input,
                                  const PropertiesNames* names = nullptr);

// What a serialiser needs from Root.Properties, found in one pass; 0 and empty where a field is
// missing, NULL or of another type. Views live as long as the message.
struct SerialiseProperties {
  int64_t coded_char_set_id = 0;
  int64_t encoding = 0;
  std::string_view message_set, message_type, message_format, content_type;
};
SerialiseProperties read_serialise_properties(tree::Element* root);
// Any one of them; the default where a field is missing or NULL.
int64_t property_integer(tree::Element* root, std::string_view field, int64_t fallback);
std::string_view property_text(tree::Element* root, std::string_view field);

// Interns all field names of this and the other headers, so that messages find them in the
// deployment's table instead of making their own.
void intern_header_names(base::NameTable& table);

}  // namespace millstream::parsers::headers
