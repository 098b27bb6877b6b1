// Statistics of a flow by accounting origin: what the flow wrote to
// Environment.Broker.Accounting.Origin of a message decides whose account the message is on
// (accountingOrigin basic).
// Thread: any.
#pragma once
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "flow/flow.h"
#include "flow/observer.h"

namespace millstream::observe {

class OriginAccounting final : public flow::Observer {
 public:
  static constexpr const char* kAnonymous = "Anonymous";
  static constexpr size_t kOriginsMax = 200;      // of one flow; further ones count as Anonymous
  static constexpr size_t kOriginBytesMax = 100;  // of a name; longer ones are cut

  std::unique_ptr<flow::MessageObserver> start(flow::Invocation& invocation) override;

  // What each origin did in the interval of the reader, which ends. `interval` has the times.
  // Anonymous is always there.
  std::vector<std::pair<std::string, flow::StatisticsTotals>> take(
      flow::StatisticsReader reader, const flow::StatisticsTotals& interval);
  // One message that is done.
  void add(std::string_view origin, const flow::FlowTotals& flow,
           const std::vector<flow::NodeTotals>& nodes);

 private:
  using Accounts = std::map<std::string, flow::StatisticsTotals, std::less<>>;
  std::mutex mutex_;      // leaf lock
  Accounts accounts_[2];  // by reader
};

}  // namespace millstream::observe
