// millstream check --summary: what of a whole tree of projects would run.
#include "cli/check_summary.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "base/clock.h"
#include "base/json_value.h"
#include "nodes/http/listener.h"
#include "server/survey.h"

namespace millstream::cli {
namespace {

namespace json = base::json;
using server::Survey;
using server::SurveyCount;
using server::SurveyGap;

constexpr size_t kNameWidthMax = 60;
constexpr std::string_view kPathNotFound = "MS1919";

// Says where it is, on the standard error stream and not too often.
class Progress {
 public:
  explicit Progress(size_t total) : total_(total), is_terminal_(isatty(STDERR_FILENO) != 0) {}
  void at(size_t index, const std::string& folder) {
    constexpr int64_t kTerminalPauseNs = 200'000'000;
    constexpr int64_t kLogPauseNs = 10'000'000'000;
    const int64_t now = base::system_clock().monotonic_ns();
    if (now - last_ns_ < (is_terminal_ ? kTerminalPauseNs : kLogPauseNs)) return;
    last_ns_ = now;
    std::fprintf(stderr, is_terminal_ ? "\r\033[K%zu/%zu %s" : "%zu/%zu %s\n", index + 1, total_,
                 folder.c_str());
    has_said_ = true;
  }
  ~Progress() {
    if (has_said_ && is_terminal_) std::fprintf(stderr, "\r\033[K");
  }

 private:
  size_t total_;
  bool is_terminal_;
  bool has_said_ = false;
  int64_t last_ns_ = base::system_clock().monotonic_ns();
};

std::string place_text(const base::Position& p) {
  std::string out = p.file;
  if (p.line != 0) out += ":" + std::to_string(p.line);
  if (p.line != 0 && p.column != 0) out += ":" + std::to_string(p.column);
  return out;
}

void print_count(const char* title, const SurveyCount& c) {
  const uint64_t percent = c.total == 0 ? 0 : c.complete * 100 / c.total;
  std::printf("%-14s %8llu  %8llu", title, static_cast<unsigned long long>(c.complete),
              static_cast<unsigned long long>(c.total));
  if (c.total != 0) std::printf("  %3llu %%", static_cast<unsigned long long>(percent));
  std::printf("\n");
}

void print_survey(const Survey& survey) {
  std::printf("%llu project(s) in %llu place(s)\n\n",
              static_cast<unsigned long long>(survey.projects),
              static_cast<unsigned long long>(survey.workspaces));
  std::printf("               complete        of\n");
  print_count("flows", survey.flows);
  print_count("subflows", survey.subflows);
  print_count("ESQL modules", survey.modules);
  print_count("maps", survey.maps);
  print_count("policies", survey.policies);
  const std::vector<const SurveyGap*> gaps = survey.ranked();
  if (gaps.empty()) return;
  size_t width = 0;
  for (const SurveyGap* g : gaps) width = std::max(width, std::min(g->name.size(), kNameWidthMax));
  std::printf("\nWhat does not run:\n\n%8s  %6s  %-8s  %-*s  first\n", "count", "files", "kind",
              static_cast<int>(width), "name");
  for (const SurveyGap* g : gaps) {
    std::printf("%8llu  %6zu  %-8s  %-*s  %s\n", static_cast<unsigned long long>(g->count),
                g->files.size(), g->kind.c_str(), static_cast<int>(width), g->name.c_str(),
                place_text(g->first).c_str());
    if (!g->detail.empty()) std::printf("%28s%s\n", "", g->detail.c_str());
  }
}

json::Value count_record(const SurveyCount& c) {
  json::Value v = json::Value::object();
  v.set("complete", c.complete);
  v.set("total", c.total);
  return v;
}

void print_survey_json(const Survey& survey) {
  json::Value document = json::Value::object();
  document.set("places", survey.workspaces);
  document.set("projects", survey.projects);
  document.set("flows", count_record(survey.flows));
  document.set("subflows", count_record(survey.subflows));
  document.set("esqlModules", count_record(survey.modules));
  document.set("maps", count_record(survey.maps));
  document.set("policies", count_record(survey.policies));
  json::Value list = json::Value::array();
  for (const SurveyGap* g : survey.ranked()) {
    json::Value v = json::Value::object();
    v.set("kind", g->kind);
    v.set("name", g->name);
    v.set("detail", g->detail);
    v.set("count", g->count);
    v.set("files", static_cast<uint64_t>(g->files.size()));
    v.set("file", g->first.file);
    v.set("line", g->first.line);
    v.set("column", g->first.column);
    list.push_back(std::move(v));
  }
  document.set("unsupported", std::move(list));
  std::printf("%s\n", json::write(document, {.is_pretty = true}).c_str());
}

}  // namespace

int run_check_summary(const std::vector<std::string>& paths, bool is_json) {
  base::Diagnostics unreadable;
  std::vector<server::SurveyPlace> places;
  for (const std::string& path : paths) {
    std::vector<server::SurveyPlace> found = server::find_places(path, unreadable);
    std::move(found.begin(), found.end(), std::back_inserter(places));
  }
  Survey survey;
  {
    Progress progress(places.size());
    for (size_t i = 0; i < places.size(); ++i) {
      progress.at(i, places[i].folder);
      nodes::http::HttpListener listener;  // never bound; each place has its own URLs
      flow::Services services;
      services.set(&listener);
      server::survey_place(places[i], services, survey);
    }
  }
  for (const base::Diagnostic& d : unreadable.all()) {
    std::fprintf(stderr, "%s\n", d.format().c_str());
  }
  if (is_json) {
    print_survey_json(survey);
  } else {
    print_survey(survey);
  }
  const auto& all = unreadable.all();
  const bool is_missing = std::any_of(
      all.begin(), all.end(), [](const base::Diagnostic& d) { return d.code == kPathNotFound; });
  return is_missing ? 1 : 0;
}

}  // namespace millstream::cli
