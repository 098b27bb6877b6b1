// How often each statement of a program has run: line coverage of flow tests. The compiler wraps
// statements in counting ones only when it is given a LineHits; other programs have no trace of it.
// Thread: places are made by the compiling thread; counts are added by any.
#pragma once
#include <atomic>
#include <cstdint>
#include <deque>
#include <string>

namespace millstream::esql {

class LineHits {
 public:
  struct Place {
    std::string file;
    uint32_t line = 0;
    std::atomic<uint64_t> count{0};
  };
  // Stays where it is as long as this lives.
  Place& add_place(std::string file, uint32_t line) {
    Place& place = places_.emplace_back();
    place.file = std::move(file);
    place.line = line;
    return place;
  }
  const std::deque<Place>& places() const { return places_; }

 private:
  std::deque<Place> places_;
};

}  // namespace millstream::esql
