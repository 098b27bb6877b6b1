// The HTTP requests that wait for an HTTPReply node, by the 24-byte RequestIdentifier of the
// LocalEnvironment, so that another flow (even after a round trip through a queue) can answer.
//
// An identifier is "EVHT", eight zero bytes and slot and generation of the table, so a look-up is
// an index and a stale or forged identifier finds nothing. Thread: any.
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
  // Writes the identifier to `out` (kRequestIdentifierBytes).
  void add(const millstream::http::RequestRef& request, char* out);
  // An empty reference when it is unknown or was removed.
  millstream::http::RequestRef find(std::string_view identifier);
  void remove(std::string_view identifier);
  size_t size() const;

 private:
  struct Slot {
    millstream::http::RequestRef request;
    uint64_t generation = 0;
  };
  bool locate(std::string_view identifier, size_t* slot, uint64_t* generation) const;

  mutable std::mutex mutex_;  // leaf lock, held for a few instructions
  std::vector<Slot> slots_;
  std::vector<uint32_t> free_;
  uint64_t next_generation_ = 1;
};

}  // namespace millstream::nodes::http
