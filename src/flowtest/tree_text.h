// Trees and values as short text, for expectations in tests.
//
//   a{@id='1' b='x' c=12 d{}}       an attribute, fields with values, an empty folder
//   []list{Item=1 Item=2}           a JSON array
//   {urn:x}a   %xmlns:p='urn:x'     a name with a namespace; a namespace declaration
//   #'text'                         a nameless value (mixed content)
//   (0x03000001)c='x'               any other field type
// Values are ESQL literals: 'it''s', 12, 1.5E+0, DECIMAL '1.50', X'0aff', DATE '2024-01-31', NULL.
// A folder without value and children ends with {}; a field whose value is NULL is written a=NULL.
// Thread: that of the message.
#pragma once
#include <string>

#include "esql/eval_context.h"
#include "tree/element.h"

namespace millstream::flowtest {

// In apostrophes, those inside doubled, on one line.
std::string quote_text(std::string_view text);
std::string value_text(esql::EvalContext& context, const value::Value& v);
// The element itself with everything below it.
std::string tree_text(esql::EvalContext& context, tree::Element* e);
// Only what is below it, without braces.
std::string children_text(esql::EvalContext& context, tree::Element* e);
// The same with line ends and indentation made single blanks, and none inside braces, so that an
// expectation may be laid out freely.
std::string normalise_tree_text(std::string_view text);

}  // namespace millstream::flowtest
