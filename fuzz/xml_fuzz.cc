// Any bytes as an XML document: navigate in part, parse the rest, write, and parse what was
// written. The first byte chooses the options.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string>

#include "parsers/xmlns/xmlns_domain.h"
#include "parsers/xmlnsc/xmlnsc_domain.h"
#include "tree/assembly.h"

namespace {

using namespace millstream;

std::shared_ptr<const base::NameTable> fuzz_names() {
  static std::shared_ptr<const base::NameTable> names = [] {
    auto table = std::make_shared<base::NameTable>();
    table->freeze();
    return table;
  }();
  return names;
}

// Empty when it cannot be parsed or written.
std::string round_trip(const tree::Domain& domain, std::string_view xml,
                       const tree::ParseOptions& options, unsigned steps) {
  tree::MessageArena arena(fuzz_names());
  tree::TreeContext& context = arena.context();
  auto* root = tree::make_domain_root(context, domain, context.names.empty_qname());
  if (!domain.parse(context, root, xml, options).ok()) return {};
  tree::Element* e = root;
  for (unsigned i = 0; e && i < steps; ++i) {
    (void)tree::scalar_value(e);
    tree::Element* next = i % 3 ? tree::next_sibling(e) : tree::first_child(e);
    e = next ? next : e->parent;
  }
  tree::complete(root);
  if (!context.take_parse_error().ok()) return {};
  std::string out;
  return domain.serialise(context, root, {}, out).ok() ? out : std::string();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size < 2) return 0;
  uint8_t bits = data[0];
  std::string_view xml(reinterpret_cast<const char*>(data + 1), size - 1);
  tree::ParseOptions options;
  options.retain_mixed_content = bits & 1;
  options.retain_comments = options.retain_processing_instructions = bits & 2;
  options.retain_document_type = bits & 4;
  if (bits & 8) options.opaque_elements = "b p:c";
  if (!(bits & 16)) options.ccsid = 1208;
  const tree::Domain& domain = bits & 32 ? parsers::xmlns::kDomain : parsers::xmlnsc::kDomain;
  std::string once = round_trip(domain, xml, options, bits >> 6 ? size % 64 : 0);
  if (once.empty()) return 0;
  // What we write is well-formed and stable, unless text was taken verbatim, a document type was
  // dropped or kept, or the bytes were not UTF-8 to begin with.
  bool is_comparable = options.opaque_elements.empty() && !(bits & (4 | 16)) &&
                       xml.find("<!DOCTYPE") == std::string_view::npos;
  if (is_comparable && round_trip(domain, once, options, 0) != once) std::abort();
  return 0;
}
