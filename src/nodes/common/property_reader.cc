#include "nodes/common/property_reader.h"

#include <charconv>

#include "base/ascii.h"
#include "nodes/common/errors_gen.h"

namespace millstream::nodes::common {
namespace {

std::string list_of(std::span<const std::string_view> values) {
  std::string out = "one of";
  for (std::string_view value : values) {
    out += out.size() == 6 ? " " : ", ";
    out += value;
  }
  return out;
}

}  // namespace

PropertyReader::PropertyReader(std::string_view node_type, const flow::PropertySet& set,
                               base::Diagnostics& diagnostics)
    : node_type_(node_type), set_(set), diagnostics_(diagnostics) {
  // Business events are described on every node type and never change what a flow does.
  known_.insert("monitorEvents");
}

const flow::Property* PropertyReader::find(std::string_view name) {
  known_.insert(name);
  return set_.find(name);
}

void PropertyReader::fail(Status status, const base::Position& position) {
  if (!last_error_.ok()) diagnostics_.error(last_error_.error(), set_.position);
  status.error().position = position;
  last_error_ = std::move(status);
}

void PropertyReader::read_text(std::string_view name, std::string& out) {
  if (const flow::Property* p = find(name)) out = p->value;
}

void PropertyReader::read_boolean(std::string_view name, bool& out) {
  const flow::Property* p = find(name);
  if (!p) return;
  if (p->value == "true" || p->value == "yes") {
    out = true;
  } else if (p->value == "false" || p->value == "no") {
    out = false;
  } else {
    fail(base::make_error(errors::kPropertyValue, {name, p->value, "true or false"}), p->position);
  }
}

void PropertyReader::read_integer(std::string_view name, int64_t min, int64_t max, int64_t& out) {
  const flow::Property* p = find(name);
  if (!p) return;
  int64_t value = 0;
  const char* end = p->value.data() + p->value.size();
  auto [at, error] = std::from_chars(p->value.data(), end, value);
  if (error != std::errc() || at != end || value < min || value > max) {
    std::string wanted = "an integer from " + std::to_string(min) + " to " + std::to_string(max);
    fail(base::make_error(errors::kPropertyValue, {name, p->value, wanted}), p->position);
    return;
  }
  out = value;
}

void PropertyReader::read_hex(std::string_view name, std::string& out) {
  const flow::Property* p = find(name);
  if (!p) return;
  std::string bytes;
  bool is_good = p->value.size() % 2 == 0;
  for (size_t i = 0; is_good && i < p->value.size(); i += 2) {
    int high = base::hex_digit_value(p->value[i]), low = base::hex_digit_value(p->value[i + 1]);
    is_good = high >= 0 && low >= 0;
    bytes += static_cast<char>(high * 16 + low);
  }
  if (!is_good) {
    fail(base::make_error(errors::kPropertyValue, {name, p->value, "pairs of hexadecimal digits"}),
         p->position);
    return;
  }
  out = std::move(bytes);
}

size_t PropertyReader::read_choice(std::string_view name, std::span<const std::string_view> values,
                                   size_t fallback, bool is_tolerant) {
  const flow::Property* p = find(name);
  if (!p) return fallback;
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] == p->value) return i;
  }
  if (is_tolerant) {
    Status s = base::make_error(errors::kPropertyTolerated, {name, p->value, values[fallback]});
    diagnostics_.warning(p->position, s.error().code->id, s.error().text);
  } else {
    fail(base::make_error(errors::kPropertyValue, {name, p->value, list_of(values)}), p->position);
  }
  return fallback;
}

void PropertyReader::require(std::string_view name) {
  const flow::Property* p = find(name);
  if (p && !p->value.empty()) return;
  fail(base::make_error(errors::kPropertyMissing, {node_type_, name}),
       p ? p->position : set_.position);
}

void PropertyReader::ignore(std::string_view name) { known_.insert(name); }

void PropertyReader::refuse(std::string_view name, std::string_view reason) {
  if (const flow::Property* p = find(name)) {
    fail(base::make_error(errors::kPropertyRefused, {name, p->value, reason}), p->position);
  }
}

void PropertyReader::refuse_unless(std::string_view name, std::string_view default_text,
                                   std::string_view reason) {
  const flow::Property* p = find(name);
  if (p && p->value != default_text) refuse(name, reason);
}

void PropertyReader::refuse_value(std::string_view name, std::string_view value,
                                  std::string_view reason) {
  const flow::Property* p = find(name);
  if (p && p->value == value) refuse(name, reason);
}

void PropertyReader::allow_table(std::string_view name) { known_.insert(name); }

Status PropertyReader::finish() {
  for (const auto& [name, property] : set_.values()) {
    if (known_.count(name)) continue;
    fail(base::make_error(errors::kPropertyUnknown, {node_type_, name}), property.position);
  }
  for (const auto& [name, rows] : set_.tables()) {
    if (known_.count(name)) continue;
    fail(base::make_error(errors::kTableUnknown, {node_type_, name}),
         rows.empty() ? set_.position : rows.front().position);
  }
  return std::move(last_error_);
}

}  // namespace millstream::nodes::common
