#include "queue/mqsc/runner.h"

#include <atomic>
#include <cstdio>

#include "queue/mqsc/messages.h"

namespace millstream::queue::mqsc {
namespace {

bool is_end(const std::string& text) {
  std::string word = upper_case(text);
  size_t begin = word.find_first_not_of(" \t");
  if (begin == std::string::npos) return false;
  size_t end = word.find_last_not_of(" \t");
  word = word.substr(begin, end - begin + 1);
  return word == "END" || word == "QUIT" || word == "EXIT";
}

std::string counted(uint32_t count, std::string_view one, std::string_view many) {
  return count == 1 ? std::string(one) : std::to_string(count) + std::string(many);
}

// What the attributes of a command may be, for the message behind a syntax error.
std::vector<std::string> valid_syntax(const CommandSpec& spec) {
  std::vector<std::string> out = {"AMQ8427I: Valid syntax for the MQSC command:"};
  std::string line = "  " + std::string(spec.verb) + " " + std::string(spec.object);
  if (spec.name != NameRule::kNone) line += "( name )";
  out.push_back(line);
  std::string words;
  auto append = [&](std::string word) {
    if (words.size() + word.size() > 74) {
      out.push_back("     " + words);
      words.clear();
    }
    words += (words.empty() ? "" : " ") + word;
  };
  for (const ParameterSpec& parameter : spec.parameters) append(std::string(parameter.keyword));
  for (std::string_view attribute : spec.attributes) append(std::string(attribute));
  objects::ObjectType type =
      spec.kind == CommandKind::kAlterQmgr ? objects::ObjectType::kQmgr : spec.type;
  if (spec.kind <= CommandKind::kAlterObject || spec.kind == CommandKind::kAlterQmgr) {
    std::vector<std::string_view> seen;
    for (const objects::SpecTable& table : objects::all_spec_tables()) {
      if (table.type != type) continue;
      for (const objects::AttributeSpec& attribute : table.attributes) {
        bool is_seen = false;
        for (std::string_view s : seen) is_seen = is_seen || s == attribute.keyword;
        if (is_seen || attribute.has(objects::kReadOnly)) continue;
        seen.push_back(attribute.keyword);
        append(std::string(attribute.keyword));
        if (!attribute.off_keyword.empty()) append(std::string(attribute.off_keyword));
      }
    }
  }
  if (!words.empty()) out.push_back("     " + words);
  return out;
}

}  // namespace

void run_text(objects::AdminTarget& target, const RunOptions& options, std::string_view text,
              Reply reply) {
  auto command = std::make_shared<Command>();
  if (is_end(std::string(text))) return reply(CommandResponse());
  SyntaxError problem = text.size() > kCommandBytesMax
                            ? syntax_error(Word(), "The command is longer than " +
                                                       std::to_string(kCommandBytesMax) + " bytes.")
                            : bind_command(text, *command);
  if (problem.is_set) {
    CommandResponse response = syntax_failure(problem, text.substr(0, kCommandBytesMax));
    if (command->spec && options.shows_syntax) {
      response.syntax = valid_syntax(*command->spec);
    }
    return reply(std::move(response));
  }
  const CommandSpec* spec = command->spec;
  run_command({target, options}, std::move(command),
              [reply, spec, options](CommandResponse response) {
                if (response.is_syntax_error && options.shows_syntax) {
                  response.syntax = valid_syntax(*spec);
                }
                reply(std::move(response));
              });
}

std::vector<std::string> summary_lines(const ScriptResult& result) {
  std::vector<std::string> out;
  if (result.commands == 0) {
    out.emplace_back("No MQSC commands read.");
  } else {
    out.push_back(counted(result.commands, "One MQSC command read.", " MQSC commands read."));
  }
  if (result.syntax_errors == 0) {
    out.emplace_back("No commands have a syntax error.");
  } else {
    out.push_back(counted(result.syntax_errors, "One command has a syntax error.",
                          " commands have a syntax error."));
  }
  if (result.failures == 0) {
    out.emplace_back("All valid MQSC commands were processed.");
  } else {
    out.push_back(counted(result.failures, "One valid MQSC command could not be processed.",
                          " valid MQSC commands could not be processed."));
  }
  return out;
}

ScriptSession::ScriptSession(objects::AdminTarget& target, const ScriptOptions& options,
                             ScriptOutput output)
    : target_(target), options_(options), output_(std::move(output)) {}

std::shared_ptr<ScriptSession> ScriptSession::create(objects::AdminTarget& target,
                                                     const ScriptOptions& options,
                                                     ScriptOutput output) {
  return std::shared_ptr<ScriptSession>(new ScriptSession(target, options, std::move(output)));
}

void ScriptSession::push_line(std::string_view line, std::function<void()> done) {
  done_ = std::move(done);
  if (!result_.has_ended) reader_.push_line(line, items_);
  run_items();
}

void ScriptSession::finish(std::function<void()> done) {
  done_ = std::move(done);
  if (!result_.has_ended) reader_.finish(items_);
  run_items();
}

// A loop and not a recursion: a command that ends at once must not deepen the stack.
void ScriptSession::run_items() {
  if (is_running_) return;
  is_running_ = true;
  while (next_ < items_.size() && !result_.has_ended) {
    ScriptItem& item = items_[next_++];
    if (!run_item(item)) return;
  }
  is_running_ = false;
  items_.clear();
  next_ = 0;
  if (std::function<void()> done = std::move(done_)) {
    done_ = nullptr;
    done();
  }
}

void ScriptSession::echo(const ScriptItem& item) {
  if (!options_.echoes) return;
  bool is_first = item.kind != ScriptItem::Kind::kComment;
  for (const std::string& line : item.lines) {
    char number[16] = "      ";
    bool is_end_command = is_first && is_end(item.text);
    if (is_first) {
      std::snprintf(number, sizeof number, "%6u", result_.commands + (is_end_command ? 1 : 0));
    }
    output_(line.empty() ? std::string(number) + " :" : std::string(number) + " : " + line);
    is_first = false;
  }
}

void ScriptSession::answered(const ScriptItem& item, CommandResponse response) {
  if (response.is_syntax_error) {
    ++result_.syntax_errors;
  } else if (response.completion == 2) {
    ++result_.failures;
  }
  if (response.is_syntax_error) {
    response.place = item.place(response.place.column > 0 ? response.place.column - 1 : 0);
  }
  for (const std::string& line : response_lines(response)) output_(line);
  if (response.completion == 2 && options_.stops_at_error) result_.has_ended = true;
}

bool ScriptSession::run_item(ScriptItem& item) {
  if (item.kind == ScriptItem::Kind::kComment) {
    echo(item);
    return true;
  }
  if (is_end(item.text)) {
    echo(item);
    result_.has_ended = true;
    return true;
  }
  ++result_.commands;
  echo(item);
  if (item.kind == ScriptItem::Kind::kTooLong) {
    answered(item,
             syntax_failure(syntax_error(Word(), "The command is longer than " +
                                                     std::to_string(kCommandBytesMax) + " bytes."),
                            ""));
    return true;
  }
  // Whoever comes second goes on: this loop, or the answer on its own thread.
  auto steps = std::make_shared<std::atomic<int>>(0);
  auto self = shared_from_this();
  run_text(target_, options_.run, item.text, [self, steps, &item](CommandResponse response) {
    self->answered(item, std::move(response));
    if (steps->fetch_add(1, std::memory_order_acq_rel) == 0) return;
    self->is_running_ = false;
    self->run_items();
  });
  return steps->fetch_add(1, std::memory_order_acq_rel) != 0;
}

namespace {

// Feeds a session with the lines of a text.
struct ScriptRun : std::enable_shared_from_this<ScriptRun> {
  void step() {
    while (!rest.empty() && !session->result().has_ended) {
      size_t end = rest.find('\n');
      std::string_view line = rest.substr(0, end);
      rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
      auto steps = std::make_shared<std::atomic<int>>(0);
      session->push_line(line, [self = shared_from_this(), steps] {
        if (steps->fetch_add(1, std::memory_order_acq_rel) != 0) self->step();
      });
      if (steps->fetch_add(1, std::memory_order_acq_rel) == 0) return;
    }
    session->finish([self = shared_from_this()] { self->done(self->session->result()); });
  }

  std::shared_ptr<ScriptSession> session;
  std::string_view rest;
  ScriptDone done;
};

}  // namespace

void run_script(objects::AdminTarget& target, std::string_view script, const ScriptOptions& options,
                ScriptOutput output, ScriptDone done) {
  auto run = std::make_shared<ScriptRun>();
  run->session = ScriptSession::create(target, options, std::move(output));
  run->rest = script;
  run->done = std::move(done);
  run->step();
}

}  // namespace millstream::queue::mqsc
