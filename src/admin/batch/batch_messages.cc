#include "admin/batch/batch_messages.h"

#include "mqi/properties.h"

namespace millstream::admin::batch {

bool fill_put(const FrameMessage& message, bool sets_context, queue::PutCall& call) {
  if (!message.properties.empty() && !mqi::PropertyListView::view(message.properties).ok()) {
    return false;
  }
  call.md = message.md;
  call.options = mqi::pmo::kSyncpoint | mqi::pmo::kFailIfQuiescing;
  if (sets_context) call.options |= mqi::pmo::kSetAllContext;
  if (message.md.message_id.is_null()) call.options |= mqi::pmo::kNewMessageId;
  call.body = queue::Body::copy(message.body);
  call.properties = message.properties;
  if (message.origin_kind <= static_cast<uint8_t>(queue::OriginKind::kRest)) {
    call.origin = message.origin;
    call.origin_kind = static_cast<queue::OriginKind>(message.origin_kind);
  }
  call.long_ids = {message.long_message_id, message.long_correlation_id, message.long_group_id};
  call.delay_ms = message.delay_ms;
  return true;
}

void fill_match(const Selection& selection, queue::GetCall& call) {
  call.match_options = 0;
  if (!selection.message_id.empty()) {
    call.match_options |= mqi::mo::kMessageId;
    call.md.message_id = mqi::Id(selection.message_id);
    if (selection.message_id.size() > 24) call.long_ids.message_id = selection.message_id;
  }
  if (!selection.correlation_id.empty()) {
    call.match_options |= mqi::mo::kCorrelationId;
    call.md.correlation_id = mqi::Id(selection.correlation_id);
    if (selection.correlation_id.size() > 24) {
      call.long_ids.correlation_id = selection.correlation_id;
    }
  }
}

size_t append_message(const queue::GetCall& call, std::vector<FrameMessage>& messages) {
  FrameMessage& out = messages.emplace_back();
  out.md = call.md;
  out.body = call.body.view();
  out.data_bytes = call.data_bytes;
  if (call.message) {
    out.properties = call.message->properties;
    out.origin = call.message->origin;
    out.origin_kind = static_cast<uint8_t>(call.message->origin_kind);
    if (const queue::LongIds* ids = call.message->long_ids.get()) {
      out.long_message_id = ids->message_id;
      out.long_correlation_id = ids->correlation_id;
      out.long_group_id = ids->group_id;
    }
  }
  return mqi::kMqmdBytes + out.body.size() + out.properties.size() + out.origin.size();
}

}  // namespace millstream::admin::batch
