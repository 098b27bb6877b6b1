// The selectors of MQINQ and MQSET (MQIA_*, MQCA_*) and the attributes of definitions that they
// stand for. Events about changes of objects name attributes by them as well. Thread: any;
// everything is constant.
#pragma once
#include <cstdint>
#include <span>
#include <string>

#include "queue/objects/definition.h"

namespace millstream::queue {

struct ObjectSelector {
  // What is no attribute of the definition.
  enum class Source : uint8_t {
    kAttribute,
    kName,
    kType,  // MQQT_
    kDepth,
    kOpenInput,
    kOpenOutput,
    kCreationDate,
    kCreationTime,
    kAlterationDate,
    kAlterationTime,
  };
  int32_t selector;
  objects::Attr attribute;
  uint16_t length;  // of a text; 0: a number
  uint8_t types;    // bits of object_type_bit()
  Source source = Source::kAttribute;
};

std::span<const ObjectSelector> object_selectors();
const ObjectSelector* find_object_selector(int32_t selector, uint8_t type_bit);  // of this type
bool is_object_selector(int32_t selector);                                       // of any
// 0 for a type that has none.
uint8_t object_type_bit(objects::ObjectType type);
int32_t queue_type_number(objects::ObjectType type);
// Without padding. Not for what is of the queue and not of its definition.
std::string selected_text(const ObjectSelector& selector, const objects::Definition& definition);
int64_t selected_number(const ObjectSelector& selector, const objects::Definition& definition);

}  // namespace millstream::queue
