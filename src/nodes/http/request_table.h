// The HTTP requests that wait for an HTTPReply node, by the 24-byte RequestIdentifier of the
// LocalEnvironment, so that another flow (even after a round trip through a queue) can answer.
//
// An identifier is "EVHT", eight zero bytes, the slot of the table and the number of the request,
// so a look-up is an index and a stale or forged identifier finds nothing. Thread: any.
#pragma once
#include <cstdint>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

#include "http/request.h"

namespace millstream::nodes::http {

constexpr size_t kRequestIdentifierBytes = 24;

class RequestTable {
 public:
  // Request::user holds the slot from here on.
  void add(const millstream::http::RequestRef& request);
  // Writes the identifier of a request that was added to `out` (kRequestIdentifierBytes).
  static void write_identifier(const millstream::http::Request& request, char* out);
  // An empty reference when it is unknown or was removed.
  millstream::http::RequestRef find(std::string_view identifier);
  void remove(const millstream::http::Request& request);
  size_t size() const;
  // At the end of the process, when no reactor runs any more.
  void clear();

 private:
  static size_t slot_of(const millstream::http::Request& request) {
    return reinterpret_cast<uintptr_t>(request.user) - 1;
  }

  mutable std::mutex mutex_;  // leaf lock, held for a few instructions
  std::vector<millstream::http::RequestRef> slots_;
  std::vector<uint32_t> free_;
};

}  // namespace millstream::nodes::http
