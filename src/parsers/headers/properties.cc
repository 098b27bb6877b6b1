#include "parsers/headers/properties.h"

#include "parsers/headers/errors_gen.h"
#include "tree/assembly.h"
#include "tree/edit.h"

namespace millstream::parsers::headers {
namespace {

using value::Value;

constexpr char kZeroIdentifier[24] = {};

constexpr size_t kIdentityFields = 8;  // at the end of kFieldNames
constexpr const char* kFieldNames[PropertiesNames::kFields] = {
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
    "IdentitySourceType",
    "IdentitySourceToken",
    "IdentitySourcePassword",
    "IdentitySourceIssuedBy",
    "IdentityMappedType",
    "IdentityMappedToken",
    "IdentityMappedPassword",
    "IdentityMappedIssuedBy",
};
constexpr const char* kOtherNames[] = {
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

// The first field of a name counts, so a value that is there already is kept.
void read_number(tree::Element* e, int64_t& out) {
  const Value v = tree::scalar_value(e);
  if (v.kind == value::Kind::kInteger && out == 0) out = v.integer;
}

void read_text(tree::Element* e, std::string_view& out) {
  const Value v = tree::scalar_value(e);
  if (v.kind == value::Kind::kCharacter && out.empty()) out = v.text();
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

PropertiesNames intern_properties_names(base::NameTable& table) {
  PropertiesNames names;
  names.folder = table.intern_qname("", "Properties");
  for (size_t i = 0; i < PropertiesNames::kFields; ++i) {
    names.fields[i] = table.intern_qname("", kFieldNames[i]);
  }
  return names;
}

tree::DomainRoot* make_properties(tree::TreeContext& context, tree::Element* root,
                                  const PropertiesInput& in, const PropertiesNames* names) {
  PropertiesNames found;
  if (!names) {
    found.folder = context.names.qname("Properties");
    for (size_t i = 0; i < PropertiesNames::kFields; ++i) {
      found.fields[i] = context.names.qname(kFieldNames[i]);
    }
    names = &found;
  }
  tree::DomainRoot* p = tree::make_domain_root(context, kProperties, names->folder);
  const base::QName* const* name = names->fields;
  auto add = [&](const Value& v) {
    tree::Element* e = tree::make_element(context, *name++, tree::kNameValue);
    e->scalar = v;
    tree::link_child(p, e);
  };
  // In the order of kFieldNames.
  add(Value::make_character(in.message_set));
  add(Value::make_character(in.message_type));
  add(Value::make_character(in.message_format));
  add(Value::make_integer(in.encoding));
  add(Value::make_integer(in.coded_char_set_id));
  add(Value::make_boolean(in.is_transactional));
  add(Value::make_boolean(in.is_persistent));
  add(Value::make_timestamp(value::Kind::kGmtTimestamp, in.creation_time_micros));
  add(Value::make_integer(in.expiration_time));
  add(Value::make_integer(in.priority));
  std::string_view id = in.reply_identifier;
  if (id.empty()) id = {kZeroIdentifier, sizeof(kZeroIdentifier)};
  add(Value::make_blob(id));
  add(Value::make_character(in.reply_protocol));
  add(in.topic ? Value::make_character(*in.topic) : Value::null());
  add(Value::make_character(in.content_type));
  for (size_t i = 0; i < kIdentityFields; ++i) add(Value::make_character(""));
  tree::mark_modified(p);
  tree::prepend_child(root, p);
  return p;
}

SerialiseProperties read_serialise_properties(tree::Element* root) {
  SerialiseProperties out;
  tree::Element* p = root ? tree::find_child(root, "Properties") : nullptr;
  for (tree::Element* e = p ? tree::first_child(p) : nullptr; e; e = tree::next_sibling(e)) {
    const std::string_view name = e->local_name();
    // Lengths first: most fields are told apart by them.
    switch (name.size()) {
      case 8:
        if (name == "Encoding") read_number(e, out.encoding);
        break;
      case 10:
        if (name == "MessageSet") read_text(e, out.message_set);
        break;
      case 11:
        if (name == "MessageType") read_text(e, out.message_type);
        if (name == "ContentType") read_text(e, out.content_type);
        break;
      case 13:
        if (name == "MessageFormat") read_text(e, out.message_format);
        break;
      case 14:
        if (name == "CodedCharSetId") read_number(e, out.coded_char_set_id);
        break;
    }
  }
  return out;
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
  intern_properties_names(table);
  for (const char* name : kOtherNames) table.intern_qname("", name);
}

}  // namespace millstream::parsers::headers
