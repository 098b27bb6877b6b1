// The MQDLH in front of a dead letter's body, as the dead-letter commands show and remove it.
// Thread: any.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "admin/batch/batch_frames.h"
#include "mqi/message_descriptor.h"

namespace millstream::admin::batch {

inline constexpr size_t kDeadLetterHeaderBytes = 172;

struct DeadLetter {
  int32_t reason = 0;
  std::string queue;  // where the message should have gone
  std::string queue_manager;
  int32_t encoding = 0;  // these three: of what follows the header
  int32_t ccsid = 0;
  std::string format;
  int32_t put_appl_type = 0;  // who put it here, and when
  std::string put_appl_name;
  std::string put_date;
  std::string put_time;
};

// Nothing when the body does not begin with such a header, in either byte order.
std::optional<DeadLetter> read_dead_letter(std::string_view body);
// Makes the descriptor that of the message without its header.
void strip_dead_letter(const DeadLetter& letter, mqi::MessageDescriptor& md);
// Whether `selection` wants it: reason, original queue, age. `letter` null: it is none.
bool is_selected(const Selection& selection, const mqi::MessageDescriptor& md,
                 const DeadLetter* letter, int64_t now_gmt_micros);

}  // namespace millstream::admin::batch
