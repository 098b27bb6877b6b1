#include "observe/activity_settings.h"

#include <algorithm>
#include <charconv>
#include <iterator>

#include "observe/setting_reports.h"

namespace millstream::observe {
namespace {

using format::YamlNode;

constexpr std::string_view kTags[] = {"RM",       "MSGFLOW", "NODE",        "NODETYPE",
                                      "TRACE_ID", "SPAN_ID", "TRACE_STATE", "TRACE_PARENT"};

std::string_view trimmed_words(std::string_view s) {
  while (!s.empty() && (s.front() == ' ' || s.front() == '\t')) s.remove_prefix(1);
  while (!s.empty() && (s.back() == ' ' || s.back() == '\t')) s.remove_suffix(1);
  return s;
}

bool read_bool(std::string_view text, bool& out) {
  if (text != "true" && text != "false") return false;
  out = text == "true";
  return true;
}

bool read_number(std::string_view text, int64_t low, int64_t high, int64_t& out) {
  int64_t n = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), n);
  if (error != std::errc() || end != text.data() + text.size() || n < low || n > high) return false;
  out = n;
  return true;
}

bool read_severity(std::string_view text, ActivitySeverity& out) {
  constexpr std::string_view kWords[] = {"DEBUG", "INFO", "WARN", "ERROR"};
  const auto it = std::find(std::begin(kWords), std::end(kWords), text);
  if (it == std::end(kWords)) return false;
  out = static_cast<ActivitySeverity>(it - std::begin(kWords));
  return true;
}

