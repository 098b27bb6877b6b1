// The messages of commands: "AMQ8006I: Queue created." and so on. Numbers and severities are those
// that scripts and tools look for; the texts are ours.
// Thread: any.
#pragma once
#include <string>
#include <string_view>

#include "queue/mqsc/response.h"
#include "queue/mqsc/syntax.h"
#include "queue/objects/admin_target.h"

namespace millstream::queue::mqsc {

struct ObjectMessages {
  objects::ObjectType type;
  std::string_view created;
  std::string_view changed;
  std::string_view deleted;
  std::string_view display;  // in front of each row
};
const ObjectMessages& object_messages(objects::ObjectType type);

// What a failed command says; the first line has the number. `object` is the name in question.
CommandResponse failure(const objects::AdminResult& result, std::string_view object,
                        bool is_channel = false);
CommandResponse not_found(std::string_view object);
CommandResponse success(std::string_view message);
CommandResponse syntax_failure(const SyntaxError& error, std::string_view command);
// A command or value that is known and does not work here.
CommandResponse refusal(std::string_view command, std::string_view why);

}  // namespace millstream::queue::mqsc
