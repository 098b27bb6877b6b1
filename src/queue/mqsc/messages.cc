#include "queue/mqsc/messages.h"

#include "mqi/constants.h"
#include "mqi/reasons.h"

namespace millstream::queue::mqsc {
namespace {

using objects::ObjectType;

constexpr ObjectMessages kQueueMessages = {ObjectType::kQlocal, "AMQ8006I: Queue created.",
                                           "AMQ8008I: Queue changed.", "AMQ8007I: Queue deleted.",
                                           "AMQ8409I: Display Queue details."};

constexpr ObjectMessages kObjectMessages[] = {
    {ObjectType::kProcess, "AMQ8010I: Process created.", "AMQ8012I: Process changed.",
     "AMQ8011I: Process deleted.", "AMQ8407I: Display Process details."},
    {ObjectType::kNamelist, "AMQ8552I: Namelist created.", "AMQ8551I: Namelist changed.",
     "AMQ8553I: Namelist deleted.", "AMQ8550I: Display namelist details."},
    {ObjectType::kTopic, "AMQ8690I: Topic created.", "AMQ8691I: Topic changed.",
     "AMQ8692I: Topic deleted.", "AMQ8633I: Display topic details."},
    {ObjectType::kSub, "AMQ8094I: Subscription created.", "AMQ8095I: Subscription changed.",
     "AMQ8097I: Subscription deleted.", "AMQ8096I: Subscription inquired."},
    {ObjectType::kChannel, "AMQ8014I: Channel created.", "AMQ8016I: Channel changed.",
     "AMQ8015I: Channel deleted.", "AMQ8414I: Display Channel details."},
    {ObjectType::kListener, "AMQ8626I: Listener created.", "AMQ8623I: Listener changed.",
     "AMQ8628I: Listener deleted.", "AMQ8630I: Display listener information details."},
    {ObjectType::kService, "AMQ8625I: Service created.", "AMQ8622I: Service changed.",
     "AMQ8624I: Service deleted.", "AMQ8629I: Display service information details."},
    {ObjectType::kAuthinfo, "AMQ8563I: Authentication information object created.",
     "AMQ8567I: Authentication information object changed.",
     "AMQ8564I: Authentication information object deleted.",
     "AMQ8566I: Display authentication information details."},
    {ObjectType::kComminfo, "AMQ8858I: Communication information object created.",
     "AMQ8859I: Communication information object changed.",
     "AMQ8860I: Communication information object deleted.",
     "AMQ8861I: Display communication information details."},
    {ObjectType::kQmgr, "", "AMQ8005I: Queue manager changed.", "",
     "AMQ8408I: Display Queue Manager details."},
};

CommandResponse failed(int32_t reason, std::string message) {
  CommandResponse out;
  out.completion = 2;
  out.reason = reason;
  out.messages.push_back(std::move(message));
  return out;
}

std::string_view syntax_title(std::string_view id) {
  if (id == "AMQ8411E") return "Duplicate keyword.";
  if (id == "AMQ8412E") return "Number out of range.";
  if (id == "AMQ8413E") return "Text too long.";
  if (id == "AMQ8460E") return "Connection identifier not valid.";
  return "Syntax error detected at or near end of command segment below:-";
}

std::string known_failure(int32_t reason, const std::string& object, bool is_channel) {
  namespace r = mqi::reason;
  namespace o = objects::reason;
  switch (reason) {
    case r::kUnknownObjectName:
    case o::kNothingFound:
      return is_channel ? "AMQ8227E: Channel " + object + " not found."
                        : "AMQ8147E: Object " + object + " not found.";
    case o::kChannelNotFound:
      return "AMQ8227E: Channel " + object + " not found.";
    case r::kObjectAlreadyExists:
    case o::kSubscriptionExists:
      return is_channel ? "AMQ8226E: Channel " + object + " already exists."
                        : "AMQ8150E: Object " + object + " already exists.";
    case r::kObjectInUse:
    case o::kObjectOpen:
    case o::kChannelInUse:
      return "AMQ8148E: Object " + object + " is in use.";
    case r::kQNotEmpty:
      return "AMQ8143E: Queue " + object + " is not empty.";
    case r::kNotAuthorized:
      return "AMQ8135E: Not authorized.";
    case o::kWrongType:
      return "AMQ8138E: Object " + object + " has another type.";
    case o::kChannelStatusNotFound:
      return "AMQ8420I: Channel Status not found.";
    case o::kListenerRunning:
      return "AMQ8730I: Listener " + object + " is already active.";
    case o::kListenerNotRunning:
      return "MS2576W: Listener " + object + " is not active.";
    case o::kServiceRunning:
      return "AMQ8736I: Service " + object + " is already active.";
    case o::kServiceNotRunning:
      return "MS2576W: Service " + object + " is not active.";
    case o::kChannelNotActive:
      return "AMQ9533W: Channel " + object + " is not active.";
    case r::kQMgrNotAvailable:
      return "AMQ8146E: Queue manager not available.";
    case r::kResourceProblem:
    case r::kStorageNotAvailable:
      return "AMQ8153E: There is not enough storage.";
    default:
      return "";
  }
}

}  // namespace

const ObjectMessages& object_messages(ObjectType type) {
  for (const ObjectMessages& messages : kObjectMessages) {
    if (messages.type == type) return messages;
  }
  return kQueueMessages;
}

CommandResponse failure(const objects::AdminResult& result, std::string_view object,
                        bool is_channel) {
  std::string name(result.inserts.empty() || result.inserts[0].empty() ? object
                                                                       : result.inserts[0]);
  bool has_why = result.inserts.size() > 1 && (result.reason == mqi::reason::kNotAuthorized ||
                                               result.reason == objects::reason::kUnsupported ||
                                               result.reason == objects::reason::kCommandFailed);
  std::string why = has_why ? " " + result.inserts[1] : "";
  if (result.reason == objects::reason::kUnsupported) return refusal(name, why);
  std::string text = known_failure(result.reason, name, is_channel);
  if (text.empty()) {
    std::string_view reason = mqi::reason_code_name(result.reason);
    text = "AMQ8101S: Unexpected error (" + std::to_string(result.reason) +
           (reason.empty() ? "" : " ") + std::string(reason) + ")" +
           (name.empty() ? "" : " at " + name) + ".";
  }
  return failed(result.reason, text + why);
}

CommandResponse not_found(std::string_view object) {
  return failure(objects::AdminResult::failed(mqi::reason::kUnknownObjectName), object);
}

CommandResponse success(std::string_view message) {
  CommandResponse out;
  out.messages.emplace_back(message);
  return out;
}

CommandResponse syntax_failure(const SyntaxError& error, std::string_view command) {
  CommandResponse out;
  out.completion = 2;
  out.reason = objects::reason::kSyntax;
  out.is_syntax_error = true;
  out.place.column = static_cast<uint32_t>(error.begin + 1);
  out.explanation = error.text;
  out.messages.push_back(error.id + ": " + std::string(syntax_title(error.id)));
  if (error.id == "AMQ8405I") out.messages.emplace_back(command.substr(0, error.end));
  return out;
}

CommandResponse refusal(std::string_view command, std::string_view why) {
  while (!why.empty() && why.front() == ' ') why.remove_prefix(1);
  return failed(objects::reason::kUnsupported,
                "MS2570E: " + std::string(command) + " is refused. " + std::string(why));
}

}  // namespace millstream::queue::mqsc
