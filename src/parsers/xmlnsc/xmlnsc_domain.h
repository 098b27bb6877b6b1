// The XMLNSC domain: XML with namespaces, compact tree.
//
// Tree: an element with text is one NameValue element, one with child elements a folder without a
// value; namespace declarations and attributes are its first children in document order; white
// space and text between child elements are dropped unless mixed content is retained (then each run
// of text is a nameless Value child); comments and processing instructions are kept only on
// request, as is the document type (ParseOptions). An empty element has the value '', or none when
// it says xsi:nil. CDATA makes the element a CDataField, with other text a HybridField. Parsing is
// on demand; what a navigation reaches is complete as to type and value.
#pragma once
#include "tree/domain.h"

namespace millstream::parsers::xmlnsc {

extern const tree::Domain kDomain;
inline const tree::Domain& domain() { return kDomain; }

}  // namespace millstream::parsers::xmlnsc
