#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <mutex>

#include "base/clock.h"
#include "base/errors_gen.h"
#include "base/json_value.h"

namespace millstream::base {
namespace {

struct LogState {
  std::mutex mutex;
  std::atomic<LogLevel> level_min{LogLevel::kInfo};
  LogOptions options;
  int fd = STDERR_FILENO;
};

// Never destroyed: threads may log while the process exits.
LogState& log_state() {
  static LogState* const kState = new LogState;
  return *kState;
}

const char* level_name(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return "DEBUG";
    case LogLevel::kInfo:
      return "INFO";
    case LogLevel::kWarning:
      return "WARNING";
    case LogLevel::kError:
      return "ERROR";
  }
  return "ERROR";
}

std::string format_instant(int64_t gmt_micros, bool is_gmt, const char* pattern) {
  int64_t seconds = gmt_micros / 1'000'000;
  int64_t micros = gmt_micros % 1'000'000;
  if (micros < 0) {
    micros += 1'000'000;
    --seconds;
  }
  time_t t = static_cast<time_t>(seconds);
  tm parts{};
  if (is_gmt) {
    gmtime_r(&t, &parts);
  } else {
    localtime_r(&t, &parts);
  }
  char date[40];
  size_t size = strftime(date, sizeof date, pattern, &parts);
  char fraction[16];
  std::snprintf(fraction, sizeof fraction, ".%06d", static_cast<int>(micros));
  return std::string(date, size) + fraction;
}

void append_one_line(std::string_view text, std::string& out) {
  for (size_t i = 0; i < text.size(); ++i) {
    unsigned char c = static_cast<unsigned char>(text[i]);
    if (c == '\n') {
      out += " | ";
    } else if (c == '\r' && i + 1 < text.size() && text[i + 1] == '\n') {
      continue;
    } else if (c < 0x20 || c == 0x7f) {
      out += c == '\t' ? ' ' : '?';
    } else if (c == 0xc2 && i + 1 < text.size() && (text[i + 1] & 0xe0) == 0x80) {
      out += '?';  // U+0080 to U+009F: terminals take them as commands, some readers as line ends
      ++i;
    } else {
      out += static_cast<char>(c);
    }
  }
}

void write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t n = ::write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) return;  // a log that cannot be written must not stop the server
    bytes.remove_prefix(static_cast<size_t>(n));
  }
}

}  // namespace

std::string format_log_line(LogFormat format, LogLevel level, int64_t gmt_micros, bool is_gmt,
                            std::string_view id, std::string_view text) {
  if (format == LogFormat::kJson) {
    json::Value event = json::Value::object();
    event.set("time", format_instant(gmt_micros, true, "%Y-%m-%dT%H:%M:%S") + "Z");
    event.set("level", level_name(level));
    if (!id.empty()) event.set("id", id);
    event.set("text", text);
    return json::write(event);
  }
  std::string line = format_instant(gmt_micros, is_gmt, "%Y-%m-%d %H:%M:%S") + ": ";
  line += id.empty() ? std::string_view(level_name(level)) : id;
  line += ": ";
  append_one_line(text, line);
  return line;
}

Status configure_log(const LogOptions& options) {
  int fd = STDERR_FILENO;
  if (!options.path.empty() && !options.sink) {
    fd = ::open(options.path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    if (fd < 0) return make_error(errors::kLogOpen, {options.path, std::strerror(errno)});
  }
  LogState& state = log_state();
  std::lock_guard<std::mutex> lock(state.mutex);
  if (state.fd != STDERR_FILENO) ::close(state.fd);
  state.fd = fd;
  state.options = options;
  state.level_min.store(options.level_min, std::memory_order_relaxed);
  return {};
}

bool is_logged(LogLevel level) {
  return level >= log_state().level_min.load(std::memory_order_relaxed);
}

void log_event(LogLevel level, std::string_view id, std::string_view text) {
  if (!is_logged(level)) return;
  LogState& state = log_state();
  std::lock_guard<std::mutex> lock(state.mutex);
  const Clock& clock = state.options.clock ? *state.options.clock : system_clock();
  std::string line = format_log_line(state.options.format, level, clock.wall_gmt_micros(),
                                     state.options.is_gmt, id, text);
  line += '\n';
  if (state.options.sink) {
    state.options.sink->write_line(line);
  } else {
    write_all(state.fd, line);
  }
}

void log_error(const Error& error) {
  LogLevel level = error.severity == Severity::kInfo      ? LogLevel::kInfo
                   : error.severity == Severity::kWarning ? LogLevel::kWarning
                                                          : LogLevel::kError;
  std::string id = error.id_with_letter();
  // describe() repeats the number after the position; the line has it already.
  std::string text = error.describe();
  if (size_t at = text.find(id + ": "); at != std::string::npos) text.erase(at, id.size() + 2);
  log_event(level, id, text);
}

}  // namespace millstream::base
