// What MQGMO_CONVERT does to a body: text from one CCSID into another, and the numbers and texts of
// the headers and structures that the formats of MQ describe (MQDEAD, MQHRF2, MQHRF, MQHMDE,
// MQXMIT, MQTRIG, MQCICS, MQIMS, MQHWIH, MQADMIN, MQEVENT, MQPCF), one behind the other.
//
// All or nothing: with a reason the body is as it was. A character that the target set has not
// becomes its substitute (SUB), as MQ's tables have it. Folders of MQRFH2 keep their own CCSID.
// What no format describes (MQFMT_NONE) behind a header stays as it is, and so does its header's
// coding of it.
// Limits: kConvertHeadersMax headers. Thread: any.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace millstream::mqi {

constexpr int kConvertHeadersMax = 100;

// How a body, or what follows a header, is coded. The format is without its blanks.
struct BodyCoding {
  int32_t encoding = 546;
  int32_t ccsid = 1208;
  std::string format;
};

// Replaces `out`. 0, or the reason of the warning:
// 2110 the format is none or unknown, or the data is not what it promises; 2111, 2112 the source's
// CCSID or encoding; 2115, 2116 the target's; 2119 bytes that mean nothing; 2190 text that does not
// fit into its field. `is_cut`: the body is the beginning of a longer one, whose last character may
// be incomplete; headers have to be whole.
int32_t convert_body(std::string_view body, const BodyCoding& from, int32_t encoding, int32_t ccsid,
                     bool is_cut, std::string& out);

}  // namespace millstream::mqi
