// All parser domains, as an explicit list (spec B1). Thread: any.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "tree/domain.h"

namespace millstream::parsers {

// By the name of DOMAIN('...') and of the folder under Root, or by the parser class name
// (MQHRF2, WSINPHDR, ...); exact case first, then any case. Null when there is none.
// "XML" gives the XMLNS domain: name the folder after what was asked for, not after domain->name.
const tree::Domain* find_domain(std::string_view name);
// Only when find_domain said no: why, as a sentence, e.g. for DFDL: "The DFDL domain is not
// supported yet."
std::string unsupported_domain_reason(std::string_view name);

}  // namespace millstream::parsers
