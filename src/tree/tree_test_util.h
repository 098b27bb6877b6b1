// A parser for tests that makes one event of its text a step, and counts them, so that a test sees
// what a navigation costs. A letter opens an element of that name, a digit is its value, "." closes
// it, "!" is a parse error; the end of the text closes everything.
//   "a1.b(c2.).": "(" and ")" are only for the eye.
#pragma once
#include <cctype>
#include <deque>
#include <string>

#include "base/result.h"
#include "tree/assembly.h"

namespace millstream::tree::test {

inline constexpr base::ErrorCode kFakeError = {"MS1999", 1999, base::ExceptionKind::kParser,
                                               base::Severity::kError, "fake"};

class FakeParser final : public BodyParser {
 public:
  FakeParser(std::deque<FakeParser>& all, TreeContext& context, std::string_view text)
      : all_(all), context_(context), text_(text) {}

  void attach(DomainRoot* root) {
    root->parser = this;
    root->set_flag(kFlagOpen);
    open_ = root;
  }
  void parse_child(Element* e, Element* after) override {
    while (e->is_open() && !(after ? after->next : e->first)) step();
  }
  void parse_all(Element* e) override {
    while (e->is_open()) step();
  }
  std::string_view bytes() const override { return text_; }
  uint32_t ccsid() const override { return 1208; }
  BodyParser* clone_for(TreeContext& context, DomainRoot* target) override {
    if (&context != &context_) return nullptr;
    all_.emplace_back(all_, context, text_);
    all_.back().attach(target);
    return &all_.back();
  }
  size_t steps() const { return steps_; }

 private:
  void step() {
    ++steps_;
    const char c = at_ < text_.size() ? text_[at_++] : '\0';
    if (std::isalpha(static_cast<unsigned char>(c))) {
      Element* e =
          make_element(context_, context_.names.qname(std::string_view(&c, 1)), kNameValue);
      e->set_flag(kFlagOpen);
      link_child(open_, e);
      open_ = e;
    } else if (std::isdigit(static_cast<unsigned char>(c))) {
      const uint16_t flags = open_->scalar.spare;
      open_->scalar = value::Value::make_integer(c - '0');
      open_->scalar.spare = flags;
    } else if (c == '.') {
      open_->clear_flag(kFlagOpen);
      open_ = open_->parent;
    } else if (c == '!' || c == '\0') {
      if (c == '!' && !context_.has_parse_error()) {
        context_.parse_error = base::make_error(kFakeError);
      }
      close_all();
    }
  }
  void close_all() {
    for (Element* e = open_; e; e = e->parent) {
      e->clear_flag(kFlagOpen);
      if (e->has_flag(kFlagDomainRoot)) return;
    }
  }

  std::deque<FakeParser>& all_;
  TreeContext& context_;
  std::string_view text_;
  Element* open_ = nullptr;
  size_t at_ = 0;
  size_t steps_ = 0;
};

// Writes the elements back in the notation above.
inline Status serialise_fake(TreeContext& context, Element* e, const SerialiseOptions&,
                             std::string& out) {
  for (Element* c = first_child(e); c; c = next_sibling(c)) {
    out += c->local_name();
    const value::Value v = scalar_value(c);
    if (v.kind == value::Kind::kInteger) out += std::to_string(v.integer);
    if (v.kind == value::Kind::kCharacter) out += v.text();
    MS_TRY(serialise_fake(context, c, {}, out));
    out += '.';
  }
  return {};
}

inline constexpr Domain kFakeDomain = {.name = "FAKE",
                                       .parser_class = "fake",
                                       .is_body = true,
                                       .parse = nullptr,
                                       .serialise = serialise_fake,
                                       .default_field_type = kNameValue};
inline constexpr Domain kOtherDomain = {.name = "OTHER",
                                        .parser_class = "other",
                                        .is_body = true,
                                        .parse = nullptr,
                                        .serialise = nullptr,
                                        .default_field_type = kNameValue};
inline constexpr Domain kFakeHeader = {.name = "HEAD",
                                       .parser_class = "head",
                                       .is_body = false,
                                       .parse = nullptr,
                                       .serialise = serialise_fake,
                                       .default_field_type = kNameValue};

struct TreeFixture {
  std::shared_ptr<base::NameTable> table = std::make_shared<base::NameTable>();
  MessageArena arena{table};
  std::deque<FakeParser> parsers;

  TreeContext& context() { return arena.context(); }
  const base::QName* name(std::string_view local) { return context().names.qname(local); }
  // A domain root over `text`, not in a tree.
  DomainRoot* parse(std::string_view text, const Domain& domain = kFakeDomain) {
    DomainRoot* root = make_domain_root(context(), domain, name(domain.name));
    parsers.emplace_back(parsers, context(), text);
    parsers.back().attach(root);
    return root;
  }
  DomainRoot* parse_into(Element* parent, std::string_view text,
                         const Domain& domain = kFakeDomain) {
    DomainRoot* root = parse(text, domain);
    append_child(parent, root);
    return root;
  }
  Element* element(std::string_view local, FieldType type = kNameValue) {
    return make_element(context(), name(local), type);
  }
  // What the tree below `e` is, in the notation of the fake parser.
  std::string written(Element* e) {
    std::string out;
    Status status = serialise_fake(context(), e, {}, out);
    return status.ok() ? out : "error";
  }
  size_t steps(size_t parser = 0) const { return parsers[parser].steps(); }
};

}  // namespace millstream::tree::test
