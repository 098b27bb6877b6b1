#include "queue/mqsc/script_reader.h"

#include <algorithm>

namespace millstream::queue::mqsc {
namespace {

bool is_blank_character(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\f'; }

size_t first_not_blank(std::string_view line) {
  size_t at = 0;
  while (at < line.size() && is_blank_character(line[at])) ++at;
  return at;
}

}  // namespace

SourcePlace ScriptItem::place(size_t offset) const {
  SourcePlace out;
  for (const auto& [start, place] : pieces) {
    if (start > offset) break;
    out = {place.line, place.column + static_cast<uint32_t>(offset - start)};
  }
  return out;
}

void ScriptReader::append_piece(std::string_view part, size_t column) {
  if (item_.kind == ScriptItem::Kind::kTooLong) return;
  if (item_.text.size() + part.size() > kCommandBytesMax) {
    item_.kind = ScriptItem::Kind::kTooLong;
    part = part.substr(0, kCommandBytesMax - item_.text.size());
  }
  item_.pieces.push_back({item_.text.size(), {line_, static_cast<uint32_t>(column + 1)}});
  item_.text += part;
}

void ScriptReader::close(std::vector<ScriptItem>& out) {
  out.push_back(std::move(item_));
  item_ = ScriptItem();
  is_open_ = is_in_quotes_ = skips_blanks_ = false;
}

void ScriptReader::push_line(std::string_view line, std::vector<ScriptItem>& out) {
  ++line_;
  while (!line.empty() && (line.back() == '\r' || line.back() == '\n')) line.remove_suffix(1);
  size_t begin = first_not_blank(line);
  bool is_comment = begin < line.size() && line[begin] == '*' && !is_in_quotes_;
  if (is_comment || (begin == line.size() && !is_open_)) {
    if (is_open_) {
      item_.lines.emplace_back(line);
      return;
    }
    ScriptItem comment;
    comment.kind = ScriptItem::Kind::kComment;
    comment.lines.emplace_back(line);
    out.push_back(std::move(comment));
    return;
  }
  size_t end = line.size();
  while (end > 0 && is_blank_character(line[end - 1])) --end;
  bool is_continued = end > 0 && (line[end - 1] == '+' || line[end - 1] == '-');
  bool next_skips_blanks = is_continued && line[end - 1] == '+';
  size_t stop = is_continued ? end - 1 : end;
  size_t at = is_open_ && skips_blanks_ ? std::min(begin, stop) : 0;
  size_t line_from = 0;
  if (!is_open_) is_open_ = true;
  size_t piece = at;
  for (size_t i = at; i < stop; ++i) {
    if (line[i] == '\'') is_in_quotes_ = !is_in_quotes_;
    if (line[i] != ';' || is_in_quotes_) continue;
    append_piece(line.substr(piece, i - piece), piece);
    item_.lines.emplace_back(line.substr(line_from, i + 1 - line_from));
    if (first_not_blank(item_.text) < item_.text.size()) {
      close(out);
    } else {
      item_ = ScriptItem();
    }
    piece = line_from = i + 1;
    is_in_quotes_ = false;
    is_open_ = first_not_blank(line.substr(piece, stop - piece)) < stop - piece || is_continued;
  }
  if (!is_open_) return;
  append_piece(line.substr(piece, stop - piece), piece);
  item_.lines.emplace_back(line.substr(line_from));
  skips_blanks_ = next_skips_blanks;
  if (!is_continued) close(out);
}

void ScriptReader::finish(std::vector<ScriptItem>& out) {
  if (is_open_) close(out);
}

std::vector<ScriptItem> read_script(std::string_view script) {
  std::vector<ScriptItem> out;
  ScriptReader reader;
  while (!script.empty()) {
    size_t end = script.find('\n');
    reader.push_line(script.substr(0, end), out);
    if (end == std::string_view::npos) break;
    script.remove_prefix(end + 1);
  }
  reader.finish(out);
  return out;
}

}  // namespace millstream::queue::mqsc
