// Files: BROKER SCHEMA, PATH, modules, routines, declarations (spec A2).
#include "esql/parser.h"

namespace millstream::esql {

using ast::Language;
using ast::ModuleKind;
using ast::Routine;

std::string_view Parser::parse_schema_name() {
  std::string name(expect_name("a schema name"));
  while (accept(TokenKind::kDot)) {
    name += '.';
    name += expect_name("a schema name");
  }
  return intern(std::move(name));
}

// [BROKER SCHEMA a.b] [PATH c, d]; the semicolons are optional.
void Parser::parse_header(ast::SourceFile& file) {
  if (is(Kw::kBROKER) && is_at(1, Kw::kSCHEMA)) {
    advance();
    advance();
    file.schema = parse_schema_name();
    accept(TokenKind::kSemicolon);
  }
  std::vector<std::string_view> path;
  while (accept(Kw::kPATH)) {
    do {
      path.push_back(parse_schema_name());
    } while (accept(TokenKind::kComma));
    accept(TokenKind::kSemicolon);
  }
  file.search_path = list_of(path);
  if (is_panicking_) recover();
}

void Parser::parse_file(ast::SourceFile& file) {
  parse_header(file);
  std::vector<ast::Variable*> variables;
  std::vector<Routine*> routines;
  std::vector<ast::Module*> modules;
  while (!is(TokenKind::kEnd)) {
    if (accept(TokenKind::kSemicolon)) continue;
    if (has_errors() && skip_remains()) continue;
    parse_file_item(variables, routines, &modules);
    if (is_panicking_) recover();
  }
  file.variables = list_of(variables);
  file.routines = list_of(routines);
  file.modules = list_of(modules);
  for (ast::Variable* v : variables) v->file = &file;
  for (Routine* r : routines) r->file = &file;
  for (ast::Module* m : modules) {
    m->file = &file;
    for (ast::Variable* v : m->variables) v->file = &file;
    for (Routine* r : m->routines) r->file = &file;
  }
}

// A declaration, routine or (`modules` not null) module, with its ';'.
void Parser::parse_file_item(std::vector<ast::Variable*>& variables,
                             std::vector<Routine*>& routines, std::vector<ast::Module*>* modules) {
  const Token& start = peek();
  if (accept(Kw::kDECLARE)) {
    parse_declaration(variables);
    expect_statement_end();
    return;
  }
  if (!accept(Kw::kCREATE)) {
    syntax_error(modules ? "DECLARE, CREATE FUNCTION, CREATE PROCEDURE or CREATE ... MODULE"
                         : "DECLARE, CREATE FUNCTION, CREATE PROCEDURE or END MODULE");
    return;
  }
  bool is_module = modules && is_at(1, Kw::kMODULE);
  ModuleKind kind = ModuleKind::kCompute;
  switch (peek().kw) {
    case Kw::kFUNCTION:
    case Kw::kPROCEDURE: {
      Routine* r = parse_routine(start);
      expect_statement_end();
      if (!is_panicking_) routines.push_back(r);
      return;
    }
    case Kw::kCOMPUTE:
      break;
    case Kw::kDATABASE:
      kind = ModuleKind::kDatabase;
      break;
    case Kw::kFILTER:
      kind = ModuleKind::kFilter;
      break;
    case Kw::kDATABASEEVENT:
      kind = ModuleKind::kDatabaseEvent;
      break;
    default:
      is_module = false;
      break;
  }
  if (!is_module) {
    return syntax_error(modules ? "FUNCTION, PROCEDURE, or COMPUTE, FILTER, DATABASE or "
                                  "DATABASEEVENT and MODULE"
                                : "FUNCTION or PROCEDURE");
  }
  advance();
  advance();
  ast::Module* m = parse_module(kind, start);
  if (m) modules->push_back(m);
}

ast::Module* Parser::parse_module(ModuleKind kind, const Token& start) {
  auto* m = arena_.make<ast::Module>();
  m->kind = kind;
  m->pos = pos_of(start);
  m->name = expect_name("the name of the module");
  std::vector<ast::Variable*> variables;
  std::vector<Routine*> routines;
  BlockScope scope(*this, Kw::kMODULE);
  if (is_panicking_) recover();
  size_t errors_before = error_count_;
  while (!is_panicking_) {
    if (is(TokenKind::kEnd)) break;
    if (is(Kw::kEND) && is_at(1, Kw::kMODULE)) break;
    if (accept(TokenKind::kSemicolon)) continue;
    if (is(Kw::kCREATE) && is_at(2, Kw::kMODULE)) break;
    if (error_count_ != errors_before && skip_remains()) continue;
    parse_file_item(variables, routines, nullptr);
    if (is_panicking_) recover();
  }
  expect_end(Kw::kMODULE);
  expect_statement_end();
  m->variables = list_of(variables);
  m->routines = list_of(routines);
  for (ast::Variable* v : variables) v->module = m;
  for (Routine* r : routines) r->module = m;
  return m;
}

// ( [IN | OUT | INOUT] name [CONSTANT] type, ... )
std::vector<ast::Variable*> Parser::parse_parameters() {
  std::vector<ast::Variable*> parameters;
  expect(TokenKind::kLeftParen);
  if (accept(TokenKind::kRightParen)) return parameters;
  do {
    auto* v = arena_.make<ast::Variable>();
    v->storage = ast::Storage::kParameter;
    // `in CHARACTER)`: a parameter called "in".
    bool has_direction = !is_at(2, TokenKind::kComma) && !is_at(2, TokenKind::kRightParen);
    if (has_direction && (is(Kw::kIN) || is(Kw::kOUT) || is(Kw::kINOUT))) {
      v->direction = is(Kw::kIN)    ? ast::Direction::kIn
                     : is(Kw::kOUT) ? ast::Direction::kOut
                                    : ast::Direction::kInOut;
      advance();
    }
    v->pos = pos_of(peek());
    v->name = expect_name("the name of a parameter");
    if (is(Kw::kCONSTANT)) {
      advance();
      v->is_constant = true;
    }
    v->type = parse_type(true);
    if (!accept(Kw::kNULLABLE) && accept(Kw::kNOT)) expect(Kw::kNULL);  // no effect in ESQL
    if (v->type.kind == ast::TypeKind::kNamespace || v->type.kind == ast::TypeKind::kName) {
      v->is_constant = true;
    }
    v->slot = static_cast<uint32_t>(parameters.size());
    parameters.push_back(v);
  } while (accept(TokenKind::kComma));
  if (!accept(TokenKind::kRightParen)) syntax_error("',' or ')'");
  return parameters;
}

// LANGUAGE, DYNAMIC RESULT SETS, NOT NULL and NULLABLE, in any order.
void Parser::parse_routine_attributes(Routine* r) {
  while (true) {
    if (accept(Kw::kNULLABLE)) {
      r->is_return_nullable = true;
    } else if (is(Kw::kNOT) && is_at(1, Kw::kNULL)) {
      advance();
      advance();
      r->is_return_nullable = false;
    } else if (accept(Kw::kLANGUAGE)) {
      accept(TokenKind::kDot);  // .NET
      switch (peek().kw) {
        case Kw::kESQL:
          r->language = Language::kEsql;
          break;
        case Kw::kJAVA:
          r->language = Language::kJava;
          break;
        case Kw::kCLR:
        case Kw::kNET:
          r->language = Language::kDotNet;
          break;
        case Kw::kDATABASE:
          r->language = Language::kDatabase;
          break;
        default:
          return syntax_error("ESQL, JAVA, .NET, CLR or DATABASE");
      }
      advance();
    } else if (accept(Kw::kDYNAMIC)) {
      expect(Kw::kRESULT);
      expect(Kw::kSETS);
      const Token& t = peek();
      if (!is(TokenKind::kInteger)) return syntax_error("a number of result sets");
      value::Value v = number_value(t);
      r->result_sets = v.kind == value::Kind::kInteger ? v.integer : 0;
      advance();
    } else {
      return;
    }
  }
}

// EXTERNAL NAME "x" and what follows it up to ';'.
void Parser::parse_external(Routine* r) {
  advance();
  expect(Kw::kNAME);
  auto name = [&] {
    if (!is(TokenKind::kString) && !is(TokenKind::kQuoted)) {
      syntax_error("a name in quotes");
      return std::string_view{};
    }
    std::string_view s = string_of(peek());
    advance();
    return s;
  };
  r->external_name = name();
  if (accept(Kw::kCLASSLOADER)) r->class_loader = name();
  if (r->language != Language::kDotNet) return;
  // ASSEMBLY, APPDOMAIN and the like: kept by the product for its own run time.
  while (!is(TokenKind::kEnd) && !is(TokenKind::kSemicolon)) advance();
}

// At FUNCTION or PROCEDURE.
Routine* Parser::parse_routine(const Token& start) {
  auto* r = arena_.make<Routine>();
  r->pos = pos_of(start);
  r->is_function = is(Kw::kFUNCTION);
  advance();
  r->name = expect_name("the name of the routine");
  r->parameters = list_of(parse_parameters());
  if (accept(Kw::kRETURNS)) {
    r->has_return_type = true;
    r->returns = parse_type(true);
  }
  parse_routine_attributes(r);
  if (is(Kw::kEXTERNAL) && is_at(1, Kw::kNAME)) {
    if (r->language == Language::kEsql) {
      error_at(peek(), "BIP4001", "EXTERNAL NAME needs LANGUAGE JAVA, .NET or DATABASE");
    }
    parse_external(r);
  } else if (r->language != Language::kEsql) {
    syntax_error("EXTERNAL NAME");
  } else {
    recover_to_body();
    r->body = parse_statement();
  }
  if (!is_panicking_) done(r, start);
  return r;
}

}  // namespace millstream::esql
