// Message assemblies as the product records them (.mxml): the four trees as text trees.
// Format: root MessageAssembly in namespace http://com.ibm.iib/lt/1.0 with environment,
// localEnvironment, exceptionList and message below it; each element of a tree is an XML element
// with attributes valueType, elementType and, for values beside children, value.
// Thread: any.
#pragma once
#include <string>

#include "flowtest/text_tree.h"

namespace millstream::flowtest {

struct RecordedAssembly {
  TextForest message, environment, local_environment, exceptions;
  // Of the checkpoint: where it was recorded.
  std::string source_node, source_terminal, target_node, target_terminal, flow;
};

Result<RecordedAssembly> read_mxml(std::string_view text, std::string_view name);
// `reference`: the path of the file, relative to `folder`.
Result<RecordedAssembly> read_mxml_file(std::string_view reference, const std::string& folder);

}  // namespace millstream::flowtest
