// Takes what traced ESQL tells to those who watch the message.
// Lifetime: one evaluate(). Thread: the message's fiber.
#pragma once
#include <string>

#include "esql/trace.h"
#include "flow/invocation.h"

namespace millstream::nodes::compute {

class EsqlTracer final : public esql::Tracer {
 public:
  EsqlTracer(flow::Observation& observation, const flow::Node& node)
      : observation_(observation), node_(node), head_("Node '" + node.full_label() + "': ") {}
  void line(int number, std::string_view text) override {
    observation_.line(node_, number, head_ + std::string(text));
  }

 private:
  flow::Observation& observation_;
  const flow::Node& node_;
  const std::string head_;
};

}  // namespace millstream::nodes::compute
