// What a handler of the admin port gets and gives back. Replies are whole values: the admin port
// serves people and scripts, not load.
// Lifetime: the views of a request live as long as the handler's call. Thread: any.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/json_value.h"
#include "http/headers.h"

namespace millstream::http {
class Request;
}

namespace millstream::admin {

// What a route does, and so who may use it (admin_gate.h).
enum class AdminRight : uint8_t {
  kByMethod,  // GET and HEAD read, the others execute
  kRead,
  kWrite,
  kExecute,
  kOwn,  // the handler itself asks who it is
};

struct AdminRequest {
  std::string_view method;
  std::string_view path;  // as it came, percent-encoded
  const http::Headers& headers;
  std::string_view body;
  std::vector<std::pair<std::string, std::string>> query;            // decoded
  std::vector<std::pair<std::string_view, std::string>> parameters;  // of the template, decoded

  // The exchange itself, for who asks and whether he is still there; null in tests. Reactor thread.
  http::Request* exchange = nullptr;

  // The value of {name} in the path template; empty when the template has none.
  const std::string& parameter(std::string_view name) const;
  // The first value of a query parameter; null when it is not there.
  const std::string* find_query(std::string_view name) const;
};

struct AdminReply {
  int status = 200;
  std::string content_type = "application/json; charset=utf-8";
  std::string body;
  std::string allow;                                         // 405: the methods that are possible
  std::vector<std::pair<std::string, std::string>> headers;  // more of them
};

AdminReply json_reply(const base::json::Value& value, int status = 200);
AdminReply text_reply(std::string text, std::string_view content_type = "text/plain; charset=utf-8",
                      int status = 200);
// {"code": "MS2200", "severity": "error", "message": "..."} with the causes below "causes".
AdminReply error_reply(int status, const base::Error& error);
base::json::Value error_json(const base::Error& error);

}  // namespace millstream::admin
