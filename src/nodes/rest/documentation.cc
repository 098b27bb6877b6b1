// The documentation page, and the document as it is served.
#include "base/markup.h"
#include "nodes/rest/rest_api.h"

namespace millstream::nodes::rest {
namespace {

namespace json = base::json;

constexpr const char* kStyle =
    "body{font:16px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem;"
    "color:#1b1f24;background:#fff}h1{margin-bottom:0}code,.m{font-family:ui-monospace,monospace}"
    ".v{color:#57606a}details{border:1px solid #d0d7de;border-radius:6px;margin:.6rem 0;"
    "padding:.5rem .8rem}summary{cursor:pointer}.m{display:inline-block;min-width:4.5rem;"
    "font-weight:700}.get{color:#0550ae}.post{color:#116329}.put,.patch{color:#7d4e00}"
    ".delete{color:#a40e26}table{border-collapse:collapse;width:100%;margin:.4rem 0}"
    "th,td{text-align:left;vertical-align:top;border-top:1px solid #d0d7de;padding:.3rem .6rem "
    ".3rem 0}@media(prefers-color-scheme:dark){body{color:#e6edf3;background:#0d1117}"
    ".v{color:#9198a1}details,th,td{border-color:#3d444d}.get{color:#79c0ff}.post{color:#7ee787}"
    ".put,.patch{color:#e3b341}.delete{color:#ff7b72}}";

std::string lower(std::string_view s) {
  std::string out(s);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + 0x20);
  }
  return out;
}

std::string schema_text(const model::Schema* schema) {
  if (!schema) return "any";
  static constexpr struct {
    uint32_t bit;
    const char* name;
  } kNames[] = {{model::kTypeBoolean, "boolean"}, {model::kTypeInteger, "integer"},
                {model::kTypeNumber, "number"},   {model::kTypeString, "string"},
                {model::kTypeArray, "list"},      {model::kTypeObject, "object"},
                {model::kTypeNull, "null"}};
  const uint32_t types = model::possible_types(*schema);
  std::string out;
  for (const auto& n : kNames) {
    if ((types & n.bit) == 0) continue;
    if (!out.empty()) out += " or ";
    out += n.name;
  }
  if (out.empty()) out = "any";
  if (!schema->format_name.empty()) out += " (" + schema->format_name + ")";
  if (schema->enumeration) out += " " + json::write(*schema->enumeration);
  const std::string marker = "/schemas/";
  const size_t named = schema->pointer.rfind(marker);
  if (named != std::string::npos) {
    const std::string name = schema->pointer.substr(named + marker.size());
    if (name.find('/') == std::string::npos) out = name + ", " + out;
  }
  return out;
}

std::string_view place_text(model::ParameterPlace place) {
  switch (place) {
    case model::ParameterPlace::kPath:
      return "path";
    case model::ParameterPlace::kQuery:
      return "query";
    case model::ParameterPlace::kHeader:
      return "header";
    case model::ParameterPlace::kCookie:
      break;
  }
  return "cookie";
}

void append_row(std::string& out, std::initializer_list<std::string_view> cells) {
  out += "<tr>";
  for (std::string_view c : cells) out += "<td>" + base::escape_attribute(c) + "</td>";
  out += "</tr>\n";
}

void append_media_types(std::string& out, std::string_view what, std::string_view description,
                        const std::vector<model::MediaType>& types) {
  if (types.empty()) append_row(out, {what, "", "", description});
  for (const model::MediaType& m : types) {
    append_row(out, {what, m.name, schema_text(m.schema), description});
  }
}

void append_operation(std::string& out, const model::Operation& o, std::string_view base_path) {
  const std::string method = lower(o.method);
  out += "<details id=\"" + base::escape_attribute(o.id) + "\"><summary><span class=\"m " + method +
         "\">" + o.method + "</span> <code>" + base::escape_attribute(base_path) +
         base::escape_attribute(o.path) + "</code> " + base::escape_attribute(o.summary) +
         (o.is_deprecated ? " (deprecated)" : "") + "</summary>\n";
  if (!o.description.empty()) out += "<p>" + base::escape_attribute(o.description) + "</p>\n";
  out += "<p class=\"v\">Operation " + base::escape_attribute(o.id) + "</p>\n";
  if (!o.parameters.empty()) {
    out += "<table><tr><th>Parameter</th><th>In</th><th>Type</th><th></th></tr>\n";
    for (const model::Parameter& p : o.parameters) {
      append_row(out, {p.name, place_text(p.place), schema_text(p.schema),
                       (p.is_required ? "Required. " : "") + p.description});
    }
    out += "</table>\n";
  }
  out += "<table><tr><th>Message</th><th>Media type</th><th>Type</th><th></th></tr>\n";
  if (o.body) {
    append_media_types(out, "Request",
                       (o.body->is_required ? "Required. " : "") + o.body->description,
                       o.body->media_types);
  }
  for (const model::Reply& r : o.replies) {
    append_media_types(out, r.status, r.description, r.media_types);
  }
  out += "</table></details>\n";
}

}  // namespace

std::string documentation_page(const model::ApiDocument& document, std::string_view base_path,
                               std::string_view document_name) {
  const std::string title =
      base::escape_attribute(document.title().empty() ? "REST API" : document.title());
  std::string out =
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" "
      "content=\"width=device-width,initial-scale=1\"><title>" +
      title + "</title><style>" + kStyle + "</style></head><body>\n<h1>" + title +
      "</h1><p class=\"v\">Version " + base::escape_attribute(document.version()) + ", at <code>" +
      base::escape_attribute(base_path.empty() ? "/" : base_path) + "</code>. The document: ";
  if (!document_name.empty()) {
    const std::string link =
        base::escape_attribute(std::string(base_path) + "/" + std::string(document_name));
    out += "<a href=\"" + link + "\">" + base::escape_attribute(document_name) + "</a>, ";
  }
  out += "<a href=\"" + base::escape_attribute(base_path) + "/openapi.json\">as JSON</a>.</p>\n";
  if (!document.description().empty()) {
    out += "<p>" + base::escape_attribute(document.description()) + "</p>\n";
  }
  for (const model::Operation& o : document.operations()) append_operation(out, o, base_path);
  return out + "</body></html>\n";
}

std::string served_document(const model::ApiDocument& document, std::string_view base_path,
                            std::string_view host) {
  json::Value root = document.bundled_root();
  const std::string path(base_path.empty() ? std::string_view("/") : base_path);
  if (document.dialect() == model::Dialect::kSwagger2) {
    root.set("basePath", path);
    root.set("host", host);
    if (host.empty()) root.erase("host");
    root.erase("schemes");
  } else {
    json::Value server = json::Value::object();
    server.set("url", path);
    json::Value servers = json::Value::array();
    servers.push_back(std::move(server));
    root.set("servers", std::move(servers));
  }
  return json::write(root, {.is_pretty = true}) + "\n";
}

}  // namespace millstream::nodes::rest
