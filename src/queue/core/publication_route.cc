#include "queue/core/publication_route.h"

#include <algorithm>

namespace millstream::queue {

void DirectDelivery::run() {
  auto by_sink = [](const RouteRef& a, const RouteRef& b) { return a->sink < b->sink; };
  if (!std::is_sorted(routes.begin(), routes.end(), by_sink)) {
    std::stable_sort(routes.begin(), routes.end(), by_sink);
  }
  for (size_t from = 0; from < routes.size();) {
    size_t to = from + 1;
    while (to < routes.size() && routes[to]->sink == routes[from]->sink) ++to;
    routes[from]->sink->publish(publication, {routes.data() + from, to - from});
    from = to;
  }
}

}  // namespace millstream::queue
