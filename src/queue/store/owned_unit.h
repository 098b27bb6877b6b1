// A redo unit that owns its bytes: what a prepare leaves behind until its outcome, and what tests
// remember. Thread: one at a time.
#pragma once
#include <deque>
#include <string>

#include "queue/store/store.h"

namespace millstream::queue {

class OwnedUnit {
 public:
  OwnedUnit() = default;
  // With `with_bodies` false, headers and bodies of puts stay empty.
  explicit OwnedUnit(const RedoUnit& unit, bool with_bodies = true) : unit_(unit) {
    unit_.xid = own(unit.xid);
    for (RedoPut& put : unit_.puts) {
      put.header = with_bodies ? own(put.header) : std::string_view();
      put.body = with_bodies ? own(put.body) : std::string_view();
    }
    for (RedoRecord& record : unit_.records) {
      record.key = own(record.key);
      record.value = own(record.value);
    }
  }
  OwnedUnit(OwnedUnit&&) = default;
  OwnedUnit& operator=(OwnedUnit&&) = default;
  OwnedUnit(const OwnedUnit& other) : OwnedUnit(other.unit_) {}
  OwnedUnit& operator=(const OwnedUnit& other) { return *this = OwnedUnit(other.unit_); }

  const RedoUnit& unit() const { return unit_; }
  RedoUnit& unit() { return unit_; }

 private:
  std::string_view own(std::string_view text) {
    if (text.empty()) return {};
    return texts_.emplace_back(text);
  }
  std::deque<std::string> texts_;  // its elements stay where they are, also when it is moved
  RedoUnit unit_;
};

}  // namespace millstream::queue
