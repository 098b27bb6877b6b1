#include "parsers/headers/mq_headers.h"

#include "mqi/rfh2.h"
#include "mqi/structures.h"
#include "text/ccsid.h"
#include "tree/edit.h"

namespace millstream::parsers::headers {
namespace {

using mqi::MqField;
using tree::Element;
using value::Value;

constexpr size_t kHeadersMax = 100;

void add_fields(tree::TreeContext& context, Element* root, std::string_view name, const Value& v) {
  Element* e = tree::make_element(context, context.names.qname(name), tree::kNameValue);
  e->scalar = v;
  tree::append_child(root, e);
}

Status parse_layout(tree::TreeContext& context, Element* root, const mqi::MqLayout& layout,
                    std::string_view bytes, const mqi::MqCoding& coding) {
  for (const MqField& field : layout.fields) {
    Value v = MS_TRY(mqi::decode_field(field, bytes, coding, context.arena));
    add_fields(context, root, field.name, v);
  }
  return {};
}

Status parse_fixed(tree::TreeContext& context, tree::DomainRoot* root, std::string_view bytes,
                   const tree::ParseOptions& options, const mqi::MqLayout& layout) {
  mqi::MqCoding coding = MS_TRY(mqi::find_coding(layout, bytes, options.ccsid));
  return parse_layout(context, root, layout, bytes, coding);
}

Status parse_mqmd_bytes(tree::TreeContext& context, tree::DomainRoot* root, std::string_view bytes,
                        const tree::ParseOptions& options) {
  return parse_fixed(context, root, bytes, options, mqi::kMqmdLayout);
}

Status parse_mqdlh_bytes(tree::TreeContext& context, tree::DomainRoot* root, std::string_view bytes,
                         const tree::ParseOptions& options) {
  return parse_fixed(context, root, bytes, options, mqi::kMqdlhLayout);
}

Status parse_mqrfh2_bytes(tree::TreeContext& context, tree::DomainRoot* root,
                          std::string_view bytes, const tree::ParseOptions& options) {
  mqi::Rfh2Frame frame = MS_TRY(mqi::Rfh2Frame::open(bytes, options.ccsid));
  MS_TRY(parse_layout(context, root, mqi::kMqrfh2Layout, bytes, frame.coding()));
  std::string_view raw;
  while (MS_TRY(frame.next_folder(raw))) {
    std::string_view folder = MS_TRY(text::to_utf8(raw, frame.name_value_ccsid(), context.arena));
    if (folder.find_first_not_of(std::string_view(" \0", 2)) == std::string_view::npos) continue;
    MS_TRY(parse_rfh2_folder(context, root, folder));
  }
  return {};
}

Value field_value(Element* root, std::string_view name) {
  Element* e = tree::find_child(root, name);
  return e ? tree::scalar_value(e) : Value::null();
}

int64_t integer_field(Element* root, std::string_view name, int64_t fallback) {
  Value v = field_value(root, name);
  return v.kind == value::Kind::kInteger ? v.integer : fallback;
}

Status serialise_mqmd(tree::TreeContext&, Element* e, const tree::SerialiseOptions& options,
                      std::string& out) {
  int32_t version = integer_field(e, "Version", 2) == 1 ? 1 : 2;
  return mqi::encode_structure(
      mqi::kMqmdLayout, version, options.encoding, options.ccsid,
      [e](const MqField& f) { return field_value(e, f.name); }, out);
}

Status serialise_mqdlh(tree::TreeContext&, Element* e, const tree::SerialiseOptions& options,
                       std::string& out) {
  return mqi::encode_structure(
      mqi::kMqdlhLayout, 1, options.encoding, options.ccsid,
      [e](const MqField& f) { return field_value(e, f.name); }, out);
}

bool is_fixed_rfh2_field(std::string_view name) {
  for (const MqField& f : mqi::kMqrfh2Layout.fields) {
    if (f.name == name) return true;
  }
  return name == "StrucId" || name == "StrucLength";
}

Status serialise_mqrfh2(tree::TreeContext&, Element* e, const tree::SerialiseOptions& options,
                        std::string& out) {
  bool little_endian = mqi::is_little_endian(options.encoding);
  size_t start = out.size();
  MS_TRY(mqi::encode_structure(
      mqi::kMqrfh2Layout, 2, options.encoding, options.ccsid,
      [e](const MqField& f) { return field_value(e, f.name); }, out));
  int64_t ccsid = integer_field(e, "NameValueCCSID", 1208);
  for (Element* c = tree::first_child(e); c; c = tree::next_sibling(c)) {
    if (is_fixed_rfh2_field(c->local_name())) continue;
    std::string text, bytes;
    write_rfh2_folder(c, text);
    MS_TRY(text::from_utf8(text, static_cast<int32_t>(ccsid), bytes));
    std::string blank;
    MS_TRY(text::from_utf8(" ", static_cast<int32_t>(ccsid), blank));
    while (bytes.size() % 4) bytes += blank;
    mqi::append_int32(out, static_cast<int32_t>(bytes.size()), little_endian);
    out += bytes;
  }
  mqi::write_int32(out.data() + start + 8, static_cast<int32_t>(out.size() - start), little_endian);
  return {};
}

constexpr tree::Domain header_domain(const char* name, const char* parser_class,
                                     decltype(tree::Domain::parse) parse,
                                     decltype(tree::Domain::serialise) serialise) {
  return {.name = name,
          .parser_class = parser_class,
          .is_body = false,
          .parse = parse,
          .serialise = serialise,
          .default_field_type = tree::kNameValue};
}

const mqi::MqLayout& layout_of(const tree::Domain* domain) {
  return domain == &kMqrfh2 ? mqi::kMqrfh2Layout : mqi::kMqdlhLayout;
}

void read_following(Element* header, MqFollowing& following) {
  Value format = field_value(header, "Format");
  if (format.kind == value::Kind::kCharacter) following.format = format.text();
  int64_t ccsid = integer_field(header, "CodedCharSetId", 0);
  int64_t encoding = integer_field(header, "Encoding", 0);
  // Inherit (-2) and unstated values keep what was said before.
  if (ccsid > 0) following.ccsid = static_cast<uint32_t>(ccsid);
  if (encoding > 0) following.encoding = static_cast<uint32_t>(encoding);
}

}  // namespace

constexpr tree::Domain kMqmd = header_domain("MQMD", "MQHMD", parse_mqmd_bytes, serialise_mqmd);
constexpr tree::Domain kMqrfh2 =
    header_domain("MQRFH2", "MQHRF2", parse_mqrfh2_bytes, serialise_mqrfh2);
constexpr tree::Domain kMqdlh =
    header_domain("MQDLH", "MQDEAD", parse_mqdlh_bytes, serialise_mqdlh);

const tree::Domain* header_of_format(std::string_view format) {
  while (!format.empty() && format.back() == ' ') format.remove_suffix(1);
  if (format == "MQHRF2") return &kMqrfh2;
  if (format == "MQDEAD") return &kMqdlh;
  return nullptr;
}

Result<tree::DomainRoot*> parse_mqmd(tree::TreeContext& context, Element* root,
                                     std::string_view bytes, MqFollowing& following) {
  tree::DomainRoot* header = tree::make_domain_root(context, kMqmd, context.names.qname("MQMD"));
  MS_TRY(parse_mqmd_bytes(context, header, bytes, {}));
  tree::append_child(root, header);
  read_following(header, following);
  return header;
}

Result<std::string_view> parse_mq_headers(tree::TreeContext& context, Element* root,
                                          std::string_view bytes, MqFollowing& following) {
  for (size_t n = 0; n < kHeadersMax; ++n) {
    const tree::Domain* domain = header_of_format(following.format);
    if (!domain) break;
    mqi::MqCoding coding = MS_TRY(mqi::find_coding(layout_of(domain), bytes, following.ccsid));
    size_t size = coding.size;
    if (domain == &kMqrfh2) size = MS_TRY(mqi::Rfh2Frame::open(bytes, following.ccsid)).size();
    tree::DomainRoot* header =
        tree::make_domain_root(context, *domain, context.names.qname(domain->name));
    MS_TRY(domain->parse(context, header, bytes.substr(0, size),
                         {.ccsid = following.ccsid, .encoding = following.encoding}));
    tree::append_child(root, header);
    read_following(header, following);
    bytes.remove_prefix(size);
  }
  return bytes;
}

void repair_mq_chain(tree::TreeContext& context, Element* root, std::string_view body_format) {
  Element* before = nullptr;
  auto set_format = [&](std::string_view format) {
    if (!before) return;
    char padded[8];
    for (size_t i = 0; i < 8; ++i) padded[i] = i < format.size() ? format[i] : ' ';
    Value current = field_value(before, "Format");
    std::string_view wanted(padded, 8);
    if (current.kind == value::Kind::kCharacter && current.text() == wanted) return;
    tree::set_child(context, before, "Format", Value::make_character(wanted));
  };
  for (Element* c = tree::first_child(root); c; c = tree::next_sibling(c)) {
    if (!c->has_flag(tree::kFlagDomainRoot)) continue;
    const tree::Domain* domain = static_cast<tree::DomainRoot*>(c)->domain;
    if (domain == &kMqrfh2) set_format("MQHRF2");
    if (domain == &kMqdlh) set_format("MQDEAD");
    if (domain == &kMqmd || domain == &kMqrfh2 || domain == &kMqdlh) before = c;
  }
  if (!body_format.empty()) {
    set_format(body_format);
  } else if (before &&
             header_of_format(field_value(before, "Format").kind == value::Kind::kCharacter
                                  ? field_value(before, "Format").text()
                                  : std::string_view())) {
    set_format("");  // it announced a header that is not there
  }
}

}  // namespace millstream::parsers::headers
