#include "parsers/blob/blob_domain.h"

#include "parsers/blob/errors_gen.h"
#include "text/ccsid.h"
#include "tree/edit.h"

namespace millstream::parsers::blob {
namespace {

class BlobParser final : public tree::BodyParser {
 public:
  BlobParser(std::string_view bytes, uint32_t ccsid) : bytes_(bytes), ccsid_(ccsid) {}
  void parse_child(tree::Element*, tree::Element*) override {}
  void parse_all(tree::Element*) override {}
  std::string_view bytes() const override { return bytes_; }
  uint32_t ccsid() const override { return ccsid_; }
  tree::BodyParser* clone_for(tree::TreeContext& context, tree::DomainRoot* target) override;

 private:
  std::string_view bytes_;
  uint32_t ccsid_;
};

// One element is cheaper than an open root; linking by hand does not count as a modification.
BlobParser* attach(tree::TreeContext& context, tree::DomainRoot* root, std::string_view bytes,
                   uint32_t ccsid) {
  tree::Element* e = tree::make_element(context, context.names.qname("BLOB"), tree::kNameValue);
  e->scalar = value::Value::make_blob(bytes);
  e->parent = root;
  root->first = root->last = e;
  return new (context.arena.allocate(sizeof(BlobParser), alignof(BlobParser)))
      BlobParser(bytes, ccsid);
}

tree::BodyParser* BlobParser::clone_for(tree::TreeContext& context, tree::DomainRoot* target) {
  return attach(context, target, bytes_, ccsid_);
}

Status parse_blob(tree::TreeContext& context, tree::DomainRoot* root, std::string_view bytes,
                  const tree::ParseOptions& options) {
  root->parser = attach(context, root, bytes, options.ccsid);
  return {};
}

Status append_bytes(tree::Element* e, const tree::SerialiseOptions& options, std::string& out) {
  value::Value v = tree::scalar_value(e);
  switch (v.kind) {
    case value::Kind::kNull:
      return {};
    case value::Kind::kBlob:
      out += v.text();
      return {};
    case value::Kind::kCharacter: {
      if (options.ccsid == 0 || options.ccsid == text::kCcsidUtf8) {
        out += v.text();
        return {};
      }
      std::string bytes;
      MS_TRY(text::from_utf8(v.text(), static_cast<int32_t>(options.ccsid), bytes));
      out += bytes;
      return {};
    }
    default:
      return base::make_error(errors::kBlobType, {value::kind_name(v.kind)});
  }
}

Status serialise_blob(tree::TreeContext&, tree::Element* e, const tree::SerialiseOptions& options,
                      std::string& out) {
  if (!e->has_flag(tree::kFlagDomainRoot)) return append_bytes(e, options, out);
  for (tree::Element* c = tree::first_child(e); c; c = tree::next_sibling(c)) {
    if (c->local_name() == "BLOB") MS_TRY(append_bytes(c, options, out));
  }
  return {};
}

}  // namespace

constexpr tree::Domain kDomain = {
    .name = "BLOB",
    .parser_class = "NONE",
    .is_body = true,
    .parse = parse_blob,
    .serialise = serialise_blob,
    .default_field_type = tree::kNameValue,
};

}  // namespace millstream::parsers::blob
