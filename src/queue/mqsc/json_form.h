// MQSC in JSON, as the administrative REST API takes it.
//
//   {"type": "runCommand", "parameters": {"command": "DEFINE QLOCAL(A)"}}
//   {"type": "runCommandJSON", "command": "define", "qualifier": "qlocal", "name": "A",
//    "parameters": {"maxdepth": 10, "share": "no"}, "responseParameters": ["all"]}
//
// The answer is {"commandResponse": [...], "overallCompletionCode": 0, "overallReasonCode": 0} with
// an entry for each object shown, or one with the message. Names of attributes are the keywords in
// lower case; words are taken in any case and given in upper case; a keyword without a value is
// "yes" or "no"; lists are arrays. Handles of connections and queues are nested in "objects".
// Thread: any.
#pragma once
#include <functional>

#include "base/json_value.h"
#include "queue/mqsc/command.h"

namespace millstream::queue::mqsc {

struct JsonAnswer {
  bool is_valid = true;  // false: the request has no such form; `problem` says what is wrong
  std::string problem;
  base::json::Value body;
};
void run_json(objects::AdminTarget& target, const base::json::Value& request,
              std::function<void(JsonAnswer)> done);

// The command that a runCommandJSON request stands for; false with `problem` when it is none.
bool json_command_text(const base::json::Value& request, std::string& text, std::string& problem);

}  // namespace millstream::queue::mqsc
