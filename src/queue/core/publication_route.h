// What a subscription does with publications that need no queue: sessions of protocols that are
// there take what may be lost straight from the publisher, one message shared by all of them.
//
// A route belongs to a subscription of the topic tree and is exchanged as a whole
// (PubSub::set_route), so whoever publishes sees one state. What a route does not take goes to the
// subscription's queue, in the unit of the publication. What it takes is handed over when the unit
// is visible, and dropped when nobody is there: such a subscription may be without a queue.
// Thread: a sink is called on any thread, outside of all locks; it must not block.
#pragma once
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "queue/core/message.h"

namespace millstream::queue {

struct DirectPublication {
  std::string topic;
  MessageRef message;
  bool is_retained = false;  // it was there before the subscription
};
using DirectPublicationRef = std::shared_ptr<const DirectPublication>;  // by all sinks

class PublicationSink;

struct PublicationRoute {
  enum class Takes : uint8_t { kNothing, kNotPersistent, kEverything };
  Takes takes = Takes::kNothing;
  // Wildcards at the beginning do not see topics that begin with `$` (MQTT 4.7.2).
  bool hides_dollar_topics = false;
  std::shared_ptr<PublicationSink> sink;  // of several routes; null: nobody is there
  std::shared_ptr<void> context;          // the sink's, to tell routes apart

  bool takes_it(bool is_persistent) const {
    return takes == Takes::kEverything || (takes == Takes::kNotPersistent && !is_persistent);
  }
  bool hides(std::string_view topic, std::string_view pattern) const {
    return hides_dollar_topics && topic.starts_with('$') &&
           (pattern.starts_with('+') || pattern.starts_with('#'));
  }
};
using RouteRef = std::shared_ptr<const PublicationRoute>;  // by the tree, and what is on its way

class PublicationSink {
 public:
  virtual ~PublicationSink() = default;
  // All routes are this sink's.
  virtual void publish(const DirectPublicationRef& publication,
                       std::span<const RouteRef> routes) = 0;
};

struct DirectDelivery {
  DirectPublicationRef publication;
  std::vector<RouteRef> routes;
  void run();  // sorts the routes by sink
};

}  // namespace millstream::queue
