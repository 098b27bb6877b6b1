// Messages as the messaging REST API carries them: a body of text and header fields.
//
//   ibm-mq-md-messageId, -correlationId   48 hexadecimal digits (v1, v2); "ID:" and them, or a
//                                         correlation identifier of the application's (v3)
//   ibm-mq-md-expiry, -persistence, -replyTo, -priority (v3)
//   ibm-mq-usr (v3)                       name;value;type, several with commas or in several fields
//
// A put with properties or an application's correlation identifier is a JMS TextMessage, any other
// an MQSTR. What is got has to be text: MQSTR, or an MQRFH2 before it that does not say otherwise.
// Thread: any.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "admin/admin_request.h"
#include "queue/core/connection.h"

namespace millstream::admin {

enum class RestVersion : uint8_t { kV1 = 1, kV2 = 2, kV3 = 3 };

inline constexpr size_t kRestMessageBytesMax = 100u << 20;  // the most that MAXMSGL may be
inline constexpr int64_t kRestExpiryMsMax = 99'999'999'900;

// Fills body, descriptor and properties. `destination` is a URI as JMS has it, "queue:///Q1".
// The refusal, if it is one.
std::optional<AdminReply> read_rest_message(const AdminRequest& request, RestVersion version,
                                            bool is_publication, std::string_view destination,
                                            queue::PutCall& put);

// What ?messageId= and ?correlationId= ask for.
struct RestMatch {
  int32_t match_options = 0;
  mqi::Id message_id;
  mqi::Id correlation_id;
  std::string selector;  // for a correlation identifier of the application's
};
std::optional<AdminReply> read_rest_match(const AdminRequest& request, RestVersion version,
                                          RestMatch& match);
// A number of the query; the fallback when it is not there.
std::optional<AdminReply> read_rest_number(const AdminRequest& request, std::string_view name,
                                           int64_t lowest, int64_t highest, int64_t& value);

// The reply that a message is; an error (501: no text, 500: a property that no header can have)
// when it cannot be one. `is_message` tells them apart.
AdminReply rest_message_reply(const queue::GetCall& call, RestVersion version, bool& is_message);

std::string rest_id(const mqi::Id& id, RestVersion version);
// The correlation identifier as a client of the version sees it; empty: none.
std::string rest_correlation_id(const mqi::MessageDescriptor& md, std::string_view properties,
                                RestVersion version);

}  // namespace millstream::admin
