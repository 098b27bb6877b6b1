#include "tree/element.h"

namespace millstream::tree {

DomainRoot* domain_root_of(Element* e) {
  for (; e; e = e->parent) {
    if (e->has_flag(kFlagDomainRoot)) return static_cast<DomainRoot*>(e);
  }
  return nullptr;
}

namespace {
// The parser that has to go on with open element `e`; an open element always has one above it.
BodyParser* parser_for(Element* e) {
  DomainRoot* root = domain_root_of(e);
  if (!root || !root->parser) {
    e->clear_flag(kFlagOpen);
    return nullptr;
  }
  return root->parser;
}
}  // namespace

void continue_first(Element* e) {
  if (BodyParser* parser = parser_for(e)) parser->parse_child(e, nullptr);
}

void continue_next(Element* e) {
  if (BodyParser* parser = parser_for(e->parent)) parser->parse_child(e->parent, e);
}

void continue_all(Element* e) {
  if (BodyParser* parser = parser_for(e)) parser->parse_all(e);
}

}  // namespace millstream::tree
