// Enough of Java to find the test methods of a class and their statements. Not a parser: comments
// are dropped, blocks are flattened, and a statement is the text up to its semicolon.
// Thread: any.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace millstream::flowtest {

struct JavaStatement {
  std::string text;  // on one line, without the semicolon
  size_t line = 0;
};

struct JavaMethod {
  std::string name;
  bool is_test = false;    // @Test, @ParameterizedTest
  bool is_set_up = false;  // @BeforeEach, @Before
  size_t line = 0;
  std::vector<JavaStatement> statements;
};

// All methods, and the statements outside them (fields) as those of a method without a name.
std::vector<JavaMethod> read_java(std::string_view source);

// The arguments of `function(` in `text`, each trimmed; empty when it is not called. `from` moves
// behind the call.
bool find_java_call(std::string_view text, std::string_view function, size_t& from,
                    std::vector<std::string>& arguments);
// The text of a string literal; false when `text` is none, or holds control characters, which no
// line of a test can show.
bool java_string(std::string_view text, std::string& out);

}  // namespace millstream::flowtest
