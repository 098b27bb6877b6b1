#include "nodes/http/listener.h"

#include <algorithm>
#include <utility>

#include "nodes/http/errors_gen.h"

namespace millstream::nodes::http {

Result<UrlPattern> parse_url_specifier(std::string_view specifier) {
  while (!specifier.empty() && specifier.front() == ' ') specifier.remove_prefix(1);
  while (!specifier.empty() && specifier.back() == ' ') specifier.remove_suffix(1);
  std::string_view path = specifier;
  // Old flows write a whole URL; its host and port do not choose anything here.
  for (std::string_view scheme : {"http://", "https://"}) {
    if (path.substr(0, scheme.size()) != scheme) continue;
    size_t slash = path.find('/', scheme.size());
    path = slash == std::string_view::npos ? std::string_view("/") : path.substr(slash);
  }
  if (path.empty()) {
    return base::make_error(errors::kBadUrlSpecifier, {specifier, "it is empty"});
  }
  UrlPattern pattern;
  if (path.front() != '/') pattern.path = "/";
  pattern.path += path;
  size_t star = pattern.path.find('*');
  if (star == std::string::npos) return pattern;
  if (star + 1 != pattern.path.size()) {
    return base::make_error(errors::kBadUrlSpecifier, {specifier, "a * may only stand at its end"});
  }
  pattern.path.pop_back();
  pattern.is_prefix = true;
  return pattern;
}

std::shared_ptr<HttpListener::Table> HttpListener::editable_table() const {
  return std::make_shared<Table>(pending_ ? *pending_ : *table());
}

void HttpListener::publish(std::shared_ptr<Table> changed) {
  if (pending_) {
    pending_ = std::move(changed);
  } else {
    std::atomic_store(&table_, std::shared_ptr<const Table>(std::move(changed)));
  }
}

void HttpListener::begin_change() {
  std::lock_guard lock(mutex_);
  pending_ = editable_table();
}

void HttpListener::end_change() {
  std::lock_guard lock(mutex_);
  publish(std::exchange(pending_, nullptr));
}

Status HttpListener::add(const UrlPattern& pattern, std::shared_ptr<UrlHandler> handler,
                         bool is_secure) {
  is_secure = is_secure && !has_one_port_;
  if (is_secure) {
    if (!open_secure_) return base::make_error(errors::kNoHttpsListener);
    MS_TRY(open_secure_());
  }
  std::lock_guard lock(mutex_);
  std::shared_ptr<Table> changed = editable_table();
  Entries& entries = is_secure ? changed->secure : changed->plain;
  for (const Entry& e : entries) {
    if (e.pattern.path == pattern.path && e.pattern.is_prefix == pattern.is_prefix) {
      return base::make_error(
          errors::kUrlTaken,
          {pattern.path + (pattern.is_prefix ? "*" : ""), handler->node_label(),
           handler->flow_name(), handler->application_name(), e.handler->node_label(),
           e.handler->flow_name(), e.handler->application_name()});
    }
  }
  entries.push_back({pattern, std::move(handler)});
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
    if (a.pattern.is_prefix != b.pattern.is_prefix) return b.pattern.is_prefix;
    if (a.pattern.is_prefix && a.pattern.path.size() != b.pattern.path.size()) {
      return a.pattern.path.size() > b.pattern.path.size();
    }
    return a.pattern.path < b.pattern.path;
  });
  publish(std::move(changed));
  return {};
}

void HttpListener::remove(const UrlHandler* handler) {
  std::lock_guard lock(mutex_);
  std::shared_ptr<Table> changed = editable_table();
  for (Entries* entries : {&changed->plain, &changed->secure}) {
    std::erase_if(*entries, [&](const Entry& e) { return e.handler.get() == handler; });
  }
  publish(std::move(changed));
}

UrlHandler* HttpListener::find(const Entries& table, std::string_view path) {
  auto exact_end = std::partition_point(table.begin(), table.end(),
                                        [](const Entry& e) { return !e.pattern.is_prefix; });
  auto exact = std::lower_bound(
      table.begin(), exact_end, path,
      [](const Entry& e, std::string_view p) { return std::string_view(e.pattern.path) < p; });
  if (exact != exact_end && exact->pattern.path == path) return exact->handler.get();
  for (auto e = exact_end; e != table.end(); ++e) {
    std::string_view prefix = e->pattern.path;
    if (path.substr(0, prefix.size()) == prefix) return e->handler.get();
    // "/orders/*" answers "/orders" too.
    if (prefix.size() > 1 && prefix.back() == '/' && path == prefix.substr(0, prefix.size() - 1)) {
      return e->handler.get();
    }
  }
  return nullptr;
}

void HttpListener::handle(millstream::http::RequestRef request) {
  // Held for the request: a node that is removed meanwhile lives until its last request is done.
  const std::shared_ptr<const Table> table = this->table();
  const Entries& entries = request->is_secure() ? table->secure : table->plain;
  UrlHandler* handler = find(entries, request->path());
  if (!handler && request->path().size() > 1 && request->path().back() == '/') {
    handler = find(entries, request->path().substr(0, request->path().size() - 1));
  }
  if (!handler) {
    request->reply(404, "text/plain; charset=utf-8",
                   "There is no message flow at this URL: " + std::string(request->path()) + "\n");
    return;
  }
  if (const auto& cors = request->is_secure() ? secure_cors_ : cors_) {
    if (cors->handle_preflight(request)) return;
    request->add_reply_filter(cors);
  }
  handler->handle(std::move(request));
}

}  // namespace millstream::nodes::http
