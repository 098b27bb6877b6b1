// The named constants of the MQI that ESQL predeclares (MQFMT_STRING, MQRO_EXCEPTION,
// MQEI_UNLIMITED, MQRC_NO_MSG_AVAILABLE, ...), with the values of IBM MQ on Linux x86-64. Thread:
// any.
#pragma once
#include <string_view>

#include "value/value.h"

namespace millstream::mqi {

// INTEGER; CHARACTER for formats and structure identifiers, blank padded as the field they are for;
// BLOB for identifiers such as MQCI_NONE. Exact case. False: no such constant.
bool find_mq_constant(std::string_view name, value::Value& out);
// "MQRC_Q_FULL" for 2053; empty when unknown.
std::string_view reason_code_name(int64_t reason);

}  // namespace millstream::mqi
