// Reads encoded AMQP values in place. Every function returns false when the bytes are no valid
// encoding, or do not have the type asked for; error() then says why, and the reader stays there.
// Nothing is allocated, and nothing is read beyond the end.
//
// skip() and raw fields trust sizes, not contents: what is to be kept or forwarded is checked by
// validate(). Limits: kDepthMax for descriptors and compounds, kEmptyElementsMax for the elements
// of an array that take no bytes. Thread: any.
#pragma once
#include <optional>

#include "wire/amqp/codec/types.h"

namespace millstream::wire::amqp {

class Reader {
 public:
  static constexpr int kDepthMax = 32;
  static constexpr uint32_t kEmptyElementsMax = 65'536;

  explicit Reader(std::string_view bytes) : p_(bytes.data()), end_(p_ + bytes.size()) {}

  bool at_end() const { return p_ == end_; }
  size_t left() const { return static_cast<size_t>(end_ - p_); }
  const char* position() const { return p_; }
  std::string_view rest() const { return {p_, left()}; }
  const char* error() const { return error_; }
  uint8_t peek() const { return p_ < end_ ? static_cast<uint8_t>(*p_) : code::kNull; }

  bool read(Value& value);
  bool skip();
  bool read_raw(std::string_view& raw);
  // The descriptor of a described value, as its code; 0 for one that we do not know. Then follows
  // what it describes.
  bool read_descriptor(uint64_t& code);
  bool read_bool(bool& v);
  bool read_u8(uint8_t& v);
  bool read_u16(uint16_t& v);
  bool read_u32(uint32_t& v);
  bool read_u64(uint64_t& v);
  bool read_timestamp(int64_t& v);
  bool read_string(std::string_view& v);
  bool read_symbol(std::string_view& v);
  bool read_binary(std::string_view& v);
  // The constructor and the size of a list: `elements` has what is in it.
  bool read_list(Reader& elements, uint32_t& count);
  bool read_map(Reader& elements, uint32_t& count);

  // For elements of an array: a value whose constructor stands elsewhere.
  bool read_element(uint8_t element_code, Value& value);
  bool fail(const char* why) {
    if (error_ == nullptr) error_ = why;
    return false;
  }

 private:
  bool take(size_t n, const char*& at);
  template <typename T>
  bool take_int(T& v);
  bool skip_described(int depth);
  bool skip_content(uint8_t code);
  bool read_content(uint8_t code, Value& value);
  bool read_variable(uint8_t code, Value& value);
  bool read_compound(Value& value, bool is_wide);
  bool read_array(Value& value, bool is_wide);
  bool open_compound(uint8_t small, uint8_t large, Reader& elements, uint32_t& count);

  const char* p_;
  const char* end_;
  const char* error_ = nullptr;
};

// The fields of a composite, in their order; those that are missing at the end are absent.
class FieldReader {
 public:
  FieldReader(Reader& list, uint32_t count) : in_(list), left_(count) {}
  // True: the next field has no value (it was passed over).
  bool is_absent() {
    if (left_ == 0) return true;
    --left_;
    if (in_.peek() != code::kNull || in_.at_end()) return false;
    return in_.skip();
  }
  Reader& in() { return in_; }
  uint32_t left() const { return left_; }

 private:
  Reader& in_;
  uint32_t left_;
};

// The whole of `bytes` is one valid value, its contents included: depth, UTF-8, ASCII of symbols,
// keys of maps in pairs.
bool validate(std::string_view bytes);
// A code for a descriptor given as a symbol; 0: unknown.
uint64_t descriptor_of(std::string_view symbol);

// f(std::string_view) for each symbol of a "multiple" field: nothing, one, or an array. A list is
// taken as well, because Proton sends one when an application gives it. False: it is none of them.
template <typename F>
bool for_each_symbol(std::string_view raw, F&& f) {
  if (raw.empty()) return true;
  Reader reader(raw);
  Value v;
  if (!reader.read(v)) return false;
  if (v.type == Type::kNull) return true;
  if (v.type == Type::kSymbol) {
    f(v.bytes);
    return true;
  }
  if (v.type != Type::kArray && v.type != Type::kList) return false;
  Reader elements(v.bytes);
  for (uint32_t i = 0; i < v.count; ++i) {
    Value e;
    bool is_read =
        v.type == Type::kList ? elements.read(e) : elements.read_element(v.element_code, e);
    if (!is_read || e.type != Type::kSymbol) return false;
    f(e.bytes);
  }
  return true;
}
bool has_symbol(std::string_view raw, std::string_view symbol);

// f(const Value& key, const Value& value) for each entry of an encoded map; false: it is none.
template <typename F>
bool for_each_entry(std::string_view raw, F&& f) {
  if (raw.empty()) return true;
  Reader reader(raw), elements(raw);
  uint32_t count = 0;
  if (reader.peek() == code::kNull) return true;
  if (!reader.read_map(elements, count) || count % 2 != 0) return false;
  for (uint32_t i = 0; i < count; i += 2) {
    Value key, value;
    if (!elements.read(key) || !elements.read(value)) return false;
    f(key, value);
  }
  return elements.at_end();
}

}  // namespace millstream::wire::amqp
