#include "flowtest/esqltest_case.h"

#include <cstdlib>

#include "base/ascii.h"
#include "flowtest/errors_gen.h"
#include "flowtest/tree_text.h"
#include "parsers/domains.h"
#include "text/utf8.h"

namespace millstream::flowtest {
namespace {

constexpr std::string_view kDefaultZone = "Europe/London";

bool contains_module(std::string_view source) {
  // CREATE <kind> MODULE, in any case and with any blanks between.
  std::string upper(source);
  for (char& c : upper) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c;
  return upper.find(" MODULE ") != std::string::npos &&
         upper.find("END MODULE") != std::string::npos;
}

std::string bytes_of(std::string_view hex) {
  std::string out;
  int high = -1;
  for (char c : hex) {
    int digit = c >= '0' && c <= '9'                 ? c - '0'
                : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10
                                                     : -1;
    if (digit < 0) continue;
    if (high < 0) {
      high = digit;
    } else {
      out += static_cast<char>(high * 16 + digit);
      high = -1;
    }
  }
  return out;
}

}  // namespace

Result<std::string> body_text(tree::TreeContext& context, tree::Element* root) {
  tree::DomainRoot* body = tree::body_of(root);
  if (!body) return std::string("(no body)");
  std::string out;
  MS_TRY(tree::serialise_body(context, body, {.ccsid = 1208, .encoding = 546}, out));
  if (std::string_view(body->domain->name) == "BLOB") {
    std::string digits;
    base::append_hex(digits, out);
    return digits;
  }
  return out;
}

// ---------------------------------------------------------------- host

Status TestHost::propagate(const esql::PropagateRequest& r) {
  using To = esql::PropagateRequest::To;
  std::string line;
  if (r.to == To::kTerminalNumber) {
    line = "terminal " + std::to_string(r.number);
  } else {
    line = (r.to == To::kLabel ? "label " : "terminal ") + std::string(r.name);
  }
  if (!r.is_finalized) line += " finalize-none";
  if (!r.is_deleted) line += " delete-none";
  if (r.message && r.message != output.root) line += " message";
  if (r.local_environment && r.local_environment != output.local_environment)
    line += " environment";
  if (r.exception_list && r.exception_list != output.exception_list) line += " exceptions";
  propagated.push_back(line + ": " +
                       MS_TRY(body_text(context_, r.message ? r.message : output.root)));
  return {};
}

const tree::Domain* TestHost::find_domain(std::string_view name) {
  return parsers::find_domain(name);
}
Status TestHost::sleep(int64_t) { return {}; }
Status TestHost::lock_atomic(std::string_view, std::string_view) { return {}; }
void TestHost::unlock_atomic(std::string_view, std::string_view) {}

Status TestHost::check_budget() {
  if (--budget > 0) return {};
  return base::make_error(errors::kEndlessLoop);
}

void TestHost::log(const esql::LogRequest& r) {
  std::string line = r.is_event ? "event" : "trace";
  line += " " + std::to_string(r.severity) + " " + std::string(r.catalog) + " " +
          std::to_string(r.number);
  for (const base::Insert& i : r.inserts) line += " '" + i.text + "'";
  if (r.exception)
    line += std::string(r.is_full ? " full" : "") + " exception " +
            std::to_string(r.is_full ? r.exception->number : r.exception->innermost().number);
  logged.push_back(std::move(line));
}

bool TestHost::find_broker_property(std::string_view name, value::Value& out) {
  constexpr std::pair<std::string_view, std::string_view> kKnown[] = {
      {"BrokerName", "TESTNODE"},      {"MessageFlowLabel", "TestFlow"},
      {"NodeLabel", "Compute"},        {"ExecutionGroupLabel", "default"},
      {"ApplicationLabel", "TestApp"}, {"IntegrationServerName", "default"},
  };
  for (const auto& [known, text] : kKnown) {
    if (known != name) continue;
    out = value::Value::make_character(text);
    return true;
  }
  return false;
}

std::optional<std::string_view> TestHost::find_user_property(std::string_view name) {
  for (const auto& [known, text] : properties) {
    if (known == name) return std::string_view(text);
  }
  return std::nullopt;
}

// ---------------------------------------------------------------- one run

CaseRun::CaseRun(const TestCase& test, const EsqlTestOptions& options)
    : test_(test), options_(options), names_(std::make_shared<base::NameTable>()) {}

esql::EvalContext CaseRun::eval_context() {
  return {arena_->context(), zone_, kTestClockMicros, host_.get()};
}

Status CaseRun::prepare(std::string_view source) {
  const TestSection* zone = test_.find("zone");
  zone_ = MS_TRY(value::TimeZone::load(zone ? std::string_view(zone->argument) : kDefaultZone));
  auto program = std::make_shared<esql::Program>();
  std::string text(source);
  if (!contains_module(text)) {
    text = "CREATE COMPUTE MODULE Test CREATE FUNCTION Main() RETURNS BOOLEAN BEGIN\n" + text +
           "\nRETURN TRUE;\nEND;\nEND MODULE;\n";
  }
  program->add_file({.path = "test.esql", .text = std::move(text)});
  program->link({.names = names_.get(), .find_constant = options_.find_constant});
  for (const esql::Diagnostic& d : program->diagnostics()) {
    diagnostics_ += (diagnostics_.empty() ? "" : "\n") + esql::format_diagnostic(d);
  }
  has_load_errors_ = program->has_errors();
  if (has_load_errors_) return {};
  for (const esql::ast::SourceFile* file : program->files()) {
    for (const esql::ast::Module* m : file->modules) {
      if (!module_) module_ = m;
    }
  }
  if (!module_) return base::make_error(errors::kNoModule);
  code_ = esql::CompiledProgram::compile(program, zone_);
  names_->freeze();
  return {};
}

Status CaseRun::build_input() {
  arena_ = std::make_unique<tree::MessageArena>(names_);
  tree::TreeContext& context = arena_->context();
  input_ = arena_->make_assembly();
  output_ = arena_->make_assembly();
  output_.environment = input_.environment;
  host_ = std::make_unique<TestHost>(context);
  host_->output = output_;
  auto add_root = [&](std::string_view name) -> Result<tree::DomainRoot*> {
    const tree::Domain* domain = parsers::find_domain(name);
    if (!domain) return base::make_error(errors::kUnknownDomain, {base::Insert(name)});
    tree::DomainRoot* root =
        tree::make_domain_root(context, *domain, context.names.qname(domain->name));
    tree::append_child(input_.root, root);
    return root;
  };
  MS_TRY(add_root("Properties"));
  for (const TestSection& s : test_.sections) {
    if (s.kind == "property") {
      size_t equals = s.argument.find('=');
      host_->properties.emplace_back(s.argument.substr(0, equals), s.argument.substr(equals + 1));
    }
    if (s.kind != "input") continue;
    tree::DomainRoot* root = MS_TRY(add_root(s.argument));
    std::string bytes = std::string_view(root->domain->name) == "BLOB" ? bytes_of(s.body) : s.body;
    tree::ParseOptions parse;
    parse.ccsid = 1208;
    parse.encoding = 546;
    MS_TRY(root->domain->parse(context, root, context.arena.copy(bytes), parse));
  }
  return {};
}

Status CaseRun::run() {
  if (code_->has_shared_variables()) shared_ = code_->make_shared_store(names_);
  esql::ModuleInstance instance(code_, *code_->find_module(module_));
  const TestSection* messages = test_.find("messages");
  int count = messages ? std::atoi(messages->argument.c_str()) : 1;
  for (int i = 0; i < count; ++i) {
    MS_TRY(build_input());
    esql::Invocation invocation{arena_->context(), *host_,       zone_, kTestClockMicros, input_,
                                output_,           shared_.get()};
    result_ = MS_TRY(instance.run(invocation));
    if (arena_->context().has_parse_error()) return arena_->context().take_parse_error();
  }
  return {};
}

Result<std::string> CaseRun::output_body() { return body_text(arena_->context(), output_.root); }

}  // namespace millstream::flowtest
