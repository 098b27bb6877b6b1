// What `millstream list` and `millstream describe` know: every node, ESQL function and error
// number, from the component records (cli/describe_gen.cc). Thread: any.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace millstream::cli {

struct Topic {
  std::string_view kind;  // "node", "function", "error", "object" (of MQSC)
  std::string_view name;  // "HTTPInput", "SUBSTRING", "BIP2230"
  std::string_view summary;
  std::string_view text;  // Markdown
};

std::span<const Topic> all_topics();  // sorted by kind and name
// The topics a user may mean: the name without regard to case, a node by its type in .msgflow
// files, an error with or without its letter ("BIP2230E") or prefix ("2230").
std::vector<const Topic*> find_topics(std::string_view word);
// What "HTTPInput.URLSpecifier" means, or "URLSpecifier" of every node that has it; "" when it is
// no property.
std::string property_text(std::string_view word);

}  // namespace millstream::cli
