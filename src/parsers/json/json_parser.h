// The BodyParser of the JSON domain and the record it keeps for writing numbers as they were read.
// Internal to src/parsers/json. Thread: that of the message.
#pragma once
#include <cstdint>
#include <string_view>

#include "tree/domain.h"
#include "tree/element.h"

namespace millstream::parsers::json {

// A number whose value does not give its text back (1e3, -0, more than 34 digits). Only these are
// recorded; `value` tells whether the element was changed since.
struct RawNumber {
  tree::Element* element;
  value::Value value;
  std::string_view text;
  RawNumber* next;
};

class JsonParser final : public tree::BodyParser {
 public:
  JsonParser(tree::TreeContext& context, tree::DomainRoot* root, std::string_view bytes,
             const tree::ParseOptions& options)
      : context_(context), root_(root), bytes_(bytes), ccsid_(options.ccsid), options_(options) {}

  void parse_child(tree::Element*, tree::Element*) override { scan(); }
  void parse_all(tree::Element*) override { scan(); }
  std::string_view bytes() const override { return bytes_; }
  uint32_t ccsid() const override;
  tree::BodyParser* clone_for(tree::TreeContext& context, tree::DomainRoot* target) override;

  // Decodes the character set and builds the whole tree; closes the root whatever happens.
  Status parse_now();
  const RawNumber* raw_numbers() const { return raw_numbers_; }

 private:
  friend class TreeBuilder;
  void scan();
  Result<std::string_view> decode();

  tree::TreeContext& context_;
  tree::DomainRoot* root_;
  std::string_view bytes_;
  uint32_t ccsid_;
  tree::ParseOptions options_;
  RawNumber* raw_numbers_ = nullptr;
};

// Builds the tree of one document; at most once per root.
class TreeBuilder {
 public:
  TreeBuilder(JsonParser& parser, std::string_view text) : parser_(parser), text_(text) {}
  // False: the document is malformed; what came before stays in the tree.
  bool run();

 private:
  struct Cursor;
  // Containers nested deeper than this get no name prediction.
  static constexpr uint32_t kPredictedDepth = 64;
  static constexpr uint32_t kCacheSize = 128;
  static constexpr size_t kBlockElements = 64;

  bool build(Cursor& c);
  bool open_container(Cursor& c, tree::Element* e);
  bool read_value(Cursor& c, const base::QName* name, bool& is_container);
  bool read_name(Cursor& c, const base::QName*& name);
  tree::Element* new_block(Cursor& c);
  const base::QName* find_name(std::string_view raw);
  bool read_literal(tree::Element* e, std::string_view token);
  bool read_number(tree::Element* e, std::string_view token);
  bool decode(std::string_view& raw);

  JsonParser& parser_;
  std::string_view text_;
  tree::Element* hints_[kPredictedDepth];      // of the enclosing containers, by depth
  const base::QName* cache_[kCacheSize] = {};  // names seen in this document, by cheap hash
};

}  // namespace millstream::parsers::json
