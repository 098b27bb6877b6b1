#include "queue/mqsc/json_form.h"

#include <charconv>

#include "queue/mqsc/runner.h"

namespace millstream::queue::mqsc {
namespace {

using base::json::Value;

// How a parameter of a JSON request is written in MQSC.
enum class JsonKind : uint8_t { kText, kWord, kFlag };

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

JsonKind kind_of_attribute(const objects::AttributeSpec& spec) {
  if (spec.kind == objects::AttributeKind::kFlag) return JsonKind::kFlag;
  bool is_word = spec.is_number() || spec.kind == objects::AttributeKind::kWords;
  return is_word ? JsonKind::kWord : JsonKind::kText;
}

// `off` is the keyword of a flag that is not set.
JsonKind parameter_kind(const CommandSpec& command, std::string_view keyword, std::string& off) {
  for (const ParameterSpec& parameter : command.parameters) {
    if (parameter.keyword != keyword) continue;
    if (parameter.kind == ParameterKind::kFlag) return JsonKind::kFlag;
    bool is_word = parameter.kind == ParameterKind::kChoice ||
                   parameter.kind == ParameterKind::kNumber || keyword == "OBJTYPE" ||
                   keyword == "AUTHADD" || keyword == "AUTHRMV";
    return is_word ? JsonKind::kWord : JsonKind::kText;
  }
  static constexpr std::string_view kFlags[] = {"REPLACE", "FORCE", "PURGE", "ALL"};
  for (std::string_view flag : kFlags) {
    if (flag != keyword) continue;
    off = flag == "ALL" || flag == "FORCE" ? "" : "NO" + std::string(flag);
    return JsonKind::kFlag;
  }
  static constexpr std::string_view kWords[] = {"CHLTYPE", "AUTHTYPE", "TYPE",    "QTYPE",
                                                "AUTHREC", "IGNSTATE", "CHLTABLE"};
  for (std::string_view word : kWords) {
    if (word == keyword) return JsonKind::kWord;
  }
  objects::ObjectType type =
      command.kind == CommandKind::kAlterQmgr ? objects::ObjectType::kQmgr : command.type;
  for (const objects::SpecTable& table : objects::all_spec_tables()) {
    if (table.type != type) continue;
    const objects::AttributeSpec* spec = find_spec(type, table.subtype, keyword);
    if (!spec) continue;
    off = spec->off_keyword;
    return kind_of_attribute(*spec);
  }
  return JsonKind::kText;
}

bool scalar_text(const Value& value, JsonKind kind, std::string& out) {
  if (value.is_integer()) {
    out += std::to_string(value.as_integer());
    return true;
  }
  if (value.is_bool()) {
    out += value.as_bool() ? "YES" : "NO";
    return true;
  }
  if (!value.is_string()) return false;
  // A word in quotes is not folded, but cannot leave its parentheses.
  out += quoted(kind == JsonKind::kWord ? upper_case(value.as_string()) : value.as_string());
  return true;
}

bool append_parameter(const CommandSpec& command, const std::string& name, const Value& value,
                      std::string& out, std::string& problem) {
  std::string keyword = upper_case(name);
  if (keyword.empty() ||
      keyword.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789") != std::string::npos) {
    problem = "'" + name + "' is no parameter.";
    return false;
  }
  if (keyword == "WHERE") {
    if (!value.is_string()) {
      problem = "where is a text: attribute, operator and value.";
      return false;
    }
    out += " WHERE(" + value.as_string() + ")";
    return true;
  }
  std::string off;
  JsonKind kind = parameter_kind(command, keyword, off);
  if (kind == JsonKind::kFlag) {
    std::string word = value.is_string() ? upper_case(value.as_string()) : "";
    bool is_yes = value.is_bool() ? value.as_bool() : word == "YES" || word == keyword;
    bool is_no = value.is_bool() ? !value.as_bool() : word == "NO" || (word == off && !off.empty());
    if (!is_yes && !is_no) {
      problem = "'" + name + "' is \"yes\" or \"no\".";
      return false;
    }
    if (is_yes) out += " " + keyword;
    if (is_no && !off.empty()) out += " " + off;
    return true;
  }
  out += " " + keyword + "(";
  bool is_first = true;
  const std::vector<Value> single = {value};
  for (const Value& item : value.is_array() ? value.items() : single) {
    if (!is_first) out += ",";
    is_first = false;
    if (scalar_text(item, kind, out)) continue;
    problem = "'" + name + "' is a text, a number or an array of those.";
    return false;
  }
  if (is_first) out += quoted("");
  out += ")";
  return true;
}

Value field_value(const Field& field) {
  if (field.kind == FieldKind::kFlag) {
    bool is_on = field.flag.empty() || field.flag == field.keyword;
    return Value(is_on ? "YES" : "NO");
  }
  if (field.kind == FieldKind::kList) {
    Value out = Value::array();
    for (const std::string& item : field.items) out.push_back(Value(item));
    return out;
  }
  if (field.kind == FieldKind::kNumber) {
    int64_t number = 0;
    std::from_chars(field.value.data(), field.value.data() + field.value.size(), number);
    return Value(number);
  }
  return Value(field.value);
}

void set_field(Value& object, const Field& field) {
  object.set(lower_case(field.flag.empty() ? field.keyword : field.flag), field_value(field));
}

Value entry(const CommandResponse& response) {
  Value out = Value::object();
  out.set("completionCode", response.completion);
  out.set("reasonCode", response.reason);
  return out;
}

void close_body(const CommandResponse& response, Value& body) {
  bool is_failed = response.completion == 2;
  body.set("overallCompletionCode", response.completion);
  body.set("overallReasonCode",
           is_failed ? objects::reason::kCommandFailed : int32_t{response.reason});
}

std::vector<std::string> message_lines(const CommandResponse& response) {
  CommandResponse without_rows = response;
  without_rows.rows.clear();
  return response_lines(without_rows);
}

void append_messages(const CommandResponse& response, std::string_view member, Value& responses) {
  std::vector<std::string> lines = message_lines(response);
  if (lines.empty()) return;
  Value item = entry(response);
  Value text = Value::array();
  for (const std::string& line : lines) text.push_back(Value(line));
  item.set(member, std::move(text));
  responses.push_back(std::move(item));
}

Value text_body(const CommandResponse& response) {
  Value responses = Value::array();
  for (const Row& row : response.rows) {
    std::string text = response.title;
    for (const std::string& line : row_lines(row)) text += line;
    Value item = entry(response);
    Value lines = Value::array();
    lines.push_back(Value(text));
    item.set("text", std::move(lines));
    responses.push_back(std::move(item));
  }
  append_messages(response, "text", responses);
  Value body = Value::object();
  body.set("commandResponse", std::move(responses));
  close_body(response, body);
  return body;
}

// Whether rows are handles of what their first `keys` fields name.
size_t nested_keys(const CommandResponse& response) {
  if (response.rows.empty() || response.rows[0].fields.size() < 3) return 0;
  const std::vector<Field>& fields = response.rows[0].fields;
  if (fields[0].keyword == "CONN" && fields[2].value == "HANDLE") return 3;
  return fields[0].keyword == "QUEUE" && fields[1].value == "HANDLE" ? 2 : 0;
}

Value json_body(const CommandResponse& response) {
  Value responses = Value::array();
  size_t keys = nested_keys(response);
  std::string last_name;
  std::vector<Value> parameters;
  for (const Row& row : response.rows) {
    bool is_same = keys > 0 && !parameters.empty() && row.fields[0].value == last_name;
    if (!is_same) {
      parameters.push_back(Value::object());
      for (size_t i = 0; i < row.fields.size() && (keys == 0 || i < keys); ++i) {
        set_field(parameters.back(), row.fields[i]);
      }
      if (keys > 0) parameters.back().set("objects", Value::array());
      last_name = row.fields[0].value;
    }
    if (keys == 0) continue;
    Value handle = Value::object();
    for (size_t i = keys; i < row.fields.size(); ++i) set_field(handle, row.fields[i]);
    parameters.back().find("objects")->push_back(std::move(handle));
  }
  for (Value& object : parameters) {
    Value item = entry(response);
    item.set("parameters", std::move(object));
    responses.push_back(std::move(item));
  }
  append_messages(response, "message", responses);
  Value body = Value::object();
  body.set("commandResponse", std::move(responses));
  close_body(response, body);
  return body;
}

JsonAnswer invalid(std::string problem) {
  JsonAnswer out;
  out.is_valid = false;
  out.problem = std::move(problem);
  return out;
}

}  // namespace

bool json_command_text(const Value& request, std::string& text, std::string& problem) {
  const VerbSpec* verb = find_verb(upper_case(request.get("command").as_string()));
  if (!verb) {
    problem = "'" + request.get("command").as_string() + "' is no MQSC command.";
    return false;
  }
  const CommandSpec* command =
      find_command(verb->verb, upper_case(request.get("qualifier").as_string()));
  if (!command) {
    problem = std::string(verb->verb) + " does not take the qualifier '" +
              request.get("qualifier").as_string() + "'.";
    return false;
  }
  text = std::string(command->verb) + " " + std::string(command->object);
  const Value& name = request.get("name");
  if (name.is_string()) text += "(" + quoted(name.as_string()) + ")";
  const Value& parameters = request.get("parameters");
  if (!parameters.is_null() && !parameters.is_object()) {
    problem = "parameters is an object.";
    return false;
  }
  for (const base::json::Member& member : parameters.members()) {
    if (!append_parameter(*command, member.name, member.value, text, problem)) return false;
  }
  const Value& wanted = request.get("responseParameters");
  if (!wanted.is_null() && !wanted.is_array()) {
    problem = "responseParameters is an array.";
    return false;
  }
  for (const Value& item : wanted.items()) {
    std::string keyword = upper_case(item.as_string());
    if (keyword.empty() || keyword.find_first_of(" ()',") != std::string::npos) {
      problem = "responseParameters has the names of parameters.";
      return false;
    }
    text += " " + keyword;
  }
  return true;
}

void run_json(objects::AdminTarget& target, const Value& request,
              std::function<void(JsonAnswer)> done) {
  const std::string& type = request.get("type").as_string();
  bool is_text = type == "runCommand";
  if (!is_text && type != "runCommandJSON") {
    return done(invalid("type is runCommand or runCommandJSON."));
  }
  std::string text, problem;
  if (is_text) {
    const Value& command = request.get("parameters").get("command");
    if (!command.is_string()) return done(invalid("parameters.command is missing."));
    text = command.as_string();
  } else if (!json_command_text(request, text, problem)) {
    return done(invalid(std::move(problem)));
  }
  // Line ends count as blanks: there is no continuation in one text.
  for (char& c : text) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  RunOptions options;
  options.shows_syntax = is_text;
  run_text(target, options, text, [is_text, done = std::move(done)](CommandResponse response) {
    JsonAnswer answer;
    answer.body = is_text ? text_body(response) : json_body(response);
    done(std::move(answer));
  });
}

}  // namespace millstream::queue::mqsc
