// A flow test as the runner executes it: the text form taken apart and checked. The form is
// described for users in docs/guide/flow-tests.md.
//
// Sections, in a case or (for all its cases) before the first one of the file:
//   settings   project PATH · flow NAME · property NAME=VALUE · clock TIME|real · network ·
//              conf · ignore · msgflow NAME · subflow NAME · esql · file PATH
//   mocks      mock NODE[.TERMINAL] [#n|#n+] · mock NODE throws NUMBER · stop NODE ·
//              backend [METHOD] URL [#n|#n+]
//   parts of a message, below mock and inject
//              body DOMAIN · tree · environment · local_environment · exceptions · mxml
//   steps      request METHOD PATH · inject NODE[.TERMINAL] · advance TIME
//   checks     expect reply STATUS · expect calls · expect body|tree|environment|
//              local_environment|exceptions|paths|mxml|assembly NODE[.TERMINAL] [#n] ·
//              expect backend METHOD URL [#n] · expect log · expect load · expect statistics ·
//              exception [NODE]
// Lifetime: a script points into its TestFile. Thread: any (no sharing).
#pragma once
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "flowtest/esqltest_file.h"
#include "flowtest/text_tree.h"

namespace millstream::flowtest {

const TestGrammar& flowtest_grammar();

// Header lines, an empty line, the body. Without header lines the body may come at once.
struct HttpText {
  std::vector<std::pair<std::string, std::string>> headers;
  std::string body;
  size_t body_line = 0;  // lines of the section before it
};
HttpText parse_http_text(std::string_view text);

// The sections that make up a message; null where the test says nothing.
struct MessageParts {
  const TestSection* body = nullptr;
  const TestSection* tree = nullptr;
  const TestSection* environment = nullptr;
  const TestSection* local_environment = nullptr;
  const TestSection* exceptions = nullptr;
  const TestSection* mxml = nullptr;
};

struct FlowAction {
  enum class Kind : uint8_t {
    kMock,
    kThrow,
    kStop,
    kBackend,
    kRequest,
    kInject,
    kAdvance,
    kExpectReply,
    kExpectCalls,
    kExpectTree,  // `word` says which
    kExpectPaths,
    kExpectBackend,
    kExpectLog,
    kExpectLoad,
    kExpectStatistics,
    kException,
  };
  Kind kind = Kind::kMock;
  const TestSection* section = nullptr;
  std::string target;  // node, terminal, URL
  std::string word;    // method; what of a message is compared
  std::string mode;    // "text", "xml", "json" or empty
  size_t number = 0;   // #n, 0: none
  bool is_and_later = false;
  int64_t amount = 0;  // status, exception number, nanoseconds
  MessageParts parts;
  size_t line() const { return section->first_line; }  // of the heading, from 1
};

struct InlineFile {
  std::string path;
  const TestSection* section;
};

struct FlowScript {
  std::vector<std::string> projects;  // as written
  std::string flow;
  std::vector<std::string> properties;  // override lines, or NAME=VALUE for `flow`
  std::vector<InlineFile> files;
  const TestSection* conf = nullptr;
  bool is_clock_real = false;
  bool is_network_allowed = false;
  int64_t clock_micros = 0;
  std::vector<TextPath> ignored;
  std::vector<FlowAction> actions;
  bool expects_load = false;
};

// Errors have the line of the section.
Result<FlowScript> read_script(const TestFile& file, const TestCase& test);

// "30s", "1500ms", "5m", "2h", "1d" in nanoseconds.
bool parse_duration(std::string_view text, int64_t& nanoseconds);

// `@file PATH` and `@repeat N TEXT` lines of a body expanded; PATH is relative to `folder`.
Result<std::string> expand_body(std::string_view body, const std::string& folder);

}  // namespace millstream::flowtest
