// Trees in the notation of the tests, as data: what is compared, printed, ignored in parts and made
// into elements of a message.
//
//   Properties{MessageFormat='' Priority=0} XMLNSC{order{@id='1' item='x' item='y'}}
//
// A name, `=` and a value as an ESQL literal, children in braces; `@` before an attribute, `[]`
// before a JSON array, `%` before a namespace declaration, `{uri}` before a name in a namespace,
// `(0x03000001)` before a name of any other type, a literal alone for a value without a name. A
// name with blanks or braces stands in double quotes. Line ends in texts are \n and \r.
// Thread: any (no sharing).
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "esql/eval_context.h"
#include "tree/element.h"

namespace millstream::flowtest {

struct TextTree {
  std::string mark;   // "@", "%", "[]", "#", "(0x...)" or empty
  std::string space;  // namespace URI
  std::string name;   // empty: a value without a name
  std::string value;  // literal; empty: none
  bool is_folder = false;
  std::vector<TextTree> children;
  std::string title() const;  // mark, namespace and name, as it is written
};
using TextForest = std::vector<TextTree>;

constexpr int kTextTreeDepthMax = 1000;

// What is below `e`; the message is parsed on as far as it goes.
TextForest forest_of(esql::EvalContext& context, tree::Element* e);
// An error says where and what was expected.
Result<TextForest> parse_forest(std::string_view text);
// One element a line, two blanks a level.
std::string print_forest(const TextForest& forest);

// A path such as "XMLNSC.order[2].@id", "Properties.CreationTime", "**.Timestamp",
// "JSON.Data.*.id": local names, or {uri}name; `*` is any one element, `**` any number of them.
struct TextPath {
  struct Step {
    std::string space, name;  // name "*", "**"
    bool has_space = false;
    size_t index = 0;  // 1 = first of its name, 0 = all
  };
  std::vector<Step> steps;
  static Result<TextPath> parse(std::string_view text);
};
// Takes everything out that one of the paths names.
void remove_paths(TextForest& forest, const std::vector<TextPath>& paths);
// The first element of a path without `**`; null when there is none.
const TextTree* find_path(const TextForest& forest, const TextPath& path);

// For comparing documents by what they say: attributes and JSON members in order of their names,
// without namespace declarations, kinds of text and the XML declaration.
enum class DocumentKind : uint8_t { kXml, kJson };
void canonicalise(TextForest& forest, DocumentKind kind);

// Lines of `expected` with '-', of `found` with '+', some equal ones around; empty when equal.
std::string diff_lines(std::string_view expected, std::string_view found);

// Makes elements below `parent`: `is_root` for the children of a message's Root, each of which is a
// domain. Values are ESQL literals.
Status build_elements(esql::EvalContext& context, tree::Element* parent, const TextForest& forest,
                      bool is_root);

}  // namespace millstream::flowtest
