// Errors in the shape of IBM MQ's REST API:
//   {"error": [{"type": "rest", "msgId": "MQWB0302E", "messageId": "MQWB0302E", "message": ...,
//    "explanation": ..., "action": ..., "completionCode": 2, "reasonCode": 2085}]}
// The product's manual calls the identifier messageId, its answers have msgId: both are there. An
// MQWB identifier stands only where the product's has the same meaning; what only we refuse has
// one of ours (admin/errors.yaml).
// Thread: any.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "admin/admin_request.h"
#include "queue/core/outcome.h"

namespace millstream::admin {

// Identifiers with the product's meaning.
namespace mqwb {
inline constexpr std::string_view kNoManager = "MQWB0009E";
inline constexpr std::string_view kNoCsrfHeader = "MQWB0100E";
inline constexpr std::string_view kNotAuthorized = "MQWB0103E";
inline constexpr std::string_view kNotAuthenticated = "MQWB0104E";
inline constexpr std::string_view kBadToken = "MQWB0112E";
inline constexpr std::string_view kNoConnection = "MQWB0300E";
inline constexpr std::string_view kNoMessage = "MQWB0301E";
inline constexpr std::string_view kRequestHeader = "MQWB0302E";
inline constexpr std::string_view kMessaging = "MQWB0303E";
inline constexpr std::string_view kReplyHeader = "MQWB0304E";
inline constexpr std::string_view kCharset = "MQWB0305E";
inline constexpr std::string_view kMediaType = "MQWB0306E";
inline constexpr std::string_view kBadBody = "MQWB2004E";
inline constexpr std::string_view kMethod = "MQWB2005E";
}  // namespace mqwb

struct RestError {
  int status = 500;
  std::string_view id;
  std::string_view type = "rest";  // rest, messaging
  std::string message;             // without the identifier
  std::string explanation;
  std::string action = "Correct the request and send it again.";
  int32_t completion = 0;  // 0: none is told
  int32_t reason = 0;
  int64_t retry_after_s = 0;  // 0: none is told
};
AdminReply rest_error(const RestError& error);
// With one of our records, MS2240E.
AdminReply rest_error(int status, const base::Error& error);

// What an MQI call failed with. `what` is the sentence before the reason: "The message could not
// be put on Q."; `why` the rule that refused, if there is one.
AdminReply mqi_error(std::string_view id, std::string what, const queue::Outcome& outcome,
                     const std::string& why = {});
// The status of HTTP for a reason code.
int status_of_reason(int32_t reason);

}  // namespace millstream::admin
