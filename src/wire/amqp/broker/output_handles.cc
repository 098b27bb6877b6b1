#include "wire/amqp/broker/output_handles.h"

namespace millstream::wire::amqp {

queue::Outcome OutputHandles::of(const std::shared_ptr<queue::Connection>& connection,
                                 queue::Hobj& out) {
  for (const Entry& entry : entries_) {
    if (entry.id != connection->id()) continue;
    out = entry.handle;
    return queue::Outcome::ok();
  }
  std::erase_if(entries_, [](const Entry& e) { return e.connection.expired(); });
  queue::OpenCall call;
  call.options = mqi::oo::kOutput;
  if (node_.is_topic()) {
    call.object_type = mqi::ot::kTopic;
    call.object_string = node_.name;
  } else {
    call.object_name = node_.name;
  }
  queue::Outcome outcome = connection->open(call);
  if (outcome.is_failed()) return outcome;
  out = call.handle;
  entries_.push_back({connection, connection->id(), call.handle});
  return queue::Outcome::ok();
}

void OutputHandles::close() {
  for (Entry& entry : entries_) {
    if (auto connection = entry.connection.lock(); connection != nullptr) {
      (void)connection->close(entry.handle);
    }
  }
  entries_.clear();
}

}  // namespace millstream::wire::amqp
