// What MQSC and REST see of a queue manager: an ObjectAdmin for one user, and its status.
#include <algorithm>

#include "queue/core/connection.h"
#include "queue/core/object_admin.h"
#include "queue/core/queue_manager.h"
#include "queue/core/queue_mover.h"
#include "queue/objects/object_name.h"

namespace millstream::queue {
namespace {

using objects::AdminDone;
using objects::AdminResult;

class AdminFace final : public objects::AdminTarget {
 public:
  AdminFace(QueueManager& manager, std::string user)
      : manager_(manager), admin_(manager.admin()), user_(std::move(user)) {}

  std::string manager_name() const override { return manager_.name(); }
  const objects::Catalogue& catalogue() const override { return admin_.catalogue(); }
  void define(objects::Definition definition, bool is_replace, AdminDone done) override {
    if (refuses(definition.name(), done)) return;
    admin_.define(std::move(definition), is_replace, std::move(done));
  }
  void alter(objects::DefinitionPtr seen, objects::Definition changed, bool is_force,
             AdminDone done) override {
    if (refuses(changed.name(), done)) return;
    admin_.alter(std::move(seen), std::move(changed), is_force, std::move(done));
  }
  void erase(objects::ObjectFamily family, std::string name, objects::EraseOptions options,
             AdminDone done) override {
    if (refuses(name, done)) return;
    admin_.erase(family, std::move(name), options, std::move(done));
  }
  void clear_queue(std::string queue, AdminDone done) override {
    if (refuses(queue, done)) return;
    admin_.clear_queue(queue, std::move(done));
  }
  void clear_retained(std::string topic, AdminDone done) override {
    if (refuses(topic, done)) return;
    manager_.clear_retained(topic, std::move(done));
  }
  void move_messages(std::string from, std::string to, AdminDone done) override {
    if (refuses(from, done)) return;
    QueueMover::start(manager_, user_, std::move(from), std::move(to), std::move(done));
  }

  std::vector<objects::QueueStatus> queue_status(std::string_view pattern) const override;
  std::vector<objects::ConnectionStatus> connections() const override {
    return manager_.connection_status();
  }
  std::vector<objects::ChannelStatus> channel_status(std::string_view pattern) const override {
    const objects::ChannelHost* channels = manager_.options().channels;
    return channels == nullptr ? std::vector<objects::ChannelStatus>()
                               : channels->channel_status(pattern);
  }
  std::vector<objects::ListenerStatus> listener_status(std::string_view pattern) const override {
    const objects::ChannelHost* channels = manager_.options().channels;
    return channels == nullptr ? std::vector<objects::ListenerStatus>()
                               : channels->listener_status(pattern);
  }
  std::vector<objects::ServiceStatus> service_status(std::string_view) const override { return {}; }
  objects::ManagerStatus manager_status() const override;
  std::vector<objects::TopicStatus> topic_status(std::string_view pattern) const override {
    return manager_.topic_status(pattern);
  }
  std::vector<objects::SubscriptionStatus> subscription_status(
      std::string_view pattern) const override {
    return manager_.subscription_status(pattern);
  }
  objects::PublishStatus publish_status() const override { return manager_.publish_status(); }

  const objects::AuthorityTable& authorities() const override { return admin_.authorities(); }
  void set_authority(objects::AuthorityRecord record, AdminDone done) override {
    if (refuses(record.profile, done)) return;
    admin_.set_authority(std::move(record), std::move(done));
  }
  void erase_authority(std::string key, AdminDone done) override {
    if (refuses(key, done)) return;
    admin_.erase_authority(key, std::move(done));
  }
  const objects::ChannelAuthTable& channel_auth() const override { return admin_.channel_auth(); }
  void set_channel_auth(objects::ChannelAuthRule rule, AdminDone done) override {
    if (refuses("", done)) return;
    admin_.set_channel_auth(std::move(rule), std::move(done));
  }
  void erase_channel_auth(std::string key, AdminDone done) override {
    if (refuses(key, done)) return;
    admin_.erase_channel_auth(key, std::move(done));
  }
  void control(objects::ControlRequest request, AdminDone done) override;

