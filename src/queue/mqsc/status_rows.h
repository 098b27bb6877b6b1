// Status as rows for DISPLAY, in the order in which it is shown. Thread: any.
#pragma once
#include "queue/mqsc/response.h"
#include "queue/objects/admin_target.h"

namespace millstream::queue::mqsc {

Row queue_row(const objects::QueueStatus& status);
Row queue_handle_row(const objects::ConnectionStatus& connection,
                     const objects::HandleStatus& handle);
Row connection_row(const objects::ConnectionStatus& connection);
// `row` is the connection's.
Row connection_handle_row(const Row& row, const objects::HandleStatus& handle);
Row channel_row(const objects::ChannelStatus& status);
Row listener_row(const objects::ListenerStatus& status);
Row service_row(const objects::ServiceStatus& status);
Row manager_row(const std::string& name, const objects::ManagerStatus& status);
Row topic_row(const objects::TopicStatus& status);
Row topic_subscription_row(const objects::SubscriptionStatus& status);
Row subscription_row(const objects::SubscriptionStatus& status);
Row publish_row(const std::string& name, const objects::PublishStatus& status);

}  // namespace millstream::queue::mqsc
