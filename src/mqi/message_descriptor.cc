#include "mqi/message_descriptor.h"

#include <bit>
#include <cstdio>

#include "mqi/errors_gen.h"

namespace millstream::mqi {
namespace {

// Writes and reads the fields in their order, so that the two directions cannot disagree.
class MdWriter {
 public:
  MdWriter(std::string& out, bool little_endian) : out_(out), swap_(!little_endian) {}
  void field(const int32_t& v) {
    uint32_t raw = static_cast<uint32_t>(v);
    if (swap_) raw = __builtin_bswap32(raw);
    out_.append(reinterpret_cast<const char*>(&raw), 4);
  }
  template <size_t N>
  void field(const FixedText<N>& v) {
    out_.append(v.padded());
  }
  template <size_t N>
  void field(const FixedBytes<N>& v) {
    out_.append(v.view());
  }

 private:
  std::string& out_;
  bool swap_;
};

class MdReader {
 public:
  MdReader(const char* at, bool little_endian) : at_(at), swap_(!little_endian) {}
  void field(int32_t& v) {
    uint32_t raw;
    std::memcpy(&raw, at_, 4);
    at_ += 4;
    if (swap_) raw = __builtin_bswap32(raw);
    v = static_cast<int32_t>(raw);
  }
  template <size_t N>
  void field(FixedText<N>& v) {
    std::memcpy(v.data(), at_, N);
    at_ += N;
  }
  template <size_t N>
  void field(FixedBytes<N>& v) {
    std::memcpy(v.data(), at_, N);
    at_ += N;
  }

 private:
  const char* at_;
  bool swap_;
};

template <typename Md, typename Coder>
void md_fields_version_1(Md& md, Coder& coder) {
  coder.field(md.report);
  coder.field(md.message_type);
  coder.field(md.expiry);
  coder.field(md.feedback);
  coder.field(md.encoding);
  coder.field(md.ccsid);
  coder.field(md.format);
  coder.field(md.priority);
  coder.field(md.persistence);
  coder.field(md.message_id);
  coder.field(md.correlation_id);
  coder.field(md.backout_count);
  coder.field(md.reply_to_queue);
  coder.field(md.reply_to_queue_manager);
  coder.field(md.user_identifier);
  coder.field(md.accounting_token);
  coder.field(md.appl_identity_data);
  coder.field(md.put_appl_type);
  coder.field(md.put_appl_name);
  coder.field(md.put_date);
  coder.field(md.put_time);
  coder.field(md.appl_origin_data);
}

template <typename Md, typename Coder>
void md_fields_version_2(Md& md, Coder& coder) {
  coder.field(md.group_id);
  coder.field(md.sequence_number);
  coder.field(md.offset);
  coder.field(md.flags);
  coder.field(md.original_length);
}

constexpr int64_t kMicrosPerDay = 86'400'000'000;

// Days since 1970-01-01 and back, for the Gregorian calendar (after Hinnant's public formulas).
int64_t md_days_of(int64_t year, int64_t month, int64_t day) {
  year -= month <= 2;
  int64_t era = (year >= 0 ? year : year - 399) / 400;
  int64_t year_of_era = year - era * 400;
  int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
  int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
  return era * 146097 + day_of_era - 719468;
}

void md_digits(char* to, int width, int64_t value) {
  for (int i = width - 1; i >= 0; --i, value /= 10) to[i] = static_cast<char>('0' + value % 10);
}

bool md_number(std::string_view text, int64_t& out) {
  out = 0;
  for (char c : text) {
    if (c < '0' || c > '9') return false;
    out = out * 10 + (c - '0');
  }
  return true;
}

}  // namespace

void encode_message_descriptor(const MessageDescriptor& md, std::string& out, bool little_endian) {
  MdWriter writer(out, little_endian);
  out.append("MD  ");
  writer.field(2);
  md_fields_version_1(md, writer);
  md_fields_version_2(md, writer);
}

Result<MessageDescriptor> decode_message_descriptor(std::string_view bytes) {
  if (bytes.size() < kMqmd1Bytes) {
    return base::make_error(errors::kMqShort, {"MQMD", static_cast<int64_t>(bytes.size())});
  }
  if (bytes.substr(0, 4) != "MD  ") return base::make_error(errors::kMqStrucId, {"MQMD"});
  int32_t version = 0;
  std::memcpy(&version, bytes.data() + 4, 4);
  bool little_endian = version == 1 || version == 2;
  if (!little_endian) version = static_cast<int32_t>(__builtin_bswap32(version));
  if (version != 1 && version != 2) {
    return base::make_error(errors::kMqVersion, {"MQMD", static_cast<int64_t>(version)});
  }
  if (version == 2 && bytes.size() < kMqmdBytes) {
    return base::make_error(errors::kMqShort, {"MQMD", static_cast<int64_t>(bytes.size())});
  }
  MessageDescriptor md;
  MdReader reader(bytes.data() + 8, little_endian);
  md_fields_version_1(md, reader);
  if (version == 2) md_fields_version_2(md, reader);
  return md;
}

void format_put_time(int64_t gmt_micros, FixedText<8>& date, FixedText<8>& time) {
  int64_t days = gmt_micros / kMicrosPerDay;
  int64_t in_day = gmt_micros % kMicrosPerDay;
  if (in_day < 0) {
    in_day += kMicrosPerDay;
    --days;
  }
  int64_t shifted = days + 719468;
  int64_t era = (shifted >= 0 ? shifted : shifted - 146096) / 146097;
  int64_t day_of_era = shifted - era * 146097;
  int64_t year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
  int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  int64_t month = (5 * day_of_year + 2) / 153;
  int64_t day = day_of_year - (153 * month + 2) / 5 + 1;
  month += month < 10 ? 3 : -9;
  md_digits(date.data(), 4, year_of_era + era * 400 + (month <= 2));
  md_digits(date.data() + 4, 2, month);
  md_digits(date.data() + 6, 2, day);
  int64_t hundredths = in_day / 10'000;
  md_digits(time.data(), 2, hundredths / 360'000);
  md_digits(time.data() + 2, 2, hundredths / 6'000 % 60);
  md_digits(time.data() + 4, 2, hundredths / 100 % 60);
  md_digits(time.data() + 6, 2, hundredths % 100);
}

int64_t parse_put_time(std::string_view date, std::string_view time) {
  int64_t year, month, day, hour, minute, second, hundredth;
  if (date.size() != 8 || time.size() != 8) return 0;
  if (!md_number(date.substr(0, 4), year) || !md_number(date.substr(4, 2), month) ||
      !md_number(date.substr(6), day) || !md_number(time.substr(0, 2), hour) ||
      !md_number(time.substr(2, 2), minute) || !md_number(time.substr(4, 2), second) ||
      !md_number(time.substr(6), hundredth)) {
    return 0;
  }
  if (month < 1 || month > 12 || day < 1 || day > 31 || hour > 23 || minute > 59 || second > 60) {
    return 0;
  }
  int64_t seconds = md_days_of(year, month, day) * 86'400 + hour * 3600 + minute * 60 + second;
  return seconds * 1'000'000 + hundredth * 10'000;
}

}  // namespace millstream::mqi
