#include "mqi/rfh2.h"

#include "mqi/errors_gen.h"
#include "text/ccsid.h"

namespace millstream::mqi {
namespace {

Status rfh2_length_error(std::string_view what, int64_t length) {
  return base::make_error(errors::kMqLength, {what, length});
}

}  // namespace

Result<Rfh2Frame> Rfh2Frame::open(std::string_view bytes, uint32_t ccsid) {
  Rfh2Frame frame;
  frame.coding_ = MS_TRY(find_coding(kMqrfh2Layout, bytes, ccsid));
  frame.bytes_ = bytes;
  int32_t length = frame.integer(8);
  if (length < static_cast<int32_t>(kRfh2FixedBytes) ||
      static_cast<size_t>(length) > bytes.size()) {
    return rfh2_length_error("MQRFH2", length);
  }
  frame.size_ = static_cast<size_t>(length);
  return frame;
}

int32_t Rfh2Frame::encoding() const { return integer(12); }
int32_t Rfh2Frame::ccsid() const { return integer(16); }
int32_t Rfh2Frame::name_value_ccsid() const {
  int32_t ccsid = integer(32);
  return ccsid > 0 ? ccsid : text::kCcsidUtf8;
}

Result<std::string> Rfh2Frame::format() const {
  std::string out;
  MS_TRY(text::to_utf8(bytes_.substr(20, 8), static_cast<int32_t>(coding_.ccsid), out));
  return out;
}

Result<bool> Rfh2Frame::next_folder(std::string_view& folder) {
  if (at_ >= size_) return false;
  int32_t length = size_ - at_ >= 4 ? integer(at_) : -1;
  if (length < 0 || static_cast<size_t>(length) > size_ - at_ - 4 || ++folders_ > kRfh2FoldersMax) {
    return rfh2_length_error("MQRFH2 folder", length);
  }
  folder = bytes_.substr(at_ + 4, static_cast<size_t>(length));
  at_ += 4 + static_cast<size_t>(length);
  return true;
}

Status encode_rfh2(const Rfh2Layout& layout, const std::vector<std::string>& folders,
                   std::string& out) {
  bool little_endian = is_little_endian(layout.own_encoding);
  size_t start = out.size();
  auto field = [&layout](const MqField& f) {
    if (f.name == "Encoding") return value::Value::make_integer(layout.encoding);
    if (f.name == "CodedCharSetId") return value::Value::make_integer(layout.ccsid);
    if (f.name == "Format") return value::Value::make_character(layout.format);
    return value::Value::null();
  };
  MS_TRY(encode_structure(kMqrfh2Layout, 2, layout.own_encoding, layout.own_ccsid, field, out));
  for (const std::string& folder : folders) {
    size_t padded = (folder.size() + 3) / 4 * 4;
    append_int32(out, static_cast<int32_t>(padded), little_endian);
    out += folder;
    out.append(padded - folder.size(), ' ');
  }
  write_int32(out.data() + start + 8, static_cast<int32_t>(out.size() - start), little_endian);
  return {};
}

}  // namespace millstream::mqi
