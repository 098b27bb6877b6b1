// What the response nodes of asynchronous pairs have in common: they wait for answers from start()
// to stop(), and each answer is a message of its own in their flow. The request node, in the fiber
// that got an answer, calls hand_over(); the family says in run_answer() what the message is.
// Thread: start() and stop() while deploying; answers on the reactor that received them.
#pragma once
#include <memory>
#include <string>
#include <utility>

#include "nodes/common/async_requests.h"
#include "nodes/common/http_observe.h"
#include "nodes/common/input_run.h"

namespace millstream::nodes::common {

// Answer: what the families of one kind exchange.
template <typename Answer>
class AsyncReceiver : public AsyncResponder {
 public:
  // In a fiber. `target` names what was asked, for messages.
  virtual void receive(const AsyncRequest& request, const std::string& target,
                       Result<Answer> answer) = 0;
};

template <typename Answer>
void hand_over(const AsyncRequest& pending, const std::string& target, Result<Answer> answer) {
  flow::FlowHold hold;
  auto receiver = std::static_pointer_cast<AsyncReceiver<Answer>>(pending.responder(hold));
  receiver->receive(pending, target, std::move(answer));
}

template <typename Answer>
class AsyncResponseNode : public flow::Node {
 public:
  // `requests` is null where nobody can send any.
  AsyncResponseNode(AsyncKind kind, std::string correlator, const Application& application,
                    AsyncRequests* requests)
      : kind_(kind),
        correlator_(std::move(correlator)),
        application_(application),
        requests_(requests) {}

  Status evaluate(flow::Invocation&, const tree::MessageAssembly&, int) override { return {}; }
  Status start() override {
    if (!requests_) return {};
    receiver_ = std::make_shared<Receiver>(*this);
    return requests_->add(kind_, application_, correlator_, full_label(), receiver_);
  }
  void stop() override {
    if (receiver_) requests_->remove(receiver_.get());
  }

 protected:
  // Runs the flow with the answer; an error it returns is one that no terminal took.
  virtual Status run_answer(const AsyncRequest& request, const std::string& target,
                            Result<Answer> answer, InputRun& run) = 0;

 private:
  class Receiver final : public AsyncReceiver<Answer> {
   public:
    explicit Receiver(AsyncResponseNode& node) : node_(node) {}
    flow::Flow& flow() const override { return node_.flow(); }
    void receive(const AsyncRequest& request, const std::string& target,
                 Result<Answer> answer) override {
      // The server is stopping: no flow may handle that.
      if (!answer.ok() && !flow::is_catchable(answer.error())) return;
      InputRun run(flow());
      run.invocation().call_depth = request.call_depth();
      continue_trace(run.invocation(), request.trace());
      Status status = node_.run_answer(request, target, std::move(answer), run);
      if (!status.ok()) log_input_exception(node_, std::move(status));
    }

   private:
    AsyncResponseNode& node_;
  };

  const AsyncKind kind_;
  const std::string correlator_;
  const Application& application_;
  AsyncRequests* const requests_;
  std::shared_ptr<Receiver> receiver_;
};

}  // namespace millstream::nodes::common
