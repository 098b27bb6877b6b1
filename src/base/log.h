// The process log: one line an event, to standard error or a file, as text or JSON.
//
// Text: "2026-11-30 15:04:05.123456: BIP1991I: text" in local time, as the product's console writes
// it; an event without a catalogue number has its level instead ("INFO"). JSON: one object a line.
// An event never spans lines: line ends inside a text become " | ", other control characters "?",
// so that text from outside cannot forge an event. Each event is one write(2) under a lock; the
// lock is never held while a fiber can suspend. Thread: any.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"

namespace millstream::base {

class Clock;

enum class LogLevel : uint8_t { kDebug, kInfo, kWarning, kError };
enum class LogFormat : uint8_t { kText, kJson };

// Where finished lines go ("\n" included); for tests and for the admin event stream.
class LogSink {
 public:
  virtual ~LogSink() = default;
  virtual void write_line(std::string_view line) = 0;
};

struct LogOptions {
  LogLevel level_min = LogLevel::kInfo;
  LogFormat format = LogFormat::kText;
  std::string path;              // appended to; empty = standard error
  bool is_gmt = false;           // text form in GMT instead of local time
  const Clock* clock = nullptr;  // null = the system clock; must outlive the log
  LogSink* sink = nullptr;       // replaces path; must outlive the log
};

// Replaces the configuration of the process log. On failure the former one stays.
Status configure_log(const LogOptions& options);

bool is_logged(LogLevel level);
// `id` is a catalogue number with its letter ("BIP1991I"), or empty.
void log_event(LogLevel level, std::string_view id, std::string_view text);
// The error with its causes, under its own number and severity.
void log_error(const Error& error);

inline void log_debug(std::string_view text) { log_event(LogLevel::kDebug, {}, text); }
inline void log_info(std::string_view text) { log_event(LogLevel::kInfo, {}, text); }
inline void log_warning(std::string_view text) { log_event(LogLevel::kWarning, {}, text); }
inline void log_error(std::string_view text) { log_event(LogLevel::kError, {}, text); }

// The line of an event without its end; what log_event writes.
std::string format_log_line(LogFormat format, LogLevel level, int64_t gmt_micros, bool is_gmt,
                            std::string_view id, std::string_view text);

}  // namespace millstream::base
