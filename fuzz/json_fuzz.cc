// JSON bodies: the fast builder and the plain checker must agree, and what is written from a tree
// must be valid JSON that gives the same text again.
#include <cstdlib>

#include "format/json_token.h"
#include "parsers/json/json_domain.h"
#include "tree/assembly.h"

namespace {
namespace tree = millstream::tree;

std::shared_ptr<const millstream::base::NameTable> fuzz_names() {
  static auto table = [] {
    auto t = std::make_shared<millstream::base::NameTable>();
    t->freeze();
    return t;
  }();
  return table;
}

// False: refused. The text goes to `out`.
bool read_and_write(tree::MessageArena& arena, std::string_view text, std::string& out) {
  const tree::Domain& domain = millstream::parsers::json::kDomain;
  tree::TreeContext& context = arena.context();
  auto* root = tree::make_domain_root(context, domain, context.names.qname("JSON"));
  if (!domain.parse(context, root, text, {.ccsid = 1208, .is_immediate = true}).ok()) return false;
  if (!domain.serialise(context, root, {.ccsid = 1208}, out).ok()) abort();
  return true;
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static tree::MessageArena arena(fuzz_names());
  arena.reset(fuzz_names());
  std::string_view text(reinterpret_cast<const char*>(data), size);
  std::string first, second;
  bool is_read = read_and_write(arena, text, first);
  std::string_view body = text.substr(0, 3) == "\xEF\xBB\xBF" ? text.substr(3) : text;
  bool is_valid = text.empty() || !millstream::format::check_json(body, {});
  if (is_read != is_valid) abort();
  if (!is_read || text.empty()) return 0;
  if (!read_and_write(arena, first, second) || first != second) abort();
  return 0;
}
