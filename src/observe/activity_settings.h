// What server.conf.yaml and policies of type ActivityLog say about the activity log: what is kept
// in memory, and the outputs it is written to.
//
//   ResourceManagers:
//     ActivityLogManager: {activityLogEnabled: true, defaultLogSizePerThread: 1000,
//                          minSeverityLevel: INFO}
//   ActivityLog:
//     Orders: {fileName: orders.csv, filter: 'RM=HTTP;MSGFLOW=Orders', minSeverityLevel: WARN}
//
// Thread: one while loading; read only afterwards.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/diagnostics.h"
#include "format/yaml.h"

namespace millstream::observe {

enum class ActivitySeverity : uint8_t { kDebug, kInfo, kWarning, kError };
enum class ConsoleFormat : uint8_t { kIdText, kText, kJson };

// A section of ActivityLog, or a policy.
struct ActivityOutput {
  std::string name;
  bool is_on = true;
  // Tags an entry must have; of several with one name, any.
  std::vector<std::pair<std::string, std::string>> filter;
  ActivitySeverity severity_min = ActivitySeverity::kInfo;
  std::string file;  // empty: none; relative to the work directory
  int files_max = 4;
  int64_t age_max_minutes = 0;  // 0: no limit
  size_t bytes_max = 25u << 20;
  bool is_formatted = false;  // FormattedMessage is filled in
  bool has_console = false;
  ConsoleFormat console_format = ConsoleFormat::kText;
  std::string json_members;  // added to each JSON line
  // Whether anything comes out.
  bool writes() const { return is_on && (!file.empty() || has_console); }
};

struct ActivitySettings {
  bool is_on = false;          // kept in memory for all flows
  size_t entries_max = 1'000;  // of a flow
  ActivitySeverity severity_min = ActivitySeverity::kInfo;
  std::vector<ActivityOutput> outputs;
};

inline constexpr int64_t kActivityEntriesMax = 100'000;

// What was wrong with a property, in the words of an error: "it must be {wanted}".
enum class PropertyOutcome : uint8_t { kTaken, kBad, kUnknown, kWithoutEffect };
// `name` and `text` as in server.conf.yaml and in policies. `words` gets what is wanted, or why
// there is no effect.
PropertyOutcome set_activity_property(std::string_view name, std::string_view text,
                                      ActivityOutput& out, std::string& words);

// The sections ActivityLog and ResourceManagers/ActivityLogManager. What is there wins over what is
// in `settings`.
void apply_activity_conf(const std::string& file, const format::YamlNode& root,
                         ActivitySettings& settings, base::Diagnostics& diagnostics);

}  // namespace millstream::observe
