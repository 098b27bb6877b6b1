// The structural index of a JSON document: the offset of every bracket, colon, comma and of the
// first character of every string, number and literal outside strings, found with SIMD at several
// GB/s. Wraps simdjson's first stage, the only use of that library here.
//
// build() also refuses invalid UTF-8, unclosed strings and control characters inside strings; all
// other grammar is the caller's. Reads only within the document: no padding is needed.
// What it guarantees: between the end of one token and the next index lies only white space.
// Thread: one at a time; take() gives the calling thread's pooled instance.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

namespace millstream::format {

class JsonIndex {
 public:
  // Documents above this size get an index of their own, freed after use (4 bytes a token).
  static constexpr size_t kPooledBytesMax = 8 * 1024 * 1024;

  JsonIndex();
  ~JsonIndex();
  JsonIndex(const JsonIndex&) = delete;
  JsonIndex& operator=(const JsonIndex&) = delete;

  // False: the document is malformed (check_json in json_token.h says where), or not below 4 GiB.
  bool build(std::string_view document);
  const uint32_t* offsets() const { return offsets_; }  // valid until the next build()
  size_t count() const { return count_; }

  // The pooled index of this thread; do not keep it across a suspension.
  static JsonIndex& of_thread();
  void release_if_large();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
  const uint32_t* offsets_ = nullptr;
  size_t count_ = 0;
};

}  // namespace millstream::format
