// The option words of the MQI as constants, in one namespace a prefix: MQOO_BROWSE is oo::kBrowse,
// MQGMO_WAIT gmo::kWait. Values are those of IBM MQ on every platform. Thread: any.
#pragma once
#include <cstdint>

namespace millstream::mqi {

namespace cc {
inline constexpr int32_t kOk = 0, kWarning = 1, kFailed = 2;
}  // namespace cc

// Object types (MQOT_).
namespace ot {
inline constexpr int32_t kQueue = 1, kNamelist = 2, kProcess = 3, kQueueManager = 5, kChannel = 6,
                         kAuthInfo = 7, kTopic = 8;
}  // namespace ot

// Open options.
namespace oo {
inline constexpr int32_t kInputAsQueueDef = 0x1, kInputShared = 0x2, kInputExclusive = 0x4,
                         kBrowse = 0x8, kOutput = 0x10, kInquire = 0x20, kSet = 0x40,
                         kSaveAllContext = 0x80, kPassIdentityContext = 0x100,
                         kPassAllContext = 0x200, kSetIdentityContext = 0x400,
                         kSetAllContext = 0x800, kAlternateUserAuthority = 0x1000,
                         kFailIfQuiescing = 0x2000, kBindOnOpen = 0x4000, kBindNotFixed = 0x8000,
                         kResolveNames = 0x10000, kCoOp = 0x20000, kResolveLocal = 0x40000,
                         kNoReadAhead = 0x80000, kReadAhead = 0x100000, kNoMulticast = 0x200000,
                         kBindOnGroup = 0x400000;
inline constexpr int32_t kInputAny = kInputAsQueueDef | kInputShared | kInputExclusive;
inline constexpr int32_t kContextOfPut =
    kPassIdentityContext | kPassAllContext | kSetIdentityContext | kSetAllContext;
}  // namespace oo

// Close options.
namespace co {
inline constexpr int32_t kNone = 0, kDelete = 1, kDeletePurge = 2, kKeepSub = 4, kRemoveSub = 8,
                         kQuiesce = 0x20;
}  // namespace co

// Get message options.
namespace gmo {
inline constexpr int32_t kNone = 0, kWait = 0x1, kSyncpoint = 0x2, kNoSyncpoint = 0x4,
                         kSetSignal = 0x8, kBrowseFirst = 0x10, kBrowseNext = 0x20,
                         kAcceptTruncated = 0x40, kMarkSkipBackout = 0x80, kUnderCursor = 0x100,
                         kLock = 0x200, kUnlock = 0x400, kBrowseUnderCursor = 0x800,
                         kSyncpointIfPersistent = 0x1000, kFailIfQuiescing = 0x2000,
                         kConvert = 0x4000, kLogicalOrder = 0x8000, kCompleteMessage = 0x10000,
                         kAllMessagesAvailable = 0x20000, kAllSegmentsAvailable = 0x40000,
                         kMarkBrowseHandle = 0x100000, kMarkBrowseCoOp = 0x200000,
                         kUnmarkBrowseCoOp = 0x400000, kUnmarkBrowseHandle = 0x800000,
                         kUnmarkedBrowse = 0x1000000, kPropertiesForceRfh2 = 0x2000000,
                         kNoProperties = 0x4000000, kPropertiesInHandle = 0x8000000,
                         kPropertiesCompatibility = 0x10000000;
inline constexpr int32_t kBrowseAny = kBrowseFirst | kBrowseNext | kBrowseUnderCursor;
inline constexpr int32_t kAll = 0x1FF7FFFF;
}  // namespace gmo

// Match options.
namespace mo {
inline constexpr int32_t kNone = 0, kMessageId = 1, kCorrelationId = 2, kGroupId = 4,
                         kSequenceNumber = 8, kOffset = 0x10, kToken = 0x20;
inline constexpr int32_t kAll = 0x3F;
}  // namespace mo

// Put message options.
namespace pmo {
inline constexpr int32_t kNone = 0, kSyncpoint = 0x2, kNoSyncpoint = 0x4, kDefaultContext = 0x20,
                         kNewMessageId = 0x40, kNewCorrelationId = 0x80,
                         kPassIdentityContext = 0x100, kPassAllContext = 0x200,
                         kSetIdentityContext = 0x400, kSetAllContext = 0x800,
                         kAlternateUserAuthority = 0x1000, kFailIfQuiescing = 0x2000,
                         kNoContext = 0x4000, kLogicalOrder = 0x8000, kAsyncResponse = 0x10000,
                         kSyncResponse = 0x20000, kResolveLocal = 0x40000,
                         kWarnIfNoSubsMatched = 0x80000, kRetain = 0x200000,
                         kMdForOutputOnly = 0x800000, kScopeQueueManager = 0x4000000,
                         kSuppressReplyTo = 0x8000000, kNotOwnSubs = 0x10000000;
inline constexpr int32_t kContextAny = kDefaultContext | kNoContext | kPassIdentityContext |
                                       kPassAllContext | kSetIdentityContext | kSetAllContext;
inline constexpr int32_t kAll = kSyncpoint | kNoSyncpoint | kContextAny | kNewMessageId |
                                kNewCorrelationId | kAlternateUserAuthority | kFailIfQuiescing |
                                kLogicalOrder | kAsyncResponse | kSyncResponse | kResolveLocal |
                                kWarnIfNoSubsMatched | kRetain | kMdForOutputOnly |
                                kScopeQueueManager | kSuppressReplyTo | kNotOwnSubs;
}  // namespace pmo

// Subscribe options.
namespace so {
inline constexpr int32_t kNone = 0, kAlter = 0x1, kCreate = 0x2, kResume = 0x4, kDurable = 0x8,
                         kGroupSub = 0x10, kManaged = 0x20, kSetIdentityContext = 0x40,
                         kFixedUserId = 0x100, kAnyUserId = 0x200, kPublicationsOnRequest = 0x800,
                         kNewPublicationsOnly = 0x1000, kFailIfQuiescing = 0x2000,
                         kAlternateUserAuthority = 0x40000, kWildcardChar = 0x100000,
                         kWildcardTopic = 0x200000, kSetCorrelationId = 0x400000,
                         kScopeQueueManager = 0x4000000, kNoReadAhead = 0x8000000,
                         kReadAhead = 0x10000000;
}  // namespace so

// Message types.
namespace mt {
inline constexpr int32_t kRequest = 1, kReply = 2, kReport = 4, kDatagram = 8;
}  // namespace mt

// Report options. An option "with data" contains the bits of the plain one.
namespace ro {
inline constexpr int32_t kNone = 0, kPan = 0x1, kNan = 0x2, kActivity = 0x4,
                         kPassCorrelationId = 0x40, kPassMessageId = 0x80, kCoa = 0x100,
                         kCoaWithData = 0x300, kCoaWithFullData = 0x700, kCod = 0x800,
                         kCodWithData = 0x1800, kCodWithFullData = 0x3800,
                         kPassDiscardAndExpiry = 0x4000, kExpiration = 0x200000,
                         kExpirationWithData = 0x600000, kExpirationWithFullData = 0xE00000,
                         kException = 0x1000000, kExceptionWithData = 0x3000000,
                         kExceptionWithFullData = 0x7000000, kDiscardMessage = 0x8000000;
inline constexpr int32_t kRejectUnsupportedMask = 0x101C0000;
inline constexpr int32_t kExceptionMask = 0x7000000, kExpirationMask = 0xE00000, kCoaMask = 0x700,
                         kCodMask = 0x3800;
}  // namespace ro

// Message flags.
namespace mf {
inline constexpr int32_t kSegmentationAllowed = 0x1, kSegment = 0x2, kLastSegment = 0x4,
                         kInGroup = 0x8, kLastInGroup = 0x10;
inline constexpr int32_t kRejectUnsupportedMask = 0xFFF;
}  // namespace mf

// Persistence, priority, expiry and wait interval.
inline constexpr int32_t kNotPersistent = 0, kPersistent = 1, kPersistenceAsQueueDef = 2;
inline constexpr int32_t kPriorityAsQueueDef = -1, kPriorityMax = 9;
inline constexpr int32_t kUnlimited = -1;  // MQEI_, MQWI_

// Feedback codes.
namespace fb {
inline constexpr int32_t kNone = 0, kQuit = 256, kExpiration = 258, kCoa = 259, kCod = 260,
                         kPan = 275, kNan = 276, kApplFirst = 65536;
}  // namespace fb

// Types of application.
namespace at {
inline constexpr int32_t kNoContext = 0, kUnix = 6, kQueueManager = 7, kUser = 25, kBroker = 26,
                         kJava = 28, kAmqp = 37, kUnknown = -1;
}  // namespace at

namespace sro {
inline constexpr int32_t kNone = 0, kFailIfQuiescing = 0x2000;
}  // namespace sro

}  // namespace millstream::mqi
