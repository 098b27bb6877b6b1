// MQRFH2 headers and stored property lists: what is read can be written and is then read the same.
#include <cstdlib>

#include "mqi/rfh2.h"

namespace {
namespace mqi = millstream::mqi;

// NaN is not equal to itself, but its bits are.
bool is_same(const mqi::PropertyView& a, const mqi::PropertyView& b) {
  bool are_nan = a.is_float() && b.is_float() && a.real != a.real && b.real != b.real;
  return are_nan || a.equals(b);
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (size == 0) return 0;
  std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  if (data[0] & 1) {
    auto list = mqi::PropertyList::from_bytes(std::string(bytes));
    if (list.ok()) mqi::property_folders(list.value().view());
    return 0;
  }
  mqi::Rfh2Split before;
  if (data[0] & 2) {  // straight to the folder
    std::string header;
    if (!mqi::encode_rfh2({}, {std::string(bytes)}, header).ok()) abort();
    auto split = mqi::split_rfh2(header, 1208);
    if (!split.ok()) return 0;
    before = std::move(split).take_value();
  } else {
    auto split = mqi::split_rfh2(bytes, 1208);
    if (!split.ok()) return 0;
    before = std::move(split).take_value();
  }
  std::string header;
  auto folders = mqi::property_folders(before.properties.view());
  if (!mqi::encode_rfh2({}, folders, header).ok()) abort();
  auto after = mqi::split_rfh2(header, 1208);
  if (!after.ok() || after.value().properties.count() != before.properties.count()) abort();
  before.properties.view().for_each([&](std::string_view name, const mqi::PropertyView& v) {
    if (!is_same(after.value().properties.view().find(name), v)) abort();
  });
  return 0;
}
