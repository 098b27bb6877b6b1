// What the broker does with a link of a client; a class for each kind derives from it. Made in the
// attach, it answers that with Link::attach() or refuse(), now or later, and lives until the link
// is gone; calls that are under way may hold it longer, and look at is_gone().
// Thread: the session's.
#pragma once
#include <memory>

#include "wire/amqp/engine/link.h"

namespace millstream::wire::amqp {

class BrokerSession;

class BrokerLink : public LinkHandler, public std::enable_shared_from_this<BrokerLink> {
 public:
  BrokerLink(BrokerSession& session, Link& link) : session_(session), link_(&link) {}
  ~BrokerLink() override = default;
  BrokerLink(const BrokerLink&) = delete;
  BrokerLink& operator=(const BrokerLink&) = delete;

  virtual void on_attach(const Attach& attach) = 0;
  enum class End : uint8_t {
    kClosed,    // for good, by a detach of either side that says so
    kDetached,  // the link, its session or its connection has ended in good order
    kLost       // the connection broke
  };
  // Once; the link is there no more.
  virtual void on_end(Link& link, End end) = 0;
  bool is_gone() const { return link_ == nullptr; }
  Link* link() { return link_; }
  void on_detached(Link& link, bool is_closed, const ErrorInfo* error) override;
  // The connection has broken.
  void lose();

 protected:
  BrokerSession& session_;
  Link* link_;
};

}  // namespace millstream::wire::amqp
