#include "server/flow_services.h"

namespace millstream::server {
namespace {

// The URL at which other servers call flows of this one.
class RemoteCallUrl final : public nodes::http::UrlHandler {
 public:
  explicit RemoteCallUrl(nodes::callable::RemoteCallService& service) : service_(service) {}
  void handle(http::RequestRef request) override { service_.serve(std::move(request)); }
  std::string node_label() const override { return "calls of other servers"; }
  std::string flow_name() const override { return "callable flows"; }
  std::string application_name() const override { return "the server"; }

 private:
  nodes::callable::RemoteCallService& service_;
};

}  // namespace

void FlowServices::add_to(flow::Services& services) {
  services.set_registry(&callable_flows_);
  services.set_registry(&async_requests_);
  services.set(&timers_);
}

Status FlowServices::configure(const std::string& work_folder,
                               const nodes::callable::RemoteCallSettings& remote,
                               nodes::http::HttpListener& listener,
                               const flow::Services& services) {
  timers_.set_work_folder(work_folder);
  if (remote.secret.empty()) return {};
  remote_calls_ =
      MS_TRY(nodes::callable::RemoteCallService::create(remote, callable_flows_, services));
  callable_flows_.set_remote(remote_calls_.get());
  return listener.add({nodes::callable::RemoteCallService::kPath, false},
                      std::make_shared<RemoteCallUrl>(*remote_calls_), remote.comes_by_https);
}

}  // namespace millstream::server
