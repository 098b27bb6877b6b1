// Recursive-descent parser: the text of one file, or of one EVAL, -> ast.h. Everything of spec
// A2-A8 is parsed, database statements and external routines included.
//
// Errors do not stop it: after one, parsing goes on after the next ';' or at the next word that
// belongs to an enclosing block (parser_recovery.cc), so that one run reports several. While an
// error is pending the parser sees an endless "end of text", and parse functions return harmless
// placeholders, never null; such a tree must not be used. Nesting is limited (ParserLimits),
// because the analysis and the executor recurse over the tree. Internal to the front end; use
// Program. Thread: any.
#pragma once
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "base/arena.h"
#include "esql/ast.h"
#include "esql/lexer.h"

namespace millstream::esql {

struct ParserLimits {
  uint32_t depth_max = 400;  // nested expressions, statements and paths together
  uint32_t operators_max =
      2000;  // in one whole expression: a || b || c ... is as deep as it is long
};

// What a parser reports; `code` is BIP4001 or MS16xx.
struct ParseMessage {
  ast::SourcePos pos;
  bool is_warning = false;
  std::string_view code;
  std::string text;
};

class Parser {
 public:
  // `text` and `arena` must outlive the tree.
  Parser(std::string_view text, uint32_t file_index, base::Arena& arena, ParserLimits limits = {});

  void parse_file(ast::SourceFile& file);
  ast::Block parse_eval_statements();
  ast::Expr* parse_eval_expression();

  const std::vector<ParseMessage>& messages() const { return messages_; }
  bool has_errors() const { return error_count_ != 0; }

 private:
  // --- tokens
  const Token& peek(size_t ahead = 0) const {
    size_t i = position_ + ahead;
    return is_panicking_ || i >= tokens_.size() ? tokens_.back() : tokens_[i];
  }
  bool is(TokenKind kind) const { return peek().kind == kind; }
  bool is(Kw kw) const { return peek().kw == kw; }
  bool is_at(size_t ahead, TokenKind kind) const { return peek(ahead).kind == kind; }
  bool is_at(size_t ahead, Kw kw) const { return peek(ahead).kw == kw; }
  void advance() {
    if (!is_panicking_ && position_ + 1 < tokens_.size()) ++position_;
  }
  bool accept(TokenKind kind);
  bool accept(Kw kw);
  void expect(TokenKind kind);
  void expect(Kw kw);
  std::string_view token_text(const Token& t) const;
  // The name of an identifier or quoted identifier token.
  std::string_view name_of(const Token& t);
  std::string_view string_of(const Token& t);
  bool is_name() const;  // a name may stand here
  bool is_name_at(size_t ahead) const;
  std::string_view expect_name(std::string_view what);
  std::string_view expect_string(std::string_view what);
  std::string_view intern(std::string_view text) { return arena_.copy(text); }

  // --- errors
  void syntax_error(std::string_view expected);
  void error_at(const Token& t, std::string_view code, std::string text);
  // --- recovery (parser_recovery.cc)
  bool is_on_new_line() const;
  bool is_word_used_as_name() const;
  bool is_item_boundary() const;
  bool is_block_word() const;
  bool is_statement_start() const;
  bool is_statement_end() const;
  bool is_value_absent() const;
  void report(const ast::SourcePos& pos, std::string text);  // and goes on
  void expect_statement_end();
  size_t open_case_expressions() const;
  void count_case(size_t i, size_t& cases) const;
  void recover();
  void expect_head_end(Kw kw);
  void recover_to_body();
  bool skip_remains();
  bool is_open(Kw kw) const;
  bool is_open_outside(Kw kw) const;
  bool is_taken_by_open_block(Kw kw) const;
  Kw block_of_end() const;
  void expect_end(Kw kw);
  bool skip_orphan(bool had_error);
  struct OpenBlock {
    Kw kw;                      // BEGIN, IF, ... MODULE
    bool is_last_part = false;  // after the ELSE
  };
  struct BlockScope {
    BlockScope(Parser& p, Kw kw) : parser(p) { p.open_.push_back({kw}); }
    ~BlockScope() { parser.open_.pop_back(); }
    Parser& parser;
  };
  std::string describe(const Token& t) const;

