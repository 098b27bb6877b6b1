// Writes a queue manager as an MQSC script that recreates it on a new one.
//
// What a new queue manager has anyway (SYSTEM and DEV objects as they come) is left out, and what
// it has and this one has not is deleted. An attribute is written when it differs from what DEFINE
// would take from the default object, so default objects come first. Passwords are not written; a
// comment says which are missing. Temporary dynamic queues and subscriptions that applications made
// are not part of a queue manager's definition and left out. The order is fixed: the same
// definitions give the same bytes.
// Thread: any; a snapshot object by object.
#pragma once
#include <string>

#include "queue/objects/admin_target.h"

namespace millstream::queue::mqsc {

struct ExportOptions {
  bool all_attributes = false;  // also those at their defaults
  bool all_objects = false;     // also what a new queue manager has anyway
};
std::string export_script(const objects::AdminTarget& target, const ExportOptions& options);

}  // namespace millstream::queue::mqsc
