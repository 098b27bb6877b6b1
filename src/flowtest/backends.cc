#include "flowtest/backends.h"

#include <algorithm>
#include <cstring>

#include "flowtest/errors_gen.h"
#include "net/errors_gen.h"
#include "net/fiber.h"

namespace millstream::flowtest {
namespace {

bool url_matches(std::string_view pattern, std::string_view url) {
  if (pattern.ends_with('*')) return url.starts_with(pattern.substr(0, pattern.size() - 1));
  if (pattern.find('?') == std::string_view::npos) url = url.substr(0, url.find('?'));
  return pattern == url;
}

bool call_matches(std::string_view method, std::string_view url, const BackendCall& call) {
  return (method.empty() || method == call.method) && url_matches(url, call.url);
}

Status reply_timed_out(const http::ClientRequest& request) {
  const int64_t now = net::Reactor::current()->refresh_now();
  // Without a time-out of its own a request would wait for ever; a day is as good.
  constexpr int64_t kForever = 86'400 * net::kSecond;
  net::sleep_until(request.deadline_ns == net::kNever ? now + kForever : request.deadline_ns);
  return base::make_error(net::errors::kSocketTimeout, {"receive"});
}

}  // namespace

bool Backends::read_status_line(std::string_view line, Rule& rule) {
  const size_t after = line.find("after ");
  if (after != std::string_view::npos) {
    if (!parse_duration(line.substr(after + 6), rule.delay_ns)) return false;
    line = line.substr(0, after);
  }
  while (line.ends_with(' ')) line.remove_suffix(1);
  if (line == "refused" || line == "closed" || line == "timeout") {
    rule.way = line == "refused" ? Way::kRefused : line == "closed" ? Way::kClosed : Way::kTimeout;
    return true;
  }
  if (line.empty()) return after != std::string_view::npos;
  if (line.size() < 3 || (line.size() > 3 && line[3] != ' ')) return false;
  int status = 0;
  for (char c : line.substr(0, 3)) {
    if (c < '0' || c > '9') return false;
    status = status * 10 + (c - '0');
  }
  rule.status = status;
  rule.reason = line.size() > 4 ? line.substr(4) : std::string_view();
  return true;
}

Status Backends::read_reply(const FlowAction& action, Rule& rule) {
  std::string_view text = action.section->body;
  const size_t end = std::min(text.find('\n'), text.size());
  if (read_status_line(text.substr(0, end), rule)) {
    text = text.substr(std::min(end + 1, text.size()));
  }
  rule.text = parse_http_text(text);
  rule.body = MS_TRY(expand_body(rule.text.body, folder_));
  return {};
}

Status Backends::add(const FlowAction& action) {
  auto rule = std::make_unique<Rule>();
  rule->method = action.word;
  rule->url = action.target;
  rule->number = action.number;
  rule->is_and_later = action.is_and_later;
  MS_TRY(read_reply(action, *rule));
  std::lock_guard lock(mutex_);
  rules_.push_back(std::move(rule));
  return {};
}

// The rule for exactly this call goes before one from some call on, that before one for all; of
// equals the later one.
const Backends::Rule* Backends::choose(const BackendCall& call) {
  const Rule* best = nullptr;
  int best_rank = 0;
  for (const auto& rule : rules_) {
    if (!call_matches(rule->method, rule->url, call)) continue;
    const auto number = static_cast<size_t>(std::count_if(
        all_calls_.begin(), all_calls_.end(),
        [&](const BackendCall& c) { return call_matches(rule->method, rule->url, c); }));
    int rank = 0;
    if (rule->number == 0) rank = 1;
    if (rule->number != 0 && rule->is_and_later && number >= rule->number) rank = 2;
    if (rule->number == number && !rule->is_and_later) rank = 3;
    if (rank == 0 || rank < best_rank) continue;
    best = rule.get();
    best_rank = rank;
  }
  return best;
}

Status Backends::answer(const http::ClientRequest& request, net::Reactor& reactor,
                        http::ClientResponse& response) {
  BackendCall call{request.method,
                   (request.url.is_https ? "https://" : "http://") + request.url.authority() +
                       request.url.target,
                   std::string(request.body),
                   {}};
  for (size_t i = 0; i < request.headers.size(); ++i) {
    call.headers.emplace_back(request.headers.name(i), request.headers.value(i));
  }
  const Rule* rule = nullptr;
  {
    std::lock_guard lock(mutex_);
    calls_.push_back(call);
    all_calls_.push_back(call);
    rule = choose(call);
  }
  if (!rule) return base::make_error(errors::kNoBackend, {call.method, call.url});
  if (rule->delay_ns > 0) {
    const int64_t until = reactor.refresh_now() + rule->delay_ns;
    if (until >= request.deadline_ns) return reply_timed_out(request);
    net::sleep_until(until);
  }
  switch (rule->way) {
    case Way::kRefused:
      return base::make_error(net::errors::kSocketOperation,
                              {"connect", ECONNREFUSED, strerror(ECONNREFUSED)});
    case Way::kClosed:
      return base::make_error(net::errors::kSocketClosed, {0});
    case Way::kTimeout:
      return reply_timed_out(request);
    case Way::kReply:
      break;
  }
  response.status = rule->status;
  response.buffer =
      reactor.buffers().take(rule->body.size() + rule->reason.size() + net::Buffer::kPadding);
  char* p = response.buffer.data();
  std::memcpy(p, rule->body.data(), rule->body.size());
  std::memcpy(p + rule->body.size(), rule->reason.data(), rule->reason.size());
  response.body = {p, rule->body.size()};
  response.reason = {p + rule->body.size(), rule->reason.size()};
  for (const auto& [name, value] : rule->text.headers) response.headers.add(name, value);
  if (!response.headers.has("Content-Length")) {
    response.headers.add("Content-Length", std::to_string(rule->body.size()));
  }
  response.sent_bytes = request.body.size();
  response.received_bytes = rule->body.size();
  return {};
}

std::vector<BackendCall> Backends::calls(std::string_view method, std::string_view url) const {
  std::lock_guard lock(mutex_);
  std::vector<BackendCall> out;
  for (const BackendCall& c : calls_) {
    if (call_matches(method, url, c)) out.push_back(c);
  }
  return out;
}

void Backends::forget() {
  std::lock_guard lock(mutex_);
  calls_.clear();
}

}  // namespace millstream::flowtest
