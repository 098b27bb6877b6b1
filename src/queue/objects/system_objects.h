// The objects that every queue manager has: SYSTEM.*, where DEFINE takes its defaults from and what
// tools look for, and the names of the developer configuration that tutorials use. Both are MQSC
// texts that a new queue manager runs (mqsc/script_apply.h). Thread: any.
#pragma once
#include <string_view>

#include "queue/objects/attribute_spec.h"

namespace millstream::queue::objects {

// "SYSTEM.DEFAULT.LOCAL.QUEUE"; DEFINE without LIKE copies it. Empty: none.
std::string_view default_object(ObjectType type, int32_t subtype);
std::string_view system_objects_script();
std::string_view developer_objects_script();

}  // namespace millstream::queue::objects
