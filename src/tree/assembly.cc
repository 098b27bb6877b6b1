#include "tree/assembly.h"

#include "tree/errors_gen.h"

namespace millstream::tree {

RootNames intern_root_names(base::NameTable& table) {
  auto name = [&table](const char* text) { return table.intern_qname("", text); };
  return {name("Root"), name("LocalEnvironment"), name("Environment"), name("ExceptionList")};
}

void MessageArena::find_root_names() {
  are_root_names_shared_ = true;
  auto name = [this](std::string_view text) {
    const base::QName* q = context_.names.qname(text);
    if (context_.names.table().find_qname(q->ns, q->local) != q) are_root_names_shared_ = false;
    return q;
  };
  root_names_ = {name("Root"), name("LocalEnvironment"), name("Environment"),
                 name("ExceptionList")};
}

MessageAssembly MessageArena::make_assembly() {
  return {make_element(context_, root_names_.root, kName),
          make_element(context_, root_names_.local_environment, kName),
          make_element(context_, root_names_.environment, kName),
          make_element(context_, root_names_.exception_list, kName)};
}

void MessageArena::reset(std::shared_ptr<const base::NameTable> table) {
  context_.parse_error = Status();
  arena_.reset();
  const bool is_same = table.get() == &context_.names.table();
  context_.names.reset(std::move(table));
  if (!is_same || !are_root_names_shared_) find_root_names();
}

Element* make_root(TreeContext& context, std::string_view name) {
  return make_element(context, context.names.qname(name), kName);
}

DomainRoot* body_of(Element* root) {
  for (Element* c = root ? last_child(root) : nullptr; c; c = previous_sibling(c)) {
    if (!c->has_flag(kFlagDomainRoot)) continue;
    auto* domain_root = static_cast<DomainRoot*>(c);
    if (domain_root->domain->is_body) return domain_root;
  }
  return nullptr;
}

DomainRoot* find_domain(Element* root, std::string_view name) {
  for (Element* c = first_child(root); c; c = next_sibling(c)) {
    if (c->has_flag(kFlagDomainRoot) && c->local_name() == name) {
      return static_cast<DomainRoot*>(c);
    }
  }
  return nullptr;
}

Status serialise_body(TreeContext& context, DomainRoot* body, const SerialiseOptions& options,
                      std::string& out) {
  if (body->parser && !body->has_flag(kFlagModified) &&
      (options.ccsid == 0 || options.ccsid == body->parser->ccsid())) {
    std::string_view bytes = body->parser->bytes();
    out.append(bytes.data(), bytes.size());
    return {};
  }
  if (!body->domain->serialise) {
    return base::make_error(errors::kNoSerialiser, {body->local_name()});
  }
  complete(body);
  if (context.has_parse_error()) return context.take_parse_error();
  return body->domain->serialise(context, body, options, out);
}

namespace {

void add_text(TreeContext& context, Element* parent, std::string_view name, std::string_view text) {
  set_child(context, parent, name, value::Value::make_character(text));
}

void add_integer(TreeContext& context, Element* parent, std::string_view name, int64_t number) {
  set_child(context, parent, name, value::Value::make_integer(number));
}

}  // namespace

void append_exception(TreeContext& context, Element* exception_list, const base::Error& error) {
  Element* e =
      make_element(context, context.names.qname(base::exception_element_name(error.kind)), kName);
  append_child(exception_list, e);
  add_text(context, e, "File", error.position.file);
  add_integer(context, e, "Line", error.position.line);
  add_text(context, e, "Function", error.function);
  add_text(context, e, "Type", error.node_type);
  add_text(context, e, "Name", error.node_name);
  add_text(context, e, "Label", error.node_label);
  add_text(context, e, "Catalog", error.catalog);
  add_integer(context, e, "Severity", static_cast<int64_t>(error.severity));
  add_integer(context, e, "Number", error.number);
  add_text(context, e, "Text", error.text);
  for (const base::Insert& insert : error.inserts) {
    Element* i = make_element(context, context.names.qname("Insert"), kName);
    append_child(e, i);
    add_integer(context, i, "Type", static_cast<int64_t>(insert.type));
    add_text(context, i, "Text", insert.text);
  }
  for (const auto& cause : error.causes) append_exception(context, e, *cause);
}

}  // namespace millstream::tree
