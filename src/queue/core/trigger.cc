// Trigger messages: MQTM on the initiation queue, when a trigger monitor is there to read it and
// the process is known.
#include "queue/core/name_resolution.h"
#include "queue/core/queue_manager.h"
#include "queue/core/report.h"

namespace millstream::queue {
namespace {

void trigger_append(std::string& out, std::string_view text, size_t size) {
  text = text.substr(0, size);
  out += text;
  out.append(size - text.size(), ' ');
}

// 684 bytes.
std::string make_trigger_message(const Effects::Trigger& trigger, const ProcessSettings& process) {
  auto number = [](std::string& out, int32_t v) {
    out.append(reinterpret_cast<const char*>(&v), 4);
  };
  std::string out = "TM  ";
  number(out, 1);
  trigger_append(out, trigger.queue->name(), 48);
  trigger_append(out, trigger.settings.process, 48);
  trigger_append(out, trigger.settings.trigger_data, 64);
  number(out, process.application_type);
  trigger_append(out, process.application_id, 256);
  trigger_append(out, process.environment_data, 128);
  trigger_append(out, process.user_data, 128);
  return out;
}

}  // namespace

void QueueManager::fire(const Effects::Trigger& trigger) {
  const QueueSettings& settings = trigger.settings;
  auto process = objects_.find_process(settings.process);
  if (process == nullptr && (!settings.process.empty() || settings.trigger_data.empty())) return;
  Resolved to;
  if (!resolve_queue(*this, settings.initiation_queue, {}, true, to).is_ok()) return;
  if (to.queue == nullptr || to.queue == trigger.queue) return;
  {
    std::lock_guard lock(to.queue->mutex());
    if (to.queue->open_input == 0 || to.queue->settings().inhibits_get) return;
  }
  MessageRef message = Message::create();
  mqi::MessageDescriptor& md = message->md;
  md.format = "MQTRIG";
  md.ccsid = this->settings().ccsid;
  md.priority = to.default_priority;
  md.persistence = to.default_persistent ? mqi::kPersistent : mqi::kNotPersistent;
  md.put_appl_type = mqi::at::kQueueManager;
  md.put_appl_name = std::string_view(name());
  mqi::format_put_time(now_gmt_micros(), md.put_date, md.put_time);
  make_message_id(md.message_id);
  message->body =
      Body::adopt(make_trigger_message(trigger, process != nullptr ? *process : ProcessSettings()));
  UnitOfWork unit;
  UnitPut put;
  MessageRef plain = copy_message(*message);
  Outcome outcome = make_manager_put(*this, to, std::move(message), put);
  if (outcome.is_ok()) {
    unit.puts.push_back(std::move(put));
  } else {
    (void)add_dead_letter(*this, *plain, outcome.reason, settings.initiation_queue, {}, unit);
  }
  run_detached(std::move(unit));
  {
    std::lock_guard lock(trigger.queue->mutex());
    trigger.queue->trigger_again_ns =
        now_ns() + int64_t{this->settings().trigger_interval_ms} * 1'000'000;
  }
  if (settings.trigger_type == TriggerType::kDepth) admin_.trigger_off(trigger.queue->name());
}

void QueueManager::reconsider_triggers(const std::string& initiation_queue) {
  if (!has_triggers_.load(std::memory_order_relaxed)) return;
  Effects effects;
  for (const NamedQueueRef& object : objects_.all()) {
    if (object->queue == nullptr) continue;
    std::lock_guard lock(object->queue->mutex());
    if (object->queue->settings().initiation_queue != initiation_queue) continue;
    object->queue->reconsider_trigger(effects);
  }
  apply(std::move(effects));
}

}  // namespace millstream::queue
