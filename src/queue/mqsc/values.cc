#include "queue/mqsc/values.h"

#include <charconv>

#include "queue/objects/object_name.h"

namespace millstream::queue::mqsc {
namespace {

using objects::AttributeKind;
using objects::AttributeSpec;
using objects::Definition;

std::string list_of_names(const AttributeSpec& spec) {
  std::string out;
  for (const objects::NamedNumber& name : spec.names) {
    if (!name.is_settable) continue;
    if (!out.empty()) out += ", ";
    out += name.keyword;
  }
  return out;
}

std::string keyword_text(const AttributeSpec& spec) { return std::string(spec.keyword); }

// A quoted text of blanks is nothing; blanks at the end never count.
std::string trimmed(const Word& word) {
  std::string out = word.text;
  while (!out.empty() && out.back() == ' ') out.pop_back();
  return out;
}

SyntaxError set_text(const AttributeSpec& spec, const Word& word, Definition& definition) {
  std::string text = trimmed(word);
  for (char c : text) {
    if (static_cast<unsigned char>(c) < 0x20) {
      return syntax_error(word, keyword_text(spec) + " has a control character.");
    }
  }
  if (spec.kind == AttributeKind::kHex) {
    bool is_hex = text.size() % 2 == 0;
    for (char& c : text) {
      if (c >= 'a' && c <= 'f') c = static_cast<char>(c - 'a' + 'A');
      is_hex = is_hex && ((c >= '0' && c <= '9') || (c >= 'A' && c <= 'F'));
    }
    if (!is_hex) {
      return syntax_error(word, keyword_text(spec) + " takes pairs of hexadecimal digits.");
    }
  }
  if (character_count(text) > static_cast<size_t>(spec.max)) {
    return syntax_error(word,
                        keyword_text(spec) + " takes up to " + std::to_string(spec.max) +
                            " characters; these are " + std::to_string(character_count(text)) + ".",
                        "AMQ8413E");
  }
  bool is_name = spec.kind == AttributeKind::kName || spec.kind == AttributeKind::kObject;
  if (is_name && !text.empty() && !objects::is_object_name(text)) {
    return syntax_error(word, "'" + text + "' cannot be the name of an object.");
  }
  if (!spec.refused.empty() && !text.empty()) {
    return syntax_error(word, keyword_text(spec) + " is refused: " + std::string(spec.refused));
  }
  if (spec.has(objects::kRequired) && text.empty()) {
    return syntax_error(word, keyword_text(spec) + " may not be blank.");
  }
  definition.set_text(spec.id, std::move(text));
  return {};
}

SyntaxError set_list(const AttributeSpec& spec, const Clause& clause, Definition& definition) {
  std::vector<std::string> items;
  for (const Word& word : clause.values) {
    std::string text = trimmed(word);
    if (text.empty() && clause.values.size() == 1) break;
    if (!objects::is_object_name(text)) {
      return syntax_error(word, "'" + text + "' cannot be the name of an object.");
    }
    items.push_back(std::move(text));
    if (items.size() > spec.count_max) {
      return syntax_error(
          word, keyword_text(spec) + " takes up to " + std::to_string(spec.count_max) + " names.");
    }
  }
  definition.set_items(spec.id, items);
  return {};
}

SyntaxError set_words(const AttributeSpec& spec, const Clause& clause, Definition& definition) {
  std::string text;
  for (const Word& word : clause.values) {
    bool is_known = false;
    for (std::string_view known : spec.words) is_known = is_known || known == word.text;
    if (!is_known || text.size() > 64) {
      return syntax_error(word, word.text + " is no value of " + keyword_text(spec) + ".");
    }
    text += (text.empty() ? "" : ",") + word.text;
  }
  definition.set_text(spec.id, std::move(text));
  return {};
}

}  // namespace

size_t character_count(std::string_view utf8) {
  size_t count = 0;
  for (char c : utf8) count += (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  return count;
}

int64_t read_number(const AttributeSpec& spec, const Word& word, SyntaxError& problem) {
  std::string text = trimmed(word);
  if (const objects::NamedNumber* name = find_named(spec.names, text)) {
    for (const objects::RefusedValue& refused : spec.refused_values) {
      if (refused.keyword != text) continue;
      problem = syntax_error(
          word, keyword_text(spec) + "(" + text + ") is refused: " + std::string(refused.why));
    }
    if (!name->is_settable) {
      problem = syntax_error(word, keyword_text(spec) + "(" + text + ") cannot be set; it takes " +
                                       list_of_names(spec) + ".");
    }
    return name->number;
  }
  if (spec.kind == AttributeKind::kEnum) {
    problem =
        syntax_error(word, (text.empty() ? "Nothing" : "'" + text + "'") + " is no value of " +
                               keyword_text(spec) + "; it takes " + list_of_names(spec) + ".");
    return 0;
  }
  int64_t number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (text.empty() || end != text.data() + text.size() || error == std::errc::invalid_argument) {
    problem =
        syntax_error(word, keyword_text(spec) + " takes a number" +
                               (spec.names.empty() ? "." : " or " + list_of_names(spec) + "."));
    return 0;
  }
  if (error != std::errc() || number < spec.min || number > spec.max) {
    problem = syntax_error(word,
                           keyword_text(spec) + " takes " + std::to_string(spec.min) + " to " +
                               std::to_string(spec.max) + ".",
                           "AMQ8412E");
  }
  return number;
}

SyntaxError set_attribute(const AttributeSpec& spec, const Clause& clause, Definition& definition) {
  if (spec.has(objects::kReadOnly)) {
    return syntax_error(clause.keyword, keyword_text(spec) + " is shown, but cannot be set.");
  }
  if (spec.kind == AttributeKind::kFlag) {
    if (clause.has_values) {
      return syntax_error(clause.keyword, clause.keyword.text + " takes no value.");
    }
    definition.set_number(spec.id, clause.keyword.text == spec.off_keyword ? 0 : 1);
    return {};
  }
  if (!clause.has_values) {
    return syntax_error(clause.keyword, keyword_text(spec) + " needs a value.");
  }
  if (spec.kind == AttributeKind::kList) return set_list(spec, clause, definition);
  if (spec.kind == AttributeKind::kWords) return set_words(spec, clause, definition);
  if (clause.values.size() != 1) {
    return syntax_error(clause.values[1], keyword_text(spec) +
                                              " takes one value; a text with "
                                              "blanks or commas is quoted.");
  }
  if (!spec.is_number()) return set_text(spec, clause.values[0], definition);
  SyntaxError problem;
  int64_t number = read_number(spec, clause.values[0], problem);
  if (!problem.is_set) definition.set_number(spec.id, number);
  return problem;
}

Field attribute_field(const AttributeSpec& spec, const Definition& definition) {
  if (spec.kind == AttributeKind::kFlag) {
    Field out = text_field(definition.number(spec.id) != 0 ? spec.keyword : spec.off_keyword, "");
    out.kind = FieldKind::kFlag;
    out.flag = spec.keyword;
    return out;
  }
  if (spec.kind == AttributeKind::kList) {
    return list_field(spec.keyword, definition.items(spec.id));
  }
  if (!spec.is_number()) {
    std::string text = definition.text(spec.id);
    if (spec.has(objects::kSecret) && !text.empty()) text = "********";
    return text_field(spec.keyword, std::move(text));
  }
  int64_t number = definition.number(spec.id);
  std::string_view name = name_of_number(spec.names, number);
  if (name.empty()) return number_field(spec.keyword, number);
  Field out = text_field(spec.keyword, std::string(name));
  out.is_named_number = true;
  return out;
}

std::string attribute_clause(const AttributeSpec& spec, const Definition& definition) {
  Field field = attribute_field(spec, definition);
  if (field.kind == FieldKind::kFlag) return field.keyword;
  std::string out = field.keyword + "(";
  if (field.kind == FieldKind::kList) {
    for (size_t i = 0; i < field.items.size(); ++i) {
      out += (i == 0 ? "" : ",") + quoted(field.items[i]);
    }
    if (field.items.empty()) out += quoted("");
  } else if (spec.is_number() || spec.kind == AttributeKind::kWords) {
    out += field.value;
  } else {
    out += quoted(definition.text(spec.id));
  }
  return out + ")";
}

}  // namespace millstream::queue::mqsc
