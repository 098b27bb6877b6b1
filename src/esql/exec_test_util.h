// Runs ESQL in unit tests: a fake host with a toy format for every domain, and trees as text.
//
// The toy format is "name=value;name=value". Trees print as name{child='text' other=12}, with the
// kind of a value told by its spelling and @ before XMLNSC attributes.
#pragma once
#include <climits>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "esql/errors_gen.h"
#include "esql/exec.h"
#include "esql/executor.h"
#include "esql/shared.h"
#include "esql/trace.h"
#include "tree/assembly.h"
#include "tree/domain.h"
#include "value/time_zone.h"

namespace millstream::esql::testing {

inline std::string show(EvalContext& ctx, tree::Element* e) {
  std::string out;
  if (e->type == tree::xmlnsc::kAttribute) out += '@';
  if (e->type == tree::json::kArray) out += "[]";
  if (!e->namespace_uri().empty()) out += "{" + std::string(e->namespace_uri()) + "}";
  out += e->local_name();
  value::Value v = tree::scalar_value(e);
  if (v.kind == value::Kind::kCharacter) {
    out += "='" + std::string(v.text()) + "'";
  } else if (!v.is_null()) {
    out += "=" + display_text(ctx, v);
  }
  if (tree::Element* c = tree::first_child(e)) {
    out += '{';
    for (bool first = true; c; c = tree::next_sibling(c), first = false) {
      if (!first) out += ' ';
      out += show(ctx, c);
    }
    out += '}';
  }
  return out;
}

inline Status toy_parse(tree::TreeContext& context, tree::DomainRoot* root, std::string_view bytes,
                        const tree::ParseOptions&) {
  while (!bytes.empty()) {
    size_t end = bytes.find(';');
    std::string_view item = bytes.substr(0, end);
    bytes = end == std::string_view::npos ? std::string_view() : bytes.substr(end + 1);
    size_t eq = item.find('=');
    if (eq == std::string_view::npos) continue;
    tree::Element* e =
        tree::make_element(context, context.names.qname(item.substr(0, eq)), tree::kNameValue);
    tree::set_value(e, value::Value::make_character(item.substr(eq + 1)));
    tree::append_child(root, e);
  }
  root->clear_flag(tree::kFlagModified);
  return {};
}

inline Status toy_serialise(tree::TreeContext& context, tree::Element* e,
                            const tree::SerialiseOptions& options, std::string& out) {
  (void)context;
  if (options.mode == tree::BitStreamMode::kFolder) out += "folder:";
  for (tree::Element* c = tree::first_child(e); c; c = tree::next_sibling(c)) {
    out += std::string(c->local_name()) + "=";
    value::Value v = tree::scalar_value(c);
    if (v.kind == value::Kind::kCharacter) out += v.text();
    out += ';';
  }
  return {};
}

// What a traced program told, one line each: "2537 Executing ...".
class FakeTracer final : public Tracer {
 public:
  void line(int number, std::string_view text) override {
    lines.push_back(std::to_string(number) + " " + std::string(text));
  }
  std::vector<std::string> lines;
};

class FakeHost : public Host {
 public:
  FakeHost() {
    for (const char* name : {"Properties", "XMLNSC", "JSON", "BLOB", "MQMD"}) {
      domains_[name] = tree::Domain{name,      name,          name[0] != 'P' && name[0] != 'M',
                                    toy_parse, toy_serialise, tree::kNameValue};
    }
  }
  Status propagate(const PropagateRequest& r) override {
    propagated.push_back(r);
    std::string where = r.to == PropagateRequest::To::kTerminalNumber ? std::to_string(r.number)
                                                                      : std::string(r.name);
    if (r.to == PropagateRequest::To::kLabel) where = "label " + where;
    log_lines.push_back("propagate " + where);
    if (on_propagate) return on_propagate();
    return {};
  }
  const tree::Domain* find_domain(std::string_view name) override {
    auto it = domains_.find(std::string(name));
    return it == domains_.end() ? nullptr : &it->second;
  }
  Status lock_atomic(std::string_view schema, std::string_view label) override {
    log_lines.push_back("lock " + std::string(schema) + "/" + std::string(label));
    return {};
  }
  void unlock_atomic(std::string_view, std::string_view label) override {
    log_lines.push_back("unlock " + std::string(label));
  }
  Status check_budget() override {
    ++budget_checks;
    return budget_checks > budget ? base::make_error(errors::kBadCcsid, {0}) : Status();
  }
  void log(const LogRequest& r) override {
    std::string line = "log " + std::to_string(r.number);
    for (const base::Insert& i : r.inserts) line += " " + i.text;
    if (r.exception) line += " exception " + std::to_string(r.exception->innermost().number);
    log_lines.push_back(line);
  }
  Status run_database(const DatabaseRequest& request, DatabaseResult& result) override {
    return on_database ? on_database(request, result) : Host::run_database(request, result);
  }
  bool find_broker_property(std::string_view name, value::Value& out) override {
    if (name != "MessageFlowLabel") return false;
    out = value::Value::make_character("TestFlow");
    return true;
  }
  std::optional<std::string_view> find_user_property(std::string_view name) override {
    auto it = properties.find(std::string(name));
    if (it == properties.end()) return std::nullopt;
    return std::string_view(it->second);
  }

  Tracer* tracer() override { return trace; }

  Tracer* trace = nullptr;
  std::vector<std::string> log_lines;
  std::vector<PropagateRequest> propagated;
  std::function<Status()> on_propagate;
  std::function<Status(const DatabaseRequest&, DatabaseResult&)> on_database;
  std::map<std::string, std::string> properties;
  int budget_checks = 0;
  int budget = INT_MAX;

