// Frames of the batch endpoint, as requests and as answers: what is accepted is written and read
// again to the same bytes.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "admin/batch/batch_frames.h"

namespace batch = millstream::admin::batch;

namespace {

template <typename Decode>
void check(std::string_view bytes, Decode decode) {
  const auto first = decode(bytes);
  if (!first.ok()) return;
  const std::string once = batch::encode(first.value());
  const auto again = decode(once);
  if (!again.ok() || batch::encode(again.value()) != once) abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  check(bytes, batch::decode_request);
  check(bytes, batch::decode_answer);
  return 0;
}