  // --- nodes
  template <typename T>
  T* make(ast::ExprKind kind, const Token& start);
  template <typename T>
  T* make(ast::StmtKind kind, const Token& start);
  template <typename T>
  T* done(T* node, const Token& start);  // sets `source`
  ast::SourcePos pos_of(const Token& t) const { return {file_index_, t.line, t.column}; }
  template <typename T>
  ast::List<T> list_of(const std::vector<T>& items);
  ast::Expr* placeholder(const Token& start);
  ast::Expr* make_integer(int64_t i, const Token& start);

  struct Nesting {  // counts one level of recursion
    explicit Nesting(Parser& p) : parser(p) { p.enter(); }
    ~Nesting() { --parser.depth_; }
    Parser& parser;
  };
  void enter();

  // --- expressions (parser_expr.cc)
  ast::Expr* parse_expr();
  ast::Expr* parse_and();
  ast::Expr* parse_comparison();
  ast::Expr* parse_additive();
  ast::Expr* parse_concat();
  ast::Expr* parse_multiplicative();
  ast::Expr* parse_unary();
  ast::Expr* parse_primary();
  ast::Expr* parse_comparison_tail(ast::Expr* left, const Token& start);
  ast::Expr* parse_between(ast::Expr* left, const Token& start, bool negated);
  ast::Expr* parse_in(ast::Expr* left, const Token& start, bool negated);
  ast::Expr* parse_like(ast::Expr* left, const Token& start, bool negated);
  ast::Expr* parse_is(ast::Expr* left, const Token& start);
  ast::Expr* make_binary(ast::ExprKind kind, ast::Expr* l, ast::Expr* r, const Token& start);
  void count_operator();
  ast::Expr* parse_parenthesised();
  ast::Expr* parse_case();
  ast::Expr* parse_row();
  ast::Expr* parse_list();
  ast::Expr* parse_quantifier();
  std::vector<ast::Expr*> parse_expr_list(TokenKind close);  // after the opening token
  bool accept_qualifier(value::IntervalQualifier& q);

  // --- literals (parser_literal.cc)
  ast::Expr* parse_literal();        // null: no literal starts here
  ast::Expr* parse_typed_literal();  // DATE '...', null likewise
  value::Value number_value(const Token& t);
  value::Value bytes_value(const Token& t);

  // --- functions (parser_function.cc)
  ast::Expr* parse_keyword_function();  // null: none starts here
  ast::Expr* parse_cast();
  ast::Expr* parse_substring();
  ast::Expr* parse_trim();
  ast::Expr* parse_position();
  ast::Expr* parse_overlay();
  ast::Expr* parse_extract();
  ast::Expr* parse_round();
  ast::Expr* parse_asbitstream();
  ast::Expr* parse_eval_function();
  ast::PassthruExpr* parse_passthru();
  void parse_passthru_tail(ast::PassthruExpr* call);
  ast::CallExpr* parse_call(std::string_view schema, std::string_view name, const Token& start);
  ast::CallExpr* make_call(std::string_view name, const std::vector<ast::Expr*>& args,
                           const Token& start);
  void parse_bitstream_options(ast::BitStreamOptions& options);  // up to ')'
  CastTarget parse_scalar_type(bool with_precision);

  // --- paths and SELECT (parser_path.cc)
  ast::PathExpr* parse_path();
  ast::Expr* parse_path_or_call();
  ast::PathStep parse_step();
  void parse_step_index(ast::IndexKind& kind, ast::Expr*& index);
  ast::List<ast::PathStep> parse_relative_path();  // AS path
  ast::List<ast::PathStep> derived_name(const ast::Expr* e);
  ast::SelectExpr* parse_select();
  void parse_select_clause(ast::SelectExpr* select);
  bool parse_column_function(ast::SelectExpr* select);
  void parse_from(ast::SelectExpr* select);
  ast::FromItem parse_from_item();

