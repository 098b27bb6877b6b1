// The list of connections, for displays and for breaking them from outside.
#include <algorithm>

#include "queue/core/connection.h"
#include "queue/core/definitions.h"
#include "queue/core/queue_manager.h"

namespace millstream::queue {

void QueueManager::add_connection(Connection& connection) {
  std::lock_guard lock(connections_mutex_);
  connections_[connection.id()] = connection.weak_from_this();
}

void QueueManager::remove_connection(Connection& connection) {
  std::lock_guard lock(connections_mutex_);
  connections_.erase(connection.id());
}

size_t QueueManager::connection_count() const {
  std::lock_guard lock(connections_mutex_);
  return connections_.size();
}

std::vector<objects::ConnectionStatus> QueueManager::connection_status() const {
  std::vector<std::shared_ptr<Connection>> all;
  {
    std::lock_guard lock(connections_mutex_);
    for (const auto& [id, weak] : connections_) {
      if (std::shared_ptr<Connection> connection = weak.lock()) all.push_back(connection);
    }
  }
  std::sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a->id() < b->id(); });
  std::vector<objects::ConnectionStatus> out;
  for (const auto& connection : all) out.push_back(connection->status());
  return out;
}

bool QueueManager::stop_connection(std::string_view id) {
  std::vector<std::shared_ptr<Connection>> all;
  {
    std::lock_guard lock(connections_mutex_);
    for (const auto& [number, weak] : connections_) {
      if (std::shared_ptr<Connection> connection = weak.lock()) all.push_back(connection);
    }
  }
  for (const auto& connection : all) {
    if (connection->external_id() != id) continue;
    connection->executor().post([connection] { connection->abandon(); });
    return true;
  }
  return false;
}

std::string Connection::external_id() const {
  std::string id = "AMQC" + manager_.name().substr(0, 12);
  id.resize(16, ' ');
  for (int shift = 56; shift >= 0; shift -= 8) id += static_cast<char>(id_ >> shift);
  return id;
}

// Called by any thread: what changes is copied under the lock of the display.
objects::ConnectionStatus Connection::status() const {
  objects::ConnectionStatus status;
  status.id = external_id();
  status.application = options_.application_name;
  status.user = options_.user;
  status.channel = options_.channel;
  status.address = options_.remote_address;
  status.application_type = options_.channel.empty() ? "SYSTEM" : "USER";
  std::lock_guard lock(display_mutex_);
  status.handles = display_handles_;
  status.has_unit = display_has_unit_;
  status.unit_started_gmt_ms = display_unit_started_ms_;
  return status;
}

// After open, close, and the first and last step of a unit.
void Connection::show_handles() {
  std::vector<objects::HandleStatus> shown;
  for (const auto& [id, handle] : handles_) {
    objects::HandleStatus h;
    h.object = handle->object != nullptr  ? handle->object->name
               : handle->queue != nullptr ? handle->queue->name()
                                          : manager_.name();
    h.family = handle->type == mqi::ot::kQueueManager ? objects::ObjectFamily::kQmgr
               : handle->type == mqi::ot::kTopic      ? objects::ObjectFamily::kTopic
                                                      : objects::ObjectFamily::kQueue;
    if (handle->is_input) {
      h.input =
          handle->is_exclusive ? objects::HandleInput::kExclusive : objects::HandleInput::kShared;
    }
    h.is_browse = (handle->options & mqi::oo::kBrowse) != 0;
    h.is_inquire = (handle->options & mqi::oo::kInquire) != 0;
    h.is_output = (handle->options & mqi::oo::kOutput) != 0;
    h.is_set = (handle->options & mqi::oo::kSet) != 0;
    h.open_options = handle->options;
    shown.push_back(std::move(h));
  }
  std::lock_guard lock(display_mutex_);
  display_handles_ = std::move(shown);
}

void Connection::show_unit(bool has_unit) {
  std::lock_guard lock(display_mutex_);
  if (has_unit == display_has_unit_) return;
  display_has_unit_ = has_unit;
  display_unit_started_ms_ = has_unit ? manager_.now_gmt_micros() / 1000 : 0;
}

std::vector<objects::TopicStatus> QueueManager::topic_status(std::string_view pattern) const {
  return pubsub_.topic_status(pattern);
}

std::vector<objects::SubscriptionStatus> QueueManager::subscription_status(
    std::string_view pattern) const {
  return pubsub_.subscription_status(pattern);
}

objects::PublishStatus QueueManager::publish_status() const { return pubsub_.publish_status(); }

void QueueManager::clear_retained(const std::string& topic, objects::AdminDone done) {
  pubsub_.clear_retained(topic);
  UnitOfWork unit;
  unit.records.push_back({static_cast<uint8_t>(RecordKind::kRetained), topic, "", true});
  auto* operation =
      new CommitOperation(*this, std::move(unit), options_.executor,
                          [done](const Outcome& o) { done({o.completion, o.reason, {}}); });
  Outcome outcome = operation->run();
  if (!outcome.is_pending()) done({outcome.completion, outcome.reason, {}});
}

}  // namespace millstream::queue
