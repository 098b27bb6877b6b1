// MQMD version 2 as a plain struct with MQ's defaults, and its 364 bytes on a wire or in a journal.
// Text fields keep the blanks that fill them, as the MQI shows them; identifiers are bytes.
// For the message tree and other character sets there is mqi/structures.h.
// Thread: any.
#pragma once
#include <array>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "base/result.h"

namespace millstream::mqi {

// A text field, padded with blanks. Longer text is cut, as the MQI does.
template <size_t N>
class FixedText {
 public:
  FixedText() { std::memset(bytes_, ' ', N); }
  FixedText(std::string_view text) { *this = text; }
  FixedText(const char* text) { *this = std::string_view(text); }
  FixedText& operator=(std::string_view text) {
    size_t n = text.size() < N ? text.size() : N;
    if (n > 0) std::memcpy(bytes_, text.data(), n);  // no text may be a null pointer
    std::memset(bytes_ + n, ' ', N - n);
    return *this;
  }
  FixedText& operator=(const char* text) { return *this = std::string_view(text); }
  // Without what follows the text: blanks, or a null and anything behind it.
  std::string_view view() const {
    size_t n = 0;
    while (n < N && bytes_[n] != '\0') ++n;
    while (n > 0 && bytes_[n - 1] == ' ') --n;
    return {bytes_, n};
  }
  std::string_view padded() const { return {bytes_, N}; }
  bool is_blank() const { return view().empty(); }
  char* data() { return bytes_; }
  bool operator==(const FixedText& other) const { return view() == other.view(); }

 private:
  char bytes_[N];
};

template <size_t N>
class FixedBytes {
 public:
  FixedBytes() { std::memset(bytes_, 0, N); }
  FixedBytes(std::string_view bytes) {  // shorter ones are filled with nulls, longer ones cut
    size_t n = bytes.size() < N ? bytes.size() : N;
    if (n > 0) std::memcpy(bytes_, bytes.data(), n);
    std::memset(bytes_ + n, 0, N - n);
  }
  std::string_view view() const { return {bytes_, N}; }
  char* data() { return bytes_; }
  bool is_null() const {
    for (char c : bytes_) {
      if (c != 0) return false;
    }
    return true;
  }
  bool operator==(const FixedBytes& other) const {
    return std::memcmp(bytes_, other.bytes_, N) == 0;
  }

 private:
  char bytes_[N];
};

using Id = FixedBytes<24>;  // message, correlation and group identifiers

struct MessageDescriptor {
  int32_t report = 0;
  int32_t message_type = 8;  // MQMT_DATAGRAM
  int32_t expiry = -1;       // tenths of seconds; -1 never
  int32_t feedback = 0;
  int32_t encoding = 546;  // native
  int32_t ccsid = 0;       // the queue manager's
  FixedText<8> format;
  int32_t priority = -1;    // as the queue says
  int32_t persistence = 2;  // as the queue says
  Id message_id;
  Id correlation_id;
  int32_t backout_count = 0;
  FixedText<48> reply_to_queue;
  FixedText<48> reply_to_queue_manager;
  FixedText<12> user_identifier;
  FixedBytes<32> accounting_token;
  FixedText<32> appl_identity_data;
  int32_t put_appl_type = 0;
  FixedText<28> put_appl_name;
  FixedText<8> put_date;  // YYYYMMDD, GMT
  FixedText<8> put_time;  // HHMMSSTH, GMT
  FixedText<4> appl_origin_data;
  Id group_id;
  int32_t sequence_number = 1;
  int32_t offset = 0;
  int32_t flags = 0;
  int32_t original_length = -1;
};

inline constexpr size_t kMqmdBytes = 364;    // version 2
inline constexpr size_t kMqmd1Bytes = 324;   // version 1
inline constexpr int32_t kCcsidUtf8 = 1208;  // what we take for "the queue manager's"

// Appends 364 bytes, version 2.
void encode_message_descriptor(const MessageDescriptor& md, std::string& out,
                               bool little_endian = true);
// Version 1 or 2 at the start of `bytes`; the byte order is found from the version.
Result<MessageDescriptor> decode_message_descriptor(std::string_view bytes);

// The GMT date and time fields of a moment.
void format_put_time(int64_t gmt_micros, FixedText<8>& date, FixedText<8>& time);
// And back; 0 when they are no date and time.
int64_t parse_put_time(std::string_view date, std::string_view time);

}  // namespace millstream::mqi
