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

// Makes the folder and links it as first child of `root`. Texts are views: they must live as long
// as the message.
tree::DomainRoot* make_properties(tree::TreeContext& context, tree::Element* root,
                                  const PropertiesInput& input);

// What output needs from Root.Properties; the default where a field is missing or NULL.
int64_t property_integer(tree::Element* root, std::string_view field, int64_t fallback);
std::string_view property_text(tree::Element* root, std::string_view field);

// Interns all field names of this and the other headers, so that messages find them in the
// deployment's table instead of making their own.
void intern_header_names(base::NameTable& table);

}  // namespace millstream::parsers::headers
