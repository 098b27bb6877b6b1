#include "wire/amqp/broker/broker_link.h"

#include "wire/amqp/broker/broker_session.h"

namespace millstream::wire::amqp {

void BrokerLink::on_detached(Link& link, bool is_closed, const ErrorInfo*) {
  auto self = shared_from_this();
  if (link_ == nullptr) return;
  link_ = nullptr;
  End end = is_closed ? End::kClosed : End::kDetached;
  on_end(link, session_.is_lost() ? End::kLost : end);
  session_.link_ended(link);
}

void BrokerLink::lose() {
  if (link_ == nullptr) return;
  Link& link = *link_;
  link.set_handler(nullptr);
  link_ = nullptr;
  on_end(link, End::kLost);
}

}  // namespace millstream::wire::amqp
