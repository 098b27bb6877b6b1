// CopyMessageHeaders and CopyEntireMessage, which the Toolkit writes into every Compute module:
// known by their text, run natively.
#include <string>

#include "esql/compile.h"

namespace millstream::esql {

using tree::Element;

namespace {

// Without blanks and comments, in upper case.
std::string bare_text(std::string_view s) {
  std::string out;
  for (size_t i = 0; i < s.size(); ++i) {
    char ch = s[i];
    if (ch == ' ' || ch == '\t' || ch == '\r' || ch == '\n') continue;
    if (ch == '-' && i + 1 < s.size() && s[i + 1] == '-') {
      while (i < s.size() && s[i] != '\n') ++i;
      continue;
    }
    out += ch >= 'a' && ch <= 'z' ? static_cast<char>(ch - 32) : ch;
  }
  return out;
}

Status copy_message_headers(Frame& f) {
  Execution& x = f.x;
  Ref from, to;
  from.element = x.roots[static_cast<size_t>(ast::Correlation::kInputRoot)];
  to.element = x.roots[static_cast<size_t>(ast::Correlation::kOutputRoot)];
  Element* out = tree::first_child(to.element);
  for (Element* in = tree::first_child(from.element); in && tree::next_sibling(in); in = in->next) {
    Ref source = from, target = to;
    source.element = in;
    target.element = out ? out : create_child(f, to, in->name, tree::kName);
    MS_TRY(copy_field(f, target, source));
    if (out) out = tree::next_sibling(out);
  }
  return x.check_parse();
}

}  // namespace

RoutineCode::Fast recognise_routine(const ast::Routine& r) {
  constexpr size_t kTemplateTextMax = 2000;
  if (!r.body || !r.parameters.empty() || !r.module ||
      r.module->kind != ast::ModuleKind::kCompute || r.body->source.size() > kTemplateTextMax) {
    return RoutineCode::Fast::kNone;
  }
  std::string text = bare_text(r.body->source);
  const std::string loop = "WHILEI<JDOSETOUTPUTROOT.*[I]=INPUTROOT.*[I];SETI=I+1;ENDWHILE;END";
  if (text == "BEGINSETOUTPUTROOT=INPUTROOT;END") return RoutineCode::Fast::kCopyEntireMessage;
  if (text == "BEGINDECLAREIINTEGER1;DECLAREJINTEGER;SETJ=CARDINALITY(INPUTROOT.*[]);" + loop ||
      text == "BEGINDECLAREIINTEGER1;DECLAREJINTEGERCARDINALITY(INPUTROOT.*[]);" + loop ||
      text ==
          "BEGINDECLAREIINTEGER;DECLAREJINTEGER;SETI=1;SETJ=CARDINALITY(INPUTROOT.*[]);" + loop) {
    return RoutineCode::Fast::kCopyMessageHeaders;
  }
  return RoutineCode::Fast::kNone;
}

Status run_fast_routine(Frame& f, RoutineCode::Fast kind) {
  if (kind == RoutineCode::Fast::kCopyMessageHeaders) return copy_message_headers(f);
  Ref from, to;
  from.element = f.x.roots[static_cast<size_t>(ast::Correlation::kInputRoot)];
  to.element = f.x.roots[static_cast<size_t>(ast::Correlation::kOutputRoot)];
  return copy_field(f, to, from);
}

}  // namespace millstream::esql
