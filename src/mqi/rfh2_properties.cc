// Message properties <-> folders of MQRFH2.
#include <charconv>
#include <cmath>

#include "base/ascii.h"
#include "base/markup.h"
#include "mqi/errors_gen.h"
#include "mqi/property_names.h"
#include "mqi/rfh2.h"
#include "text/ccsid.h"

namespace millstream::mqi {
namespace {

// JMS writes these without dt.
std::string_view known_type(std::string_view name) {
  if (name == "jms.Dlv" || name == "jms.Pri" || name == "jms.Seq") return "i4";
  if (name == "jms.Tms" || name == "jms.Exp") return "i8";
  return {};
}

// First looks whether a folder is one of properties, then takes its fields.
class PropertyReader final : public Rfh2FolderHandler {
 public:
  explicit PropertyReader(PropertyList& out) : out_(out) {}
  bool is_property_folder() const { return is_property_folder_; }

  Status start(const Rfh2Tag& tag) override {
    if (ends_.empty()) is_property_folder_ = mqi::is_property_folder(tag.name, tag.content);
    ends_.push_back(path_.size());
    if (!path_.empty()) path_ += '.';
    path_ += tag.name;
    return {};
  }
  Status end_field(const Rfh2Tag& tag, std::string_view text) override {
    // A folder without elements is no property.
    if (is_property_folder_ && ends_.size() > 1) MS_TRY(take(tag, text));
    return end_group();
  }
  Status end_group() override {
    path_.resize(ends_.back());
    ends_.pop_back();
    return {};
  }

 private:
  Status take(const Rfh2Tag& tag, std::string_view text) {
    std::string_view name = resolve_property(path_).name;
    bool has_gap =
        path_.front() == '.' || path_.back() == '.' || path_.find("..") != std::string::npos;
    if (has_gap) {
      return base::make_error(errors::kPropertyName, {path_.substr(0, 100), "beside a dot"});
    }
    if (tag.is_nil) return out_.set_unchecked_name(name, PropertyView::null());
    std::string_view type = tag.type.empty() ? known_type(name) : tag.type;
    return out_.set_unchecked_name(name, rfh2_value(type, text, scratch_));
  }

  PropertyList& out_;
  bool is_property_folder_ = false;
  std::string path_;
  std::vector<size_t> ends_;  // of path_, before each open element
  std::string scratch_;
};

void append_float(std::string& out, double d, bool is_single) {
  if (std::isnan(d)) {
    out += "NaN";
  } else if (std::isinf(d)) {
    out += d < 0 ? "-Infinity" : "Infinity";
  } else {
    char digits[32];
    auto r = is_single ? std::to_chars(digits, digits + sizeof digits, static_cast<float>(d))
                       : std::to_chars(digits, digits + sizeof digits, d);
    out.append(digits, r.ptr);
  }
}

void append_field_text(std::string& out, const PropertyView& v) {
  switch (v.type) {
    case PropertyType::kNull:
      break;
    case PropertyType::kBoolean:
      out += v.integer ? '1' : '0';
      break;
    case PropertyType::kBytes:
      base::append_hex(out, v.text());
      break;
    case PropertyType::kString:
      base::append_markup(out, v.text());
      break;
    case PropertyType::kFloat32:
    case PropertyType::kFloat64:
      append_float(out, v.real, v.type == PropertyType::kFloat32);
      break;
    default:
      out += std::to_string(v.integer);
  }
}

bool can_be_elements(std::string_view name) {
  constexpr std::string_view kEnds = "<>/= \t\r\n\"'&";
  return !name.empty() && name.find_first_of(kEnds) == std::string_view::npos &&
         name.front() != '.' && name.back() != '.' && name.find("..") == std::string_view::npos;
}

// `name` is without its folder: "a.b" becomes <a><b>...</b></a>.
void append_field(std::string& out, std::string_view name, std::string_view known,
                  const PropertyView& v) {
  std::string ends;
  while (true) {
    size_t dot = name.find('.');
    std::string element(name.substr(0, dot));
    out += '<' + element;
    ends = "</" + element + ">" + ends;
    if (dot == std::string_view::npos) break;
    out += '>';
    name.remove_prefix(dot + 1);
  }
  std::string_view type = rfh2_type_name(v.type);
  if (v.is_null()) {
    out += " xsi:nil='true'";
  } else if (!type.empty() && type != known) {
    out += " dt='" + std::string(type) + "'";
  }
  out += '>';
  append_field_text(out, v);
  out += ends;
}

}  // namespace

Result<Rfh2Split> split_rfh2(std::string_view bytes, uint32_t ccsid) {
  Rfh2Frame frame = MS_TRY(Rfh2Frame::open(bytes, ccsid));
  Rfh2Split out;
  out.size = frame.size();
  out.encoding = frame.encoding();
  out.ccsid = frame.ccsid();
  out.format = MS_TRY(frame.format());
  std::string_view raw;
  std::string folder;
  while (MS_TRY(frame.next_folder(raw))) {
    MS_TRY(text::to_utf8(raw, frame.name_value_ccsid(), folder));
    size_t end = folder.find_last_not_of(std::string_view(" \0", 2));
    if (end == std::string::npos) continue;
    folder.resize(end + 1);
    PropertyReader reader(out.properties);
    MS_TRY(read_rfh2_folder(folder, reader));
    if (!reader.is_property_folder()) out.other_folders.push_back(folder);
  }
  return out;
}

std::vector<std::string> property_folders(PropertyListView properties) {
  struct Folder {
    std::string name;
    std::string text;
  };
  std::vector<Folder> folders = {{"mcd", ""}, {"jms", ""}, {"usr", ""}};
  properties.for_each([&](std::string_view name, const PropertyView& v) {
    if (!can_be_elements(name)) return;
    std::string_view folder = folder_of_property(name);
    std::string_view rest =
        name.find('.') == std::string_view::npos ? name : name.substr(folder.size() + 1);
    size_t n = 0;
    while (n < folders.size() && folders[n].name != folder) ++n;
    if (n == folders.size()) folders.push_back({std::string(folder), ""});
    append_field(folders[n].text, rest, known_type(name), v);
  });
  std::vector<std::string> out;
  for (const Folder& f : folders) {
    if (f.text.empty()) continue;
    std::string_view content = is_property_folder(f.name, "") ? "" : " content='properties'";
    out.push_back("<" + f.name + std::string(content) + ">" + f.text + "</" + f.name + ">");
  }
  return out;
}

}  // namespace millstream::mqi
