// The back ends of a flow test: answer the HTTP requests of a flow in place of the network, and
// remember what was asked.
//
// A rule is `[METHOD] URL`; a URL that ends with `*` stands for all that begin so, one without a
// query for those with any. The body of its section is a status line and a reply:
//   503 Service Unavailable after 200ms
//   Retry-After: 5
//
//   Come back later
// or one word: refused, closed, timeout. Without a status line it is 200.
// Thread: answer() in fibers of one reactor; the rest when no step runs.
#pragma once
#include <mutex>
#include <string>
#include <vector>

#include "flowtest/flow_script.h"
#include "http/client.h"

namespace millstream::flowtest {

struct BackendCall {
  std::string method, url, body;
  std::vector<std::pair<std::string, std::string>> headers;
};

class Backends final : public http::ClientStandIn {
 public:
  explicit Backends(std::string folder) : folder_(std::move(folder)) {}

  Status add(const FlowAction& action);
  Status answer(const http::ClientRequest& request, net::Reactor& reactor,
                http::ClientResponse& response) override;

  // Calls since the last forget(), that a rule of this method (empty: any) and URL stands for.
  std::vector<BackendCall> calls(std::string_view method, std::string_view url) const;
  void forget();

 private:
  enum class Way : uint8_t { kReply, kRefused, kClosed, kTimeout };
  struct Rule {
    std::string method, url;
    size_t number = 0;
    bool is_and_later = false;
    Way way = Way::kReply;
    int status = 200;
    std::string reason;
    int64_t delay_ns = 0;
    HttpText text;
    std::string body;
  };
  Status read_reply(const FlowAction& action, Rule& rule);
  bool read_status_line(std::string_view line, Rule& rule);
  const Rule* choose(const BackendCall& call);

  const std::string folder_;
  mutable std::mutex mutex_;  // leaf lock, for the two vectors below
  std::vector<BackendCall> calls_;
  std::vector<BackendCall> all_calls_;  // of the whole test, for #n
  std::vector<std::unique_ptr<Rule>> rules_;
};

}  // namespace millstream::flowtest
