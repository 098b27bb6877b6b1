#include "mqi/property_names.h"

#include "mqi/errors_gen.h"
#include "text/utf8.h"

namespace millstream::mqi {
namespace {

struct Synonym {
  std::string_view name;
  PropertyId id;
};

constexpr std::string_view kMqmdPrefix = "Root.MQMD.";
constexpr std::string_view kJmsMqmdPrefix = "JMS_IBM_MQMD_";

constexpr Synonym kMqmdNames[] = {
    {"Version", PropertyId::kMqmdVersion},
    {"Report", PropertyId::kMqmdReport},
    {"MsgType", PropertyId::kMqmdMsgType},
    {"Expiry", PropertyId::kMqmdExpiry},
    {"Feedback", PropertyId::kMqmdFeedback},
    {"Encoding", PropertyId::kMqmdEncoding},
    {"CodedCharSetId", PropertyId::kMqmdCodedCharSetId},
    {"Format", PropertyId::kMqmdFormat},
    {"Priority", PropertyId::kMqmdPriority},
    {"Persistence", PropertyId::kMqmdPersistence},
    {"MsgId", PropertyId::kMqmdMsgId},
    {"CorrelId", PropertyId::kMqmdCorrelId},
    {"BackoutCount", PropertyId::kMqmdBackoutCount},
    {"ReplyToQ", PropertyId::kMqmdReplyToQ},
    {"ReplyToQMgr", PropertyId::kMqmdReplyToQMgr},
    {"UserIdentifier", PropertyId::kMqmdUserIdentifier},
    {"AccountingToken", PropertyId::kMqmdAccountingToken},
    {"ApplIdentityData", PropertyId::kMqmdApplIdentityData},
    {"PutApplType", PropertyId::kMqmdPutApplType},
    {"PutApplName", PropertyId::kMqmdPutApplName},
    {"PutDate", PropertyId::kMqmdPutDate},
    {"PutTime", PropertyId::kMqmdPutTime},
    {"ApplOriginData", PropertyId::kMqmdApplOriginData},
    {"GroupId", PropertyId::kMqmdGroupId},
    {"MsgSeqNumber", PropertyId::kMqmdMsgSeqNumber},
    {"Offset", PropertyId::kMqmdOffset},
    {"MsgFlags", PropertyId::kMqmdMsgFlags},
    {"OriginalLength", PropertyId::kMqmdOriginalLength},
};

constexpr Synonym kJmsNames[] = {
    {"JMSMessageID", PropertyId::kJmsMessageId},
    {"JMSCorrelationID", PropertyId::kJmsCorrelationId},
    {"JMSDeliveryMode", PropertyId::kJmsDeliveryMode},
    {"JMSDestination", PropertyId::kJmsDestination},
    {"JMSExpiration", PropertyId::kJmsExpiration},
    {"JMSPriority", PropertyId::kJmsPriority},
    {"JMSRedelivered", PropertyId::kJmsRedelivered},
    {"JMSReplyTo", PropertyId::kJmsReplyTo},
    {"JMSTimestamp", PropertyId::kJmsTimestamp},
    {"JMSType", PropertyId::kJmsType},
    {"JMSXAppID", PropertyId::kJmsxAppId},
    {"JMSXDeliveryCount", PropertyId::kJmsxDeliveryCount},
    {"JMSXGroupID", PropertyId::kJmsxGroupId},
    {"JMSXGroupSeq", PropertyId::kJmsxGroupSeq},
    {"JMSXUserID", PropertyId::kJmsxUserId},
    {"JMS_IBM_Character_Set", PropertyId::kMqmdCodedCharSetId},
    {"JMS_IBM_Encoding", PropertyId::kMqmdEncoding},
    {"JMS_IBM_Feedback", PropertyId::kMqmdFeedback},
    {"JMS_IBM_Format", PropertyId::kMqmdFormat},
    {"JMS_IBM_Last_Msg_In_Group", PropertyId::kLastMessageInGroup},
    {"JMS_IBM_MsgType", PropertyId::kMqmdMsgType},
    {"JMS_IBM_PutApplType", PropertyId::kMqmdPutApplType},
    {"JMS_IBM_PutDate", PropertyId::kMqmdPutDate},
    {"JMS_IBM_PutTime", PropertyId::kMqmdPutTime},
};

constexpr std::string_view kSelectorKeywords[] = {"NULL",    "TRUE", "FALSE", "NOT", "AND",   "OR",
                                                  "BETWEEN", "LIKE", "IN",    "IS",  "ESCAPE"};

constexpr std::string_view kPropertyFolders[] = {"usr", "mcd",     "jms",   "mq_usr",
                                                 "sib", "sib_usr", "mqext", "mqema",
                                                 "mq",  "mqps",    "mqtt",  "sib_context"};

bool is_name_character(std::string_view name, size_t at, bool is_first) {
  char c = name[at];
  if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '$') return true;
  return static_cast<unsigned char>(c) >= 0x80 || (!is_first && c >= '0' && c <= '9');
}

bool starts_with_ignoring_case(std::string_view s, std::string_view prefix) {
  return text::equals_ignoring_ascii_case(s.substr(0, prefix.size()), prefix);
}

// What the characters and dots say; null: nothing is wrong.
const char* find_form_fault(std::string_view name) {
  if (name.empty()) return "it is empty";
  if (name.size() > PropertyList::kNameBytesMax) return "it is longer than 4095 bytes";
  if (!text::is_valid_utf8(name)) return "it is not valid UTF-8";
  bool is_first = true;
  for (size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '.') {
      if (is_first || i + 1 == name.size()) return "there is nothing beside a dot";
      is_first = true;
      continue;
    }
    if (static_cast<unsigned char>(name[i]) >= 0xF0) return "a character is beyond U+FFFF";
    if (!is_name_character(name, i, is_first)) return "a character is not allowed there";
    is_first = false;
  }
  return nullptr;
}

