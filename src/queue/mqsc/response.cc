#include "queue/mqsc/response.h"

#include <chrono>
#include <cstdio>

namespace millstream::queue::mqsc {
namespace {

constexpr size_t kColumnWidth = 40;

std::string field_text(const Field& field) {
  if (field.kind == FieldKind::kFlag) return field.keyword;
  return field.keyword + "(" + (field.value.empty() ? " " : field.value) + ")";
}

void append_list(const Field& field, std::vector<std::string>& out) {
  if (field.items.empty()) {
    out.push_back("   " + field.keyword + "( )");
    return;
  }
  std::string indent(3 + field.keyword.size(), ' ');
  for (size_t i = 0; i < field.items.size(); ++i) {
    std::string line = i == 0 ? "   " + field.keyword + "(" : indent + ",";
    line += field.items[i];
    if (i + 1 == field.items.size()) line += ")";
    out.push_back(std::move(line));
  }
}

}  // namespace

std::vector<std::string> row_lines(const Row& row) {
  std::vector<std::string> out;
  std::string line;
  for (const Field& field : row.fields) {
    if (field.kind == FieldKind::kList) {
      if (!line.empty()) out.push_back(std::move(line));
      line.clear();
      append_list(field, out);
      continue;
    }
    std::string text = field_text(field);
    if (text.size() >= kColumnWidth) {
      if (!line.empty()) out.push_back(std::move(line));
      line.clear();
      out.push_back("   " + text);
    } else if (line.empty()) {
      line = "   " + text;
    } else {
      line.resize(3 + kColumnWidth, ' ');
      out.push_back(line + text);
      line.clear();
    }
  }
  if (!line.empty()) out.push_back(std::move(line));
  return out;
}

std::vector<std::string> response_lines(const CommandResponse& response) {
  std::vector<std::string> out;
  for (const Row& row : response.rows) {
    out.push_back(response.title);
    for (std::string& line : row_lines(row)) out.push_back(std::move(line));
  }
  out.insert(out.end(), response.messages.begin(), response.messages.end());
  if (!response.explanation.empty()) {
    std::string line = response.place.line > 0
                           ? "Line " + std::to_string(response.place.line) + ", column "
                           : "Column ";
    out.push_back(line + std::to_string(response.place.column) + ": " + response.explanation);
  }
  out.insert(out.end(), response.syntax.begin(), response.syntax.end());
  return out;
}

Field text_field(std::string_view keyword, std::string value) {
  Field out;
  out.keyword = keyword;
  out.value = std::move(value);
  return out;
}

Field number_field(std::string_view keyword, int64_t value) {
  Field out = text_field(keyword, std::to_string(value));
  out.kind = FieldKind::kNumber;
  return out;
}

Field blank_field(std::string_view keyword) { return text_field(keyword, ""); }

Field list_field(std::string_view keyword, std::vector<std::string> items) {
  Field out = text_field(keyword, "");
  out.kind = FieldKind::kList;
  out.items = std::move(items);
  for (const std::string& item : out.items) out.value += (out.value.empty() ? "" : ",") + item;
  return out;
}

Field date_field(std::string_view keyword, int64_t gmt_ms) {
  if (gmt_ms == 0) return blank_field(keyword);
  auto days = std::chrono::floor<std::chrono::days>(
      std::chrono::sys_time<std::chrono::milliseconds>(std::chrono::milliseconds(gmt_ms)));
  std::chrono::year_month_day date(days);
  char text[32];
  std::snprintf(text, sizeof text, "%04d-%02u-%02u", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()));
  return text_field(keyword, text);
}

Field time_field(std::string_view keyword, int64_t gmt_ms) {
  if (gmt_ms == 0) return blank_field(keyword);
  int64_t day_seconds = ((gmt_ms / 1000) % 86'400 + 86'400) % 86'400;
  char text[32];
  std::snprintf(text, sizeof text, "%02d.%02d.%02d", static_cast<int>(day_seconds / 3600),
                static_cast<int>(day_seconds / 60 % 60), static_cast<int>(day_seconds % 60));
  return text_field(keyword, text);
}

}  // namespace millstream::queue::mqsc
