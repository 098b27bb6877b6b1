#include "parsers/json/json_parser.h"

#include "format/json_token.h"
#include "parsers/json/errors_gen.h"
#include "parsers/json/json_domain.h"
#include "text/ccsid.h"

namespace millstream::parsers::json {
namespace {

// The Unicode form of a body that states no CCSID: byte order mark, else the zeros around the first
// character, which is always ASCII.
uint32_t detect_ccsid(std::string_view b) {
  auto at = [&](size_t i) { return i < b.size() ? static_cast<unsigned char>(b[i]) : 1u; };
  if (b.size() < 2) return text::kCcsidUtf8;
  if (at(0) == 0xFF && at(1) == 0xFE) {
    return b.size() >= 4 && at(2) == 0 && at(3) == 0 ? text::kCcsidUtf32LittleEndian
                                                     : text::kCcsidUtf16LittleEndian;
  }
  if (at(0) == 0xFE && at(1) == 0xFF) return text::kCcsidUtf16BigEndian;
  if (b.size() >= 4 && at(0) == 0 && at(1) == 0) return text::kCcsidUtf32BigEndian;
  if (at(0) == 0) return text::kCcsidUtf16BigEndian;
  if (at(1) == 0) {
    return b.size() >= 4 && at(2) == 0 && at(3) == 0 ? text::kCcsidUtf32LittleEndian
                                                     : text::kCcsidUtf16LittleEndian;
  }
  return text::kCcsidUtf8;
}

std::string_view without_bom(std::string_view s) {
  return s.substr(0, 3) == "\xEF\xBB\xBF" ? s.substr(3) : s;
}

Status parse_failure(std::string_view text, const tree::ParseOptions& options) {
  format::JsonLimits limits;
  limits.depth_max = options.depth_max;
  auto problem = format::check_json(text, limits);
  if (!problem) {
    return base::make_error(errors::kJsonInternal, {});
  }
  auto place = format::text_position(text, problem->offset);
  Status inner = base::make_error(errors::kJsonSyntax,
                                  {place.line, place.column, problem->offset, problem->reason});
  return base::wrap_error(base::make_error(errors::kJsonParse), std::move(inner));
}

Status parse(tree::TreeContext& context, tree::DomainRoot* root, std::string_view bytes,
             const tree::ParseOptions& options) {
  auto* parser = new (context.arena.allocate(sizeof(JsonParser), alignof(JsonParser)))
      JsonParser(context, root, bytes, options);
  root->parser = parser;
  root->set_flag(tree::kFlagOpen);
  return options.is_immediate ? parser->parse_now() : Status();
}

}  // namespace

Status serialise(tree::TreeContext& context, tree::Element* e,
                 const tree::SerialiseOptions& options, std::string& out);

constexpr tree::Domain kDomain = {
    .name = "JSON",
    .parser_class = "JSON",
    .is_body = true,
    .parse = parse,
    .serialise = serialise,
    .default_field_type = tree::kNameValue,
};

uint32_t JsonParser::ccsid() const { return ccsid_ ? ccsid_ : detect_ccsid(bytes_); }

tree::BodyParser* JsonParser::clone_for(tree::TreeContext& context, tree::DomainRoot* target) {
  auto* copy = new (context.arena.allocate(sizeof(JsonParser), alignof(JsonParser)))
      JsonParser(context, target, bytes_, options_);
  target->set_flag(tree::kFlagOpen);
  return copy;
}

Result<std::string_view> JsonParser::decode() {
  uint32_t set = ccsid();
  // UTF-8 goes straight to the scanner, which validates it.
  if (set == text::kCcsidUtf8 || set == 1209) return without_bom(bytes_);
  std::string_view text = MS_TRY(text::to_utf8(bytes_, static_cast<int32_t>(set), context_.arena));
  return without_bom(text);
}

Status JsonParser::parse_now() {
  root_->clear_flag(tree::kFlagOpen);
  if (bytes_.empty()) return {};
  auto text = decode();
  if (!text.ok()) {
    return base::wrap_error(base::make_error(errors::kJsonParse), std::move(text).take_status());
  }
  if (TreeBuilder(*this, text.value()).run()) return {};
  return parse_failure(text.value(), options_);
}

void JsonParser::scan() {
  Status status = parse_now();
  if (!status.ok() && !context_.has_parse_error()) context_.parse_error = std::move(status);
}

}  // namespace millstream::parsers::json
