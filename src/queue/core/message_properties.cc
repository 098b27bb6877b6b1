#include "queue/core/message_properties.h"

#include "base/ascii.h"

namespace millstream::queue {
namespace {

using mqi::PropertyId;
using mqi::PropertyView;

std::string jms_identifier(std::string_view bytes) {
  std::string out = "ID:";
  base::append_hex(out, bytes);
  return out;
}

}  // namespace

PropertyView MessageProperties::text(int slot, std::string value) const {
  made_[slot] = std::move(value);
  return PropertyView::string(made_[slot]);
}

PropertyView MessageProperties::named(std::string_view name) const {
  if (message_.properties.empty()) return PropertyView::null();
  return mqi::PropertyListView::trusted(message_.properties).find(name);
}

PropertyView MessageProperties::find_property(PropertyId id, std::string_view name) const {
  if (id == PropertyId::kNamed) return named(name);
  if (id < PropertyId::kJmsMessageId) return descriptor_field(id);
  return jms_field(id);
}

PropertyView MessageProperties::descriptor_field(PropertyId id) const {
  const mqi::MessageDescriptor& md = message_.md;
  switch (id) {
    case PropertyId::kMqmdVersion:
      return PropertyView::int32(2);
    case PropertyId::kMqmdReport:
      return PropertyView::int32(md.report);
    case PropertyId::kMqmdMsgType:
      return PropertyView::int32(md.message_type);
    case PropertyId::kMqmdExpiry:
      return PropertyView::int32(md.expiry);
    case PropertyId::kMqmdFeedback:
      return PropertyView::int32(md.feedback);
    case PropertyId::kMqmdEncoding:
      return PropertyView::int32(md.encoding);
    case PropertyId::kMqmdCodedCharSetId:
      return PropertyView::int32(md.ccsid);
    case PropertyId::kMqmdFormat:
      return PropertyView::string(md.format.view());
    case PropertyId::kMqmdPriority:
      return PropertyView::int32(md.priority);
    case PropertyId::kMqmdPersistence:
      return PropertyView::int32(md.persistence);
    case PropertyId::kMqmdMsgId:
      return PropertyView::bytes(md.message_id.view());
    case PropertyId::kMqmdCorrelId:
      return PropertyView::bytes(md.correlation_id.view());
    case PropertyId::kMqmdBackoutCount:
      return PropertyView::int32(static_cast<int32_t>(backout_count_));
    case PropertyId::kMqmdReplyToQ:
      return PropertyView::string(md.reply_to_queue.view());
    case PropertyId::kMqmdReplyToQMgr:
      return PropertyView::string(md.reply_to_queue_manager.view());
    case PropertyId::kMqmdUserIdentifier:
      return PropertyView::string(md.user_identifier.view());
    case PropertyId::kMqmdAccountingToken:
      return PropertyView::bytes(md.accounting_token.view());
    case PropertyId::kMqmdApplIdentityData:
      return PropertyView::string(md.appl_identity_data.view());
    case PropertyId::kMqmdPutApplType:
      return PropertyView::int32(md.put_appl_type);
    case PropertyId::kMqmdPutApplName:
      return PropertyView::string(md.put_appl_name.view());
    case PropertyId::kMqmdPutDate:
      return PropertyView::string(md.put_date.view());
    case PropertyId::kMqmdPutTime:
      return PropertyView::string(md.put_time.view());
    case PropertyId::kMqmdApplOriginData:
      return PropertyView::string(md.appl_origin_data.view());
    case PropertyId::kMqmdGroupId:
      return PropertyView::bytes(md.group_id.view());
    case PropertyId::kMqmdMsgSeqNumber:
      return PropertyView::int32(md.sequence_number);
    case PropertyId::kMqmdOffset:
      return PropertyView::int32(md.offset);
    case PropertyId::kMqmdMsgFlags:
      return PropertyView::int32(md.flags);
    case PropertyId::kMqmdOriginalLength:
      return PropertyView::int32(md.original_length);
    default:
      return PropertyView::null();
  }
}

PropertyView MessageProperties::jms_field(PropertyId id) const {
  const mqi::MessageDescriptor& md = message_.md;
  switch (id) {
    case PropertyId::kJmsMessageId:
      if (message_.long_ids && !message_.long_ids->message_id.empty()) {
        return PropertyView::string(message_.long_ids->message_id);
      }
      return text(0, jms_identifier(md.message_id.view()));
    case PropertyId::kJmsCorrelationId: {
      PropertyView given = named("jms.Cid");
      if (!given.is_null()) return given;
      if (message_.long_ids && !message_.long_ids->correlation_id.empty()) {
        return PropertyView::string(message_.long_ids->correlation_id);
      }
      if (md.correlation_id.is_null()) return PropertyView::null();
      return text(1, jms_identifier(md.correlation_id.view()));
    }
    case PropertyId::kJmsDeliveryMode:
      return PropertyView::string(message_.is_persistent() ? "PERSISTENT" : "NON_PERSISTENT");
    case PropertyId::kJmsDestination:
      return named("jms.Dst");
    case PropertyId::kJmsExpiration:
      return PropertyView::int64(message_.expires_gmt_ms);
    case PropertyId::kJmsPriority:
      return PropertyView::int32(md.priority);
    case PropertyId::kJmsRedelivered:
      return PropertyView::boolean(backout_count_ > 0);
    case PropertyId::kJmsReplyTo: {
      PropertyView given = named("jms.Rto");
      if (!given.is_null() || md.reply_to_queue.is_blank()) return given;
      return text(2, "queue://" + std::string(md.reply_to_queue_manager.view()) + "/" +
                         std::string(md.reply_to_queue.view()));
    }
    case PropertyId::kJmsTimestamp:
      return PropertyView::int64(mqi::parse_put_time(md.put_date.view(), md.put_time.view()) /
                                 1000);
    case PropertyId::kJmsType:
      return named("mcd.Type");
    case PropertyId::kJmsxAppId:
      return PropertyView::string(md.put_appl_name.view());
    case PropertyId::kJmsxDeliveryCount:
      return PropertyView::int32(static_cast<int32_t>(backout_count_) + 1);
    case PropertyId::kJmsxGroupId: {
      PropertyView given = named("jms.Gid");
      if (!given.is_null() || md.group_id.is_null()) return given;
      return text(3, jms_identifier(md.group_id.view()));
    }
    case PropertyId::kJmsxGroupSeq:
      return md.group_id.is_null() ? named("jms.Seq") : PropertyView::int32(md.sequence_number);
    case PropertyId::kJmsxUserId:
      return PropertyView::string(md.user_identifier.view());
    case PropertyId::kLastMessageInGroup:
      return PropertyView::boolean((md.flags & 0x10) != 0);
    default:
      return PropertyView::null();
  }
}

}  // namespace millstream::queue
