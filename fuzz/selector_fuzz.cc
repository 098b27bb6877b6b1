// Selectors: whatever compiles can be evaluated, and its canonical text is a selector that says the
// same of the same message.
#include <cstdlib>

#include "queue/selector/selector.h"

namespace {
namespace mqi = millstream::mqi;
using millstream::queue::selector::Selector;

// One value of every type, chosen by the name, so that two compilations see the same.
struct FuzzSource final : mqi::PropertySource {
  mqi::PropertyView find_property(mqi::PropertyId id, std::string_view name) const override {
    unsigned char first = name.empty() ? 0 : static_cast<unsigned char>(name[0]);
    switch ((first + static_cast<unsigned>(id)) % 6) {
      case 0:
        return mqi::PropertyView::string(name);
      case 1:
        return mqi::PropertyView::int64(first - 100);
      case 2:
        return mqi::PropertyView::float64(first / 3.0);
      case 3:
        return mqi::PropertyView::boolean(first & 8);
      case 4:
        return mqi::PropertyView::bytes(name);
      default:
        return mqi::PropertyView::null();
    }
  }
};
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  auto selector = Selector::compile(text);
  if (!selector.ok()) return 0;
  FuzzSource source;
  auto truth = selector.value()->evaluate(source);
  const std::string& canonical = selector.value()->canonical_text();
  if (canonical.size() > Selector::kTextBytesMax) return 0;
  auto again = Selector::compile(canonical);
  if (!again.ok() || again.value()->canonical_text() != canonical) abort();
  if (again.value()->evaluate(source) != truth) abort();
  return 0;
}
