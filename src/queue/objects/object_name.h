// The rules for names of objects, and patterns of names.
//
// A name has letters, digits and . / _ %, and here - and : too; case counts. Topic objects and all
// others have up to 48 bytes, channels 20; subscriptions are free text.
// A generic name is a name that ends in `*`, which stands for anything, or `*` alone. A profile (of
// an authority record) knows `?` (one character), `*` (within a qualifier: any characters but `.`)
// and `**` (any qualifiers, when it is a whole one).
// Thread: any.
#pragma once
#include <string_view>

#include "queue/objects/attribute_spec.h"

namespace millstream::queue::objects {

constexpr size_t kObjectNameMax = 48;
constexpr size_t kProfileNameMax = 48;

// Of an attribute or a message descriptor: not empty, right characters, not too long.
bool is_object_name(std::string_view name, size_t bytes_max = kObjectNameMax);
// Of an object that is to be made: the rule of its type.
bool is_name_for(ObjectType type, std::string_view name);
bool is_generic(std::string_view pattern);
bool matches_generic(std::string_view pattern, std::string_view name);
bool matches_profile(std::string_view profile, std::string_view name);
// Whether `a` is more specific than `b`: decides between two profiles that both match. A difference
// further left counts more; a character before `?` before `*` before `**`.
bool is_more_specific(std::string_view a, std::string_view b);

}  // namespace millstream::queue::objects
