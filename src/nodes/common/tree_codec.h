// Trees as bytes, for what outlives a message or leaves the process: stored messages, calls between
// servers, contexts of asynchronous requests. Names, types and values come back exactly, domains by
// their name; a body travels as its whole tree, not as its bytes.
//
// Form, version 1: "MST" and the version, the number of trees, then each tree in document order:
// a byte of flags, domain, namespace, local name, field type, value, children, 0. Numbers are
// varints; a name that came before is its index. Decoding checks everything: lengths, kinds, ranges
// and UTF-8, so that bytes from outside cannot make a tree that no parser could have made.
// Thread: that of the message.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "tree/element.h"

namespace millstream::nodes::common {

constexpr char kTreeFormVersion = 1;
constexpr size_t kTreeFormDepthMax = 10'000;
constexpr size_t kTreeFormElementsMax = 4'000'000;  // of all trees together
constexpr size_t kTreeFormTreesMax = 16;

// Appends the trees; a null one comes back as null. Bodies are parsed to their end first, and what
// is wrong with them is the error.
Status encode_trees(tree::TreeContext& context, std::span<tree::Element* const> trees,
                    std::string& out);

// New unlinked trees in `context`; nothing refers to `bytes` afterwards.
Result<std::vector<tree::Element*>> decode_trees(tree::TreeContext& context,
                                                 std::string_view bytes);

}  // namespace millstream::nodes::common