 private:
  std::map<std::string, tree::Domain> domains_;
};

// A program with one module M, ready to run messages.
class Runner {
 public:
  explicit Runner(const std::string& source, bool is_traced = false)
      : names(std::make_shared<base::NameTable>()) {
    auto program = std::make_shared<Program>();
    FileInput file;
    file.path = "test.esql";
    file.text = source;
    bool good = program->add_file(std::move(file));
    LinkOptions options;
    options.names = names.get();
    good = program->link(options) && good;
    for (const Diagnostic& d : program->diagnostics()) {
      if (d.level == DiagnosticLevel::kError) diagnostics += format_diagnostic(d) + "\n";
    }
    if (!good) return;
    names->freeze();
    code = CompiledProgram::compile(program, zone, is_traced);
    if (is_traced) host.trace = &tracer;
    shared = code->make_shared_store(names);
    module = code->find_module("", "M");
    if (module) instance = std::make_unique<ModuleInstance>(code, *module);
    new_message();
  }

  void new_message() {
    message = std::make_unique<tree::MessageArena>(names);
    in = message->make_assembly();
    out = message->make_assembly();
    out.environment = in.environment;
  }
  EvalContext context() { return EvalContext{message->context(), zone, 0, &host}; }

  // Runs Main; the result is "TRUE", "FALSE", "UNKNOWN" or the error chain "2488 2439 2450".
  std::string run() {
    if (!diagnostics.empty()) return diagnostics;
    Invocation i{message->context(), host, zone, 0, in, out, shared.get()};
    Result<Tri> r = instance->run(i);
    if (!r.ok()) {
      error = r.take_error();
      return error_chain(*error);
    }
    return r.value() == Tri::kTrue ? "TRUE" : r.value() == Tri::kFalse ? "FALSE" : "UNKNOWN";
  }
  static std::string error_chain(const base::Error& e) {
    std::string text = std::to_string(e.number);
    for (const auto& c : e.causes) text += " " + error_chain(*c);
    return text;
  }
  std::string output() {
    EvalContext ctx = context();
    return show(ctx, out.root);
  }
  std::string environment() {
    EvalContext ctx = context();
    return show(ctx, in.environment);
  }

  // Adds "name=value" pairs under a folder of InputRoot, e.g. input("XMLNSC", {"a", "b"}, {...}).
  tree::Element* input_path(std::initializer_list<std::string_view> path) {
    tree::Element* e = in.root;
    for (std::string_view name : path) {
      tree::Element* child = tree::find_child(e, name);
      if (!child) {
        const tree::Domain* d = e == in.root ? host.find_domain(name) : nullptr;
        const base::QName* q = message->context().names.qname(name);
        child = d ? tree::make_domain_root(message->context(), *d, q)
                  : tree::make_element(message->context(), q, tree::kName);
        tree::append_child(e, child);
      }
      e = child;
    }
    return e;
  }
  tree::Element* add(tree::Element* parent, std::string_view name, std::string_view text,
                     tree::FieldType type = tree::kNameValue) {
    tree::TreeContext& c = message->context();
    tree::Element* e = tree::make_element(c, c.names.qname(name), type);
    if (!text.empty()) tree::set_value(e, value::Value::make_character(c.arena.copy(text)));
    tree::append_child(parent, e);
    return e;
  }

  std::string diagnostics;
  std::shared_ptr<base::NameTable> names;
  value::TimeZone zone;
  FakeTracer tracer;
  FakeHost host;
  std::shared_ptr<const CompiledProgram> code;
  std::shared_ptr<SharedStore> shared;
  const ModuleCode* module = nullptr;
  std::unique_ptr<ModuleInstance> instance;
  std::unique_ptr<tree::MessageArena> message;
  tree::MessageAssembly in, out;
  std::unique_ptr<base::Error> error;
};

// A Compute module whose Main has this body.
inline std::string compute(std::string_view body, std::string_view more = "") {
  return "CREATE COMPUTE MODULE M\n" + std::string(more) +
         "\nCREATE FUNCTION Main() RETURNS BOOLEAN\nBEGIN\n" + std::string(body) +
         "\nEND;\nEND MODULE;\n";
}

// Runs a body and gives "result: output", or the diagnostics. Traced, it does the same.
inline std::string run_body(std::string_view body, std::string_view more = "") {
  std::string results[2];
  for (const bool is_traced : {false, true}) {
    Runner r(compute(body, more), is_traced);
    std::string& result = results[is_traced];
    result = r.run();
    if (r.diagnostics.empty()) result += ": " + r.output();
  }
  return results[0] == results[1] ? results[0] : results[0] + "; but traced " + results[1];
}

// The value of an expression, stored in a field.
inline std::string eval_text_as(std::string_view expression, std::string_view declarations,
                                bool is_traced) {
  Runner r(compute(std::string(declarations) +
                   "SET OutputRoot.XMLNSC.r VALUE = " + std::string(expression) + "; RETURN TRUE;"),
           is_traced);
  std::string result = r.run();
  if (result != "TRUE") return result;
  EvalContext ctx = r.context();
  tree::Element* x = tree::find_child(r.out.root, "XMLNSC");
  tree::Element* e = x ? tree::find_child(x, "r") : nullptr;
  if (!e) return "missing";
  value::Value v = tree::scalar_value(e);
  return v.is_null() ? "NULL" : display_text(ctx, v);
}
// The same whether it is traced or not.
inline std::string eval_text(std::string_view expression, std::string_view declarations = "") {
  const std::string plain = eval_text_as(expression, declarations, false);
  const std::string traced = eval_text_as(expression, declarations, true);
  return plain == traced ? plain : plain + "; but traced " + traced;
}

}  // namespace millstream::esql::testing
