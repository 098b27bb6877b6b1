// What evaluating an expression needs: where results live, the instant of this node invocation, and
// the window on the rest of the server (esql/host.h).
// Lifetime: one node invocation. Thread: one.
#pragma once
#include <cstddef>
#include <cstdint>

#include "tree/element.h"

namespace millstream::value {
class TimeZone;
}

namespace millstream::esql {

class Host;

struct EvalContext {
  tree::TreeContext& tree;            // tree.arena holds every text, blob and decimal result
  const value::TimeZone& local_zone;  // the server's zone: TIMESTAMP, CURRENT_*, LOCAL_TIMEZONE
  int64_t now_gmt_micros = 0;         // the same for every CURRENT_* of one node invocation
  Host* host = nullptr;               // may be null in unit tests of pure functions
  // The last long text that was found to be ASCII: a loop over the parts of a record need not look
  // through all of it again each time. Text of a message does not change during its invocation.
  const char* ascii_text = nullptr;
  size_t ascii_size = 0;
  base::Arena& arena() const { return tree.arena; }
};

}  // namespace millstream::esql
