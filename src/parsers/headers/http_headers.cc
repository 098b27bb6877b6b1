#include "parsers/headers/http_headers.h"

#include "base/ascii.h"
#include "parsers/common/scalar_text.h"
#include "parsers/headers/errors_gen.h"
#include "text/utf8.h"
#include "tree/edit.h"

namespace millstream::parsers::headers {
namespace {

using value::Value;

constexpr size_t kHttpFieldsMax = 10'000;

bool is_token_char(char c) {
  if (c >= '0' && c <= '9') return true;
  if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) return true;
  return std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

bool is_field_name(std::string_view s) {
  if (s.empty()) return false;
  for (char c : s) {
    if (!is_token_char(c)) return false;
  }
  return true;
}

// Lines "Name: value"; an empty line ends the block.
Status parse_http_lines(tree::TreeContext& context, tree::DomainRoot* root, std::string_view bytes,
                        const tree::ParseOptions&) {
  size_t count = 0;
  while (!bytes.empty()) {
    size_t end = bytes.find('\n');
    std::string_view line = bytes.substr(0, end);
    bytes = end == std::string_view::npos ? std::string_view() : bytes.substr(end + 1);
    if (base::trim_white_space(line).empty()) break;
    size_t colon = line.find(':');
    if (colon == std::string_view::npos || !is_field_name(line.substr(0, colon)) ||
        ++count > kHttpFieldsMax) {
      return base::make_error(errors::kHttpHeaderLine, {root->local_name(), line.substr(0, 80)});
    }
    add_http_field(context, root, line.substr(0, colon),
                   base::trim_white_space(line.substr(colon + 1)));
  }
  return {};
}

Status serialise_http_lines(tree::TreeContext& context, tree::Element* e,
                            const tree::SerialiseOptions&, std::string& out) {
  std::vector<HttpField> fields;
  MS_TRY(collect_http_fields(context, e, fields));
  for (const HttpField& f : fields) {
    out += f.name;
    out += ": ";
    out += f.value;
    out += "\r\n";
  }
  return {};
}

constexpr tree::Domain http_domain(const char* name, const char* parser_class) {
  return {
      .name = name,
      .parser_class = parser_class,
      .is_body = false,
      .parse = parse_http_lines,
      .serialise = serialise_http_lines,
      .default_field_type = tree::kNameValue,
  };
}

}  // namespace

constexpr tree::Domain kHttpInputHeader = http_domain("HTTPInputHeader", "WSINPHDR");
constexpr tree::Domain kHttpReplyHeader = http_domain("HTTPReplyHeader", "WSREPHDR");
constexpr tree::Domain kHttpRequestHeader = http_domain("HTTPRequestHeader", "WSREQHDR");
constexpr tree::Domain kHttpResponseHeader = http_domain("HTTPResponseHeader", "WSRSPHDR");

tree::Element* add_http_field(tree::TreeContext& context, tree::Element* folder,
                              std::string_view name, std::string_view value) {
  tree::Element* e = tree::make_element(context, context.names.qname(name), tree::kNameValue);
  e->scalar = Value::make_character(value);
  tree::append_child(folder, e);
  return e;
}

tree::DomainRoot* make_http_header(tree::TreeContext& context, tree::Element* root,
                                   const tree::Domain& domain, std::span<const HttpField> fields) {
  tree::DomainRoot* folder =
      tree::make_domain_root(context, domain, context.names.qname(domain.name));
  for (const HttpField& f : fields) {
    const base::QName* name = f.qname ? f.qname : context.names.qname(f.name);
    tree::Element* e = tree::make_element(context, name, tree::kNameValue);
    e->scalar = Value::make_character(f.value);
    tree::link_child(folder, e);
  }
  tree::mark_modified(folder);
  tree::append_child(root, folder);
  return folder;
}

tree::Element* find_http_field(tree::Element* folder, std::string_view name) {
  if (!folder) return nullptr;
  for (tree::Element* c = tree::first_child(folder); c; c = tree::next_sibling(c)) {
    if (text::equals_ignoring_ascii_case(c->local_name(), name)) return c;
  }
  return nullptr;
}

std::string_view http_field_text(tree::TreeContext& context, tree::Element* folder,
                                 std::string_view name) {
  tree::Element* e = find_http_field(folder, name);
  if (!e) return {};
  Value v = tree::scalar_value(e);
  if (v.kind == value::Kind::kCharacter) return v.text();
  return context.arena.copy(scalar_text(v));
}

bool is_http_note(std::string_view name) {
  constexpr std::string_view kPrefixes[] = {"X-Original-HTTP-", "X-Server-", "X-Remote-"};
  for (std::string_view p : kPrefixes) {
    if (name.size() > p.size() && text::equals_ignoring_ascii_case(name.substr(0, p.size()), p)) {
      return true;
    }
  }
  return text::equals_ignoring_ascii_case(name, "X-Scheme");
}

Status collect_http_fields(tree::TreeContext& context, tree::Element* folder,
                           std::vector<HttpField>& out) {
  if (!folder) return {};
  for (tree::Element* c = tree::first_child(folder); c; c = tree::next_sibling(c)) {
    std::string_view name = c->local_name();
    if (is_http_note(name)) continue;
    Value v = tree::scalar_value(c);
    if (v.is_null() && !tree::first_child(c)) continue;
    if (tree::first_child(c) || !is_field_name(name)) {
      return base::make_error(errors::kHttpHeaderField, {name, folder->local_name()});
    }
    std::string_view value =
        v.kind == value::Kind::kCharacter ? v.text() : context.arena.copy(scalar_text(v));
    // A line end inside a value would let the data write header fields of its own.
    if (value.find_first_of(std::string_view("\r\n\0", 3)) != std::string_view::npos) {
      return base::make_error(errors::kHttpHeaderValue, {name, folder->local_name()});
    }
    out.push_back({name, base::trim_white_space(value)});
  }
  return {};
}

}  // namespace millstream::parsers::headers
