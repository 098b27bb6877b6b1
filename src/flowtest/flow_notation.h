// Message flows as tests write them, made into .msgflow and .subflow files that the loader reads:
//
//   HTTP Input: HTTPInput            label: type, by its short name or as of .msgflow files;
//     URLSpecifier = /orders         `subflow com/acme/Log.subflow` for a subflow
//   Route: Route
//     <filterTable filterPattern="$Body/a" routingOutputTerminal="big"/>
//   HTTP Input -> Route              out to in
//   Route.big -> Reply.in
//
// An indented line is a property of the node above, or a child element as it stands in the file. A
// line of a flow's own is `property NAME = VALUE`: a user-defined property with its default.
// Thread: any.
#pragma once
#include <string>
#include <string_view>

#include "base/result.h"

namespace millstream::flowtest {

// `name` is the path inside the project, for messages. An error says which line.
Result<std::string> flow_file_text(std::string_view notation, std::string_view name);

}  // namespace millstream::flowtest
