// Reason codes of the queue manager as error conditions of AMQP.
// Thread: any.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace millstream::wire::amqp {

std::string_view condition_of_reason(int32_t reason);
// "MQRC_Q_FULL (2053)".
std::string text_of_reason(int32_t reason);
// Both as an encoded error.
std::string error_of_reason(int32_t reason);

}  // namespace millstream::wire::amqp
