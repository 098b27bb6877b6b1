// The process log while flow tests run: what the reactor of a test logs goes to the log of that
// test, everything else nowhere.
// Thread: any.
#pragma once
#include <mutex>
#include <string>

namespace millstream::flowtest {

class TestLog {
 public:
  static constexpr size_t kBytesMax = 1 << 20;
  // What the calling thread logs goes to `log`; null: nowhere.
  static void capture(TestLog* log);
  // Sets the process log up; once, before the first test.
  static void install();

  void add(std::string_view line);
  std::string text() const;
  void clear();

 private:
  mutable std::mutex mutex_;
  std::string text_;
};

}  // namespace millstream::flowtest
