#include "admin/admin_request.h"

namespace millstream::admin {

using base::json::Value;

const std::string& AdminRequest::parameter(std::string_view name) const {
  static const std::string kNone;
  for (const auto& [known, value] : parameters) {
    if (known == name) return value;
  }
  return kNone;
}

const std::string* AdminRequest::find_query(std::string_view name) const {
  for (const auto& [known, value] : query) {
    if (known == name) return &value;
  }
  return nullptr;
}

AdminReply json_reply(const Value& value, int status) {
  AdminReply reply;
  reply.status = status;
  reply.body = base::json::write(value, {.is_pretty = true});
  reply.body += '\n';
  return reply;
}

AdminReply text_reply(std::string text, std::string_view content_type, int status) {
  AdminReply reply;
  reply.status = status;
  reply.content_type = content_type;
  reply.body = std::move(text);
  return reply;
}

Value error_json(const base::Error& error) {
  Value out = Value::object();
  out.set("code", error.code->id);
  out.set("severity", "error");
  out.set("message", error.text);
  if (!error.position.file.empty()) {
    out.set("file", error.position.file);
    if (error.position.line != 0) out.set("line", error.position.line);
  }
  for (const auto& cause : error.causes) {
    if (!out.find("causes")) out.set("causes", Value::array());
    out.find("causes")->push_back(error_json(*cause));
  }
  return out;
}

AdminReply error_reply(int status, const base::Error& error) {
  return json_reply(error_json(error), status);
}

}  // namespace millstream::admin
