// Messages of frames and of the MQI's calls, one as the other. Thread: any.
#pragma once
#include <vector>

#include "admin/batch/batch_frames.h"
#include "queue/core/connection.h"

namespace millstream::admin::batch {

// In syncpoint. False: its properties are no list of properties.
bool fill_put(const FrameMessage& message, bool sets_context, queue::PutCall& call);
void fill_match(const Selection& selection, queue::GetCall& call);
// What a get gave; the bytes that it takes in a frame.
size_t append_message(const queue::GetCall& call, std::vector<FrameMessage>& messages);

}  // namespace millstream::admin::batch
