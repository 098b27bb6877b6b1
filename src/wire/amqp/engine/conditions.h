// Error conditions of AMQP 1.0 (2.8.15 to 2.8.18, 4.5.8). Thread: any.
#pragma once
#include <string_view>

namespace millstream::wire::amqp::condition {

inline constexpr std::string_view kInternalError = "amqp:internal-error";
inline constexpr std::string_view kNotFound = "amqp:not-found";
inline constexpr std::string_view kUnauthorizedAccess = "amqp:unauthorized-access";
inline constexpr std::string_view kDecodeError = "amqp:decode-error";
inline constexpr std::string_view kResourceLimitExceeded = "amqp:resource-limit-exceeded";
inline constexpr std::string_view kNotAllowed = "amqp:not-allowed";
inline constexpr std::string_view kInvalidField = "amqp:invalid-field";
inline constexpr std::string_view kNotImplemented = "amqp:not-implemented";
inline constexpr std::string_view kResourceLocked = "amqp:resource-locked";
inline constexpr std::string_view kPreconditionFailed = "amqp:precondition-failed";
inline constexpr std::string_view kResourceDeleted = "amqp:resource-deleted";
inline constexpr std::string_view kIllegalState = "amqp:illegal-state";
inline constexpr std::string_view kConnectionForced = "amqp:connection:forced";
inline constexpr std::string_view kFramingError = "amqp:connection:framing-error";
inline constexpr std::string_view kWindowViolation = "amqp:session:window-violation";
inline constexpr std::string_view kErrantLink = "amqp:session:errant-link";
inline constexpr std::string_view kHandleInUse = "amqp:session:handle-in-use";
inline constexpr std::string_view kUnattachedHandle = "amqp:session:unattached-handle";
inline constexpr std::string_view kDetachForced = "amqp:link:detach-forced";
inline constexpr std::string_view kTransferLimitExceeded = "amqp:link:transfer-limit-exceeded";
inline constexpr std::string_view kMessageSizeExceeded = "amqp:link:message-size-exceeded";
inline constexpr std::string_view kStolen = "amqp:link:stolen";
inline constexpr std::string_view kUnknownTransaction = "amqp:transaction:unknown-id";
inline constexpr std::string_view kRollback = "amqp:transaction:rollback";
inline constexpr std::string_view kTransactionTimeout = "amqp:transaction:timeout";

}  // namespace millstream::wire::amqp::condition
