// The BLOB domain: the body as bytes in Root.BLOB.BLOB. The value is a view of the input; nothing
// is copied. A message whose own domain could not be found has the name of that domain in
// UnknownParserName beside it. Thread: that of the message.
#pragma once
#include "tree/domain.h"

namespace millstream::parsers::blob {

extern const tree::Domain kDomain;
constexpr std::string_view kUnknownParserName = "UnknownParserName";

}  // namespace millstream::parsers::blob
