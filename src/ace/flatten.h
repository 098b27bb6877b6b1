// One main flow with its subflows put in line, promoted properties handed down and overrides
// applied (spec ace-artifacts 4).
//
// Precedence for a property of a node: overrides file > BAR override > value on the referencing
// subflow node (through promotion) > default of the promoted property > the node's own attribute.
// Thread: one.
#pragma once
#include <functional>
#include <string_view>

#include "ace/flow_file.h"
#include "ace/overrides.h"
#include "base/diagnostics.h"
#include "flow/flow_definition.h"

namespace millstream::ace {

constexpr size_t kSubflowDepthMax = 100;
constexpr size_t kFlatNodesMax = 100'000;

// Finds the subflow at a path ("com/acme/Log.subflow"); null when it is nowhere.
using SubflowFinder = std::function<const FlowFile*(std::string_view path)>;

// What overrides may call the flow: with its broker schema, and without.
std::vector<std::string> flow_names(const FlowFile& file);
// Null when there was an error (in `diagnostics`).
std::unique_ptr<flow::FlowDefinition> flatten_flow(const FlowFile& main,
                                                   const std::string& application,
                                                   const SubflowFinder& find_subflow,
                                                   Overrides& overrides,
                                                   base::Diagnostics& diagnostics);

}  // namespace millstream::ace
