// Which MQSC commands there are: generated from commands.yaml. Thread: any; all is constant.
#pragma once
#include <span>
#include <string_view>

#include "queue/mqsc/commands_gen.h"
#include "queue/objects/attribute_spec.h"

namespace millstream::queue::mqsc {

enum class NameRule : uint8_t { kNone, kRequired, kGeneric, kOptional, kProfile };
enum class ParameterKind : uint8_t { kText, kName, kNumber, kFlag, kList, kProfile, kChoice };

struct ParameterSpec {
  std::string_view keyword;
  ParameterKind kind;
  std::span<const std::string_view> choices;
};
struct CommandSpec {
  std::string_view verb;
  std::string_view object;
  std::string_view synonym;  // of the object
  NameRule name;
  CommandKind kind;
  objects::ObjectType type;  // of the four commands of objects
  std::span<const ParameterSpec> parameters;
  std::span<const std::string_view> attributes;  // of a DISPLAY of status
  std::span<const std::string_view> shown;       // when nothing is asked for; empty: all
  bool takes_anything;                           // refused anyway: parameters are not checked
  std::string_view refused;
  std::string_view description;
};
struct VerbSpec {
  std::string_view verb;
  std::string_view synonym;
};

std::span<const CommandSpec> all_commands();
std::span<const VerbSpec> all_verbs();
// In upper case, full or abbreviated; null when unknown.
const VerbSpec* find_verb(std::string_view word);
const CommandSpec* find_command(std::string_view verb, std::string_view object);

}  // namespace millstream::queue::mqsc
