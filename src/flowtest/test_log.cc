#include "flowtest/test_log.h"

#include "base/log.h"

namespace millstream::flowtest {
namespace {

thread_local TestLog* t_log = nullptr;

class ThreadSink final : public base::LogSink {
 public:
  void write_line(std::string_view line) override {
    if (t_log) t_log->add(line);
  }
};

}  // namespace

void TestLog::capture(TestLog* log) { t_log = log; }

void TestLog::install() {
  static ThreadSink sink;
  base::LogOptions options;
  options.sink = &sink;
  options.is_gmt = true;
  Status status = base::configure_log(options);
  (void)status.ok();  // a sink cannot fail to open
}

void TestLog::add(std::string_view line) {
  std::lock_guard lock(mutex_);
  if (text_.size() + line.size() <= kBytesMax) text_ += line;
}

std::string TestLog::text() const {
  std::lock_guard lock(mutex_);
  return text_;
}

void TestLog::clear() {
  std::lock_guard lock(mutex_);
  text_.clear();
}

}  // namespace millstream::flowtest
