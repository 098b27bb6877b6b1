#include "esql/line_hits.h"

#include <doctest/doctest.h>

#include "esql/executor.h"
#include "value/time_zone.h"

namespace millstream::esql {
namespace {

std::string counted(std::string_view body, bool runs) {
  auto names = std::make_shared<base::NameTable>();
  auto program = std::make_shared<Program>();
  program->add_file(
      {.path = "t.esql",
       .text = "CREATE COMPUTE MODULE M\nCREATE FUNCTION Main() RETURNS BOOLEAN\nBEGIN\n" +
               std::string(body) + "\nEND;\nEND MODULE;\n"});
  LineHits hits;
  LinkOptions options;
  options.names = names.get();
  options.hits = &hits;
  REQUIRE(program->link(std::move(options)));
  const value::TimeZone zone = value::TimeZone::utc();
  auto code = CompiledProgram::compile(program, zone);
  names->freeze();
  if (runs) {
    tree::MessageArena arena(names);
    Host host;
    Invocation invocation{arena.context(),      host, zone, 0, arena.make_assembly(),
                          arena.make_assembly()};
    ModuleInstance instance(code, *code->find_module("", "M"));
    auto result = instance.run(invocation);
    CHECK(result.ok());
  }
  std::string out;
  for (const LineHits::Place& p : hits.places()) {
    out += (out.empty() ? "" : " ") + std::to_string(p.line) + ":" + std::to_string(p.count.load());
  }
  return out;
}

TEST_CASE("line hits: every statement has its line and how often it ran, blocks have none") {
  const char* body =
      "DECLARE i INTEGER 0;\n"
      "WHILE i < 3 DO\n"
      "  SET i = i + 1;\n"
      "  IF i = 99 THEN\n"
      "    SET i = 0;\n"
      "  END IF;\n"
      "END WHILE;\n"
      "BEGIN\n"
      "  SET i = 5;\n"
      "END;\n"
      "RETURN TRUE;";
  CHECK(counted(body, false) == "4:0 6:0 8:0 7:0 5:0 12:0 14:0");
  CHECK(counted(body, true) == "4:1 6:3 8:0 7:3 5:1 12:1 14:1");
}

}  // namespace
}  // namespace millstream::esql
