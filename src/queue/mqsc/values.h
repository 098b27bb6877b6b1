// Values of attributes between MQSC and definitions, by the attribute's record.
// Thread: any.
#pragma once
#include "queue/mqsc/response.h"
#include "queue/mqsc/syntax.h"
#include "queue/objects/definition.h"

namespace millstream::queue::mqsc {

// Checks the clause's values against the record and sets the attribute. A keyword that is the
// attribute's off keyword sets a flag to 0.
SyntaxError set_attribute(const objects::AttributeSpec& spec, const Clause& clause,
                          objects::Definition& definition);
// As DISPLAY shows it.
Field attribute_field(const objects::AttributeSpec& spec, const objects::Definition& definition);
// As DEFINE reads it: "MAXDEPTH(10)", "NOTRIGGER", "DESCR('It''s')".
std::string attribute_clause(const objects::AttributeSpec& spec,
                             const objects::Definition& definition);
// Of one value; `problem` is set unless it is the keyword of one of the names or a number within
// min and max.
int64_t read_number(const objects::AttributeSpec& spec, const Word& word, SyntaxError& problem);
size_t character_count(std::string_view utf8);

}  // namespace millstream::queue::mqsc
