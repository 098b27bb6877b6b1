// Character sets of XML documents: input to UTF-8 and output to the CCSID of the message.
// Thread: any.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "base/arena.h"
#include "base/result.h"

namespace millstream::parsers::common {

// The document in UTF-8: `bytes` itself when that is what they are, else a copy in the arena. A
// byte order mark decides; then `ccsid`, when it is stated (not 0); then the XML declaration; else
// UTF-8. UTF-8 is not validated here: the tokenizer does it as it goes.
Result<std::string_view> xml_to_utf8(base::Arena& arena, std::string_view bytes, uint32_t ccsid);

// Appends the finished document in `ccsid` (0: UTF-8). A character that the set lacks becomes a
// numeric reference in text and attribute values and is an error elsewhere.
Status append_xml_in_ccsid(std::string_view utf8, uint32_t ccsid, std::string& out);

}  // namespace millstream::parsers::common
