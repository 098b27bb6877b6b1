// Which handler answers a method and path. Templates are segments, "/apiv2/applications/{name}":
// a {name} takes any one segment, also one with encoded slashes; a literal segment wins over it.
// Thread: filled by one before the listener opens, then read only.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "admin/admin_request.h"

namespace millstream::admin {

// Where a handler runs: kReactor when it is quick and touches no disk, else kBlockingPool.
enum class HandlerPlace : uint8_t { kReactor, kBlockingPool };

using AdminHandler = std::function<AdminReply(const AdminRequest&)>;
// Nothing when the sender may go on.
using AdminCheck = std::function<std::optional<AdminReply>(const AdminRequest&)>;

struct RouteRules {
  AdminRight right = AdminRight::kByMethod;
  size_t body_bytes_max = size_t{1} << 20;  // beyond: 413
  // Of AdminRight::kOwn: asked before a large body is read, with the head alone. The handler asks
  // again.
  AdminCheck check_head;
};

class Router {
 public:
  static constexpr size_t kSegmentsMax = 32;

  struct Route {
    std::string method;
    std::string path_template;
    std::vector<std::string> segments;  // "{name}" or a literal
    AdminHandler handler;
    HandlerPlace place;
    RouteRules rules;
  };

  // Two routes of one method and template are a mistake in the program.
  void add(std::string_view method, std::string_view path_template, AdminHandler handler,
           HandlerPlace place, RouteRules rules = {});
  struct Match {
    const Route* route = nullptr;  // null: none for this method
    std::vector<std::pair<std::string_view, std::string>> parameters;
    std::string allowed;  // "GET, POST": methods of the path; empty: no such path
  };
  // HEAD is answered by GET's handler.
  Match find(std::string_view method, std::string_view path) const;

 private:
  std::vector<Route> routes_;
};

}  // namespace millstream::admin
