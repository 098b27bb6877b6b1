#include "queue/mqsc/display.h"

#include <algorithm>
#include <charconv>

#include "queue/objects/object_name.h"

namespace millstream::queue::mqsc {
namespace {

struct OperatorName {
  std::string_view keyword;
  WhereOperator op;
};
constexpr OperatorName kOperators[] = {
    {"EQ", WhereOperator::kEq}, {"NE", WhereOperator::kNe},   {"LT", WhereOperator::kLt},
    {"GT", WhereOperator::kGt}, {"LE", WhereOperator::kLe},   {"GE", WhereOperator::kGe},
    {"LK", WhereOperator::kLk}, {"NL", WhereOperator::kNl},   {"CT", WhereOperator::kCt},
    {"EX", WhereOperator::kEx}, {"CTG", WhereOperator::kCtg}, {"EXG", WhereOperator::kExg},
};

bool compare_order(WhereOperator op, int order) {
  switch (op) {
    case WhereOperator::kEq:
      return order == 0;
    case WhereOperator::kNe:
      return order != 0;
    case WhereOperator::kLt:
      return order < 0;
    case WhereOperator::kGt:
      return order > 0;
    case WhereOperator::kLe:
      return order <= 0;
    case WhereOperator::kGe:
      return order >= 0;
    default:
      return false;
  }
}

bool any_item(const Field& field, const std::string& value, bool is_generic) {
  std::vector<std::string> single = {field.value};
  for (const std::string& item : field.kind == FieldKind::kList ? field.items : single) {
    if (is_generic ? objects::matches_generic(value, item) : item == value) return true;
  }
  return false;
}

const Field* find_field(const Row& row, std::string_view keyword) {
  for (const Field& field : row.fields) {
    if (field.keyword == keyword || field.flag == keyword) return &field;
  }
  return nullptr;
}

bool matches_where(const Where& where, const Field& field) {
  switch (where.op) {
    case WhereOperator::kLk:
    case WhereOperator::kNl:
      return objects::matches_generic(where.value, field.value) == (where.op == WhereOperator::kLk);
    case WhereOperator::kCt:
    case WhereOperator::kEx:
      return any_item(field, where.value, false) == (where.op == WhereOperator::kCt);
    case WhereOperator::kCtg:
    case WhereOperator::kExg:
      return any_item(field, where.value, true) == (where.op == WhereOperator::kCtg);
    default:
      break;
  }
  if (field.kind == FieldKind::kNumber && where.has_number) {
    int64_t number = 0;
    std::from_chars(field.value.data(), field.value.data() + field.value.size(), number);
    return compare_order(where.op, number < where.number ? -1 : number > where.number);
  }
  // A number against a word (EXPIRY(UNLIMITED)): they are different, and no order holds.
  if (field.kind == FieldKind::kNumber || (where.has_number && field.is_named_number)) {
    return where.op == WhereOperator::kNe;
  }
  const std::string& text = field.kind == FieldKind::kFlag ? field.keyword : field.value;
  return compare_order(where.op, text.compare(where.value));
}

SyntaxError read_where(const Clause& clause, const DisplayResolver& resolve, Where& out) {
  if (!clause.has_values || clause.values.size() != 3) {
    return syntax_error(clause.keyword, "WHERE takes an attribute, an operator and a value.");
  }
  std::optional<DisplayAttribute> attribute = resolve(clause.values[0].text);
  if (!attribute) {
    return syntax_error(clause.values[0], clause.values[0].text + " is no attribute here.");
  }
  out.keyword = attribute->keyword;
  const OperatorName* found =
      std::find_if(std::begin(kOperators), std::end(kOperators),
                   [&](const OperatorName& name) { return name.keyword == clause.values[1].text; });
  if (found == std::end(kOperators)) {
    return syntax_error(clause.values[1],
                        clause.values[1].text +
                            " is no operator; there are EQ, NE, LT, GT, LE, GE, LK, NL, CT, EX, "
                            "CTG and EXG.");
  }
  out.op = found->op;
  const Word& value = clause.values[2];
  out.value = value.text;
  while (!out.value.empty() && out.value.back() == ' ') out.value.pop_back();
  if (!attribute->is_number) return {};
  auto [end, error] =
      std::from_chars(out.value.data(), out.value.data() + out.value.size(), out.number);
  out.has_number = error == std::errc() && end == out.value.data() + out.value.size();
  if (!out.has_number && !find_named(attribute->names, out.value)) {
    return syntax_error(value, "'" + out.value + "' is no value of " + out.keyword + ".");
  }
  bool is_text_operator = out.op >= WhereOperator::kLk;
  if (is_text_operator) {
    return syntax_error(clause.values[1], "That operator is not for numbers.");
  }
  return {};
}

}  // namespace

bool DisplayRequest::matches(const Row& row) const {
  if (!where) return true;
  const Field* field = find_field(row, where->keyword);
  return field && matches_where(*where, *field);
}

Row DisplayRequest::select(const Row& row, size_t keys,
                           std::span<const std::string_view> shown) const {
  Row out;
  for (size_t i = 0; i < row.fields.size(); ++i) {
    const Field& field = row.fields[i];
    auto is_field = [&](std::string_view keyword) {
      return keyword == field.keyword || keyword == field.flag;
    };
    bool is_wanted = i < keys || is_all ||
                     std::any_of(keywords.begin(), keywords.end(), is_field) ||
                     (where && is_field(where->keyword));
    if (!is_wanted && asks_nothing() && !where) {
      is_wanted = shown.empty() || std::any_of(shown.begin(), shown.end(), is_field);
    }
    if (is_wanted) out.fields.push_back(field);
  }
  return out;
}

bool read_display_clause(const Clause& clause, const DisplayResolver& resolve, DisplayRequest& out,
                         SyntaxError& problem) {
  const std::string& keyword = clause.keyword.text;
  if (keyword == "WHERE") {
    Where where;
    problem = read_where(clause, resolve, where);
    out.where = std::move(where);
    return true;
  }
  if (clause.has_values) return false;
  if (keyword == "ALL") {
    out.is_all = true;
    return true;
  }
  std::optional<DisplayAttribute> attribute = resolve(keyword);
  if (!attribute) return false;
  out.keywords.push_back(attribute->keyword);
  return true;
}

SyntaxError check_record_parameters(const Command& command, bool is_display, DisplayRequest& out) {
  SyntaxError where;
  DisplayResolver resolve = [&](const std::string& keyword) -> std::optional<DisplayAttribute> {
    for (std::string_view known : command.spec->attributes) {
      if (known == keyword) return DisplayAttribute{keyword, false, {}};
    }
    return std::nullopt;
  };
  SyntaxError problem = check_parameters(command, [&](const Clause& clause) {
    if (!is_display || where.is_set) return false;
    return read_display_clause(clause, resolve, out, where);
  });
  return where.is_set ? where : problem;
}

}  // namespace millstream::queue::mqsc
