#include "nodes/common/async_requests.h"

#include <algorithm>
#include <cstring>

#include "base/random.h"
#include "nodes/common/errors_gen.h"
#include "nodes/common/tree_codec.h"

namespace millstream::nodes::common {
namespace {

using value::Value;

constexpr size_t kIdentifierBytes = 24;
constexpr const char* kUserContext = "UserContext";

tree::Element* async_child(tree::Element* parent, std::string_view name) {
  return parent ? tree::find_child(parent, name) : nullptr;
}

std::string identifier_at(tree::Element* folder, std::string_view name) {
  tree::Element* e = async_child(folder, name);
  if (!e) return {};
  const Value v = tree::scalar_value(e);
  return v.kind == value::Kind::kBlob ? std::string(v.text()) : std::string();
}

void set_identifier(tree::TreeContext& context, tree::Element* destination, const char* folder,
                    const char* name, const std::string& bytes) {
  if (bytes.empty()) return;
  tree::Element* parent = tree::ensure_child(context, destination, folder);
  tree::set_child(context, parent, name, Value::make_blob(bytes));
}

// An identifier names the kind, the process and the request, as the product's do: "CALL", ...
std::string make_identifier(AsyncKind kind, uint64_t number) {
  static const uint64_t process = base::system_random().next_u64();
  static constexpr const char* kEyeCatchers[] = {"HTTA", "RSTA", "CALL"};
  std::string out(kIdentifierBytes, '\0');
  std::memcpy(out.data(), kEyeCatchers[static_cast<size_t>(kind)], 4);
  out[4] = 1;
  std::memcpy(out.data() + 8, &process, sizeof process);
  std::memcpy(out.data() + 16, &number, sizeof number);
  return out;
}

}  // namespace

std::string_view async_family(AsyncKind kind) {
  static constexpr std::string_view kNames[] = {"HTTP", "REST", "CallableFlow"};
  return kNames[static_cast<size_t>(kind)];
}

Result<AsyncContext> save_async_context(AsyncKind kind, tree::TreeContext& context,
                                        const tree::MessageAssembly& in) {
  AsyncContext saved;
  const std::string_view family = async_family(kind);
  tree::Element* destination = async_child(in.local_environment, "Destination");
  saved.http_identifier = identifier_at(async_child(destination, "HTTP"), "RequestIdentifier");
  saved.call_identifier =
      identifier_at(async_child(destination, "CallableFlow"), "ReplyIdentifier");
  tree::Element* const contexts[] = {async_child(async_child(in.environment, family), kUserContext),
                                     async_child(async_child(destination, family), kUserContext)};
  if (contexts[0] || contexts[1]) MS_TRY(encode_trees(context, contexts, saved.user_contexts));
  return saved;
}

Status restore_async_context(AsyncKind kind, const AsyncContext& saved, tree::TreeContext& context,
                             const tree::MessageAssembly& out) {
  const std::string_view family = async_family(kind);
  std::vector<tree::Element*> contexts(2);
  if (!saved.user_contexts.empty()) contexts = MS_TRY(decode_trees(context, saved.user_contexts));
  const bool has_destination = !saved.http_identifier.empty() || !saved.call_identifier.empty() ||
                               (contexts.size() > 1 && contexts[1]);
  if (!contexts.empty() && contexts[0]) {
    tree::append_child(tree::ensure_child(context, out.environment, family), contexts[0]);
  }
  if (!has_destination) return {};
  tree::Element* destination = tree::ensure_child(context, out.local_environment, "Destination");
  set_identifier(context, destination, "HTTP", "RequestIdentifier", saved.http_identifier);
  set_identifier(context, destination, "CallableFlow", "ReplyIdentifier", saved.call_identifier);
  if (contexts.size() > 1 && contexts[1]) {
    tree::append_child(tree::ensure_child(context, destination, family), contexts[1]);
  }
  return {};
}

AsyncRequest::~AsyncRequest() { owner_->outstanding_.fetch_sub(1, std::memory_order_relaxed); }

std::shared_ptr<AsyncResponder> AsyncRequest::responder(flow::FlowHold& hold) const {
  std::lock_guard lock(owner_->mutex_);
  const AsyncRequests::Entry* entry = owner_->find(kind_, application_, pairing_);
  const std::shared_ptr<AsyncResponder>& chosen = entry ? entry->responder : first_responder_;
  hold = flow::FlowHold(chosen->flow());
  return chosen;
}

Status AsyncRequests::add(AsyncKind kind, const Application& application,
                          const std::string& pairing, const std::string& node_label,
                          std::shared_ptr<AsyncResponder> responder) {
  std::lock_guard lock(mutex_);
  const Entry* taken = entries_.add(
      {kind, pairing}, {&application, application.name, node_label, std::move(responder)});
  if (!taken) return {};
  return base::make_error(errors::kPairingTaken,
                          {async_family(kind), pairing, node_label, taken->node_label});
}

void AsyncRequests::remove(const AsyncResponder* responder) {
  std::lock_guard lock(mutex_);
  entries_.remove_if([&](const Entry& e) { return e.responder.get() == responder; });
}

void AsyncRequests::begin_change() {
  std::lock_guard lock(mutex_);
  entries_.begin_change();
}

void AsyncRequests::end_change() {
  std::lock_guard lock(mutex_);
  entries_.end_change();
}

// The newest of the application, else the newest of any.
const AsyncRequests::Entry* AsyncRequests::find(AsyncKind kind, const std::string& application,
                                                const std::string& pairing) const {
  const std::vector<Entry>* same = entries_.find({kind, pairing});
  if (!same) return nullptr;
  auto own = std::find_if(same->rbegin(), same->rend(),
                          [&](const Entry& e) { return e.application == application; });
  return own != same->rend() ? &*own : &same->back();
}

Result<std::shared_ptr<AsyncRequest>> AsyncRequests::begin(
    AsyncKind kind, const Application& application, const std::string& pairing,
    const flow::Node& node, flow::Invocation& invocation, const tree::MessageAssembly& in) {
  if (outstanding_.fetch_add(1, std::memory_order_relaxed) >= kOutstandingMax) {
    outstanding_.fetch_sub(1, std::memory_order_relaxed);
    return base::make_error(errors::kTooManyOutstanding, {kOutstandingMax});
  }
  std::shared_ptr<AsyncRequest> request(new AsyncRequest);
  request->owner_ = this;
  request->kind_ = kind;
  request->application_ = application.name;
  request->pairing_ = pairing;
  request->identifier_ =
      make_identifier(kind, next_number_.fetch_add(1, std::memory_order_relaxed));
  request->request_node_ = node.full_label();
  request->call_depth_ = invocation.call_depth;
  request->context_ = MS_TRY(save_async_context(kind, invocation.context(), in));
  request->request_flow_ = flow::FlowHold(node.flow());
  {
    std::lock_guard lock(mutex_);
    const Entry* entry = find(kind, application.name, pairing);
    if (!entry) return base::make_error(errors::kNoResponseNode, {async_family(kind), pairing});
    request->first_responder_ = entry->responder;
    request->response_flow_ = flow::FlowHold(entry->responder->flow());
  }
  tree::TreeContext& context = invocation.context();
  tree::Element* family = tree::ensure_child(context, in.environment, async_family(kind));
  tree::set_child(context, family, "CorrelationID", Value::make_blob(request->identifier_));
  return request;
}

}  // namespace millstream::nodes::common
