#include "base/log.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/errors_gen.h"
#include "base/json_value.h"

namespace millstream::base {
namespace {

constexpr int64_t kInstant = 1'796'051'045'123'456;  // 2026-11-30 15:04:05.123456 GMT

class LineCollector final : public LogSink {
 public:
  void write_line(std::string_view line) override { lines.emplace_back(line); }
  std::vector<std::string> lines;
};

struct LogFixture {
  LogFixture() { use({}); }
  ~LogFixture() { (void)configure_log({}).ok(); }
  void use(LogOptions options) {
    options.clock = &clock;
    options.is_gmt = true;
    if (options.path.empty()) options.sink = &sink;
    CHECK(configure_log(options).ok());
  }
  VirtualClock clock{kInstant};
  LineCollector sink;
};

TEST_CASE("log: text lines in the form of the product's console") {
  LogFixture f;
  log_event(LogLevel::kInfo, "BIP1991I", "Ready.");
  f.clock.advance_ns(1'000'000'000);
  log_warning("careful");
  CHECK(f.sink.lines == std::vector<std::string>{"2026-11-30 15:04:05.123456: BIP1991I: Ready.\n",
                                                 "2026-11-30 15:04:06.123456: WARNING: careful\n"});
}

TEST_CASE("log: an event is one line whatever its text") {
  LogFixture f;
  log_info("a\r\nb\nc\td\x1b[31m");
  CHECK(f.sink.lines.at(0) == "2026-11-30 15:04:05.123456: INFO: a | b | c d?[31m\n");
  log_info(
      "\xc2\x9b"
      "31m\xc2\x85\xc3\xa4\xc2\xa0\xc2");  // C1 controls go, letters stay
  CHECK(f.sink.lines.at(1) == "2026-11-30 15:04:05.123456: INFO: ?31m?\xc3\xa4\xc2\xa0\xc2\n");
}

TEST_CASE("log: JSON lines") {
  LogFixture f;
  f.use({.format = LogFormat::kJson});
  log_event(LogLevel::kError, "MS1000E", "a\n\"b\"");
  json::Value v = json::parse(f.sink.lines.at(0)).take_value();
  CHECK(v.get("time").as_string() == "2026-11-30T15:04:05.123456Z");
  CHECK(v.get("level").as_string() == "ERROR");
  CHECK(v.get("id").as_string() == "MS1000E");
  CHECK(v.get("text").as_string() == "a\n\"b\"");
}

TEST_CASE("log: levels") {
  LogFixture f;
  log_debug("no");
  CHECK(f.sink.lines.empty());
  f.use({.level_min = LogLevel::kError});
  log_warning("no");
  log_error("yes");
  CHECK(f.sink.lines.size() == 1);
  CHECK_FALSE(is_logged(LogLevel::kInfo));
}

TEST_CASE("log: errors with their causes") {
  LogFixture f;
  Status inner = make_error_at(errors::kInternal, {"a.esql", 3, 4}, {"inner"});
  log_error(wrap_error(make_error(errors::kInternal, {"outer"}), std::move(inner)).error());
  CHECK(f.sink.lines.at(0) ==
        "2026-11-30 15:04:05.123456: MS1000E: Internal error: outer |   a.esql:3:4: MS1000E: "
        "Internal error: inner\n");
}

TEST_CASE("log: instants before 1970") {
  CHECK(format_log_line(LogFormat::kText, LogLevel::kInfo, -1, true, {}, "x") ==
        "1969-12-31 23:59:59.999999: INFO: x");
}

TEST_CASE("log: to a file, from several threads, whole lines") {
  char path[] = "/tmp/millstream_log_test_XXXXXX";
  int fd = ::mkstemp(path);
  REQUIRE(fd >= 0);
  ::close(fd);
  {
    LogFixture f;
    f.use({.path = path});
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([] {
        for (int i = 0; i < 250; ++i) log_info("0123456789012345678901234567890123456789");
      });
    }
    for (std::thread& t : threads) t.join();
  }
  std::ifstream in(path);
  std::string line;
  size_t count = 0, whole = 0;
  while (std::getline(in, line)) {
    ++count;
    whole += line == "2026-11-30 15:04:05.123456: INFO: 0123456789012345678901234567890123456789";
  }
  ::unlink(path);
  CHECK(count == 1000);
  CHECK(whole == 1000);
}

TEST_CASE("log: a file that cannot be opened leaves the log as it was") {
  LogFixture f;
  Status s = configure_log({.path = "/nonexistent/folder/log"});
  REQUIRE_FALSE(s.ok());
  CHECK(s.error().code->id == std::string_view("MS1002"));
  log_info("still here");
  CHECK(f.sink.lines.size() == 1);
}

TEST_CASE("clock: virtual and system") {
  VirtualClock clock(kInstant);
  clock.advance_ns(5000);
  CHECK(clock.monotonic_ns() == 5000);
  CHECK(clock.wall_gmt_micros() == kInstant + 5);
  clock.set_wall_gmt_micros(7);
  CHECK(clock.wall_gmt_micros() == 7);
  CHECK(clock.monotonic_ns() == 5000);
  int64_t before = system_clock().monotonic_ns();
  CHECK(system_clock().monotonic_ns() >= before);
  CHECK(system_clock().wall_gmt_micros() > 1'700'000'000'000'000);
}

}  // namespace
}  // namespace millstream::base
