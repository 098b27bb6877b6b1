#include "wire/amqp/broker/terminus.h"

namespace millstream::wire::amqp {
namespace {

bool read_address(std::string_view raw, std::string& address) {
  if (raw.empty()) return true;
  Reader reader(raw);
  Value v;
  if (!reader.read(v)) return false;
  if (v.is_null()) return true;
  if (!v.is_text()) return false;
  address = v.bytes;
  return true;
}

NodeKind kind_of_capabilities(std::string_view raw) {
  if (has_symbol(raw, "queue") || has_symbol(raw, "temporary-queue")) return NodeKind::kQueue;
  if (has_symbol(raw, "topic") || has_symbol(raw, "temporary-topic")) return NodeKind::kTopic;
  return NodeKind::kAny;
}

template <typename Terminus>
const char* read_terminus(const Terminus& t, TerminusRequest& out) {
  out.is_there = true;
  if (!read_address(t.address, out.address)) return "an address is no text";
  out.is_dynamic = t.dynamic;
  if (out.is_dynamic && !out.address.empty()) return "a dynamic node with an address";
  out.kind = kind_of_capabilities(t.capabilities);
  out.durable = t.durable;
  out.expiry_policy = t.expiry_policy;
  out.timeout_s = t.timeout;
  out.capabilities = t.capabilities;
  return nullptr;
}

// Filters that others may know are left out of our answer: that says that they do not act.
const char* read_filters(std::string_view raw, SourceRequest& out) {
  const char* why = nullptr;
  Writer echo;
  Writer::Compound map = echo.begin_map();
  bool is_map = for_each_entry(raw, [&](const Value& key, const Value& value) {
    Reader reader(value.whole);
    uint64_t code = 0;
    if (value.type != Type::kDescribed || !reader.read_descriptor(code)) return;
    if (code == descriptor::kSelectorFilter) {
      std::string_view selector;
      if (!reader.read_string(selector)) {
        why = "a selector is no string";
        return;
      }
      out.has_selector = true;
      out.selector = selector;
    } else if (code == descriptor::kNoLocalFilter) {
      out.is_no_local = true;
    } else {
      return;
    }
    echo.element(map);
    echo.raw(key.whole);
    echo.element(map);
    echo.raw(value.whole);
  });
  if (!is_map) return "the filters are no map";
  echo.end(map);
  if (map.count > 0) out.filter = echo.bytes();
  return why;
}

std::string encode_address(std::string_view address) {
  Writer w;
  w.string(address);
  return std::string(w.bytes());
}

// The lifetime of dynamic nodes is that of the link that made them.
std::string delete_on_close() {
  Writer w;
  Writer::Compound map = w.begin_map();
  w.element(map);
  w.symbol("lifetime-policy");
  w.element(map);
  encode(w, DeleteOnClose());
  w.end(map);
  return std::string(w.bytes());
}

// Text that is absent has no data.
std::string_view maybe_text(const std::string& text) {
  return text.empty() ? std::string_view() : std::string_view(text);
}

}  // namespace

const char* read_source(std::string_view raw, SourceRequest& out) {
  if (raw.empty()) return nullptr;
  Source source;
  if (!decode(raw, source)) return "a source that cannot be read";
  if (const char* why = read_terminus(source, out); why != nullptr) return why;
  out.copies = source.distribution_mode == "copy";
  out.is_shared = has_symbol(source.capabilities, "shared");
  out.is_global = has_symbol(source.capabilities, "global");
  out.outcomes = source.outcomes;
  out.default_outcome = source.default_outcome;
  DeliveryState state;
  if (!decode_state(source.default_outcome, state)) return "a default outcome that is none";
  if (state.is_terminal()) out.default_kind = state.kind;
  out.default_is_failed = state.is_delivery_failed;
  return read_filters(source.filter, out);
}

const char* read_target(std::string_view raw, TerminusRequest& out) {
  if (raw.empty()) return nullptr;
  Target target;
  if (!decode(raw, target)) return "a target that cannot be read";
  return read_terminus(target, out);
}

bool is_coordinator(std::string_view raw_target) {
  Reader reader(raw_target);
  uint64_t code = 0;
  return !raw_target.empty() && reader.read_descriptor(code) && code == descriptor::kCoordinator;
}

std::string encode_source(const SourceRequest& request, std::string_view address) {
  std::string encoded = encode_address(address);
  std::string lifetime;
  if (request.is_dynamic) lifetime = delete_on_close();
  Writer w;
  encode(w, Source{.address = encoded,
                   .durable = request.durable,
                   .expiry_policy = maybe_text(request.expiry_policy),
                   .timeout = request.timeout_s,
                   .dynamic = request.is_dynamic,
                   .dynamic_node_properties = lifetime,
                   .distribution_mode = request.copies ? "copy" : "move",
                   .filter = request.filter,
                   .default_outcome = request.default_outcome,
                   .outcomes = request.outcomes,
                   .capabilities = request.capabilities});
  return std::string(w.bytes());
}

std::string encode_target(const TerminusRequest& request, std::string_view address) {
  std::string encoded, lifetime;
  if (!address.empty()) encoded = encode_address(address);
  if (request.is_dynamic) lifetime = delete_on_close();
  Writer w;
  encode(w, Target{.address = encoded,
                   .durable = request.durable,
                   .expiry_policy = maybe_text(request.expiry_policy),
                   .timeout = request.timeout_s,
                   .dynamic = request.is_dynamic,
                   .dynamic_node_properties = lifetime,
                   .capabilities = request.capabilities});
  return std::string(w.bytes());
}

std::string subscription_name(std::string_view container, std::string_view link_name,
                              bool is_global, bool is_durable) {
  std::string name;
  if (!is_global) {
    name = container;
    name += ':';
  }
  name += link_name.substr(0, link_name.find('|'));
  if (!is_durable) name += "|volatile";
  return name;
}

}  // namespace millstream::wire::amqp
