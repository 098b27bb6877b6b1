// REST API projects: what restapi.descriptor says about the generated flow, and the gate that
// chooses its operations (spec ace-artifacts 9). Thread: one.
#pragma once
#include <memory>
#include <set>
#include <string>

#include "ace/container.h"
#include "ace/flow_set.h"
#include "base/diagnostics.h"
#include "base/names.h"
#include "flow/flow_definition.h"
#include "nodes/common/api_documents.h"
#include "nodes/rest/rest_api.h"

namespace millstream::ace {

constexpr size_t kApiDocumentBytesMax = 16u << 20;  // of one OpenAPI document or schema

// The document of a path: in the container itself, then in its libraries (`units`, in order).
nodes::common::ApiDocuments::Reader document_reader(std::vector<const Container*> units);

// What the API says of its HTTPInput nodes: a fault format for those that have none, and that
// validateMaster means the OpenAPI document. Before the flow is built.
void apply_rest_api(nodes::rest::RestApi& api, flow::FlowDefinition& definition);

// Null when something is wrong; that is then in `diagnostics`.
std::shared_ptr<nodes::rest::RestApi> load_rest_api(const Container& container,
                                                    const FlowSet& flows,
                                                    nodes::common::ApiDocuments& documents,
                                                    base::NameTable& names,
                                                    base::Diagnostics& diagnostics);

}  // namespace millstream::ace
