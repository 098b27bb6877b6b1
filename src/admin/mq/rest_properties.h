// The header field ibm-mq-usr: properties of a message as text.
//   color;"dark red";string,weight;12;integer
// A text may be in quotation marks, with \" and \\ inside. Types are boolean, byte, short, integer,
// long, float, double, string, bytes (hexadecimal digits), and the names that MQRFH2 has for them.
// Thread: any.
#pragma once
#include <string>
#include <string_view>

#include "mqi/properties.h"

namespace millstream::admin {

// Adds the properties of a field; false with `problem` when it is none.
bool read_user_properties(std::string_view field, mqi::PropertyList& out, std::string& problem);
std::string write_user_property(std::string_view name, const mqi::PropertyView& value);

}  // namespace millstream::admin