const char* find_reserved_fault(std::string_view name) {
  std::string_view plain = name.substr(0, 4) == "usr." ? name.substr(4) : name;
  for (std::string_view keyword : kSelectorKeywords) {
    if (text::equals_ignoring_ascii_case(plain, keyword)) return "it is a keyword of selectors";
  }
  bool is_synonym = resolve_property(name).id != PropertyId::kNamed;
  if (plain.substr(0, 3) == "JMS" && (plain.size() != name.size() || !is_synonym)) {
    return "names that begin with JMS are reserved";
  }
  if (name.substr(0, 4) == "Body" || (name.substr(0, 4) == "Root" && !is_synonym)) {
    return "names that begin with Root or Body are reserved";
  }
  bool is_mq = starts_with_ignoring_case(name, "mq") && name.substr(0, 6) != "mq_usr";
  if (is_mq && name.find('.') != name.rfind('.')) {
    return "a name that begins with mq has at most one dot";
  }
  return nullptr;
}

}  // namespace

ResolvedProperty resolve_property(std::string_view name) {
  auto find = [](std::span<const Synonym> table, std::string_view wanted) {
    for (const Synonym& s : table) {
      if (s.name == wanted) return s.id;
    }
    return PropertyId::kNamed;
  };
  PropertyId id = PropertyId::kNamed;
  if (name.substr(0, kMqmdPrefix.size()) == kMqmdPrefix) {
    id = find(kMqmdNames, name.substr(kMqmdPrefix.size()));
  } else if (name.substr(0, kJmsMqmdPrefix.size()) == kJmsMqmdPrefix) {
    id = find(kMqmdNames, name.substr(kJmsMqmdPrefix.size()));
  } else if (name.substr(0, 3) == "JMS") {
    id = find(kJmsNames, name);
  }
  // "usr.a.b" keeps its folder: "a.b" would be in another.
  bool is_user = name.substr(0, 4) == "usr." && name.size() > 4;
  if (id == PropertyId::kNamed && is_user && name.find('.', 4) == std::string_view::npos) {
    name.remove_prefix(4);
  }
  return {id, name};
}

Status check_property_name(std::string_view name) {
  const char* fault = find_form_fault(name);
  if (!fault) fault = find_reserved_fault(name);
  if (!fault) return {};
  std::string_view shown = text::is_valid_utf8(name) ? name : std::string_view("?");
  return base::make_error(errors::kPropertyName,
                          {shown.substr(0, text::advance_code_points(shown, 0, 100)), fault});
}

std::string_view settable_name(PropertyId id) {
  switch (id) {
    case PropertyId::kJmsCorrelationId:
      return "jms.Cid";
    case PropertyId::kJmsReplyTo:
      return "jms.Rto";
    case PropertyId::kJmsType:
      return "mcd.Type";
    case PropertyId::kJmsxGroupId:
      return "jms.Gid";
    case PropertyId::kJmsxGroupSeq:
      return "jms.Seq";
    default:
      return {};
  }
}

std::string_view folder_of_property(std::string_view name) {
  size_t dot = name.find('.');
  return dot == std::string_view::npos ? "usr" : name.substr(0, dot);
}

bool is_property_folder(std::string_view folder, std::string_view content) {
  for (std::string_view known : kPropertyFolders) {
    if (folder == known) return true;
  }
  return content == "properties";
}

}  // namespace millstream::mqi