  std::string applied_script(std::string_view name) const override {
    return admin_.applied_script(name);
  }
  void set_applied_script(std::string name, std::string hash, AdminDone done) override {
    if (refuses(name, done)) return;
    admin_.set_applied_script(std::move(name), std::move(hash), std::move(done));
  }

 private:
  bool refuses(std::string_view object, AdminDone& done) const {
    if (!manager_.is_running()) {
      done(AdminResult::failed(mqi::reason::kQMgrNotAvailable, {manager_.name()}));
      return true;
    }
    const AccessControl* access = manager_.options().access;
    if (access == nullptr) return false;
    std::string why = access->refuses({user_, mqi::ot::kQueueManager, object, kRightAdmin});
    if (why.empty()) return false;
    done(AdminResult::failed(mqi::reason::kNotAuthorized, {std::string(object), why}));
    return true;
  }

  QueueManager& manager_;
  ObjectAdmin& admin_;
  const std::string user_;
};

std::vector<objects::QueueStatus> AdminFace::queue_status(std::string_view pattern) const {
  std::vector<objects::QueueStatus> out;
  for (const NamedQueueRef& object : manager_.objects().all()) {
    if (object->kind != QueueKind::kLocal || !objects::matches_generic(pattern, object->name)) {
      continue;
    }
    Queue& queue = *object->queue;
    std::lock_guard lock(queue.mutex());
    objects::QueueStatus status;
    status.queue = object->name;
    status.depth = queue.depth();
    status.inputs = static_cast<int32_t>(queue.open_input);
    status.outputs = static_cast<int32_t>(queue.open_output);
    status.has_monitoring = true;
    status.last_get_gmt_ms = queue.statistics.last_get_gmt_micros / 1000;
    status.last_put_gmt_ms = queue.statistics.last_put_gmt_micros / 1000;
    int64_t oldest = queue.oldest_put_gmt_micros();
    if (oldest > 0) {
      status.oldest_age_s = std::max<int64_t>(0, (manager_.now_gmt_micros() - oldest) / 1'000'000);
    }
    status.uncommitted = queue.uncommitted_puts() + queue.locked();
    out.push_back(std::move(status));
  }
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.queue < b.queue; });
  return out;
}

objects::ManagerStatus AdminFace::manager_status() const {
  objects::ManagerStatus status;
  StoreUsage usage = manager_.store().usage();
  status.status = manager_.is_running() ? "RUNNING" : "ENDED";
  status.connections = static_cast<int64_t>(manager_.connection_count());
  status.started_gmt_ms = manager_.started_gmt_micros() / 1000;
  status.journal_bytes = static_cast<int64_t>(usage.journal_bytes);
  status.journal_bytes_max = static_cast<int64_t>(usage.journal_bytes_max);
  status.checkpoints = static_cast<int64_t>(usage.checkpoints);
  return status;
}

void AdminFace::control(objects::ControlRequest request, AdminDone done) {
  if (refuses(request.name, done)) return;
  using objects::ControlObject;
  using objects::ControlVerb;
  if (request.object == ControlObject::kManager && request.verb == ControlVerb::kPing) {
    return done({});
  }
  if (request.object == ControlObject::kSecurity) return done({});
  if (request.object == ControlObject::kManager) {
    if (request.verb == ControlVerb::kRefresh && request.type == "EXPIRY") {
      manager_.sweep_now();
      return done({});
    }
    std::string why = "There is nothing of this kind to start anew.";
    return done(AdminResult::failed(objects::reason::kUnsupported,
                                    {"TYPE(" + request.type + ")", std::move(why)}));
  }
  if (request.object == ControlObject::kConnection && request.verb == ControlVerb::kStop) {
    bool is_found = manager_.stop_connection(request.name);
    return done(is_found ? AdminResult()
                         : AdminResult::failed(objects::reason::kConnectionClosed, {request.name}));
  }
  objects::ChannelHost* channels = manager_.options().channels;
  if (channels != nullptr) return channels->control(std::move(request), std::move(done));
  done(AdminResult::failed(objects::reason::kUnsupported,
                           {request.name, "no channels or listeners run in this process"}));
}

}  // namespace

std::unique_ptr<objects::AdminTarget> make_admin_target(QueueManager& manager, std::string user) {
  return std::make_unique<AdminFace>(manager, std::move(user));
}

}  // namespace millstream::queue
