// What the HTTPInput node of a REST API asks before its flow runs: which operation of the OpenAPI
// document a request means. nodes/rest implements it; the loader puts it into the services of the
// application, where HTTPInput nodes find it.
//
// A request that means no operation is answered by the gate itself and never reaches the flow.
// Lifetime: the application's; requests in flight share what their reply still needs.
// Thread: admit() and describe() from every reactor, in the request's fiber.
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"
#include "http/request.h"
#include "tree/assembly.h"

namespace millstream::nodes::common {

// How the node tells its clients what went wrong: its faultFormat.
class FaultWriter {
 public:
  virtual ~FaultWriter() = default;
  // Fills content type and body; the status is the caller's.
  virtual void write(const base::Error& error, millstream::http::Response& response) const = 0;
};

class RestGate {
 public:
  virtual ~RestGate() = default;
  // Whether the HTTPInput nodes of this flow ("gen.Orders") belong to the API.
  virtual bool is_for(std::string_view flow_name) const = 0;
  // `base_path` is that of the node's URL, without '/' at the end. False: it has been replied to.
  virtual bool admit(millstream::http::RequestRef& request, std::string_view base_path,
                     const std::shared_ptr<const FaultWriter>& faults) = 0;
  // For an admitted request: REST.Input and the label to route to, below `local_environment`.
  virtual void describe(const millstream::http::Request& request, std::string_view base_path,
                        tree::TreeContext& context, tree::Element* local_environment) const = 0;
};

}  // namespace millstream::nodes::common
