// The HTTP header folders of a message: HTTPInputHeader (what a client sent), HTTPReplyHeader (what
// a flow wants to answer), HTTPRequestHeader and HTTPResponseHeader (the same for a back end). A
// folder has one NameValue child a header field, in the order of the wire, names as they were sent;
// a repeated field is a repeated child. Fields beginning with X-Original-HTTP-, X-Server-,
// X-Remote- and X-Scheme are the server's own notes and never go on the wire. Thread: that of the
// message.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tree/domain.h"

namespace millstream::parsers::headers {

extern const tree::Domain kHttpInputHeader;     // WSINPHDR
extern const tree::Domain kHttpReplyHeader;     // WSREPHDR
extern const tree::Domain kHttpRequestHeader;   // WSREQHDR
extern const tree::Domain kHttpResponseHeader;  // WSRSPHDR

struct HttpField {
  std::string_view name;
  std::string_view value;
  const base::QName* qname = nullptr;  // of the name, when the caller has looked it up
};

// Makes the folder and appends it to `root` (pass the fields of the wire first, then the notes).
// Names are interned; values are views that must live as long as the message.
tree::DomainRoot* make_http_header(tree::TreeContext& context, tree::Element* root,
                                   const tree::Domain& domain, std::span<const HttpField> fields);

// Adds one more field to a folder.
tree::Element* add_http_field(tree::TreeContext& context, tree::Element* folder,
                              std::string_view name, std::string_view value);

// Case-insensitive, first match; null when the folder is null or has none.
tree::Element* find_http_field(tree::Element* folder, std::string_view name);
// Text of that field in `context`'s arena; empty when missing.
std::string_view http_field_text(tree::TreeContext& context, tree::Element* folder,
                                 std::string_view name);

// True for the server's own notes.
bool is_http_note(std::string_view name);

// The fields of a folder for the wire: notes and NULL values left out, values of any scalar type as
// text (in `context`'s arena), folders and multi-line values refused. A folder with children, such
// as repeated cookies below one name, is refused too.
Status collect_http_fields(tree::TreeContext& context, tree::Element* folder,
                           std::vector<HttpField>& out);

}  // namespace millstream::parsers::headers
