#include "queue/mqsc/script_apply.h"

#include <cstdio>

namespace millstream::queue::mqsc {

std::string script_hash(std::string_view content) {
  // FNV-1a twice, over the bytes and over the bytes with their position mixed in.
  uint64_t first = 0xcbf29ce484222325, second = 0x84222325cbf29ce4;
  for (size_t i = 0; i < content.size(); ++i) {
    auto byte = static_cast<unsigned char>(content[i]);
    first = (first ^ byte) * 0x100000001b3;
    second = (second ^ (byte + i * 0x9e3779b97f4a7c15)) * 0x100000001b3;
    second ^= second >> 29;
  }
  char text[64];
  std::snprintf(text, sizeof text, "%016llx%016llx-%zx", static_cast<unsigned long long>(first),
                static_cast<unsigned long long>(second), content.size());
  return text;
}

void apply_script(objects::AdminTarget& target, std::string name, std::string_view content,
                  std::function<void(AppliedScript)> done) {
  auto applied = std::make_shared<AppliedScript>();
  std::string hash = script_hash(content);
  if (target.applied_script(name) == hash) {
    applied->was_known = true;
    return done(std::move(*applied));
  }
  ScriptOptions options;
  options.run.is_definition_mode = true;
  options.run.shows_syntax = false;
  auto finish = [&target, applied, name = std::move(name), hash = std::move(hash),
                 done = std::move(done)](const ScriptResult& result) {
    applied->result = result;
    if (result.exit_code() != kExitOk) return done(std::move(*applied));
    target.set_applied_script(name, hash, [applied, done](objects::AdminResult stored) {
      if (!stored.ok()) {
        ++applied->result.failures;
        applied->lines.push_back("MS2574E: That the script was applied cannot be remembered (" +
                                 std::to_string(stored.reason) + ").");
      }
      done(std::move(*applied));
    });
  };
  run_script(
      target, content, options,
      [applied](std::string_view line) { applied->lines.emplace_back(line); }, std::move(finish));
}

}  // namespace millstream::queue::mqsc
