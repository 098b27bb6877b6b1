// The XMLNS domain (and the legacy XML one, which is taken as XMLNS): XML with namespaces that
// keeps everything.
//
// Tree: XmlDecl with Version, Encoding and Standalone; DocTypeDecl with SystemId, PublicId and
// IntSubset; comments, processing instructions and white space wherever they stand; elements as
// folders. The text of an element is there as nameless Content and CDATASection children, in
// document order with all white space, so that mixed content is written back as it was. An element
// without child elements also has its text as its own value ('' when it is empty), so that a
// reference to it yields the text; an element with child elements has no value.
// Writing: the value of an element replaces its Content children when it says something else than
// they do and none of them was changed, i.e. after SET a.b = 'new'; otherwise the children count.
// References to entities are replaced by their text. Quotes of attributes become double ones.
#pragma once
#include "tree/domain.h"

namespace millstream::parsers::xmlns {

extern const tree::Domain kDomain;
inline const tree::Domain& domain() { return kDomain; }

}  // namespace millstream::parsers::xmlns
