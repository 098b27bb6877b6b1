// Messages of flow tests: made from the parts a test writes, and kept as text trees for comparing.
// Thread: that of the message.
#pragma once
#include <string>

#include "flowtest/flow_script.h"
#include "flowtest/text_tree.h"
#include "tree/assembly.h"
#include "value/time_zone.h"

namespace millstream::flowtest {

// The trees of an assembly as they were when it passed.
struct Snapshot {
  TextForest root, environment, local_environment, exceptions;
  std::string body;    // serialised; what cannot be is the error's text
  std::string domain;  // "XMLNSC", empty: no body
};
// Leaves the message as it is, also what is not parsed yet and parse errors to come.
Snapshot take_snapshot(tree::TreeContext& context, const tree::MessageAssembly& assembly);

// Changes `assembly` to what the parts say. Parts that are not given stay as they are; a tree is
// replaced, the Environment in place. `folder`: where files are looked for.
Status apply_parts(tree::TreeContext& context, const MessageParts& parts, const std::string& folder,
                   tree::MessageAssembly& assembly);

// An assembly with four empty trees and the Properties of a new message.
tree::MessageAssembly new_message(tree::MessageArena& arena);

// The zone and the time of a test, for values in expectations.
const value::TimeZone& test_zone();
esql::EvalContext test_context(tree::TreeContext& context);

// Reply bodies and the like: parsed and made canonical. False: the text is no such document.
bool parse_document(DocumentKind kind, std::string_view text, TextForest& out);

}  // namespace millstream::flowtest
