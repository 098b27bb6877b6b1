#include <charconv>

#include "sim/ledger.h"

namespace millstream::sim {
namespace {

constexpr std::string_view kKindNames[] = {"put",     "got",      "get-unknown", "commit",
                                           "prepare", "prepared", "committed",   "backed-out",
                                           "crash",   "left",     "depth",       "in-doubt"};
constexpr size_t kFields = 12;

bool read_number(std::string_view text, auto& out) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size();
}

bool read_line(std::string_view line, LedgerEntry& entry, std::string& error) {
  std::string_view fields[kFields];
  size_t n = 0;
  for (size_t at = 0; n < kFields; ++n) {
    const size_t tab = line.find('\t', at);
    fields[n] = line.substr(at, tab == line.npos ? tab : tab - at);
    if (tab == line.npos) {
      ++n;
      break;
    }
    at = tab + 1;
  }
  if (n != kFields) {
    error = std::to_string(n) + " fields where " + std::to_string(kFields) + " belong";
    return false;
  }
  size_t kind = 0;
  while (kind < std::size(kKindNames) && kKindNames[kind] != fields[0]) ++kind;
  if (kind == std::size(kKindNames)) {
    error = "unknown kind '" + std::string(fields[0]) + "'";
    return false;
  }
  entry.kind = static_cast<LedgerEntry::Kind>(kind);
  entry.unit = fields[2];
  entry.queue = fields[3];
  entry.key = fields[4];
  entry.producer = fields[5];
  entry.is_persistent = fields[9] == "1";
  entry.is_flagged = fields[10] == "1";
  entry.is_selective = fields[11] == "1";
  if (read_number(fields[1], entry.at_ns) && read_number(fields[6], entry.number) &&
      read_number(fields[7], entry.priority) && read_number(fields[8], entry.expires_at_ns)) {
    return true;
  }
  error = "a number is none";
  return false;
}

}  // namespace

void write_entry(const LedgerEntry& entry, std::string& out) {
  out += kKindNames[static_cast<size_t>(entry.kind)];
  for (const std::string& field :
       {std::to_string(entry.at_ns), entry.unit, entry.queue, entry.key, entry.producer,
        std::to_string(entry.number), std::to_string(entry.priority),
        std::to_string(entry.expires_at_ns), std::string(entry.is_persistent ? "1" : "0"),
        std::string(entry.is_flagged ? "1" : "0"), std::string(entry.is_selective ? "1" : "0")}) {
    out += '\t';
    out += field;
  }
  out += '\n';
}

bool read_entries(std::string_view text, std::vector<LedgerEntry>& out, std::string& error) {
  for (size_t line = 1; !text.empty(); ++line) {
    const size_t end = text.find('\n');
    if (end == text.npos) return true;
    LedgerEntry entry;
    if (!read_line(text.substr(0, end), entry, error)) {
      error = "line " + std::to_string(line) + ": " + error;
      return false;
    }
    out.push_back(std::move(entry));
    text.remove_prefix(end + 1);
  }
  return true;
}

}  // namespace millstream::sim
