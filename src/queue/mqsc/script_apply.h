// Applies .mqsc files once per content, and the scripts of a new queue manager once.
//
// A file is known by a name (its path within the project). When the queue manager has seen that
// name with that content, nothing is done; otherwise the script runs in definition mode, and when
// no command failed the hash of its content is remembered, durably.
// Thread: any. What is passed has to stay until `done`.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "queue/mqsc/runner.h"

namespace millstream::queue::mqsc {

// 128 bits as hexadecimal digits, and the length. Not for secrets.
std::string script_hash(std::string_view content);

struct AppliedScript {
  bool was_known = false;          // nothing was done
  std::vector<std::string> lines;  // what the commands answered, the differences with them
  ScriptResult result;
};
void apply_script(objects::AdminTarget& target, std::string name, std::string_view content,
                  std::function<void(AppliedScript)> done);

}  // namespace millstream::queue::mqsc
