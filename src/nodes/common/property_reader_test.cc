#include "nodes/common/property_reader.h"

#include <doctest/doctest.h>

namespace millstream::nodes::common {
namespace {

constexpr std::string_view kModes[] = {"message", "all", "destination"};

struct ReaderFixture {
  void set(std::string name, std::string value, uint32_t line = 1) {
    properties.set(std::move(name), {std::move(value), {"F.msgflow", line, 5}, "flow"});
  }
  // Reads one of each kind, then reports everything as a loader does: "line: id".
  std::vector<std::string> read() {
    PropertyReader reader("Test", properties, diagnostics);
    reader.read_text("text", text);
    reader.read_boolean("flag", flag);
    reader.read_integer("number", 0, 100, number);
    reader.read_hex("bytes", bytes);
    mode = reader.read_choice("mode", kModes, 1, true);
    strict_mode = reader.read_choice("strictMode", kModes, 0, false);
    reader.ignore("ignored");
    reader.refuse("refused", "no.");
    reader.refuse_unless("onlyDefault", "none", "no.");
    reader.refuse_value("text", "bad", "no.");
    reader.allow_table("rows");
    Status status = reader.finish();
    if (!status.ok()) diagnostics.error(status.error(), {});
    std::vector<std::string> out;
    for (const base::Diagnostic& d : diagnostics.all()) {
      out.push_back(std::to_string(d.position.line) + ": " + d.code);
    }
    return out;
  }
  flow::PropertySet properties;
  base::Diagnostics diagnostics;
  std::string text = "default", bytes;
  bool flag = true;
  int64_t number = 7;
  size_t mode = 9, strict_mode = 9;
};

TEST_CASE("property reader: absent properties keep their defaults") {
  ReaderFixture f;
  CHECK(f.read().empty());
  CHECK(f.text == "default");
  CHECK(f.flag);
  CHECK(f.number == 7);
  CHECK(f.mode == 1);
  CHECK(f.strict_mode == 0);
}

TEST_CASE("property reader: values of every type") {
  ReaderFixture f;
  f.set("text", "");
  f.set("flag", "no");
  f.set("number", "100");
  f.set("bytes", "0d0A");
  f.set("mode", "destination");
  f.set("strictMode", "all");
  f.set("ignored", "x");
  f.set("onlyDefault", "none");
  f.properties.add_row("rows", {});
  f.properties.add_row("monitorEvents", {});
  CHECK(f.read().empty());
  CHECK(f.text.empty());
  CHECK_FALSE(f.flag);
  CHECK(f.number == 100);
  CHECK(f.bytes == "\r\n");
  CHECK(f.mode == 2);
  CHECK(f.strict_mode == 1);
}

TEST_CASE("property reader: every problem is reported once, at its place") {
  ReaderFixture f;
  f.set("text", "bad", 10);
  f.set("flag", "TRUE", 11);
  f.set("number", "101", 12);
  f.set("bytes", "0g", 13);
  f.set("mode", "wrong", 14);
  f.set("strictMode", "Message", 15);
  f.set("refused", "x", 16);
  f.set("onlyDefault", "", 17);
  f.set("unknown", "x", 18);
  f.properties.add_row("strange", {{}, {"F.msgflow", 19, 1}});
  // A warning comes at once; of the errors, the newest waits until the next one.
  CHECK(f.read() == std::vector<std::string>{"11: MS1032", "12: MS1032", "14: MS1034", "13: MS1032",
                                             "15: MS1032", "16: MS1033", "17: MS1033", "10: MS1033",
                                             "18: MS1030", "19: MS1035"});
  CHECK(f.mode == 1);
  CHECK(f.diagnostics.all()[4].format() ==
        "F.msgflow:15:5: error: MS1032: The property 'strictMode' does not accept 'Message': one "
        "of message, all, destination.");
}

TEST_CASE("property reader: bad numbers and digits") {
  for (const char* bad : {"", "x", "1x", "-1", "1.0", "99999999999999999999"}) {
    ReaderFixture f;
    f.set("number", bad);
    CHECK(f.read() == std::vector<std::string>{"1: MS1032"});
    CHECK(f.number == 7);
  }
  ReaderFixture f;
  f.set("bytes", "abc");
  CHECK(f.read() == std::vector<std::string>{"1: MS1032"});
}

TEST_CASE("property reader: a required property is present and not empty") {
  for (bool is_empty : {false, true}) {
    flow::PropertySet set;
    set.position = {"F.msgflow", 3, 1};
    if (is_empty) set.set("needed", {"", {"F.msgflow", 4, 2}, "flow"});
    base::Diagnostics diagnostics;
    PropertyReader reader("Test", set, diagnostics);
    reader.require("needed");
    Status status = reader.finish();
    REQUIRE_FALSE(status.ok());
    CHECK(status.error().position.line == (is_empty ? 4 : 3));
  }
}

}  // namespace
}  // namespace millstream::nodes::common
