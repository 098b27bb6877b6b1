#include "base/flags.h"

#include <algorithm>
#include <charconv>

#include "base/errors_gen.h"

namespace millstream::base {
namespace {

const FlagSpec* find_flag(const CommandSpec& command, std::string_view name) {
  for (const FlagSpec& flag : command.flags) {
    if (flag.name == name) return &flag;
  }
  return nullptr;
}

const FlagSpec* find_short_flag(const CommandSpec& command, char name) {
  for (const FlagSpec& flag : command.flags) {
    if (flag.short_name == name) return &flag;
  }
  return nullptr;
}

std::string dashed(std::string_view name) { return "--" + std::string(name); }

std::string did_you_mean(std::string_view nearest, std::string_view prefix) {
  if (nearest.empty()) return {};
  return "; did you mean '" + std::string(prefix) + std::string(nearest) + "'?";
}

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t changed = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, changed});
    }
  }
  return row[b.size()];
}

Status check_integer(const FlagSpec& flag, std::string_view text) {
  int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && value >= flag.integer_min &&
      value <= flag.integer_max) {
    return {};
  }
  std::string wanted = "an integer of at least " + std::to_string(flag.integer_min);
  if (flag.integer_max != INT64_MAX) {
    wanted = "an integer from " + std::to_string(flag.integer_min) + " to " +
             std::to_string(flag.integer_max);
  }
  return make_error(errors::kFlagBadValue, {dashed(flag.name), text, wanted});
}

Status check_value(const FlagSpec& flag, std::string_view text) {
  if (flag.kind == FlagKind::kInteger) return check_integer(flag, text);
  if (flag.kind != FlagKind::kChoice) return {};
  std::string wanted = "one of";
  for (std::string_view choice : flag.choices) {
    if (choice == text) return {};
    wanted += ' ';
    wanted += choice;
  }
  return make_error(errors::kFlagBadValue, {dashed(flag.name), text, wanted});
}

}  // namespace

class FlagParser {
 public:
  FlagParser(const CommandSpec& command, std::span<const std::string_view> words)
      : command_(command), words_(words) {
    out_.command_ = &command;
  }

  Result<ParsedFlags> run() {
    bool is_rest = false;
    while (at_ < words_.size()) {
      std::string_view word = words_[at_++];
      if (is_rest || word.size() < 2 || word[0] != '-') {
        out_.arguments_.emplace_back(word);
      } else if (word == "--") {
        is_rest = true;
      } else if (word == "--help" || word == "-h") {
        out_.wants_help_ = true;
      } else if (word[1] == '-') {
        MS_TRY(parse_long(word.substr(2)));
      } else {
        MS_TRY(parse_short(word));
      }
    }
    if (!out_.wants_help_) MS_TRY(check_arguments());
    return std::move(out_);
  }

 private:
  Status parse_long(std::string_view word) {
    size_t equals = word.find('=');
    std::string_view name = word.substr(0, equals);
    const FlagSpec* flag = find_flag(command_, name);
    if (flag && flag->kind == FlagKind::kSwitch) {
      if (equals != std::string_view::npos) {
        return make_error(errors::kFlagTakesNoValue, {dashed(name)});
      }
      return add(*flag, "on");
    }
    if (flag && equals != std::string_view::npos) return add(*flag, word.substr(equals + 1));
    if (flag) return add_next(*flag);
    if (name.starts_with("no-") && equals == std::string_view::npos) {
      flag = find_flag(command_, name.substr(3));
      if (flag && flag->kind == FlagKind::kSwitch) return add(*flag, "off");
    }
    return unknown(name);
  }

  Status unknown(std::string_view name) {
    std::vector<std::string_view> known{"help"};
    for (const FlagSpec& f : command_.flags) known.push_back(f.name);
    return make_error(errors::kFlagUnknown,
                      {dashed(name), did_you_mean(nearest_word(name, known), "--")});
  }

  // -n VALUE, or a switch; short names are not joined.
  Status parse_short(std::string_view word) {
    const FlagSpec* flag = word.size() == 2 ? find_short_flag(command_, word[1]) : nullptr;
    if (!flag) return make_error(errors::kFlagUnknown, {word, ""});
    if (flag->kind == FlagKind::kSwitch) return add(*flag, "on");
    return add_next(*flag);
  }

  Status add_next(const FlagSpec& flag) {
    // A word that looks like an option is a forgotten value, except a negative number.
    bool has_value = at_ < words_.size();
    if (has_value && words_[at_].starts_with("--")) has_value = false;
    if (!has_value) {
      return make_error(errors::kFlagNeedsValue, {dashed(flag.name), flag.value_name});
    }
    return add(flag, words_[at_++]);
  }

  Status add(const FlagSpec& flag, std::string_view text) {
    if (flag.kind != FlagKind::kSwitch) MS_TRY(check_value(flag, text));
    auto& values = out_.values_[flag.name];
    if (!values.empty() && !flag.is_repeated && flag.kind != FlagKind::kSwitch) {
      return make_error(errors::kFlagTwice, {dashed(flag.name)});
    }
    values.emplace_back(text);
    return {};
  }

  Status check_arguments() {
    if (out_.arguments_.size() < command_.arguments_min) {
      return make_error(errors::kArgumentsMissing, {command_.name, command_.arguments});
    }
    if (out_.arguments_.size() > command_.arguments_max) {
      return make_error(errors::kArgumentsTooMany,
                        {command_.name, out_.arguments_[command_.arguments_max]});
    }
    return {};
  }

  const CommandSpec& command_;
  std::span<const std::string_view> words_;
  size_t at_ = 0;
  ParsedFlags out_;
};

std::string_view nearest_word(std::string_view word, std::span<const std::string_view> known,
                              size_t edits_max) {
  std::string_view best;
  size_t best_distance = std::min(edits_max, std::max<size_t>(2, word.size() / 3)) + 1;
  if (word.size() > 64) return {};  // nobody mistypes that; keeps the distance cheap
  for (std::string_view candidate : known) {
    size_t distance = edit_distance(word, candidate);
    if (distance < best_distance && distance < candidate.size()) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

const CommandSpec* ProgramSpec::find(std::string_view command) const {
  for (const CommandSpec& c : commands) {
    if (c.name == command) return &c;
  }
  return nullptr;
}

bool ParsedFlags::is_on(std::string_view name) const { return text(name) == "on"; }

std::string_view ParsedFlags::text(std::string_view name) const {
  if (auto it = values_.find(name); it != values_.end()) return it->second.back();
  const FlagSpec* flag = find_flag(*command_, name);
  return flag ? flag->default_text : std::string_view();
}

int64_t ParsedFlags::integer(std::string_view name) const {
  std::string_view digits = text(name);
  int64_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

std::vector<std::string_view> ParsedFlags::all(std::string_view name) const {
  std::vector<std::string_view> out;
  if (auto it = values_.find(name); it != values_.end()) {
    out.assign(it->second.begin(), it->second.end());
  }
  return out;
}

Result<ParsedFlags> parse_flags(const CommandSpec& command,
                                std::span<const std::string_view> words) {
  return FlagParser(command, words).run();
}

Result<const CommandSpec*> find_command(const ProgramSpec& program, std::string_view word) {
  if (word.empty()) return make_error(errors::kCommandMissing);
  if (const CommandSpec* command = program.find(word)) return command;
  std::vector<std::string_view> known;
  for (const CommandSpec& c : program.commands) known.push_back(c.name);
  return make_error(errors::kCommandUnknown, {word, did_you_mean(nearest_word(word, known), "")});
}

}  // namespace millstream::base
