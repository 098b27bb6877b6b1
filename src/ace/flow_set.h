// All flow files of an application and its libraries: which of them are flows that run, and which
// file the path of a subflow means. Thread: one.
#pragma once
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "ace/container.h"
#include "ace/flow_file.h"
#include "base/diagnostics.h"

namespace millstream::ace {

class FlowSet {
 public:
  // `units`: the application, then its libraries in search order. Files that cannot be read are
  // diagnostics.
  FlowSet(const std::vector<const Container*>& units, base::Diagnostics& diagnostics);

  const std::vector<std::unique_ptr<FlowFile>>& files() const { return files_; }
  // The file a subflow node's path means: the application's own first, then the libraries' in
  // order; a file that only ends with the path (sources below a folder) comes last. Null: none.
  const FlowFile* find(std::string_view path) const;
  // A .msgflow that runs with this application: not one that older projects use as a subflow, and
  // not one of another project of independent resources, which runs by itself.
  bool is_main_flow(const FlowFile& file) const;

 private:
  std::vector<const Container*> units_;
  std::vector<std::unique_ptr<FlowFile>> files_;
  std::map<std::string, const FlowFile*, std::less<>> by_path_;  // the first of a path wins
};

bool is_message_flow(const FlowFile& file);  // .msgflow, not .subflow

}  // namespace millstream::ace
