#include <unistd.h>

#include <cstdio>
#include <ctime>

#include "io/file.h"
#include "observe/activity_log.h"

namespace millstream::observe {
namespace {

namespace json = base::json;

std::string severity_word(ActivitySeverity severity) {
  constexpr const char* kWords[] = {"DEBUG", "INFO", "WARN", "ERROR"};
  return kWords[static_cast<size_t>(severity)];
}

std::string local_time(int64_t gmt_us) {
  const time_t seconds = gmt_us / 1'000'000;
  tm fields{};
  localtime_r(&seconds, &fields);
  char text[64];
  size_t size = strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &fields);
  size += static_cast<size_t>(
      snprintf(text + size, sizeof text - size, ".%06d", static_cast<int>(gmt_us % 1'000'000)));
  return std::string(text, size);
}

void append_field(std::string_view text, std::string& line) {
  if (!line.empty()) line += ',';
  line += '"';
  for (const char c : text) {
    if (c == '"') line += '"';
    line += c == '\n' || c == '\r' ? ' ' : c;
  }
  line += '"';
}

std::string csv_line(const ActivityEntry& e, bool is_formatted) {
  std::string line, inserts;
  for (const std::string& i : e.inserts) inserts += (inserts.empty() ? "" : ";") + i;
  append_field(e.id, line);
  append_field(severity_word(e.severity), line);
  append_field(local_time(e.time_us), line);
  append_field(std::to_string(e.thread), line);
  append_field(is_formatted ? std::string_view(e.text) : std::string_view(), line);
  append_field(inserts, line);
  for (const std::string* tag : {&e.resource, &e.flow, &e.node, &e.node_type, &e.trace_id,
                                 &e.span_id, &e.trace_state, &e.trace_parent}) {
    append_field(*tag, line);
  }
  return line + "\n";
}

json::Value tags_json(const ActivityEntry& e) {
  json::Value tags = json::Value::object();
  for (const char* name : {"RM", "MSGFLOW", "NODE", "NODETYPE", "TRACE_ID", "SPAN_ID",
                           "TRACE_STATE", "TRACE_PARENT"}) {
    const std::string_view value = e.tag(name);
    if (!value.empty()) tags.set(name, std::string(value));
  }
  return tags;
}

std::string host_name() {
  char name[256] = {};
  return ::gethostname(name, sizeof name - 1) == 0 ? std::string(name) : std::string();
}

}  // namespace

std::string_view ActivityEntry::tag(std::string_view name) const {
  return name == "RM"             ? resource
         : name == "MSGFLOW"      ? flow
         : name == "NODE"         ? node
         : name == "NODETYPE"     ? node_type
         : name == "TRACE_ID"     ? trace_id
         : name == "SPAN_ID"      ? span_id
         : name == "TRACE_STATE"  ? trace_state
         : name == "TRACE_PARENT" ? std::string_view(trace_parent)
                                  : std::string_view();
}

const char* ActivityWriter::csv_header() {
  return "MessageNumber,Severity,Timestamp,ThreadID,FormattedMessage,Inserts,RM,MSGFLOW,NODE,"
         "NODETYPE,TRACE_ID,SPAN_ID,TRACE_STATE,TRACE_PARENT\n";
}

ActivityWriter::ActivityWriter(ActivityOutput output, const std::string& work_folder,
                               std::string server_name)
    : output_(std::move(output)), server_name_(std::move(server_name)) {
  if (!output_.file.empty()) {
    const bool is_absolute = output_.file.front() == '/' || work_folder.empty();
    RotatingFile::Options options;
    options.path = is_absolute ? output_.file : io::join_path(work_folder, output_.file);
    options.bytes_max = output_.bytes_max;
    options.files_max = output_.files_max;
    options.header = csv_header();
    options.age_max_s = output_.age_max_minutes * 60;
    options.starts_anew = true;
    file_ = std::make_unique<RotatingFile>(std::move(options));
  }
  // An empty path is the standard output.
  if (output_.has_console) console_ = std::make_unique<RotatingFile>("", 0, 1);
}

bool ActivityWriter::takes(const ActivityEntry& entry) const {
  if (!output_.is_on || entry.severity < output_.severity_min) return false;
  for (const auto& [name, value] : output_.filter) {
    bool is_met = false;
    for (const auto& [other, allowed] : output_.filter) {
      is_met |= other == name && entry.tag(name) == allowed;
    }
    if (!is_met) return false;
  }
  return true;
}

std::string ActivityWriter::console_line(const ActivityEntry& e) const {
  if (output_.console_format == ConsoleFormat::kText) {
    return local_time(e.time_us) + ": " + e.text + "\n";
  }
  if (output_.console_format == ConsoleFormat::kIdText) {
    return local_time(e.time_us) + ": " + e.id + ": " + e.text + "\n";
  }
  json::Value out = json::Value::object();
  out.set("type", "activity_log");
  out.set("host", host_name());
  out.set("server", server_name_);
  out.set("loglevel", severity_word(e.severity));
  out.set("messageId", e.id);
  out.set("timestamp", local_time(e.time_us));
  out.set("threadId", std::to_string(e.thread));
  out.set("message", e.text);
  out.set("tags", tags_json(e));
  std::string line = json::write(out);
  if (!output_.json_members.empty() && line.ends_with('}')) {
    line.back() = ',';
    line += output_.json_members + "}";
  }
  return line + "\n";
}

void ActivityWriter::write(const ActivityEntry& entry) {
  if (!takes(entry)) return;
  if (file_) file_->write(csv_line(entry, output_.is_formatted));
  if (console_) console_->write(console_line(entry));
}

// ---------------------------------------------------------------- in memory

void ActivityLog::add(ActivityEntry entry) {
  if (writers_) {
    for (const auto& writer : *writers_) writer->write(entry);
  }
  if (!options_.is_kept || entry.severity < options_.severity_min) return;
  std::lock_guard lock(mutex_);
  entries_.push_back(std::move(entry));
  if (entries_.size() > options_.entries_max) entries_.pop_front();
}

json::Value ActivityLog::entries() const {
  json::Value out = json::Value::array();
  std::lock_guard lock(mutex_);
  for (const ActivityEntry& e : entries_) {
    json::Value item = json::Value::object();
    item.set("bipNumber", e.id);
    item.set("severity", severity_word(e.severity));
    item.set("timestamp", local_time(e.time_us));
    item.set("threadId", std::to_string(e.thread));
    item.set("message", e.text);
    item.set("tags", tags_json(e));
    out.push_back(std::move(item));
  }
  return out;
}

}  // namespace millstream::observe
