#include "wire/stomp/subscription.h"

#include <algorithm>
#include <charconv>
#include <span>

#include "base/assert.h"
#include "wire/stomp/content.h"

namespace millstream::wire::stomp {
namespace {

bool is_true(std::string_view text) { return text == "true"; }

// The first of several names that clients of other brokers use.
std::string_view first_of(const Frame& frame, std::span<const std::string_view> names) {
  for (std::string_view name : names) {
    if (const Header* header = frame.find(name)) return header->second;
  }
  return {};
}

constexpr std::string_view kNameHeaders[] = {
    "durable-subscription-name", "activemq.subscriptionName", "activemq.subcriptionName"};
constexpr std::string_view kPrefetchHeaders[] = {"prefetch-count", "activemq.prefetchSize",
                                                 "prefetch"};
constexpr std::string_view kExclusiveHeaders[] = {"exclusive", "activemq.exclusive"};
constexpr std::string_view kNoLocalHeaders[] = {"no-local", "activemq.noLocal"};

bool read_mode(std::string_view text, AckMode& out) {
  if (text.empty() || text == "auto") {
    out = AckMode::kAuto;
  } else if (text == "client") {
    out = AckMode::kClient;
  } else if (text == "client-individual") {
    out = AckMode::kClientIndividual;
  } else {
    return false;
  }
  return true;
}

bool read_prefetch(std::string_view text, uint32_t& out) {
  if (text.empty()) return true;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  if (error != std::errc() || end != text.data() + text.size()) return false;
  out = std::clamp(out, 1u, Subscription::kPrefetchMax);
  return true;
}

}  // namespace

std::string Subscription::durable_name(const Frame& frame, std::string_view client_id) {
  std::string_view name = first_of(frame, kNameHeaders);
  if (name.empty() && is_true(frame.get("durable"))) name = frame.get("id");
  if (name.empty()) return {};
  return client_id.empty() ? std::string(name) : std::string(client_id) + ":" + std::string(name);
}

std::unique_ptr<Subscription> Subscription::create(SubscriptionOwner& owner, const Frame& frame,
                                                   Node node, std::string_view client_id,
                                                   std::string& why) {
  std::unique_ptr<Subscription> s(new Subscription(owner));
  s->destination_ = frame.get("destination");
  s->has_id_ = frame.has("id");
  s->id_ = s->has_id_ ? frame.get("id") : frame.get("destination");
  if (!read_mode(frame.get("ack"), s->mode_)) {
    why = "ack is none of auto, client, client-individual";
    return nullptr;
  }
  if (!read_prefetch(first_of(frame, kPrefetchHeaders), s->prefetch_)) {
    why = "the prefetch header is no number";
    return nullptr;
  }
  ConsumeOptions& o = s->options_;
  o.node = std::move(node);
  o.selector = frame.get("selector");
  o.browses = is_true(frame.get("browser")) && o.node.is_queue();
  o.is_settled = s->mode_ == AckMode::kAuto && !o.browses;
  o.is_exclusive = is_true(first_of(frame, kExclusiveHeaders));
  o.is_no_local = is_true(first_of(frame, kNoLocalHeaders));
  if (!o.node.is_topic()) return s;
  o.subscription = durable_name(frame, client_id);
  o.is_durable = !o.subscription.empty() && frame.get("durable") != "false";
  o.is_shared = is_true(frame.get("shared")) && !o.subscription.empty();
  if (!o.is_durable && !o.is_shared) o.subscription.clear();
  return s;
}

Subscription::~Subscription() { close(false); }

void Subscription::open(std::function<void(const queue::Outcome&)> done) {
  consumer_ = Consumer::create(owner_.connection().shared_from_this(), *this);
  consumer_->open(options_, std::move(done));
}

void Subscription::start() {
  consumer_->set_credit(options_.browses ? UINT32_MAX : prefetch_);
  if (options_.browses) consumer_->drain([this] { end_of_browse(); });
}

void Subscription::close(bool removes_durable) {
  int64_t bytes = 0;
  for (Unsettled& one : unsettled_) bytes += one.bytes;
  owner_.count_unsettled(-bytes);
  unsettled_.clear();  // backed out
  if (consumer_ != nullptr) consumer_->close(removes_durable);
  consumer_ = nullptr;
}

void Subscription::on_message(Consumer& consumer, Consumed message) {
  MS_ASSERT(&consumer == consumer_.get());
  Unsettled one;
  one.ack = std::to_string(++last_ack_);
  MessageView view(*message.message, message.md);
  one.message_id = view.message_id();
  const queue::Body body = view.body();
  one.bytes = static_cast<int64_t>(body.size());
  std::string head = head_of(message, body, one.ack, one.message_id);
  if (message.delivery) {
    one.delivery = std::move(message.delivery);
    owner_.count_unsettled(one.bytes);
    unsettled_.push_back(std::move(one));
  } else if (!options_.browses) {
    consumer.add_credit(1);
  }
  if (owner_.is_congested()) pause();
  owner_.send_message(std::move(head), body);  // last: it may end the session
}

void Subscription::on_consumer_failed(Consumer&, int32_t reason) {
  owner_.on_subscription_failed(*this, reason);
}

void Subscription::pause() {
  is_paused_ = true;
  if (consumer_ != nullptr) consumer_->pause();
}

void Subscription::resume_now() {
  if (owner_.is_congested() || consumer_ == nullptr) return;
  is_paused_ = false;
  consumer_->resume();
}

std::string Subscription::destination_of(const MessageView& view) const {
  const std::string_view topic = view.topic();
  if (!options_.node.is_topic() || topic.empty()) return destination_;
  for (std::string_view prefix : {"/topic/", "topic://"}) {
    if (destination_.starts_with(prefix)) return std::string(prefix) + std::string(topic);
  }
  return std::string(topic);
}

std::string Subscription::head_of(const Consumed& message, const queue::Body& body,
                                  const std::string& ack, const std::string& message_id) {
  const MessageView view(*message.message, message.md);
  const Version version = owner_.version();
  FrameWriter writer("MESSAGE", version);
  if (has_id_) writer.add("subscription", id_);
  writer.add("message-id", message_id);
  if (version == Version::k12 && message.delivery) writer.add("ack", id_ + ":" + ack);
  if (view.delivery_count() > 0 || message.is_maybe_redelivered) {
    writer.add_plain("redelivered", "true");
  }
  write_message_headers(view, destination_of(view), owner_.now_gmt_ms(), writer);
  writer.add("content-length", body.size());
  return writer.take();
}

void Subscription::end_of_browse() {
  FrameWriter writer("MESSAGE", owner_.version());
  if (has_id_) writer.add("subscription", id_);
  writer.add("destination", destination_);
  writer.add("message-id", "end");
  writer.add_plain("browser", "end");
  owner_.send_message(writer.take(), queue::Body());
}

std::deque<queue::Delivery> Subscription::take(std::string_view id) {
  std::deque<queue::Delivery> out;
  auto found = std::find_if(unsettled_.begin(), unsettled_.end(), [&](const Unsettled& one) {
    return owner_.version() == Version::k12 ? one.ack == id : one.message_id == id;
  });
  if (found == unsettled_.end()) return out;
  auto first = mode_ == AckMode::kClient ? unsettled_.begin() : found;
  int64_t bytes = 0;
  for (auto one = first; one <= found; ++one) {
    bytes += one->bytes;
    out.push_back(std::move(one->delivery));
  }
  unsettled_.erase(first, found + 1);
  owner_.count_unsettled(-bytes);
  return out;
}

void Subscription::settled(size_t count) {
  if (consumer_ != nullptr) consumer_->add_credit(static_cast<uint32_t>(count));
}

}  // namespace millstream::wire::stomp
