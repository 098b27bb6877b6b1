// The words of MQTT: protocol levels, packet types, reason codes and property identifiers, with
// the numbers of the OASIS standards 3.1.1 and 5.0. Level 3 is MQIsdp (3.1), which old clients
// still speak: it is accepted and treated like 3.1.1.
// Thread: plain data.
#pragma once
#include <cstddef>
#include <cstdint>

namespace millstream::wire::mqtt {

enum class Version : uint8_t { kUnknown = 0, k31 = 3, k311 = 4, k5 = 5 };

enum class PacketType : uint8_t {
  kReserved = 0,
  kConnect = 1,
  kConnack = 2,
  kPublish = 3,
  kPuback = 4,
  kPubrec = 5,
  kPubrel = 6,
  kPubcomp = 7,
  kSubscribe = 8,
  kSuback = 9,
  kUnsubscribe = 10,
  kUnsuback = 11,
  kPingreq = 12,
  kPingresp = 13,
  kDisconnect = 14,
  kAuth = 15,
};

// MQTT 5, 2.4. Below 0x80: it worked.
enum class Reason : uint8_t {
  kSuccess = 0x00,
  kGrantedQos1 = 0x01,
  kGrantedQos2 = 0x02,
  kDisconnectWithWill = 0x04,
  kNoMatchingSubscribers = 0x10,
  kNoSubscriptionExisted = 0x11,
  kContinueAuthentication = 0x18,
  kReAuthenticate = 0x19,
  kUnspecified = 0x80,
  kMalformedPacket = 0x81,
  kProtocolError = 0x82,
  kImplementationSpecific = 0x83,
  kUnsupportedProtocolVersion = 0x84,
  kClientIdNotValid = 0x85,
  kBadUserNameOrPassword = 0x86,
  kNotAuthorized = 0x87,
  kServerUnavailable = 0x88,
  kServerBusy = 0x89,
  kBanned = 0x8A,
  kServerShuttingDown = 0x8B,
  kBadAuthenticationMethod = 0x8C,
  kKeepAliveTimeout = 0x8D,
  kSessionTakenOver = 0x8E,
  kTopicFilterInvalid = 0x8F,
  kTopicNameInvalid = 0x90,
  kPacketIdInUse = 0x91,
  kPacketIdNotFound = 0x92,
  kReceiveMaximumExceeded = 0x93,
  kTopicAliasInvalid = 0x94,
  kPacketTooLarge = 0x95,
  kMessageRateTooHigh = 0x96,
  kQuotaExceeded = 0x97,
  kAdministrativeAction = 0x98,
  kPayloadFormatInvalid = 0x99,
  kRetainNotSupported = 0x9A,
  kQosNotSupported = 0x9B,
  kUseAnotherServer = 0x9C,
  kServerMoved = 0x9D,
  kSharedNotSupported = 0x9E,
  kConnectionRateExceeded = 0x9F,
  kMaximumConnectTime = 0xA0,
  kSubscriptionIdsNotSupported = 0xA1,
  kWildcardsNotSupported = 0xA2,
};
constexpr bool is_error(Reason r) { return static_cast<uint8_t>(r) >= 0x80; }

// Return codes of a CONNACK before version 5.
enum class ConnectReturn : uint8_t {
  kAccepted = 0,
  kUnacceptableVersion = 1,
  kIdentifierRejected = 2,
  kServerUnavailable = 3,
  kBadUserNameOrPassword = 4,
  kNotAuthorized = 5,
};

// MQTT 5, 2.2.2.2.
enum class PropertyId : uint8_t {
  kPayloadFormat = 0x01,
  kMessageExpiry = 0x02,
  kContentType = 0x03,
  kResponseTopic = 0x08,
  kCorrelationData = 0x09,
  kSubscriptionId = 0x0B,
  kSessionExpiry = 0x11,
  kAssignedClientId = 0x12,
  kServerKeepAlive = 0x13,
  kAuthenticationMethod = 0x15,
  kAuthenticationData = 0x16,
  kRequestProblemInfo = 0x17,
  kWillDelay = 0x18,
  kRequestResponseInfo = 0x19,
  kResponseInfo = 0x1A,
  kServerReference = 0x1C,
  kReasonString = 0x1F,
  kReceiveMaximum = 0x21,
  kTopicAliasMaximum = 0x22,
  kTopicAlias = 0x23,
  kMaximumQos = 0x24,
  kRetainAvailable = 0x25,
  kUserProperty = 0x26,
  kMaximumPacketSize = 0x27,
  kWildcardAvailable = 0x28,
  kSubscriptionIdsAvailable = 0x29,
  kSharedAvailable = 0x2A,
};
constexpr size_t kPropertyIdsEnd = 0x2B;

constexpr uint32_t kRemainingLengthMax = 268'435'455;
constexpr uint32_t kFixedHeaderBytesMax = 5;
constexpr uint32_t kNeverExpires = 0xFFFFFFFF;
constexpr size_t kTextBytesMax = 65'535;
// Client identifiers before 3.1.1.
constexpr size_t kOldClientIdBytesMax = 23;
// Limits of ours, over what a packet may hold at most.
constexpr size_t kUserPropertiesMax = 1'000;
constexpr size_t kFiltersMax = 1'000;  // of one SUBSCRIBE or UNSUBSCRIBE
constexpr size_t kSubscriptionIdsMax = 100;

}  // namespace millstream::wire::mqtt
