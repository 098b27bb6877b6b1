// Makes a BAR file of what a workspace holds: one archive an application and shared library, static
// libraries inside the applications that use them, policy projects as folders.
// Thread: one.
#pragma once
#include <map>
#include <string>

#include "ace/workspace.h"
#include "base/diagnostics.h"
#include "base/result.h"

namespace millstream::ace {

struct BarFile {
  std::string bytes;
  // Places in the BAR, as messages name them, and the files they were made of:
  // "App.bar!/App.appzip!/Flow.msgflow" -> "App/Flow.msgflow".
  std::map<std::string, std::string, std::less<>> sources;
  std::vector<std::string> names;  // of the containers in it
};

// `name`: "Orders.bar", for messages. Missing libraries are diagnostics.
Result<BarFile> make_bar(const Workspace& workspace, const std::string& name,
                         base::Diagnostics& diagnostics);

}  // namespace millstream::ace
