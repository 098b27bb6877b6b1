// A REST API of its OpenAPI document: chooses the operation for a request, checks requests and
// replies when asked, and serves the document. See nodes/common/rest_gate.h.
//
// Answers by itself: 401 for a request without the credential that the document demands; 404 for a
// path that no operation has; 405 with Allow for another method; 204 with Allow for OPTIONS; 501
// for an operation without a subflow; 400, 413 or 415 for a request that does not fit (when
// validation is on); the document at its file name, /openapi.json or /swagger.json, and a page
// about it at /api-docs, unless the document has operations of these paths. Thread: any.
#pragma once
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "model/openapi.h"
#include "model/parameters.h"
#include "nodes/common/rest_gate.h"

namespace millstream::nodes::rest {

struct RestApiOptions {
  std::string name;                   // of the project
  std::string flow_name;              // "gen.Orders"
  std::string document_name;          // "orders.yaml"
  std::set<std::string> implemented;  // operations that the flow has labels for
  std::string fault_format;           // of HTTPInput nodes that have none; empty: their default
  bool validates_requests = false;
  bool validates_replies = false;
  bool allows_unexpected_body = false;  // a body for an operation that has none
  bool only_validates_2xx = false;      // of replies
};

class RestApi final : public common::RestGate, public std::enable_shared_from_this<RestApi> {
 public:
  // Of a body or reply that is checked: what nests deeper is refused.
  static constexpr uint32_t kBodyDepthMax = 60;

  static std::shared_ptr<RestApi> create(std::shared_ptr<const model::ApiDocument> document,
                                         RestApiOptions options, base::NameTable& names);

  bool is_for(std::string_view flow_name) const override { return flow_name == options_.flow_name; }
  // While loading: requests are checked, whatever the options say.
  void validate_requests() { validates_requests_ = true; }
  bool validates_requests() const { return validates_requests_; }
  bool admit(millstream::http::RequestRef& request, std::string_view base_path,
             const std::shared_ptr<const common::FaultWriter>& faults) override;
  void describe(const millstream::http::Request& request, std::string_view base_path,
                tree::TreeContext& context, tree::Element* local_environment) const override;

  // What is wrong with the reply; success when nothing is, or nothing is asked.
  Status check_reply(const model::Operation& operation,
                     const millstream::http::Response& response) const;
  const RestApiOptions& options() const { return options_; }
  const model::ApiDocument& document() const { return *document_; }

 private:
  struct Names;
  RestApi(std::shared_ptr<const model::ApiDocument> document, RestApiOptions options,
          base::NameTable& names);
  bool serve_document(millstream::http::RequestRef& request, std::string_view base_path,
                      std::string_view path) const;
  bool serve_file(millstream::http::RequestRef& request, std::string_view base_path,
                  const std::string& name) const;
  // Whether the request has the credentials of one of the alternatives: that they are there, not
  // that they are right.
  bool has_credentials(const millstream::http::Request& request,
                       const model::Operation& operation) const;
  void refuse_without_credentials(millstream::http::RequestRef& request,
                                  const model::Operation& operation,
                                  const common::FaultWriter& faults) const;
  Status check_reply_headers(const model::Reply& reply, const model::Operation& operation,
                             const millstream::http::Response& response) const;
  // 0 when the request fits; else the status to answer with.
  int check_request(const millstream::http::Request& request, const model::Operation& operation,
                    const model::PathMatch& match, Status& problem) const;
  int check_body(const millstream::http::Request& request, const model::Operation& operation,
                 Status& problem) const;

  const std::shared_ptr<const model::ApiDocument> document_;  // shared with other nodes
  const RestApiOptions options_;
  const std::shared_ptr<const Names> names_;
  bool validates_requests_ = false;
};

// The page about an API: all of its operations in one file without anything external.
std::string documentation_page(const model::ApiDocument& document, std::string_view base_path,
                               std::string_view document_name);
// The document as JSON with the place it is served at instead of its own servers.
std::string served_document(const model::ApiDocument& document, std::string_view base_path,
                            std::string_view host);

}  // namespace millstream::nodes::rest
