#include "mqi/property_body.h"

#include <algorithm>
#include <vector>

#include "mqi/rfh2.h"
#include "text/ccsid.h"

namespace millstream::mqi {
namespace {

constexpr size_t kDlhBytes = 172;
constexpr size_t kDlhEncodingAt = 108;
constexpr size_t kDlhCcsidAt = 112;
constexpr size_t kDlhFormatAt = 116;
constexpr size_t kFormatBytes = 8;

std::string trim_format(std::string format) {
  format.resize(format.find_last_not_of(std::string_view(" \0", 2)) + 1);
  return format;
}

// What comes before the place of the properties, and how that place is coded.
struct PropertyPlace {
  size_t at = 0;
  BodyCoding coding;
  bool is_behind_header = false;
  MqCoding header;  // of the last MQDLH
};

PropertyPlace find_place(std::string_view body, const BodyCoding& coding) {
  PropertyPlace place{0, coding, false, {}};
  for (int i = 0; i < kConvertHeadersMax && place.coding.format == "MQDEAD"; ++i) {
    std::string_view rest = body.substr(place.at);
    auto header = find_coding(kMqdlhLayout, rest, static_cast<uint32_t>(place.coding.ccsid));
    std::string format;
    if (!header.ok() || !text::to_utf8(rest.substr(kDlhFormatAt, kFormatBytes),
                                       static_cast<int32_t>(header.value().ccsid), format)
                             .ok()) {
      return place;
    }
    bool little_endian = header.value().little_endian;
    int32_t ccsid = read_int32(rest.data() + kDlhCcsidAt, little_endian);
    place.coding.encoding = read_int32(rest.data() + kDlhEncodingAt, little_endian);
    if (ccsid > 0) place.coding.ccsid = ccsid;
    place.coding.format = trim_format(format);
    place.at += kDlhBytes;
    place.is_behind_header = true;
    place.header = header.value();
  }
  return place;
}

// The headers before the place say how it is coded now; without any the descriptor does.
Status set_coding(const PropertyPlace& place, const BodyCoding& original, const BodyCoding& now,
                  PropertyBody& out) {
  if (!place.is_behind_header) {
    out.coding = now;
    return {};
  }
  out.coding = original;
  std::string format = now.format;
  format.resize(kFormatBytes, ' ');
  std::string bytes;
  MS_TRY(text::from_utf8(format, static_cast<int32_t>(place.header.ccsid), bytes));
  char* header = out.body.data() + place.at - kDlhBytes;
  write_int32(header + kDlhEncodingAt, now.encoding, place.header.little_endian);
  write_int32(header + kDlhCcsidAt, now.ccsid, place.header.little_endian);
  std::copy_n(bytes.begin(), std::min(bytes.size(), kFormatBytes), header + kDlhFormatAt);
  return {};
}

BodyCoding coding_of(const Rfh2Split& split, const BodyCoding& own) {
  BodyCoding coding{split.encoding, split.ccsid > 0 ? split.ccsid : own.ccsid,
                    trim_format(split.format)};
  return coding;
}

constexpr int32_t kOwnEncoding = static_cast<int32_t>(kEncodingNative);

// A header in our own coding; `next` is how what follows it is coded.
Status append_header(const BodyCoding& next, const std::vector<std::string>& folders,
                     std::string& out) {
  Rfh2Layout layout;
  layout.encoding = next.encoding;
  layout.ccsid = next.ccsid;
  layout.format = next.format;
  return encode_rfh2(layout, folders, out);
}

}  // namespace

Result<bool> take_properties(std::string_view body, const BodyCoding& coding,
                             PropertyList& properties, PropertyBody& out) {
  PropertyPlace place = find_place(body, coding);
  BodyCoding at = place.coding;
  std::string_view rest = body.substr(place.at);
  PropertyList taken = properties;
  std::vector<std::string> others;
  bool has_any = false;
  for (int i = 0; i < kConvertHeadersMax && at.format == "MQHRF2"; ++i) {
    Rfh2Split split = MS_TRY(split_rfh2(rest, static_cast<uint32_t>(at.ccsid)));
    Status status;
    split.properties.view().for_each([&](std::string_view name, const PropertyView& value) {
      bool is_there = false;
      (void)taken.view().find(name, &is_there);
      if (!is_there && status.ok()) status = taken.set_unchecked_name(name, value);
    });
    MS_TRY(std::move(status));
    has_any = has_any || !split.properties.empty();
    for (std::string& folder : split.other_folders) others.push_back(std::move(folder));
    at = coding_of(split, at);
    rest.remove_prefix(split.size);
  }
  if (!has_any) return false;
  out.body = body.substr(0, place.at);
  BodyCoding now = at;
  if (!others.empty()) {
    MS_TRY(append_header(at, others, out.body));
    now = {kOwnEncoding, text::kCcsidUtf8, "MQHRF2"};
  }
  out.body += rest;
  MS_TRY(set_coding(place, coding, now, out));
  properties = std::move(taken);
  return true;
}

Status insert_properties(std::string_view body, const BodyCoding& coding,
                         PropertyListView properties, PropertyBody& out) {
  PropertyPlace place = find_place(body, coding);
  std::vector<std::string> folders = property_folders(properties);
  BodyCoding next = place.coding;
  std::string_view rest = body.substr(place.at);
  if (next.format == "MQHRF2") {
    auto split = split_rfh2(rest, static_cast<uint32_t>(next.ccsid));
    if (split.ok() && split.value().properties.empty()) {
      for (std::string& folder : split.value().other_folders) folders.push_back(std::move(folder));
      next = coding_of(split.value(), next);
      rest.remove_prefix(split.value().size);
    }
  }
  out.body = body.substr(0, place.at);
  MS_TRY(append_header(next, folders, out.body));
  out.body += rest;
  return set_coding(place, coding, {kOwnEncoding, text::kCcsidUtf8, "MQHRF2"}, out);
}

}  // namespace millstream::mqi
