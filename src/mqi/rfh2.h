// MQRFH2: the header that carries message properties in front of a body, as JMS and MQI
// applications of every age know it. 36 fixed bytes, then folders: a length and a small XML without
// declaration, namespaces, comments or CDATA, filled up with blanks to a multiple of four.
//
// - read_rfh2_folder() tells a handler what a folder says; the message tree's parser
//   (parsers/headers) and the properties below are two such handlers.
// - split_rfh2() takes the properties out of a header that an application put;
//   encode_rfh2_properties() writes them into one that an application gets.
// Errors of the reading functions mean MQRC_RFH_FORMAT_ERROR or MQRC_RFH_ERROR to an application.
// Limits: kRfh2DepthMax, kRfh2FoldersMax, and those of PropertyList.
// Thread: any. Lifetime: views are of what was passed, or last for the call that gives them.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "mqi/properties.h"
#include "mqi/structures.h"

namespace millstream::mqi {

constexpr size_t kRfh2FixedBytes = 36;
constexpr uint32_t kRfh2DepthMax = 100;
constexpr size_t kRfh2FoldersMax = 1'000;

struct Rfh2Tag {
  std::string_view name;
  std::string_view type;     // of the attribute dt; empty: none
  std::string_view content;  // of the attribute content
  bool is_nil = false;       // xsi:nil="true"
};

class Rfh2FolderHandler {
 public:
  virtual ~Rfh2FolderHandler() = default;
  virtual Status start(const Rfh2Tag& tag) = 0;
  // A field: `tag` is that of its start, `text` its text with entities resolved.
  virtual Status end_field(const Rfh2Tag& tag, std::string_view text) = 0;
  // An element that had elements.
  virtual Status end_group() = 0;
};
// `folder` is UTF-8: "<usr>...</usr>", perhaps with blanks and nulls around it.
Status read_rfh2_folder(std::string_view folder, Rfh2FolderHandler& handler);

// The value that a field's text has by its dt; text that is no such value stays a string. `scratch`
// holds what bytes are views of.
PropertyView rfh2_value(std::string_view type, std::string_view text, std::string& scratch);
// The dt of a type: "i4"; empty for strings and nulls.
std::string_view rfh2_type_name(PropertyType type);

// The fixed part, checked, and the folders one by one.
class Rfh2Frame {
 public:
  static Result<Rfh2Frame> open(std::string_view bytes, uint32_t ccsid);
  const MqCoding& coding() const { return coding_; }
  size_t size() const { return size_; }  // of header and folders
  int32_t name_value_ccsid() const;
  // What follows the header.
  int32_t encoding() const;
  int32_t ccsid() const;
  Result<std::string> format() const;  // 8 characters
  // False at the end; else the bytes of a folder, in name_value_ccsid().
  Result<bool> next_folder(std::string_view& folder);

 private:
  int32_t integer(size_t at) const { return read_int32(bytes_.data() + at, coding_.little_endian); }
  std::string_view bytes_;
  MqCoding coding_;
  size_t size_ = 0;
  size_t at_ = kRfh2FixedBytes;
  size_t folders_ = 0;
};

// What an application put: its properties, and what is left of the header without them.
struct Rfh2Split {
  PropertyList properties;
  std::vector<std::string> other_folders;  // UTF-8; psc, pscr and others that are no properties
  size_t size = 0;                         // bytes of the header; the body follows
  int32_t encoding = 0;                    // of the body, with its format
  int32_t ccsid = 0;
  std::string format;
};
Result<Rfh2Split> split_rfh2(std::string_view bytes, uint32_t ccsid);

struct Rfh2Layout {
  uint32_t own_encoding = kEncodingNative;  // of the header: what the MQMD says
  uint32_t own_ccsid = 1208;
  int32_t encoding = kEncodingNative;  // of what follows
  int32_t ccsid = 1208;
  std::string_view format;
};
// Appends a header with folders in UTF-8.
Status encode_rfh2(const Rfh2Layout& layout, const std::vector<std::string>& folders,
                   std::string& out);

// The folders of the properties: mcd, jms, usr, then the others in their order. A name that no
// element can have (of another protocol) is left out.
std::vector<std::string> property_folders(PropertyListView properties);

}  // namespace millstream::mqi
