#include "wire/amqp/broker/reason_condition.h"

#include <algorithm>

#include "mqi/reason_codes.h"
#include "mqi/reasons.h"
#include "wire/amqp/engine/conditions.h"
#include "wire/amqp/engine/delivery_state.h"

namespace millstream::wire::amqp {

std::string_view condition_of_reason(int32_t reason) {
  namespace r = mqi::reason;
  switch (reason) {
    case r::kUnknownObjectName:
    case r::kObjectNameError:  // nothing can be there
    case r::kNoSubscription:
    case r::kUnknownObjectQMgr:
    case r::kUnknownRemoteQMgr:
      return condition::kNotFound;
    case r::kNotAuthorized:
      return condition::kUnauthorizedAccess;
    case r::kObjectInUse:
    case r::kSubscriptionInUse:
      return condition::kResourceLocked;
    case r::kQDeleted:
      return condition::kResourceDeleted;
    case r::kQFull:
    case r::kQSpaceNotAvailable:
    case r::kStorageNotAvailable:
    case r::kResourceProblem:
    case r::kSyncpointLimitReached:
    case r::kHandleNotAvailable:
      return condition::kResourceLimitExceeded;
    case r::kMsgTooBigForQ:
    case r::kMsgTooBigForQMgr:
      return condition::kMessageSizeExceeded;
    case r::kPutInhibited:
    case r::kGetInhibited:
    case r::kSubInhibited:
    case r::kDurabilityNotAllowed:
    case r::kOptionNotValidForType:
      return condition::kNotAllowed;
    case r::kTopicStringError:
    case r::kObjectStringError:
    case r::kSubNameError:
    case r::kSelectorSyntaxError:
    case r::kSelectionStringError:
      return condition::kInvalidField;
    case r::kSubAlreadyExists:
      return condition::kPreconditionFailed;
    case r::kBackedOut:
      return condition::kRollback;
    case r::kQMgrStopping:
    case r::kQMgrQuiescing:
    case r::kConnectionBroken:
      return condition::kConnectionForced;
    default:
      return condition::kInternalError;
  }
}

std::string text_of_reason(int32_t reason) {
  auto codes = mqi::reason_codes();
  auto found = std::lower_bound(codes.begin(), codes.end(), reason,
                                [](const auto& c, int32_t value) { return c.value < value; });
  std::string number = std::to_string(reason);
  if (found == codes.end() || found->value != reason) return "reason " + number;
  return std::string(found->name) + " (" + number + ")";
}

std::string error_of_reason(int32_t reason) {
  return encode_error(condition_of_reason(reason), text_of_reason(reason));
}

}  // namespace millstream::wire::amqp
