#include "ace/overrides.h"

#include <algorithm>

#include "ace/config_xml.h"
#include "ace/errors_gen.h"
#include "base/ascii.h"

namespace millstream::ace {
namespace {

std::string override_key(std::string_view flow, std::string_view node, std::string_view property) {
  std::string key(flow);
  key += '#';
  if (!node.empty()) {
    key += node;
    key += '.';
  }
  key += property;
  return key;
}

}  // namespace

void Overrides::add(std::string key, std::string value, OverrideRank rank, base::Position position,
                    std::string origin) {
  Entry entry{{std::move(value), std::move(position), std::move(origin)}, rank, false};
  auto it = entries_.find(key);
  if (it == entries_.end()) {
    entries_.emplace(std::move(key), std::move(entry));
  } else if (rank >= it->second.rank) {
    it->second = std::move(entry);
  }
}

void Overrides::add_lines(std::string_view text, const std::string& file,
                          base::Diagnostics& diagnostics) {
  uint32_t number = 0;
  while (!text.empty()) {
    ++number;
    size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = base::trim_white_space(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.front() == '#' || line.front() == ';' || line.substr(0, 2) == "//") {
      continue;
    }
    size_t hash = line.find('#');
    size_t equals = line.find('=', hash == std::string_view::npos ? 0 : hash);
    if (hash == std::string_view::npos || hash == 0 || equals == std::string_view::npos) {
      Status status = base::make_error(errors::kBadOverride, {line});
      diagnostics.error(status.error(), {file, number, 1});
      continue;
    }
    add(std::string(base::trim_white_space(line.substr(0, equals))),
        std::string(base::trim_white_space(line.substr(equals + 1))), OverrideRank::kOverridesFile,
        {file, number, 1}, "overrides file");
  }
}

Status Overrides::add_broker_xml(std::string_view bytes, const std::string& file) {
  ConfigDocument document = MS_TRY(parse_config_xml(bytes, file));
  std::vector<const ConfigElement*> pending = {document.root.get()};
  while (!pending.empty()) {
    const ConfigElement* e = pending.back();
    pending.pop_back();
    const ConfigAttribute* value = e->find_attribute("override");
    if (e->local == "ConfigurableProperty" && value) {
      add(std::string(e->attribute("uri")), value->value, OverrideRank::kBar, value->position,
          "BAR override");
    }
    for (const auto& c : e->children) pending.push_back(c.get());
  }
  return {};
}

void Overrides::add_all(const Overrides& other) {
  for (const auto& [key, entry] : other.entries_) {
    auto [it, is_new] = entries_.emplace(key, entry);
    if (!is_new && entry.rank > it->second.rank) it->second = entry;
  }
}

void Overrides::note_used(const Overrides& copy) {
  for (auto& [key, entry] : entries_) {
    auto it = copy.entries_.find(key);
    if (it != copy.entries_.end() && it->second.is_used) entry.is_used = true;
  }
}

void Overrides::apply(const std::vector<Address>& addresses, flow::PropertySet& properties) {
  for (OverrideRank rank : {OverrideRank::kBar, OverrideRank::kOverridesFile}) {
    for (const Address& address : addresses) {
      for (const std::string& flow : address.flows) {
        const std::string prefix = override_key(flow, address.node, "");
        for (auto it = entries_.lower_bound(prefix); it != entries_.end(); ++it) {
          if (it->first.compare(0, prefix.size(), prefix) != 0) break;
          if (it->second.rank != rank) continue;
          std::string name = it->first.substr(prefix.size());
          // What still has a '.' belongs to a node, or to a node of a subflow.
          if (name.find('.') != std::string::npos) continue;
          if (!address.node.empty()) it->second.is_used = true;
          properties.set(std::move(name), it->second.property);
        }
      }
    }
  }
}

void Overrides::note_known(const std::vector<std::string>& flows,
                           const std::function<bool(std::string_view)>& is_known) {
  for (const std::string& flow : flows) {
    const std::string prefix = override_key(flow, "", "");
    for (auto it = entries_.lower_bound(prefix); it != entries_.end(); ++it) {
      if (it->first.compare(0, prefix.size(), prefix) != 0) break;
      if (is_known(std::string_view(it->first).substr(prefix.size()))) it->second.is_used = true;
    }
  }
}

void Overrides::report_unused(base::Diagnostics& diagnostics) const {
  for (const auto& [key, entry] : entries_) {
    if (entry.is_used || entry.rank != OverrideRank::kOverridesFile) continue;
    Status status = base::make_error(errors::kUnusedOverride, {key});
    diagnostics.warning(entry.property.position, status.error().code->id, status.error().text);
  }
}

}  // namespace millstream::ace
