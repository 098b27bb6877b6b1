#include "parsers/headers/properties.h"

#include "parsers/headers/errors_gen.h"
#include "tree/assembly.h"
#include "tree/edit.h"

namespace millstream::parsers::headers {
namespace {

using value::Value;

constexpr char kZeroIdentifier[24] = {};

constexpr const char* kIdentityFields[] = {
    "IdentitySourceType", "IdentitySourceToken", "IdentitySourcePassword", "IdentitySourceIssuedBy",
    "IdentityMappedType", "IdentityMappedToken", "IdentityMappedPassword", "IdentityMappedIssuedBy",
};
constexpr const char* kOtherNames[] = {
    "Properties",
    "MessageSet",
    "MessageType",
    "MessageFormat",
    "Encoding",
    "CodedCharSetId",
    "Transactional",
    "Persistence",
    "CreationTime",
    "ExpirationTime",
    "Priority",
    "ReplyIdentifier",
    "ReplyProtocol",
    "Topic",
    "ContentType",
    "HTTPInputHeader",
    "HTTPReplyHeader",
    "HTTPRequestHeader",
    "HTTPResponseHeader",
    "MQMD",
    "MQRFH2",
    "BLOB",
    "JSON",
    "Data",
    "Item",
    "Root",
    "LocalEnvironment",
    "Environment",
    "ExceptionList",
    "Host",
    "Content-Type",
    "Content-Length",
    "User-Agent",
    "Accept",
    "Connection",
    "X-Original-HTTP-Command",
    "X-Server-Name",
    "X-Server-Port",
    "X-Remote-Addr",
    "X-Remote-Host",
    "X-Scheme",
};

Status parse_properties(tree::TreeContext&, tree::DomainRoot*, std::string_view,
                        const tree::ParseOptions&) {
  return base::make_error(errors::kHeaderHasNoBytes, {"Properties"});
}

}  // namespace

constexpr tree::Domain kProperties = {
    .name = "Properties",
    .parser_class = "PropertyParser",
    .is_body = false,
    .parse = parse_properties,
    .serialise = nullptr,
    .default_field_type = tree::kNameValue,
};

tree::DomainRoot* make_properties(tree::TreeContext& context, tree::Element* root,
                                  const PropertiesInput& in) {
  tree::DomainRoot* p =
      tree::make_domain_root(context, kProperties, context.names.qname("Properties"));
  auto add = [&](std::string_view name, const Value& v) {
    tree::Element* e = tree::make_element(context, context.names.qname(name), tree::kNameValue);
    e->scalar = v;
    tree::append_child(p, e);
  };
  add("MessageSet", Value::make_character(in.message_set));
  add("MessageType", Value::make_character(in.message_type));
  add("MessageFormat", Value::make_character(in.message_format));
  add("Encoding", Value::make_integer(in.encoding));
  add("CodedCharSetId", Value::make_integer(in.coded_char_set_id));
  add("Transactional", Value::make_boolean(in.is_transactional));
  add("Persistence", Value::make_boolean(in.is_persistent));
  add("CreationTime", Value::make_timestamp(value::Kind::kGmtTimestamp, in.creation_time_micros));
  add("ExpirationTime", Value::make_integer(in.expiration_time));
  add("Priority", Value::make_integer(in.priority));
  std::string_view id = in.reply_identifier;
  if (id.empty()) id = {kZeroIdentifier, sizeof(kZeroIdentifier)};
  add("ReplyIdentifier", Value::make_blob(id));
  add("ReplyProtocol", Value::make_character(in.reply_protocol));
  add("Topic", in.topic ? Value::make_character(*in.topic) : Value::null());
  add("ContentType", Value::make_character(in.content_type));
  for (const char* name : kIdentityFields) add(name, Value::make_character(""));
  tree::prepend_child(root, p);
  return p;
}

int64_t property_integer(tree::Element* root, std::string_view field, int64_t fallback) {
  tree::Element* p = root ? tree::find_child(root, "Properties") : nullptr;
  tree::Element* e = p ? tree::find_child(p, field) : nullptr;
  if (!e) return fallback;
  Value v = tree::scalar_value(e);
  return v.kind == value::Kind::kInteger ? v.integer : fallback;
}

std::string_view property_text(tree::Element* root, std::string_view field) {
  tree::Element* p = root ? tree::find_child(root, "Properties") : nullptr;
  tree::Element* e = p ? tree::find_child(p, field) : nullptr;
  if (!e) return {};
  Value v = tree::scalar_value(e);
  return v.kind == value::Kind::kCharacter ? v.text() : std::string_view();
}

void intern_header_names(base::NameTable& table) {
  for (const char* name : kOtherNames) table.intern_qname("", name);
  for (const char* name : kIdentityFields) table.intern_qname("", name);
}

}  // namespace millstream::parsers::headers
