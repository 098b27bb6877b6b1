// One mistake, one message: the exact list of what the parser reports for small broken modules.
#include <doctest/doctest.h>

#include "esql/parser.h"

namespace millstream::esql {
namespace {

std::vector<std::string> recovery_messages(std::string_view text, bool with_text) {
  base::Arena arena;
  ast::SourceFile file;
  Parser parser(text, 0, arena);
  parser.parse_file(file);
  std::vector<std::string> out;
  for (const ParseMessage& m : parser.messages()) {
    std::string line = std::to_string(m.pos.line) + ":" + std::to_string(m.pos.column) + " ";
    line += with_text ? m.text : std::string(m.code);
    out.push_back(std::move(line));
  }
  return out;
}

std::string recovery_joined(const std::vector<std::string>& items) {
  std::string out;
  for (const std::string& i : items) out += (out.empty() ? "" : ", ") + i;
  return out;
}

// `body` begins on line 3 of a module; a second routine and a second module follow it.
std::string recovery_in_module(std::string_view body) {
  return "CREATE COMPUTE MODULE M\n"
         "CREATE FUNCTION Main() RETURNS BOOLEAN BEGIN\n" +
         std::string(body) +
         "\nRETURN TRUE;\n"
         "END;\n"
         "CREATE PROCEDURE p() BEGIN CREATE FIELD Environment.a; END;\n"
         "END MODULE;\n"
         "CREATE FILTER MODULE F CREATE FUNCTION Main() RETURNS BOOLEAN RETURN TRUE; END MODULE;\n";
}

TEST_CASE("One mistake in a body gives one message") {
  struct Case {
    std::string_view body;
    std::string_view expected;
  };
  for (const Case& c : std::initializer_list<Case>{
           {"SET a = 1;", ""},
           // an unknown function form
           {"SET t = KAST(l AS DECIMAL);", "3:16 BIP4001"},
           {"FOR x AS y.z[] DO\nSET t = KAST(l AS DECIMAL);\nEND FOR;", "4:16 BIP4001"},
           {"FOR x AS y.z[] DO\nIF a THEN\nSET t = KAST(l AS DECIMAL);\nELSE\nSET b = 1;\nEND IF;\n"
            "END FOR;",
            "5:16 BIP4001"},
           {"WHILE a DO\nSET t = KAST(l AS DECIMAL)\nEND WHILE;", "4:16 BIP4001"},
           // a missing ';'
           {"IF a THEN\nSET b = 1\nEND IF;", "4:10 BIP4001"},
           {"IF a THEN\nSET b = 1\nELSE\nSET b = 2;\nEND IF;", "4:10 BIP4001"},
           {"IF a THEN\nSET b = 1\nELSEIF c THEN\nSET b = 2\nEND IF;",
            "4:10 BIP4001, 6:10 BIP4001"},
           {"CASE a WHEN 1 THEN\nSET b = 1\nWHEN 2 THEN\nSET b = 2;\nEND CASE;", "4:10 BIP4001"},
           {"REPEAT\nSET b = 1\nUNTIL b = 1 END REPEAT;", "4:10 BIP4001"},
           {"BEGIN\nCALL q()\nEND;", "4:9 BIP4001"},
           {"IF a THEN\nTHROW USER EXCEPTION VALUES('x')\nEND IF;", "4:33 BIP4001"},
           {"IF a THEN\nRETURN\nEND IF;", "4:7 BIP4001"},
           {"DECLARE x INTEGER\nSET x = 1;", "3:18 BIP4001"},
           {"SET a = 1\nIF b THEN\nSET c = 1;\nEND IF;", "3:10 BIP4001"},
           {"SET a = 1\nq(2);", "3:10 BIP4001"},
           {"IF a THEN\nSET b = 1;\nEND IF\nSET c = 2;", "5:7 BIP4001"},
           {"l: LOOP\nLEAVE l\nEND LOOP l\nSET c = 2;", "4:8 BIP4001, 5:11 BIP4001"},
           {"SET a = 'x\ny'\nSET b = 1;", "4:3 BIP4001"},
           // a missing or wrong END
           {"IF a THEN\nSET b = 1;", "6:1 BIP4001"},
           {"FOR x AS y.z[] DO\nIF a THEN\nSET b = 1;\nEND FOR;", "6:1 BIP4001"},
           {"WHILE a DO\nSET b = 1;\nEND;", "5:1 BIP4001"},
           {"IF a THEN\nSET b = 1;\nEND WHILE;", "5:1 BIP4001"},
           {"BEGIN\nSET b = 1;", "7:1 BIP4001"},
           {"REPEAT\nSET b = 1;\nEND REPEAT;", "5:1 BIP4001"},
           {"SET b = 1;\nEND IF;", "4:1 BIP4001"},
           {"SET b = 1;\nELSE\nSET c = 1;\nEND IF;", "4:1 BIP4001"},
           {"IF a THEN ELSE\nSET b = 1;\nELSE\nSET c = 1;\nEND IF;", "5:1 BIP4001"},
           // the head of a block
           {"IF a\nSET b = 1;\nEND IF;", "4:1 BIP4001"},
           {"IF a = ) THEN\nSET b = 1;\nELSEIF c THEN\nELSE\nSET b = 2;\nEND IF;", "3:8 BIP4001"},
           {"IF (a = 1 THEN\nSET b = 1;\nEND IF;", "3:11 BIP4001"},
           {"IF (a = 1\nSET b = 1;\nELSE\nSET c = 1;\nEND IF;", "4:1 BIP4001"},
           {"IF CASE WHEN ) THEN 1 ELSE 2 END = 1 THEN\nSET b = 1;\nEND IF;", "3:14 BIP4001"},
           {"WHILE a\nSET b = 1;\nEND WHILE;", "4:1 BIP4001"},
           {"FOR x IN y.z[] DO\nSET b = 1;\nEND FOR;", "3:7 BIP4001"},
           {"IF d THEN\nCASE a ) WHEN 1 THEN\nSET b = 1;\nELSE\nSET b = 2;\nEND CASE;\nEND IF;",
            "4:8 BIP4001"},
           {"IIF a THEN\nSET b = 1;\nELSE\nSET b = 2;\nEND IF;", "3:1 BIP4001"},
           // parentheses and stray tokens
           {"SET a = (1 + 2;\nIF b THEN\nSET c = 1;\nEND IF;", "3:15 BIP4001"},
           {"SET a = f(1, g(2);\nSET b = 1;", "3:18 BIP4001"},
           {"IF b THEN\nSET a = (1 + 2\nEND IF;", "5:1 BIP4001"},
           {"SET a = 1);\nSET b = 1;", "3:10 BIP4001"},
           {"SET a = 1;\n)\nSET b = 1;", "4:1 BIP4001"},
           {"SET a = 1 2;", "3:11 BIP4001"},
           {"IF b THEN\nSET a = CASE WHEN ) THEN 1 ELSE 2 END;\nEND IF;", "4:19 BIP4001"},
           {"IF b THEN\nSET a = CASE WHEN c THEN 1 ELSE 2;\nEND IF;", "4:34 BIP4001"},
           // two mistakes
           {"FOR x AS y.z[] DO\nSET t = KAST(l AS DECIMAL);\nSET a = ;\nEND FOR;\nSET b c;",
            "4:16 BIP4001, 5:9 BIP4001, 7:7 BIP4001"},
           {"IF a THEN\nSET b = 1\nEND IF;\nWHILE c\nSET d = 1;\nEND WHILE;",
            "4:10 BIP4001, 7:1 BIP4001"},
       }) {
    INFO(std::string(c.body));
    CHECK(recovery_joined(recovery_messages(recovery_in_module(c.body), false)) == c.expected);
  }
}

TEST_CASE("One mistake outside of a body gives one message") {
  struct Case {
    std::string_view text;
    std::string_view expected;
  };
  for (const Case& c : std::initializer_list<Case>{
           {"CREATE COMPUTE MODULE M\nCREATE FUNCTION Main() RETURNS BOOLEAN BEGIN\nRETURN TRUE;\n"
            "END;\n",
            "5:1 BIP4001"},
           {"CREATE COMPUTE MODULE M\nCREATE FUNCTION Main() RETURNS BOOLEAN BEGIN\nRETURN TRUE;\n"
            "END;\nCREATE FILTER MODULE F\nEND MODULE;",
            "5:1 BIP4001"},
           {"CREATE COMPUTE MODULE M\nCREATE FUNCTION Main() RETURNS BOOLEAN BEGIN\nRETURN TRUE;\n"
            "CREATE PROCEDURE p() BEGIN END;\nEND MODULE;",
            "4:1 BIP4001"},
           {"CREATE COMPUTE MODULE M\nCREATE FUNCTION Main() RETURNS BOOLEAN BEGIN\nIF a THEN\n"
            "SET b = 1;\nEND MODULE;",
            "5:1 BIP4001"},
           {"CREATE COMPUTE MODULE M\nCREATE FUNCTION Main() RETURNS BOOLEAN BEGIN\nRETURN TRUE;\n"
            "END\nCREATE PROCEDURE p() BEGIN END\nEND MODULE\n",
            "4:4 BIP4001, 5:31 BIP4001, 6:11 BIP4001"},
           {"CREATE COMPUTE MODULE M\nCREATE FUNCTION Main( RETURNS BOOLEAN\nBEGIN\n"
            "DECLARE EXIT HANDLER FOR SQLSTATE 'x' BEGIN END;\nCREATE FIELD a;\nRETURN "
            "TRUE;\nEND;\n"
            "END MODULE;",
            "3:1 BIP4001"},
           {"CREATE COMPUTE MODULE M\nCREATE FUNCTION Main() RETURNS BOOLEAN BEGN\nSET a = 1;\n"
            "CREATE FIELD a;\nRETURN TRUE;\nEND;\nCREATE PROCEDURE p() BEGIN SET a = ; END;\n"
            "END MODULE;",
            "2:40 BIP4001, 7:36 BIP4001"},
           {"CREATE COMPUTE MODUL M\nCREATE FUNCTION Main() RETURNS BOOLEAN BEGIN\nRETURN TRUE;\n"
            "END;\nEND MODULE;\nCREATE PROCEDURE p() BEGIN END;",
            "1:8 BIP4001"},
           {"CREATE COMPUTE MODULE M\nCREATE FUNCTION Main() RETURNS BOOLEAN BEGIN\nRETURN TRUE;\n"
            "END;\nEND;\nCREATE PROCEDURE p() BEGIN END;\nEND MODULE;",
            "5:1 BIP4001"},
           {"DECLARE a INTEGER\nDECLARE b INTEGER;\nCREATE PROCEDURE p() BEGIN END;",
            "1:18 BIP4001"},
           {"CREATE PROCEDURE p() BEGIN\nIF a THEN SET b = (", "2:20 BIP4001"},
           {"CREATE PROCEDURE p() BEGIN\nSET a = 1\n", "2:10 BIP4001"},
           {"END MODULE;\nCREATE PROCEDURE p() BEGIN END;", "1:1 BIP4001"},
       }) {
    INFO(std::string(c.text));
    CHECK(recovery_joined(recovery_messages(c.text, false)) == c.expected);
  }
}

TEST_CASE("Messages of recovery") {
  auto message = [](std::string_view body) {
    return recovery_joined(recovery_messages(recovery_in_module(body), true));
  };
  CHECK(message("IF a THEN\nSET b = 1\nEND IF;") == "4:10 expected ';' after '1', found 'END'");
  CHECK(message("FOR x AS y.z[] DO\nIF a THEN\nSET b = 1;\nEND FOR;") ==
        "6:1 expected END IF, found 'END FOR'");
  CHECK(message("SET b = 1;\nEND IF;") == "4:1 there is no IF that this END belongs to");
  CHECK(message("SET t = Kast(l AS DECIMAL);") ==
        "3:16 expected ')', found AS in the call of 'Kast'; only CAST takes AS; did you mean "
        "'CAST'?");
  CHECK(message("SET t = convert(l AS DECIMAL);") ==
        "3:19 expected ')', found AS in the call of 'convert'; only CAST takes AS");
}

TEST_CASE("Words that end blocks can still be names and routines") {
  for (std::string_view body :
       {"SET Environment.End.Else = a.When.Until;", "END.x();", "until(1);", "SET end = 1;",
        "DECLARE x CHARACTER\nupper('a');", "RETURN\nf(1);",
        "until: LOOP LEAVE until; END LOOP until;", "IF a THEN END\nIF;",
        "SET Environment.Variables.Set = Environment.Move;",
        "PROPAGATE TO TERMINAL 'out'\nDELETE NONE;", "SET a = SUBSTRING(b FROM 1\nFOR 2);"}) {
    INFO(std::string(body));
    CHECK(recovery_joined(recovery_messages(recovery_in_module(body), true)) == "");
  }
}

TEST_CASE("Any cut of a broken program ends with messages in order") {
  std::string text = recovery_in_module(
      "FOR x AS y.z[] DO IF a THEN SET b = CASE WHEN c THEN 1 ELSE 2 END; ELSE REPEAT SET d = (1) "
      "UNTIL e END REPEAT; END IF; END FOR; CASE f WHEN 1 THEN BEGIN END; END CASE;");
  for (size_t i = 0; i < text.size(); ++i) {
    recovery_messages(text.substr(0, i), false);
    recovery_messages(text.substr(i), false);
    recovery_messages(text.substr(0, i) + text.substr(std::min(text.size(), i + 7)), false);
  }
  std::string lines;
  for (int i = 0; i < 5000; ++i) lines += "SET a = (\n";
  CHECK(recovery_messages(recovery_in_module(lines), false).size() > 1000);
}

}  // namespace
}  // namespace millstream::esql
