#include "queue/mqsc/syntax.h"

namespace millstream::queue::mqsc {
namespace {

class ClauseParser {
 public:
  explicit ClauseParser(std::string_view text) : text_(text) {}

  SyntaxError parse(std::vector<Clause>& out) {
    size_t values = 0;
    while (true) {
      skip_separators(!out.empty());
      if (at_ >= text_.size()) return {};
      if (text_[at_] == '(' || text_[at_] == ')') {
        return error(at_, at_ + 1, "A keyword is expected here.");
      }
      Clause clause;
      SyntaxError problem = word(clause.keyword);
      if (problem.is_set) return problem;
      if (clause.keyword.is_quoted) return syntax_error(clause.keyword, "A keyword has no quotes.");
      clause.end = at_;
      size_t open = at_;
      while (open < text_.size() && is_blank(text_[open])) ++open;
      if (open < text_.size() && text_[open] == '(') {
        at_ = open + 1;
        problem = value_list(clause);
        if (problem.is_set) {
          out.push_back(std::move(clause));
          return problem;
        }
      }
      values += clause.values.size();
      out.push_back(std::move(clause));
      if (out.size() > kClausesMax || values > kValuesMax) {
        return error(out.back().keyword.begin, out.back().end, "The command is too long.");
      }
    }
  }

 private:
  static bool is_blank(char c) {
    return c == ' ' || c == '\t' || c == '\r' || c == '\n' || c == '\f' || c == '\v';
  }

  static SyntaxError error(size_t begin, size_t end, std::string text) {
    SyntaxError out;
    out.is_set = true;
    out.text = std::move(text);
    out.begin = begin;
    out.end = end;
    return out;
  }

  void skip_separators(bool takes_comma) {
    while (at_ < text_.size() && (is_blank(text_[at_]) || (takes_comma && text_[at_] == ','))) {
      ++at_;
    }
  }

  SyntaxError word(Word& out) {
    out.begin = at_;
    if (text_[at_] == '\'') {
      out.is_quoted = true;
      for (++at_; at_ < text_.size(); ++at_) {
        if (text_[at_] != '\'') {
          out.text += text_[at_];
        } else if (at_ + 1 < text_.size() && text_[at_ + 1] == '\'') {
          out.text += '\'';
          ++at_;
        } else {
          out.end = ++at_;
          return {};
        }
      }
      return error(out.begin, text_.size(), "The quote that begins here does not end.");
    }
    while (at_ < text_.size() && !is_blank(text_[at_]) && text_[at_] != '(' && text_[at_] != ')' &&
           text_[at_] != ',') {
      auto c = static_cast<unsigned char>(text_[at_]);
      if (c == '\'' || c == '"') {
        return error(at_, at_ + 1, "A quote stands around the whole value.");
      }
      if (c < 0x20) return error(at_, at_ + 1, "A control character is not allowed.");
      out.text += static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
      ++at_;
    }
    out.end = at_;
    return {};
  }

  SyntaxError value_list(Clause& clause) {
    clause.has_values = true;
    bool needs_value = true;
    while (true) {
      while (at_ < text_.size() && is_blank(text_[at_])) ++at_;
      if (at_ >= text_.size()) {
        return error(clause.keyword.begin, text_.size(), "A closing parenthesis is missing.");
      }
      char c = text_[at_];
      if (c == ')') {
        clause.end = ++at_;
        if (!needs_value) return {};
        return error(clause.keyword.begin, at_, "A value is missing.");
      }
      if (c == '(') {
        return error(at_, at_ + 1, "A value with parentheses has to be quoted.");
      }
      if (c == ',') {
        if (needs_value) return error(at_, at_ + 1, "A value is missing.");
        needs_value = true;
        ++at_;
        continue;
      }
      Word value;
      SyntaxError problem = word(value);
      if (problem.is_set) return problem;
      clause.values.push_back(std::move(value));
      if (clause.values.size() > kValuesMax) {
        return error(clause.keyword.begin, at_, "There are too many values.");
      }
      needs_value = false;
    }
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

SyntaxError parse_clauses(std::string_view text, std::vector<Clause>& out) {
  return ClauseParser(text).parse(out);
}

SyntaxError syntax_error(const Word& word, std::string text, std::string id) {
  SyntaxError out;
  out.is_set = true;
  out.id = std::move(id);
  out.text = std::move(text);
  out.begin = word.begin;
  out.end = word.end;
  return out;
}

Word whole_word(std::string_view command) {
  Word out;
  out.end = command.size();
  return out;
}

bool needs_quotes(std::string_view value) {
  if (value.empty()) return true;
  for (char c : value) {
    bool is_plain = (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
                    c == '/' || c == '%' || c == ':' || c == '*';
    if (!is_plain) return true;
  }
  return false;
}

std::string quoted(std::string_view value) {
  std::string out = "'";
  for (char c : value.empty() ? std::string_view(" ") : value) {
    out += c;
    if (c == '\'') out += c;
  }
  return out + "'";
}

std::string upper_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  }
  return out;
}

}  // namespace millstream::queue::mqsc
