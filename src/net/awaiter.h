// Waits in a fiber (or on a plain thread) for an answer that comes through a callback:
//   net::Awaiter<Outcome> answer;
//   Outcome outcome = connection.commit(answer.callback());
//   if (outcome.is_pending()) outcome = answer.wait();
// A callback that comes when nobody waits any more is harmless. Thread: the callback any.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include "net/waiting.h"

namespace millstream::net {

template <typename T>
class Awaiter {
 public:
  std::function<void(T)> callback() {
    return [state = state_](T value) {
      state->value.emplace(std::move(value));
      state->event.set();
    };
  }
  // Once, after the callback was handed out. Cancelling the fiber does not end it: whoever calls
  // back may refer to this stack.
  T wait() {
    state_->event.wait(kNever, /*is_cancellable=*/false);
    return std::move(*state_->value);
  }

 private:
  struct State {
    FiberEvent event;
    std::optional<T> value;
  };
  const std::shared_ptr<State> state_ = std::make_shared<State>();  // with the callback
};

}  // namespace millstream::net
