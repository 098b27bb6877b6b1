#include "observe/activity_log.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <ctime>

#include "base/clock.h"
#include "flow/invocation.h"

namespace millstream::observe {
namespace {

namespace json = base::json;

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

std::string csv_line(const ActivityEntry& e) {
  std::string line, inserts;
  for (const std::string& i : e.inserts) inserts += (inserts.empty() ? "" : ";") + i;
  append_field("BIP" + std::to_string(e.number) + e.severity, line);
  append_field(e.severity == 'E' ? "ERROR" : "INFO", line);
  append_field(local_time(e.time_us), line);
  append_field(std::to_string(e.thread), line);
  append_field(e.text, line);
  append_field(inserts, line);
  append_field(e.resource, line);
  append_field(e.flow, line);
  append_field(e.node, line);
  append_field(e.node_type, line);
  return line + "\n";
}

class ActivityMessage final : public flow::MessageObserver {
 public:
  ActivityMessage(ActivityLog& log, const flow::Flow& flow) : log_(log), flow_(flow) {}

  void begins(const flow::Node& input, const tree::MessageAssembly&, size_t) override {
    add(11501, 'I', input, "Received data from input node '" + input.label() + "'.",
        {input.label()});
  }
  // A failure is told where it is raised.
  void leaves(const flow::Node& node, const Status& status, const flow::NodeTimes&) override {
    if (status.ok()) return;
    const base::Error& inner = status.error().innermost();
    if (inner.number == last_error_ && inner.text == last_text_) return;
    last_error_ = inner.number;
    last_text_ = inner.text;
    add(inner.number, 'E', node, inner.text, {node.label()}, inner.id_with_letter()[0] == 'B');
  }
  void ends(const flow::Node& input, const Status& status) override {
    if (status.ok()) {
      add(11506, 'I', input, "Committed a local transaction.", {});
    } else {
      add(11507, 'E', input, "Rolled back a local transaction.", {});
    }
  }

 private:
  void add(int number, char severity, const flow::Node& node, std::string text,
           std::vector<std::string> inserts, bool is_bip = true) {
    ActivityEntry e;
    e.number = is_bip ? number : 2230;  // numbers of our own have no place in the product's column
    e.severity = severity;
    e.time_us = base::system_clock().wall_gmt_micros();
    e.thread = ::syscall(SYS_gettid);
    e.text = is_bip ? std::move(text) : "MS" + std::to_string(number) + ": " + text;
    e.inserts = std::move(inserts);
    e.flow = flow_.name();
    e.node = node.label();
    e.node_type = node.type().name;
    log_.add(std::move(e));
  }
  ActivityLog& log_;
  const flow::Flow& flow_;
  int last_error_ = 0;
  std::string last_text_;
};

}  // namespace

std::unique_ptr<flow::MessageObserver> ActivityLog::start(flow::Invocation& invocation) {
  return std::make_unique<ActivityMessage>(*this, invocation.flow());
}

const char* ActivityLog::csv_header() {
  return "MessageNumber,Severity,Timestamp,ThreadID,FormattedMessage,Inserts,RM,MSGFLOW,NODE,"
         "NODETYPE\n";
}

void ActivityLog::add(ActivityEntry entry) {
  if (file_) file_->write(csv_line(entry));
  std::lock_guard lock(mutex_);
  entries_.push_back(std::move(entry));
  if (entries_.size() > kEntriesMax) entries_.pop_front();
}

json::Value ActivityLog::entries() const {
  json::Value out = json::Value::array();
  std::lock_guard lock(mutex_);
  for (const ActivityEntry& e : entries_) {
    json::Value item = json::Value::object();
    item.set("bipNumber", "BIP" + std::to_string(e.number) + e.severity);
    item.set("timestamp", local_time(e.time_us));
    item.set("threadId", std::to_string(e.thread));
    item.set("message", e.text);
    json::Value tags = json::Value::object();
    if (!e.resource.empty()) tags.set("RM", e.resource);
    tags.set("MSGFLOW", e.flow);
    tags.set("NODE", e.node);
    tags.set("NODETYPE", e.node_type);
    item.set("tags", std::move(tags));
    out.push_back(std::move(item));
  }
  return out;
}

}  // namespace millstream::observe
