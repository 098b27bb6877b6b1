// The policies of a workspace: the .policyxml files of its policy projects. A file that cannot be
// read is passed over; that is said where the data sources of policies are read.
// Thread: one, while loading.
#pragma once
#include <memory>
#include <string>

#include "ace/workspace.h"
#include "nodes/common/policies.h"

namespace millstream::ace {

std::shared_ptr<nodes::common::Policies> read_policies(
    const Workspace& workspace,
    std::string default_project = std::string(nodes::common::kDefaultPolicyProject));
// Those of one file; nothing when it cannot be read.
Status add_policies_of(const Resource& file, const std::string& project,
                       nodes::common::Policies& out);

}  // namespace millstream::ace