  // --- statements (parser_stmt.cc)
  ast::Stmt* parse_statement();  // without its ';'
  ast::Stmt* parse_labelled();
  ast::Stmt* parse_keyword_statement();
  ast::Block parse_block(std::initializer_list<Kw> ends);
  bool is_block_end(std::initializer_list<Kw> ends) const;
  void expect_end_label(std::string_view label);
  ast::Stmt* parse_begin(std::string_view label, const Token& start);
  void parse_atomic_access();
  ast::Stmt* parse_declare();
  ast::Stmt* parse_handler(const Token& start);
  ast::Stmt* parse_set();
  ast::Stmt* parse_if();
  ast::Stmt* parse_case_statement();
  ast::Stmt* parse_while(std::string_view label, const Token& start);
  ast::Stmt* parse_repeat(std::string_view label, const Token& start);
  ast::Stmt* parse_loop(std::string_view label, const Token& start);
  ast::Stmt* parse_for(std::string_view label, const Token& start);
  ast::Stmt* parse_jump(ast::StmtKind kind);
  ast::Stmt* parse_call_statement();
  ast::Stmt* parse_return();
  ast::Stmt* parse_throw();
  ast::Stmt* parse_log();
  void parse_message_clauses(ast::ThrowStmt* s);
  ast::Stmt* parse_transaction();
  ast::Stmt* parse_propagate();
  bool parse_declaration(std::vector<ast::Variable*>& out);  // after DECLARE, without ';'
  ast::DataType parse_type(bool is_parameter);
  void parse_variable_kind(ast::Variable& v);
  bool is_type_at(size_t ahead) const;

  // --- tree and database statements (parser_tree.cc)
  ast::Stmt* parse_create();
  void parse_create_clauses(ast::CreateStmt* s);
  ast::Stmt* parse_delete();
  ast::Stmt* parse_detach();
  ast::Stmt* parse_attach();
  ast::Stmt* parse_move();
  void parse_move_names(ast::MoveStmt* s);
  bool accept_place(ast::Place& place);
  ast::Stmt* parse_insert();
  ast::Stmt* parse_update();
  ast::Stmt* parse_delete_from(const Token& start);
  ast::Stmt* parse_passthru_statement();

  // --- files (parser_file.cc)
  void parse_header(ast::SourceFile& file);
  std::string_view parse_schema_name();
  void parse_file_item(std::vector<ast::Variable*>& variables, std::vector<ast::Routine*>& routines,
                       std::vector<ast::Module*>* modules);
  ast::Module* parse_module(ast::ModuleKind kind, const Token& start);
  ast::Routine* parse_routine(const Token& start);
  std::vector<ast::Variable*> parse_parameters();
  void parse_routine_attributes(ast::Routine* r);
  void parse_external(ast::Routine* r);

  std::string_view text_;
  uint32_t file_index_;
  base::Arena& arena_;
  ParserLimits limits_;
  std::vector<Token> tokens_;
  size_t position_ = 0;
  bool is_panicking_ = false;
  std::vector<OpenBlock> open_;       // outermost first
  size_t missing_end_at_ = SIZE_MAX;  // a block was closed here without its END
  size_t statement_at_ = SIZE_MAX;    // the first token of the statement begun last
  uint32_t depth_ = 0;
  uint32_t expression_depth_ = 0;
  uint32_t operator_count_ = 0;  // of the outermost expression
  size_t error_count_ = 0;
  std::vector<ParseMessage> messages_;
};

// Shared by the parts of the parser.
template <typename T>
T* Parser::make(ast::ExprKind kind, const Token& start) {
  T* node = arena_.make<T>();
  node->kind = kind;
  node->pos = pos_of(start);
  return node;
}
template <typename T>
T* Parser::make(ast::StmtKind kind, const Token& start) {
  T* node = arena_.make<T>();
  node->kind = kind;
  node->pos = pos_of(start);
  return node;
}
template <typename T>
T* Parser::done(T* node, const Token& start) {
  uint32_t end = position_ > 0 ? tokens_[position_ - 1].end : 0;
  if (end > start.begin) node->source = text_.substr(start.begin, end - start.begin);
  return node;
}
template <typename T>
ast::List<T> Parser::list_of(const std::vector<T>& items) {
  if (items.empty()) return {};
  auto* copy = static_cast<T*>(arena_.allocate(items.size() * sizeof(T), alignof(T)));
  for (size_t i = 0; i < items.size(); ++i) new (copy + i) T(items[i]);
  return {copy, items.size()};
}

}  // namespace millstream::esql
