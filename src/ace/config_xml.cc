#include "ace/config_xml.h"

#include <algorithm>

#include "ace/errors_gen.h"
#include "format/xml_scopes.h"

namespace millstream::ace {
namespace {

// Offsets into the file -> line and column.
class Lines {
 public:
  Lines(std::string_view text, std::string file) : text_(text), file_(std::move(file)) {
    starts_.push_back(0);
    for (size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '\n') starts_.push_back(i + 1);
    }
  }
  base::Position at(const char* p) const {
    if (p < text_.data() || p > text_.data() + text_.size()) return {file_, 0, 0};
    const size_t offset = static_cast<size_t>(p - text_.data());
    auto line = std::upper_bound(starts_.begin(), starts_.end(), offset) - 1;
    return {file_, static_cast<uint32_t>(line - starts_.begin() + 1),
            static_cast<uint32_t>(offset - *line + 1)};
  }

 private:
  std::string_view text_;
  std::string file_;
  std::vector<size_t> starts_;
};

class ConfigBuilder {
 public:
  ConfigBuilder(std::string_view bytes, const std::string& file)
      : file_(file), lines_(bytes, file), tokenizer_(arena_, bytes, {}) {}

  Result<ConfigDocument> build() {
    while (true) {
      switch (tokenizer_.next()) {
        case format::XmlEvent::kError: {
          Status inner = tokenizer_.error();
          Status status = base::make_error(errors::kBadXml, {file_, inner.error().text});
          status.error().position = inner.error().position;
          status.error().position.file = file_;
          return status;
        }
        case format::XmlEvent::kEnd:
          return std::move(document_);
        case format::XmlEvent::kStartTag:
          start();
          break;
        case format::XmlEvent::kEndTag:
          open_.pop_back();
          scopes_.leave();
          break;
        case format::XmlEvent::kText:
        case format::XmlEvent::kCData:
          if (!open_.empty()) open_.back()->text += tokenizer_.text();
          break;
        default:
          break;
      }
    }
  }

 private:
  void start() {
    auto element = std::make_unique<ConfigElement>();
    element->name = tokenizer_.name();
    element->position = lines_.at(tokenizer_.event_start());
    scopes_.enter({tokenizer_.attributes().begin(), tokenizer_.attributes().size()});
    for (const format::XmlAttribute& a : tokenizer_.attributes()) {
      if (open_.empty() && format::is_xml_declaration(a.name)) {
        const format::XmlNameParts parts = format::split_xml_name(a.name);
        document_.namespaces.emplace_back(parts.prefix.empty() ? "" : parts.local, a.value);
      }
      element->attributes.push_back(
          {std::string(a.name), std::string(a.value), lines_.at(a.name.data())});
    }
    const format::XmlNameParts parts = format::split_xml_name(element->name);
    element->local = parts.local;
    element->name_space = scopes_.resolve(parts.prefix).value_or("");
    ConfigElement* raw = element.get();
    if (open_.empty()) {
      document_.root = std::move(element);
    } else {
      open_.back()->children.push_back(std::move(element));
    }
    open_.push_back(raw);
  }

  std::string file_;
  Lines lines_;
  base::Arena arena_;
  format::XmlTokenizer tokenizer_;
  ConfigDocument document_;
  std::vector<ConfigElement*> open_;
  format::XmlScopes scopes_;
};

}  // namespace

const ConfigAttribute* ConfigElement::find_attribute(std::string_view attribute_name) const {
  for (const ConfigAttribute& a : attributes) {
    if (a.name == attribute_name) return &a;
  }
  return nullptr;
}

std::string_view ConfigElement::attribute(std::string_view attribute_name) const {
  const ConfigAttribute* a = find_attribute(attribute_name);
  return a ? std::string_view(a->value) : std::string_view();
}

const ConfigElement* ConfigElement::child(std::string_view local_name) const {
  for (const auto& c : children) {
    if (c->local == local_name) return c.get();
  }
  return nullptr;
}

std::string_view ConfigDocument::namespace_of(std::string_view prefix) const {
  for (const auto& [p, uri] : namespaces) {
    if (p == prefix) return uri;
  }
  return {};
}

Result<ConfigDocument> parse_config_xml(std::string_view bytes, const std::string& file) {
  if (bytes.size() > kConfigXmlBytesMax) {
    return base::make_error_at(errors::kSourceTooLarge, {file, 0, 0},
                               {file, bytes.size(), kConfigXmlBytesMax});
  }
  if (bytes.substr(0, 3) == "\xef\xbb\xbf") bytes.remove_prefix(3);
  Result<ConfigDocument> document = ConfigBuilder(bytes, file).build();
  if (document.ok() && !document.value().root) {
    return base::make_error_at(errors::kBadXml, {file, 0, 0}, {file, "it is empty"});
  }
  return document;
}

}  // namespace millstream::ace
