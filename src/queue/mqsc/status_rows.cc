#include "queue/mqsc/status_rows.h"

#include "base/ascii.h"
#include "queue/objects/attribute_spec.h"

namespace millstream::queue::mqsc {
namespace {

using objects::Attr;
using objects::ObjectType;

std::string digits_of(std::string_view bytes) {
  std::string out;
  base::append_upper_hex(out, bytes);
  return out;
}

std::string yes_no(bool value) { return value ? "YES" : "NO"; }

// The word of a number of an attribute; the number itself when it has none.
Field enum_field(ObjectType type, std::string_view keyword, int64_t number) {
  const objects::AttributeSpec* spec = find_spec(type, 0, keyword);
  std::string_view name = spec ? objects::name_of_number(spec->names, number) : std::string_view();
  if (name.empty()) return number_field(keyword, number);
  return text_field(keyword, std::string(name));
}

std::string_view channel_type_name(objects::ChannelType type) {
  return objects::name_of_number(objects::type_spec(ObjectType::kChannel).subtypes,
                                 static_cast<int64_t>(type));
}

std::string input_name(objects::HandleInput input) {
  if (input == objects::HandleInput::kShared) return "SHARED";
  return input == objects::HandleInput::kExclusive ? "EXCL" : "NO";
}

// EXTURID in the form of an XA identifier.
std::string unit_id(const std::string& xid) {
  return xid.empty() ? "XA_FORMATID[] XA_GTRID[] XA_BQUAL[]" : xid;
}

std::string connect_options(int32_t options) {
  struct Option {
    int32_t bit;
    std::string_view name;
  };
  static constexpr Option kOptions[] = {{0x00000020, "MQCNO_HANDLE_SHARE_NONE"},
                                        {0x00000040, "MQCNO_HANDLE_SHARE_BLOCK"},
                                        {0x00000080, "MQCNO_HANDLE_SHARE_NO_BLOCK"},
                                        {0x00000001, "MQCNO_FASTPATH_BINDING"},
                                        {0x00000100, "MQCNO_SHARED_BINDING"},
                                        {0x00000200, "MQCNO_ISOLATED_BINDING"},
                                        {0x01000000, "MQCNO_RECONNECT"}};
  std::string out;
  for (const Option& option : kOptions) {
    if ((options & option.bit) == 0) continue;
    out += (out.empty() ? "" : ",") + std::string(option.name);
  }
  return out.empty() ? "MQCNO_STANDARD_BINDING" : out;
}

std::string object_type_name(objects::ObjectFamily family) {
  switch (family) {
    case objects::ObjectFamily::kQueue:
      return "QUEUE";
    case objects::ObjectFamily::kTopic:
      return "TOPIC";
    case objects::ObjectFamily::kQmgr:
      return "QMGR";
    case objects::ObjectFamily::kProcess:
      return "PROCESS";
    case objects::ObjectFamily::kNamelist:
      return "NAMELIST";
    default:
      return "";
  }
}

}  // namespace

Row queue_row(const objects::QueueStatus& s) {
  bool monitors = s.has_monitoring;
  Row row;
  row.fields = {text_field("QUEUE", s.queue),
                text_field("TYPE", "QUEUE"),
                number_field("CURDEPTH", s.depth),
                number_field("CURFSIZE", (s.bytes + (1 << 20) - 1) >> 20),
                blank_field("CURMAXFS"),
                number_field("IPPROCS", s.inputs),
                date_field("LGETDATE", monitors ? s.last_get_gmt_ms : 0),
                time_field("LGETTIME", monitors ? s.last_get_gmt_ms : 0),
                date_field("LPUTDATE", monitors ? s.last_put_gmt_ms : 0),
                time_field("LPUTTIME", monitors ? s.last_put_gmt_ms : 0),
                blank_field("MEDIALOG"),
                text_field("MONQ", monitors ? "MEDIUM" : "OFF")};
  row.fields.push_back(monitors ? number_field("MSGAGE", s.oldest_age_s < 0 ? 0 : s.oldest_age_s)
                                : blank_field("MSGAGE"));
  row.fields.push_back(number_field("OPPROCS", s.outputs));
  std::string short_time = s.time_short_us < 0 ? " " : std::to_string(s.time_short_us);
  std::string long_time = s.time_long_us < 0 ? " " : std::to_string(s.time_long_us);
  row.fields.push_back(text_field("QTIME", short_time + "," + long_time));
  row.fields.push_back(text_field("UNCOM", yes_no(s.uncommitted > 0)));
  return row;
}

Row queue_handle_row(const objects::ConnectionStatus& c, const objects::HandleStatus& h) {
  Row row;
  row.fields = {text_field("QUEUE", h.object),
                text_field("TYPE", "HANDLE"),
                text_field("APPLDESC", c.description),
                text_field("APPLTAG", c.application),
                text_field("APPLTYPE", c.application_type),
                text_field("BROWSE", yes_no(h.is_browse)),
                text_field("CHANNEL", c.channel),
                text_field("CONNAME", c.address),
                text_field("ASTATE", h.is_waiting ? "ACTIVE" : "NONE"),
                text_field("HSTATE", h.is_waiting ? "ACTIVE" : "INACTIVE"),
                text_field("INPUT", input_name(h.input)),
                text_field("INQUIRE", yes_no(h.is_inquire)),
                text_field("OUTPUT", yes_no(h.is_output)),
                number_field("PID", c.process_id),
                text_field("QMURID", "0.0"),
                text_field("SET", yes_no(h.is_set)),
                number_field("TID", c.thread_id),
                text_field("URID", unit_id(c.xid)),
                text_field("URTYPE", c.xid.empty() ? "QMGR" : "XA"),
                text_field("USERID", c.user)};
  return row;
}

Row connection_row(const objects::ConnectionStatus& c) {
  std::string_view id = c.id;
  std::string_view state = c.is_prepared ? "PREPARED" : c.has_unit ? "ACTIVE" : "NONE";
  Row row;
  row.fields = {text_field("CONN", digits_of(id.size() >= 24 ? id.substr(16, 8) : id)),
                text_field("EXTCONN", digits_of(id.size() >= 24 ? id.substr(0, 16) : "")),
                text_field("TYPE", "CONN"),
                number_field("PID", c.process_id),
                number_field("TID", c.thread_id),
                text_field("APPLDESC", c.description),
                text_field("APPLTAG", c.application),
                text_field("APPLTYPE", c.application_type),
                text_field("ASTATE", "NONE"),
                text_field("CHANNEL", c.channel),
                text_field("CLIENTID", c.client_id),
                text_field("CONNAME", c.address),
                text_field("CONNOPTS", connect_options(c.connect_options)),
                text_field("USERID", c.user),
                blank_field("UOWLOG"),
                date_field("UOWSTDA", c.unit_started_gmt_ms),
                time_field("UOWSTTI", c.unit_started_gmt_ms),
                blank_field("UOWLOGDA"),
                blank_field("UOWLOGTI"),
                text_field("URTYPE", c.xid.empty() ? "QMGR" : "XA"),
                text_field("EXTURID", unit_id(c.xid)),
                text_field("QMURID", "0.0"),
                text_field("UOWSTATE", std::string(state)),
                text_field("CONNTAG", c.connection_tag)};
  return row;
}

Row connection_handle_row(const Row& connection, const objects::HandleStatus& h) {
  Row row;
  row.fields.assign(connection.fields.begin(), connection.fields.begin() + 3);
  row.fields[2].value = "HANDLE";
  row.fields.push_back(text_field("OBJNAME", h.object));
  row.fields.push_back(text_field("OBJTYPE", object_type_name(h.family)));
  row.fields.push_back(text_field("ASTATE", h.is_waiting ? "ACTIVE" : "NONE"));
  row.fields.push_back(text_field("HSTATE", h.is_waiting ? "ACTIVE" : "INACTIVE"));
  row.fields.push_back(number_field("OPENOPTS", h.open_options));
  row.fields.push_back(text_field("READA", "NO"));
  if (!h.topic.empty()) row.fields.push_back(text_field("TOPICSTR", h.topic));
  return row;
}

Row channel_row(const objects::ChannelStatus& s) {
  Field current;
  current.keyword = "CURRENT";
  current.kind = FieldKind::kFlag;
  Row row;
  row.fields = {text_field("CHANNEL", s.channel),
                text_field("CHLTYPE", std::string(channel_type_name(s.type))),
                number_field("BUFSRCVD", s.buffers_received),
                number_field("BUFSSENT", s.buffers_sent),
                number_field("BYTSRCVD", s.bytes_received),
                number_field("BYTSSENT", s.bytes_sent),
                date_field("CHSTADA", s.started_gmt_ms),
                time_field("CHSTATI", s.started_gmt_ms),
                text_field("CONNAME", s.address),
                current,
                number_field("HBINT", s.heartbeat_s),
                text_field("JOBNAME", s.job),
                text_field("LOCLADDR", s.local_address),
                date_field("LSTMSGDA", s.last_message_gmt_ms),
                time_field("LSTMSGTI", s.last_message_gmt_ms),
                text_field("MCASTAT", "RUNNING"),
                text_field("MCAUSER", s.user),
                number_field("MSGS", s.messages),
                text_field("RAPPLTAG", s.remote_application),
                text_field("RQMNAME", s.remote_manager),
                text_field("SSLCIPH", s.cipher),
                text_field("SSLPEER", s.peer_name),
                text_field("STATUS", s.status),
                text_field("STOPREQ", yes_no(s.is_stop_requested)),
                text_field("SUBSTATE", s.substate)};
  if (s.type == objects::ChannelType::kSdr || s.type == objects::ChannelType::kSvr) {
    row.fields.push_back(text_field("XMITQ", s.transmission_queue));
  }
  row.fields.push_back(number_field("CURSHCNV", s.conversations));
  row.fields.push_back(number_field("MAXSHCNV", s.conversations_max));
  row.fields.push_back(text_field("RPRODUCT", s.remote_product));
  return row;
}

Row listener_row(const objects::ListenerStatus& s) {
  Row row;
  row.fields = {text_field("LISTENER", s.listener),
                text_field("STATUS", s.status),
                number_field("PID", s.process_id),
                date_field("STARTDA", s.started_gmt_ms),
                time_field("STARTTI", s.started_gmt_ms),
                text_field("DESCR", s.description),
                text_field("TRPTYPE", "TCP"),
                enum_field(ObjectType::kListener, "CONTROL", static_cast<int64_t>(s.control)),
                text_field("IPADDR", s.address.empty() ? "*" : s.address),
                number_field("PORT", s.port),
                number_field("BACKLOG", s.backlog)};
  return row;
}

Row service_row(const objects::ServiceStatus& s) {
  Row row;
  row.fields = {text_field("SERVICE", s.service), text_field("STATUS", s.status),
                number_field("PID", s.process_id), date_field("STARTDA", s.started_gmt_ms),
                time_field("STARTTI", s.started_gmt_ms)};
  return row;
}

Row manager_row(const std::string& name, const objects::ManagerStatus& s) {
  int64_t used = s.journal_bytes_max > 0 ? s.journal_bytes * 100 / s.journal_bytes_max : 0;
  Row row;
  row.fields = {text_field("QMNAME", name),
                text_field("TYPE", "QMGR"),
                text_field("STATUS", s.status),
                text_field("CHINIT", s.is_channel_initiator_running ? "RUNNING" : "STOPPED"),
                number_field("CHKPTOPS", s.checkpoints),
                text_field("CMDSERV", s.is_command_server_running ? "RUNNING" : "STOPPED"),
                number_field("CONNS", s.connections),
                text_field("DATPATH", s.data_path),
                text_field("HOSTNAME", s.host),
                number_field("LOGINUSE", used),
                text_field("LOGPATH", s.journal_path),
                text_field("LOGTYPE", "CIRCULAR"),
                text_field("STANDBY", "NOPERMIT"),
                date_field("STARTDA", s.started_gmt_ms),
                time_field("STARTTI", s.started_gmt_ms)};
  return row;
}

Row topic_row(const objects::TopicStatus& s) {
  const objects::TopicAttributes& a = s.resolved;
  auto resolved = [](std::string_view keyword, auto value) {
    return enum_field(ObjectType::kTopic, keyword, static_cast<int64_t>(value));
  };
  Row row;
  row.fields = {text_field("TOPICSTR", s.topic),
                text_field("TYPE", "TOPIC"),
                text_field("ADMIN", s.object),
                resolved("CAPEXPRY", a.expiry_cap_tenths),
                resolved("DEFPRESP", a.put_response_default),
                resolved("DEFPRTY", a.priority_default),
                resolved("DEFPSIST", a.persistence_default),
                resolved("DURSUB", a.durable_subscriptions),
                text_field("MDURMDL", a.managed_durable_model),
                text_field("MNDURMDL", a.managed_nondurable_model),
                resolved("NPMSGDLV", a.nonpersistent_delivery),
                resolved("PMSGDLV", a.persistent_delivery),
                resolved("PUB", a.publish),
                number_field("PUBCOUNT", s.publishers),
                resolved("PUBSCOPE", a.publish_scope),
                text_field("RETAINED", yes_no(s.has_retained)),
                resolved("SUB", a.subscribe),
                number_field("SUBCOUNT", s.subscriptions),
                resolved("SUBSCOPE", a.subscribe_scope),
                resolved("USEDLQ", a.use_dead_letter_queue)};
  return row;
}

Row topic_subscription_row(const objects::SubscriptionStatus& s) {
  Row row;
  row.fields = {text_field("TOPICSTR", s.topic),
                text_field("TYPE", "SUB"),
                text_field("SUBID", digits_of(s.id)),
                enum_field(ObjectType::kSub, "SUBTYPE", static_cast<int64_t>(s.origin)),
                text_field("SUBUSER", s.user),
                enum_field(ObjectType::kSub, "DURABLE", static_cast<int64_t>(s.durable)),
                number_field("NUMMSGS", s.messages),
                date_field("LMSGDATE", s.last_message_gmt_ms),
                time_field("LMSGTIME", s.last_message_gmt_ms)};
  return row;
}

Row subscription_row(const objects::SubscriptionStatus& s) {
  Row row;
  row.fields = {text_field("SUB", s.subscription),
                text_field("SUBID", digits_of(s.id)),
                text_field("ACTCONN", digits_of(s.connection_id)),
                enum_field(ObjectType::kSub, "DURABLE", static_cast<int64_t>(s.durable)),
                date_field("LMSGDATE", s.last_message_gmt_ms),
                time_field("LMSGTIME", s.last_message_gmt_ms),
                number_field("NUMMSGS", s.messages),
                date_field("RESMDATE", s.resumed_gmt_ms),
                time_field("RESMTIME", s.resumed_gmt_ms),
                enum_field(ObjectType::kSub, "SUBTYPE", static_cast<int64_t>(s.origin)),
                text_field("SUBUSER", s.user),
                text_field("TOPICSTR", s.topic)};
  return row;
}

Row publish_row(const std::string& name, const objects::PublishStatus& s) {
  Row row;
  row.fields = {text_field("QMNAME", name), text_field("TYPE", "LOCAL"),
                text_field("STATUS", s.status), number_field("TPCOUNT", s.topics),
                number_field("SUBCOUNT", s.subscriptions)};
  return row;
}

}  // namespace millstream::queue::mqsc