bool read_filter(std::string_view text, ActivityOutput& out) {
  out.filter.clear();
  while (!text.empty()) {
    const size_t end = text.find(';');
    const std::string_view pair = trimmed_words(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (pair.empty()) continue;
    const size_t equals = pair.find('=');
    if (equals == std::string_view::npos) return false;
    const std::string_view tag = trimmed_words(pair.substr(0, equals));
    if (std::find(std::begin(kTags), std::end(kTags), tag) == std::end(kTags)) return false;
    out.filter.emplace_back(tag, trimmed_words(pair.substr(equals + 1)));
  }
  return true;
}

bool read_console_format(std::string_view text, ConsoleFormat& out) {
  constexpr std::string_view kWords[] = {"idText", "text", "ibmjson"};
  const auto it = std::find(std::begin(kWords), std::end(kWords), text);
  if (it == std::end(kWords)) return false;
  out = static_cast<ConsoleFormat>(it - std::begin(kWords));
  return true;
}

// True when `name` is a switch; then `taken` says whether `text` was one.
bool set_switch(std::string_view name, std::string_view text, ActivityOutput& out, bool& taken) {
  bool* const target = name == "enabled"         ? &out.is_on
                       : name == "formatEntries" ? &out.is_formatted
                       : name == "consoleLog"    ? &out.has_console
                                                 : nullptr;
  if (!target) return false;
  taken = read_bool(text, *target);
  return true;
}

// The same for numbers.
bool set_number(std::string_view name, std::string_view text, ActivityOutput& out, bool& taken,
                std::string& words) {
  int64_t n = 0;
  if (name == "numberOfLogs") {
    taken = read_number(text, 1, 1'000, n);
    if (taken) out.files_max = static_cast<int>(n);
    words = "a number from 1 to 1000";
  } else if (name == "maxAgeMins") {
    taken = read_number(text, 0, 5'256'000, out.age_max_minutes);
    words = "a number from 0 to 5256000";
  } else if (name == "maxFileSizeMb") {
    taken = read_number(text, 1, 10'000, n);
    if (taken) out.bytes_max = static_cast<size_t>(n) << 20;
    words = "a number from 1 to 10000";
  } else {
    return false;
  }
  return true;
}

}  // namespace

PropertyOutcome set_activity_property(std::string_view name, std::string_view text,
                                      ActivityOutput& out, std::string& words) {
  text = trimmed_words(text);
  bool taken = true;
  if (set_switch(name, text, out, taken)) {
    words = "true or false";
  } else if (set_number(name, text, out, taken, words)) {
  } else if (name == "filter") {
    taken = read_filter(text, out);
    words =
        "a list of tag=value with semicolons; tags are RM, MSGFLOW, NODE, NODETYPE, TRACE_ID, "
        "SPAN_ID, TRACE_STATE and TRACE_PARENT";
  } else if (name == "minSeverityLevel") {
    taken = read_severity(text, out.severity_min);
    words = "DEBUG, INFO, WARN or ERROR";
  } else if (name == "fileName") {
    out.file = text;
  } else if (name == "consoleLogFormat") {
    taken = text.empty() || read_console_format(text, out.console_format);
    words = "idText, text or ibmjson";
  } else if (name == "additionalJsonElements") {
    out.json_members = text;
  } else if (name == "elkLog" || name == "elkConnections") {
    if (text.empty() || text == "false") return PropertyOutcome::kTaken;
    words = "entries are not sent to Elasticsearch; let its shipper read the file";
    return PropertyOutcome::kWithoutEffect;
  } else {
    return PropertyOutcome::kUnknown;
  }
  return taken ? PropertyOutcome::kTaken : PropertyOutcome::kBad;
}

// ---------------------------------------------------------------- server.conf.yaml

namespace {

class ActivityConf : private SettingReports {
 public:
  using SettingReports::SettingReports;

  void read_manager(const YamlNode& section, ActivitySettings& out) {
    const std::string place = "ResourceManagers/ActivityLogManager/";
    for (const format::YamlEntry& e : section.entries) {
      int64_t n = 0;
      if (e.value.is_null()) continue;
      if (e.key == "activityLogEnabled") {
        if (!read_bool(e.value.text, out.is_on)) refuse(e.value, place + e.key, "true or false");
      } else if (e.key == "defaultLogSizePerThread") {
        if (read_number(e.value.text, 1, kActivityEntriesMax, n)) {
          out.entries_max = static_cast<size_t>(n);
        } else {
          refuse(e.value, place + e.key,
                 "a number from 1 to " + std::to_string(kActivityEntriesMax));
        }
      } else if (e.key == "minSeverityLevel") {
        if (!read_severity(e.value.text, out.severity_min)) {
          refuse(e.value, place + e.key, "INFO, WARN or ERROR");
        }
      }
    }
  }

  void read_outputs(const YamlNode& section, ActivitySettings& out) {
    for (const format::YamlEntry& e : section.entries) {
      if (e.value.is_null()) continue;
      if (!e.value.is_mapping()) {
        refuse(e.value, "ActivityLog/" + e.key,
               "a section with the properties of an output, such as fileName");
        continue;
      }
      auto it = std::find_if(out.outputs.begin(), out.outputs.end(),
                             [&](const ActivityOutput& o) { return o.name == e.key; });
      if (it == out.outputs.end()) {
        it = out.outputs.insert(it, ActivityOutput{});
        it->name = e.key;
      }
      for (const format::YamlEntry& property : e.value.entries) read_property(property, *it);
    }
  }

 private:
  void read_property(const format::YamlEntry& e, ActivityOutput& out) {
    if (e.value.is_null()) return;
    std::string words;
    const std::string place = "ActivityLog/" + out.name + "/" + e.key;
    switch (set_activity_property(e.key, e.value.text, out, words)) {
      case PropertyOutcome::kTaken:
        break;
      case PropertyOutcome::kBad:
        refuse(e.value, place, words);
        break;
      case PropertyOutcome::kUnknown:
        warn(e.value, place, "an output has no such property");
        break;
      case PropertyOutcome::kWithoutEffect:
        warn(e.value, place, words);
        break;
    }
  }
};

}  // namespace

void apply_activity_conf(const std::string& file, const YamlNode& root, ActivitySettings& settings,
                         base::Diagnostics& diagnostics) {
  ActivityConf conf(file, diagnostics);
  if (const YamlNode* section = root.find_path({"ResourceManagers", "ActivityLogManager"})) {
    conf.read_manager(*section, settings);
  }
  if (const YamlNode* section = root.find("ActivityLog")) conf.read_outputs(*section, settings);
}

}  // namespace millstream::observe
