#include "queue/core/definitions.h"

namespace millstream::queue {

using objects::Attr;

QueueSettings queue_settings_of(const objects::Definition& definition) {
  objects::QueueAttributes from = objects::read_queue_attributes(definition);
  QueueSettings s;
  s.inhibits_put = from.put_inhibited;
  s.inhibits_get = from.get_inhibited;
  s.default_priority = static_cast<uint8_t>(from.priority_default);
  s.default_persistent = from.persistence_default;
  s.is_fifo = from.delivery_sequence == objects::DeliverySequence::kFifo;
  s.is_shareable = from.is_shareable;
  s.default_shared = from.input_default == objects::InputDefault::kShared;
  s.is_transmission = from.usage == objects::QueueUsage::kXmitq;
  s.hardens_backout = from.backout_hardened;
  s.depth_max = static_cast<uint32_t>(from.depth_max);
  s.message_bytes_max = static_cast<uint32_t>(from.message_bytes_max);
  s.backout_threshold = static_cast<uint32_t>(from.backout_threshold);
  s.backout_queue = from.backout_queue;
  s.is_triggered = from.is_triggering;
  s.trigger_type = static_cast<TriggerType>(from.trigger_type);
  s.trigger_priority = static_cast<uint8_t>(from.trigger_priority);
  s.trigger_depth = static_cast<uint32_t>(from.trigger_depth);
  s.trigger_data = from.trigger_data;
  s.process = from.process;
  s.initiation_queue = from.initiation_queue;
  constexpr mqi::PropertyControl kControls[] = {
      mqi::PropertyControl::kCompat, mqi::PropertyControl::kNone, mqi::PropertyControl::kAll,
      mqi::PropertyControl::kForce, mqi::PropertyControl::kV6Compat};
  s.property_control = kControls[static_cast<int>(from.property_control) % 5];
  s.expiry_cap = from.expiry_cap_tenths;
  s.events.high_percent = static_cast<uint8_t>(from.depth_high_percent);
  s.events.low_percent = static_cast<uint8_t>(from.depth_low_percent);
  s.events.reports_high = from.is_depth_high_event;
  s.events.reports_low = from.is_depth_low_event;
  s.events.reports_full = from.is_depth_full_event;
  s.events.service = static_cast<ServiceEvent>(from.service_interval_event);
  s.events.service_interval_ms = static_cast<uint32_t>(from.service_interval_ms);
  switch (from.definition_type) {
    case objects::QueueDefinitionType::kPermdyn:
      s.dynamic = DynamicKind::kPermanent;
      break;
    case objects::QueueDefinitionType::kTempdyn:
      s.dynamic = DynamicKind::kTemporary;
      break;
    default:
      s.dynamic = DynamicKind::kPredefined;
      break;
  }
  return s;
}

AliasSettings alias_settings_of(const objects::Definition& definition) {
  objects::QueueAttributes from = objects::read_queue_attributes(definition);
  QueueSettings common = queue_settings_of(definition);
  AliasSettings s;
  s.target = from.target;
  s.targets_topic = from.target_type == objects::TargetType::kTopic;
  s.inhibits_put = from.put_inhibited;
  s.inhibits_get = from.get_inhibited;
  s.default_priority = common.default_priority;
  s.default_persistent = common.default_persistent;
  s.property_control = common.property_control;
  s.expiry_cap = common.expiry_cap;
  return s;
}

RemoteSettings remote_settings_of(const objects::Definition& definition) {
  objects::QueueAttributes from = objects::read_queue_attributes(definition);
  RemoteSettings s;
  s.remote_queue = from.remote_queue;
  s.remote_queue_manager = from.remote_manager;
  s.transmission_queue = from.transmission_queue;
  s.inhibits_put = from.put_inhibited;
  s.default_priority = static_cast<uint8_t>(from.priority_default);
  s.default_persistent = from.persistence_default;
  s.expiry_cap = from.expiry_cap_tenths;
  return s;
}

ProcessSettings process_settings_of(const objects::Definition& definition) {
  objects::ProcessAttributes from = objects::read_process_attributes(definition);
  return {from.application_type, from.application_id, from.environment_data, from.user_data};
}

QueueManagerSettings manager_settings_of(const objects::Definition& definition) {
  objects::QueueManagerAttributes from = objects::read_qmgr_attributes(definition);
  QueueManagerSettings s;
  s.name = definition.name();
  s.dead_letter_queue = from.dead_letter_queue;
  s.default_transmission_queue = from.default_transmission_queue;
  s.message_bytes_max = static_cast<uint32_t>(from.message_bytes_max);
  s.uncommitted_max = static_cast<uint32_t>(from.uncommitted_max);
  s.handles_max = static_cast<uint32_t>(from.handles_max);
  s.trigger_interval_ms = static_cast<uint32_t>(from.trigger_interval_ms);
  s.mark_browse_ms = from.mark_interval_ms;
  s.ccsid = from.ccsid;
  s.reports_authority = from.is_authority_event;
  s.reports_inhibited = from.is_inhibit_event;
  s.reports_local = from.is_local_event;
  s.reports_remote = from.is_remote_event;
  s.reports_start_stop = from.is_start_stop_event;
  s.reports_performance = from.is_performance_event;
  return s;
}

objects::Definition manager_definition(const QueueManagerSettings& s) {
  objects::Definition d(objects::ObjectType::kQmgr, s.name);
  auto set = [&](Attr attribute, int64_t value) {
    if (d.number(attribute) != value) d.set_number(attribute, value);
  };
  if (!s.dead_letter_queue.empty()) d.set_text(Attr::kDeadq, s.dead_letter_queue);
  if (!s.default_transmission_queue.empty()) {
    d.set_text(Attr::kDefxmitq, s.default_transmission_queue);
  }
  set(Attr::kMaxmsgl, s.message_bytes_max);
  set(Attr::kMaxumsgs, s.uncommitted_max);
  set(Attr::kMaxhands, s.handles_max);
  set(Attr::kTrigint, s.trigger_interval_ms);
  set(Attr::kMarkint, s.mark_browse_ms);
  set(Attr::kCcsid, s.ccsid);
  return d;
}

objects::Definition local_queue_definition(std::string name, const QueueSettings& s) {
  objects::Definition d(objects::ObjectType::kQlocal, std::move(name));
  auto set = [&](Attr attribute, int64_t value) {
    if (d.number(attribute) != value) d.set_number(attribute, value);
  };
  auto set_text = [&](Attr attribute, const std::string& value) {
    if (d.text(attribute) != value) d.set_text(attribute, value);
  };
  set(Attr::kPut, s.inhibits_put);
  set(Attr::kGet, s.inhibits_get);
  set(Attr::kDefprty, s.default_priority);
  set(Attr::kDefpsist, s.default_persistent);
  set(Attr::kMsgdlvsq, s.is_fifo);
  set(Attr::kShare, s.is_shareable);
  set(Attr::kDefsopt, static_cast<int64_t>(s.default_shared ? objects::InputDefault::kShared
                                                            : objects::InputDefault::kExcl));
  set(Attr::kUsage, s.is_transmission);
  set(Attr::kMaxdepth, s.depth_max);
  set(Attr::kMaxmsgl, s.message_bytes_max);
  set(Attr::kBothresh, s.backout_threshold);
  set(Attr::kCapexpry, s.expiry_cap);
  set(Attr::kPropctl, static_cast<int64_t>(s.property_control));
  set(Attr::kTrigger, s.is_triggered);
  set(Attr::kTrigtype, static_cast<int64_t>(s.trigger_type));
  set(Attr::kTrigmpri, s.trigger_priority);
  set(Attr::kTrigdpth, s.trigger_depth);
  set_text(Attr::kBoqname, s.backout_queue);
  set_text(Attr::kTrigdata, s.trigger_data);
  set_text(Attr::kProcess, s.process);
  set_text(Attr::kInitq, s.initiation_queue);
  if (s.dynamic == DynamicKind::kTemporary) {
    set(Attr::kDeftype, static_cast<int64_t>(objects::QueueDefinitionType::kTempdyn));
  } else if (s.dynamic == DynamicKind::kPermanent) {
    set(Attr::kDeftype, static_cast<int64_t>(objects::QueueDefinitionType::kPermdyn));
  }
  return d;
}

}  // namespace millstream::queue
