// HTTPHeader: whole header folders, and single fields of the request and reply headers.
#include "flow/invocation.h"
#include "nodes/http/http_header_properties_gen.h"
#include "parsers/headers/http_headers.h"

namespace millstream::nodes::http {
namespace {

enum class Change : uint8_t { kCarryForward, kAdd, kModify, kDelete };

struct Field {
  std::string name, value;
  bool is_deleted = false;
};

// One of the two folders whose fields the node can change.
struct FolderChange {
  std::string_view folder;
  std::string_view incoming;  // whose fields a new folder may begin with
  const tree::Domain* domain = nullptr;
  Change change = Change::kCarryForward;
  bool includes_incoming = false;
  std::vector<Field> fields;
};

void delete_folder(tree::Element* root, std::string_view name) {
  if (tree::DomainRoot* folder = tree::find_domain(root, name)) tree::detach(folder);
}

tree::DomainRoot* make_folder(tree::TreeContext& context, tree::Element* root,
                              const FolderChange& change) {
  tree::DomainRoot* folder =
      tree::make_domain_root(context, *change.domain, context.names.qname(change.folder));
  tree::DomainRoot* body = tree::body_of(root);
  if (body) {
    tree::insert_before(body, folder);
  } else {
    tree::append_child(root, folder);
  }
  return folder;
}

Status apply_change(tree::TreeContext& context, tree::Element* root, const FolderChange& change) {
  if (change.change == Change::kCarryForward) return {};
  if (change.change == Change::kDelete) {
    delete_folder(root, change.folder);
    return {};
  }
  tree::DomainRoot* folder = tree::find_domain(root, change.folder);
  if (change.change == Change::kAdd && folder) {
    tree::detach(folder);
    folder = nullptr;
  }
  if (!folder) folder = make_folder(context, root, change);
  if (change.change == Change::kAdd && change.includes_incoming) {
    if (tree::DomainRoot* incoming = tree::find_domain(root, change.incoming)) {
      for (tree::Element* e = tree::first_child(incoming); e; e = tree::next_sibling(e)) {
        if (parsers::headers::is_http_note(e->local_name())) continue;
        tree::append_child(folder, MS_TRY(tree::deep_copy(context, e)));
      }
    }
  }
  for (const Field& f : change.fields) {
    tree::Element* e = parsers::headers::find_http_field(folder, f.name);
    if (f.is_deleted) {
      if (e) tree::detach(e);
    } else if (e) {
      tree::set_value(e, value::Value::make_character(context.arena.copy(f.value)));
    } else {
      parsers::headers::add_http_field(context, folder, f.name, context.arena.copy(f.value));
    }
  }
  return {};
}

class HttpHeader final : public flow::Node {
 public:
  HttpHeader(HttpHeaderProperties properties, FolderChange request, FolderChange reply)
      : properties_(std::move(properties)),
        request_(std::move(request)),
        reply_(std::move(reply)) {}

  Status evaluate(flow::Invocation& invocation, const tree::MessageAssembly& in, int) override {
    tree::TreeContext& context = invocation.context();
    tree::MessageAssembly out = in;
    out.root = MS_TRY(tree::deep_copy(context, in.root));
    MS_TRY(apply_change(context, out.root, request_));
    MS_TRY(apply_change(context, out.root, reply_));
    if (properties_.http_input_header == HttpHeaderProperties::HttpInputHeader::kDeleteHeader) {
      delete_folder(out.root, "HTTPInputHeader");
    }
    if (properties_.http_response_header ==
        HttpHeaderProperties::HttpResponseHeader::kDeleteHeader) {
      delete_folder(out.root, "HTTPResponseHeader");
    }
    return invocation.propagate(*this, kOut, out);
  }

 private:
  static constexpr int kOut = 1;
  const HttpHeaderProperties properties_;
  const FolderChange request_;
  const FolderChange reply_;
};

std::vector<Field> read_fields(const flow::PropertySet& set, std::string_view table,
                               Change change) {
  std::vector<Field> fields;
  for (const flow::PropertyRow& row : set.rows(table)) {
    Field f{std::string(row.get("name")), std::string(row.get("value")), false};
    f.is_deleted = row.get("type") == "Delete" || (change == Change::kModify && f.value.empty());
    fields.push_back(std::move(f));
  }
  return fields;
}

}  // namespace

Result<std::unique_ptr<flow::Node>> create_http_header(flow::NodeBuildContext& context) {
  const flow::PropertySet& set = context.definition.properties;
  HttpHeaderProperties properties = MS_TRY(read_http_header_properties(set, context.diagnostics));
  FolderChange request{"HTTPRequestHeader",
                       "HTTPInputHeader",
                       &parsers::headers::kHttpRequestHeader,
                       static_cast<Change>(properties.http_request_header),
                       properties.request_include_incoming,
                       {}};
  FolderChange reply{"HTTPReplyHeader",
                     "HTTPResponseHeader",
                     &parsers::headers::kHttpReplyHeader,
                     static_cast<Change>(properties.http_reply_header),
                     properties.reply_include_incoming,
                     {}};
  request.fields = read_fields(set, "nameValue4RequestHeader", request.change);
  reply.fields = read_fields(set, "nameValue4ReplyHeader", reply.change);
  return std::unique_ptr<flow::Node>(
      new HttpHeader(std::move(properties), std::move(request), std::move(reply)));
}

}  // namespace millstream::nodes::http
