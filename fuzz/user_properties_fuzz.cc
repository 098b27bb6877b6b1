// The header field ibm-mq-usr: each property of a field that is accepted is written and read again
// to the same property.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "admin/mq/rest_properties.h"
#include "mqi/properties.h"

namespace admin = millstream::admin;
namespace mqi = millstream::mqi;

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view field(reinterpret_cast<const char*>(data), size);
  mqi::PropertyList list;
  std::string problem;
  if (!admin::read_user_properties(field, list, problem)) {
    if (problem.empty()) abort();
    return 0;
  }
  list.view().for_each([](std::string_view name, const mqi::PropertyView& value) {
    const std::string text = admin::write_user_property(name, value);
    mqi::PropertyList again;
    std::string why;
    if (!admin::read_user_properties(text, again, why)) abort();
    bool is_there = false;
    const mqi::PropertyView found = again.find(name, &is_there);
    if (!is_there || !found.equals(value)) abort();
  });
  return 0;
}
