// MQ header folders: MQMD, MQRFH2 and MQDLH (spec B1), and the chain of headers in a message, where
// Format, CodedCharSetId and Encoding of each header describe what follows it.
//
// MQMD and MQDLH are flat: one field a structure field, text with its filling blanks, PutDate a
// DATE and PutTime a GMTTIME. MQRFH2 has its fixed fields (MQRFH2.Field) and one folder a
// name-value folder (usr, mcd, jms, psc, ...): elements become fields, their dt attribute decides
// the type (i1..i8, int: INTEGER; r4, r8: FLOAT; boolean; bin.hex: BLOB; else CHARACTER); written
// back, the type of the value decides dt.
// Thread: that of the message.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "tree/domain.h"

namespace millstream::parsers::headers {

extern const tree::Domain kMqmd;    // MQHMD
extern const tree::Domain kMqrfh2;  // MQHRF2
extern const tree::Domain kMqdlh;   // MQDEAD

// What a header says about the bytes after it.
struct MqFollowing {
  std::string_view format;  // 8 characters, blank padded
  uint32_t ccsid = 0;
  uint32_t encoding = 0;
};

// The header domain that a Format announces; null: the body follows.
const tree::Domain* header_of_format(std::string_view format);

// Parses the headers at the front of `bytes` as children of `root`, as long as the formats announce
// headers that are supported. `following` is what the MQMD says, and in the end what describes the
// body. Returns the bytes of the body.
Result<std::string_view> parse_mq_headers(tree::TreeContext& context, tree::Element* root,
                                          std::string_view bytes, MqFollowing& following);

// The MQMD in `bytes` (324 or 364 of them) as child of `root`; appends it.
Result<tree::DomainRoot*> parse_mqmd(tree::TreeContext& context, tree::Element* root,
                                     std::string_view bytes, MqFollowing& following);

// Sets Format in the header chain of `root` from MQMD on, so that each header names its successor
// and the last one `body_format` (left alone when empty): what FINALIZE DEFAULT repairs.
void repair_mq_chain(tree::TreeContext& context, tree::Element* root, std::string_view body_format);

// MQRFH2 folder text <-> elements. `folder` is "<usr>...</usr>".
Status parse_rfh2_folder(tree::TreeContext& context, tree::Element* header,
                         std::string_view folder);
void write_rfh2_folder(tree::Element* folder, std::string& out);

}  // namespace millstream::parsers::headers
