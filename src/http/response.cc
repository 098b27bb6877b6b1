#include "http/response.h"

#include <charconv>

namespace millstream::http {

void Response::clear() {
  status = 200;
  reason.clear();
  headers.clear();
  body.clear();
  buffer.release();
  buffer_size = 0;
  body_view = {};
  must_close = false;
}

std::string_view reason_phrase(int status) {
  switch (status) {
    case 100:
      return "Continue";
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 202:
      return "Accepted";
    case 203:
      return "Non-Authoritative Information";
    case 204:
      return "No Content";
    case 205:
      return "Reset Content";
    case 206:
      return "Partial Content";
    case 300:
      return "Multiple Choices";
    case 301:
      return "Moved Permanently";
    case 302:
      return "Found";
    case 303:
      return "See Other";
    case 304:
      return "Not Modified";
    case 307:
      return "Temporary Redirect";
    case 308:
      return "Permanent Redirect";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 402:
      return "Payment Required";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 406:
      return "Not Acceptable";
    case 407:
      return "Proxy Authentication Required";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 410:
      return "Gone";
    case 411:
      return "Length Required";
    case 412:
      return "Precondition Failed";
    case 413:
      return "Content Too Large";
    case 414:
      return "URI Too Long";
    case 415:
      return "Unsupported Media Type";
    case 416:
      return "Range Not Satisfiable";
    case 417:
      return "Expectation Failed";
    case 422:
      return "Unprocessable Content";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 502:
      return "Bad Gateway";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    case 505:
      return "HTTP Version Not Supported";
    default:
      return "";
  }
}

namespace {
void append_number(std::string& out, uint64_t value) {
  char digits[20];
  auto end = std::to_chars(digits, digits + sizeof digits, value).ptr;
  out.append(digits, static_cast<size_t>(end - digits));
}

bool is_framing_field(std::string_view name) {
  switch (name.size()) {
    case 4:
      return equals_ignore_case(name, "date");
    case 7:
      return equals_ignore_case(name, "trailer") || equals_ignore_case(name, "upgrade");
    case 10:
      return equals_ignore_case(name, "connection") || equals_ignore_case(name, "keep-alive");
    case 14:
      return equals_ignore_case(name, "content-length");
    case 16:
      return equals_ignore_case(name, "proxy-connection");
    case 17:
      return equals_ignore_case(name, "transfer-encoding");
    default:
      return false;
  }
}
}  // namespace

int write_response_head(const Response& response, const HeadOptions& options, std::string& out,
                        bool* has_body) {
  int dropped = 0;
  int status = response.status >= 200 && response.status <= 999 ? response.status : 500;
  std::string_view reason = response.reason;
  if (reason.empty() || !is_valid_field_value(reason)) reason = reason_phrase(status);
  out.append(options.minor_version == 0 ? "HTTP/1.0 " : "HTTP/1.1 ");
  append_number(out, static_cast<uint64_t>(status));
  out.append(" ").append(reason).append("\r\n");
  if (!options.date.empty()) out.append("Date: ").append(options.date).append("\r\n");
  for (size_t i = 0; i < response.headers.size(); ++i) {
    std::string_view name = response.headers.name(i);
    std::string_view value = response.headers.value(i);
    if (is_framing_field(name)) continue;
    if (!is_valid_field_name(name) || !is_valid_field_value(value)) {
      ++dropped;
      continue;
    }
    out.append(name).append(": ").append(value).append("\r\n");
  }
  // RFC 9110 8.6: no Content-Length with 204; with 304 it would speak of another body.
  bool allows_body = status != 204 && status != 304;
  if (allows_body) {
    out.append("Content-Length: ");
    append_number(out, response.payload().size());
    out.append("\r\n");
  }
  if (!options.is_keep_alive) {
    out.append("Connection: close\r\n");
  } else if (options.minor_version == 0) {
    out.append("Connection: keep-alive\r\n");
  }
  out.append("\r\n");
  *has_body = allows_body && !options.is_head_request;
  return dropped;
}

}  // namespace millstream::http
