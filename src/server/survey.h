// What of a whole tree of projects would run: `millstream check --summary`. The tree may hold many
// workspaces that know nothing of each other, so each is built alone and forgotten: projects that
// stand beside each other in one folder, an archive, or a folder of loose artifacts.
//
// A flow is complete when everything it needs is there and runs: its nodes and their properties,
// the ESQL modules they name, its subflows with all of theirs.
// Thread: one.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/diagnostics.h"
#include "flow/services.h"

namespace millstream::server {

constexpr int kSurveyDepthMax = 24;  // folders within folders

struct SurveyCount {
  uint64_t complete = 0;
  uint64_t total = 0;
  void add(bool is_complete) {
    ++total;
    complete += is_complete ? 1 : 0;
  }
};

// One thing that does not run, with how often it was met.
struct SurveyGap {
  std::string kind;    // "node", "property", "domain", "ESQL", "flow", "artifact"
  std::string name;    // "MQInput"
  std::string detail;  // "needs queues"; may be empty
  uint64_t count = 0;
  std::set<std::string> files;
  base::Position first;
};

struct Survey {
  uint64_t workspaces = 0;
  uint64_t projects = 0;  // of archives too
  SurveyCount flows, subflows, modules, maps, policies;
  std::map<std::string, SurveyGap> gaps;  // by kind and name
  // The most frequent first.
  std::vector<const SurveyGap*> ranked() const;
  void add_gap(const std::string& kind, const std::string& name, const std::string& detail,
               const base::Position& at);
};

// Projects that are built together.
struct SurveyPlace {
  std::string folder;              // that holds them, or the archive
  std::vector<std::string> paths;  // projects or one archive; empty: loose artifacts in `folder`
};
// All places in and below `path`, sorted. Hidden folders are passed over, links are not followed.
// What cannot be read goes to `diagnostics`.
std::vector<SurveyPlace> find_places(const std::string& path, base::Diagnostics& diagnostics);

// Adds what stands at `place`. `services` are those of a process that runs nothing.
void survey_place(const SurveyPlace& place, const flow::Services& services, Survey& survey);

}  // namespace millstream::server
