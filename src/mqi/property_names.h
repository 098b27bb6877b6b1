// Names of message properties: the synonyms for fields, the folders of MQRFH2, and the table that
// maps both. resolve_property() and check_property_name() are declared in mqi/properties.h.
// Thread: any. Views are constants or parts of what was passed.
#pragma once
#include <span>
#include <string_view>

#include "mqi/properties.h"

namespace millstream::mqi {

// Under which name the list keeps what an application sets by a synonym ("JMSType": "mcd.Type");
// empty for those that cannot be set.
std::string_view settable_name(PropertyId id);

// "usr" for "color", "jms" for "jms.Dst".
std::string_view folder_of_property(std::string_view name);

// Whether the elements of a folder are message properties: the folders that are known for it, and
// others when they say content="properties".
bool is_property_folder(std::string_view folder, std::string_view content);

}  // namespace millstream::mqi
