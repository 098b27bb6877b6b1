// What a reader of settings says about values that cannot be, or that do nothing here: with file,
// line and the key's whole path.
// Thread: one. Lifetime: file name and diagnostics are the caller's.
#pragma once
#include <string>
#include <string_view>

#include "base/diagnostics.h"
#include "format/yaml.h"
#include "observe/errors_gen.h"

namespace millstream::observe {

class SettingReports {
 public:
  SettingReports(const std::string& file, base::Diagnostics& diagnostics)
      : file_(file), diagnostics_(diagnostics) {}

  void refuse(const format::YamlNode& node, const std::string& key, std::string_view wanted) {
    // The number of all settings with a bad value, whoever reads them (src/server/errors.yaml).
    diagnostics_.error(
        {file_, node.line, node.column}, "MS2003",
        "The setting " + key + " is '" + node.text + "'; it must be " + std::string(wanted) + ".");
  }
  void warn(const format::YamlNode& node, const std::string& key, std::string_view why) {
    Status status = base::make_error(errors::kSettingWithoutEffect, {key, node.text, why});
    diagnostics_.warning({file_, node.line, node.column}, status.error().code->id,
                         status.error().text);
  }

 private:
  const std::string& file_;
  base::Diagnostics& diagnostics_;
};

}  // namespace millstream::observe
