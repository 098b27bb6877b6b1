#include "nodes/callable/call.h"

#include <atomic>
#include <cstring>

#include "base/random.h"
#include "nodes/common/tree_codec.h"

namespace millstream::nodes::callable {
namespace {

std::string make_call_identifier() {
  static const uint64_t process = base::system_random().next_u64();
  static std::atomic<uint64_t> next{0};
  const uint64_t number = next.fetch_add(1, std::memory_order_relaxed);
  std::string out(Call::kIdentifierBytes, '\0');
  std::memcpy(out.data(), "CALR\1", 5);
  std::memcpy(out.data() + 8, &process, sizeof process);
  std::memcpy(out.data() + 16, &number, sizeof number);
  return out;
}

void clear_unwinding(base::Error& error) {
  error.is_unwinding = false;
  for (const auto& cause : error.causes) clear_unwinding(*cause);
}

Result<CallMessage> decode_message(tree::TreeContext& context, std::string_view bytes) {
  std::vector<tree::Element*> trees = MS_TRY(common::decode_trees(context, bytes));
  trees.resize(2);
  CallMessage message{trees[0], trees[1]};
  if (!message.root) message.root = tree::make_root(context, "Root");
  if (!message.local_environment) {
    message.local_environment = tree::make_root(context, "LocalEnvironment");
  }
  return message;
}

}  // namespace

Status complete_message(tree::TreeContext& context, tree::Element* root) {
  for (tree::Element* e = tree::first_child(root); e; e = tree::next_sibling(e)) tree::complete(e);
  return context.has_parse_error() ? context.take_parse_error() : Status();
}

Result<CallMessage> copy_message(tree::TreeContext& from, tree::Element* root,
                                 tree::Element* local_environment, tree::TreeContext& to) {
  MS_TRY(complete_message(from, root));
  CallMessage copy;
  copy.root = MS_TRY(tree::deep_copy(to, root, tree::CopyMode::kAcross));
  copy.local_environment = MS_TRY(tree::deep_copy(to, local_environment, tree::CopyMode::kAcross));
  if (from.has_parse_error()) return from.take_parse_error();
  return copy;
}

Status arrived_error(const base::Error& error) {
  std::unique_ptr<base::Error> copy = error.clone();
  clear_unwinding(*copy);
  return Status(std::move(copy));
}

Call::Call(std::string application, std::string endpoint, uint32_t depth)
    : application_(std::move(application)),
      endpoint_(std::move(endpoint)),
      depth_(depth),
      identifier_(make_call_identifier()) {}

void Call::send_trees(tree::TreeContext& context, const tree::MessageAssembly& message) {
  home_ = net::Reactor::current();
  context_ = &context;
  request_ = message;
}

Result<bool> Call::take_request(tree::TreeContext& context, tree::MessageAssembly& out) {
  std::lock_guard lock(mutex_);
  if (state_ == State::kGivenUp) return false;
  const CallMessage message =
      context_ ? MS_TRY(copy_message(*context_, request_.root, request_.local_environment, context))
               : MS_TRY(decode_message(context, encoded_));
  out.root = message.root;
  out.local_environment = message.local_environment;
  return true;
}

Result<bool> Call::reply(tree::TreeContext& context, const tree::MessageAssembly& message) {
  std::lock_guard lock(mutex_);
  if (state_ == State::kGivenUp) return true;
  if (state_ != State::kWaiting) return false;
  if (context_ && net::Reactor::current() == home_) {
    reply_ = MS_TRY(copy_message(context, message.root, message.local_environment, *context_));
  } else {
    tree::Element* const trees[] = {message.root, message.local_environment};
    std::string bytes;
    MS_TRY(common::encode_trees(context, trees, bytes));
    reply_encoded_ = std::move(bytes);
  }
  state_ = State::kReplied;
  is_done_.set();
  return true;
}

bool Call::fail(Status status) {
  std::lock_guard lock(mutex_);
  if (state_ != State::kWaiting) return false;
  error_ = arrived_error(status.error());
  state_ = State::kFailed;
  is_done_.set();
  return true;
}

Result<CallMessage> Call::take_reply(tree::TreeContext& context) {
  std::lock_guard lock(mutex_);
  if (state_ == State::kFailed) return Status(error_.take_error());
  if (reply_.root) return reply_;
  return decode_message(context, reply_encoded_);
}

Result<std::string> Call::take_reply_bytes() {
  std::lock_guard lock(mutex_);
  if (state_ == State::kFailed) return Status(error_.take_error());
  return std::move(reply_encoded_);
}

void Call::give_up() {
  std::lock_guard lock(mutex_);
  if (state_ == State::kWaiting) state_ = State::kGivenUp;
}

}  // namespace millstream::nodes::callable
