#include "format/json_index.h"

#include <simdjson.h>

#include <algorithm>

namespace millstream::format {

struct JsonIndex::Impl {
  std::unique_ptr<simdjson::internal::dom_parser_implementation> parser;
  size_t capacity = 0;
};

JsonIndex::JsonIndex() : impl_(std::make_unique<Impl>()) {}
JsonIndex::~JsonIndex() = default;

bool JsonIndex::build(std::string_view document) {
  constexpr size_t kCapacityMin = 64 * 1024;
  count_ = 0;
  offsets_ = nullptr;
  if (document.empty() || document.size() >= simdjson::SIMDJSON_MAXSIZE_BYTES) return false;
  if (document.size() > impl_->capacity) {
    size_t capacity = std::max(kCapacityMin, document.size() + document.size() / 4);
    capacity = std::min<size_t>(capacity, simdjson::SIMDJSON_MAXSIZE_BYTES);
    if (simdjson::get_active_implementation()->create_dom_parser_implementation(
            capacity, 1, impl_->parser) != simdjson::SUCCESS) {
      impl_->capacity = 0;
      return false;
    }
    impl_->capacity = capacity;
  }
  auto& parser = *impl_->parser;
  if (parser.stage1(reinterpret_cast<const uint8_t*>(document.data()), document.size(),
                    simdjson::stage1_mode::regular) != simdjson::SUCCESS) {
    return false;
  }
  offsets_ = parser.structural_indexes.get();
  count_ = parser.n_structural_indexes;
  return true;
}

void JsonIndex::release_if_large() {
  if (impl_->capacity <= kPooledBytesMax) return;
  impl_->parser.reset();
  impl_->capacity = 0;
}

JsonIndex& JsonIndex::of_thread() {
  // Plain memory of the thread, never held across a fiber switch: parsing does not suspend.
  static thread_local JsonIndex index;
  return index;
}

}  // namespace millstream::format
