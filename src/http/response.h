// A reply under construction and how its head is written. Headers that the framing owns
// (Content-Length, Transfer-Encoding, Connection, Keep-Alive, Date when absent) are written by the
// server, never copied. Ownership: the body is a moved string, a pooled buffer, or a view of memory
// that outlives sending. Thread: one at a time.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "http/headers.h"
#include "net/buffer_pool.h"

namespace millstream::http {

struct Response {
  int status = 200;
  std::string reason;  // empty: the usual phrase
  Headers headers;
  std::string body;    // used unless one of the next two is set
  net::Buffer buffer;  // with buffer_size bytes; must belong to the connection's reactor
  size_t buffer_size = 0;
  std::string_view body_view;  // e.g. into the request's body: lives until the reply is sent
  bool must_close = false;     // ends the connection after this reply

  std::string_view payload() const {
    if (buffer) return {buffer.data(), buffer_size};
    return body_view.data() ? body_view : std::string_view(body);
  }
  void clear();  // keeps capacities
};

// The phrase of a status code, "" when it has none.
std::string_view reason_phrase(int status);

struct HeadOptions {
  int minor_version = 1;
  bool is_keep_alive = true;
  bool is_head_request = false;
  std::string_view date;
};

// Appends the head to `out`; `*has_body` says whether the payload follows it. Fields with
// characters that would break the framing are left out and counted in the result.
int write_response_head(const Response& response, const HeadOptions& options, std::string& out,
                        bool* has_body);

}  // namespace millstream::http
