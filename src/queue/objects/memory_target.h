// An AdminTarget without messages and without a store: definitions, authorities and rules in
// memory. Scripts are checked against it without a queue manager, and tests and the fuzzer run
// against it. It answers as a queue manager does whose queues nobody uses.
// Thread: any for reading; changes from one thread. Replies come within the call.
#pragma once
#include <map>
#include <string>

#include "base/clock.h"
#include "queue/objects/admin_target.h"

namespace millstream::queue::objects {

class MemoryTarget : public AdminTarget {
 public:
  // With the queue manager's own definition and nothing else.
  MemoryTarget(std::string name, const base::Clock& clock);

  std::string manager_name() const override { return name_; }
  const Catalogue& catalogue() const override { return catalogue_; }
  void define(Definition definition, bool is_replace, AdminDone done) override;
  void alter(DefinitionPtr seen, Definition changed, bool is_force, AdminDone done) override;
  void erase(ObjectFamily family, std::string name, EraseOptions options, AdminDone done) override;
  void clear_queue(std::string queue, AdminDone done) override;
  void clear_retained(std::string topic, AdminDone done) override;
  void move_messages(std::string from, std::string to, AdminDone done) override;
  std::vector<QueueStatus> queue_status(std::string_view pattern) const override;
  std::vector<ConnectionStatus> connections() const override { return connections_; }
  std::vector<ChannelStatus> channel_status(std::string_view pattern) const override;
  std::vector<ListenerStatus> listener_status(std::string_view pattern) const override;
  std::vector<ServiceStatus> service_status(std::string_view) const override { return {}; }
  ManagerStatus manager_status() const override;
  std::vector<TopicStatus> topic_status(std::string_view pattern) const override;
  std::vector<SubscriptionStatus> subscription_status(std::string_view pattern) const override;
  PublishStatus publish_status() const override { return {}; }
  const AuthorityTable& authorities() const override { return authorities_; }
  void set_authority(AuthorityRecord record, AdminDone done) override;
  void erase_authority(std::string key, AdminDone done) override;
  const ChannelAuthTable& channel_auth() const override { return channel_auth_; }
  void set_channel_auth(ChannelAuthRule rule, AdminDone done) override;
  void erase_channel_auth(std::string key, AdminDone done) override;
  void control(ControlRequest request, AdminDone done) override;
  std::string applied_script(std::string_view name) const override;
  void set_applied_script(std::string name, std::string hash, AdminDone done) override;

  // What tests put there.
  void set_connections(std::vector<ConnectionStatus> connections) {
    connections_ = std::move(connections);
  }
  void set_channels(std::vector<ChannelStatus> channels) { channels_ = std::move(channels); }
  void set_queue_status(QueueStatus status) { status_[status.queue] = std::move(status); }

 private:
  int64_t now_gmt_ms() const { return clock_.wall_gmt_micros() / 1000; }

  std::string name_;
  const base::Clock& clock_;
  Catalogue catalogue_;
  AuthorityTable authorities_;
  ChannelAuthTable channel_auth_;
  std::vector<ConnectionStatus> connections_;
  std::vector<ChannelStatus> channels_;
  std::map<std::string, QueueStatus, std::less<>> status_;
  std::map<std::string, int64_t, std::less<>> listeners_;  // that run, since when
  std::map<std::string, std::string, std::less<>> applied_;
};

}  // namespace millstream::queue::objects
