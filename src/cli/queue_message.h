// Messages as the queue commands take them from options and show them.
// Thread: main.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/flags.h"
#include "base/json_value.h"
#include "cli/queue_client.h"

namespace millstream::cli {

// Of put: --format, --priority, --property and the like.
std::vector<base::FlagSpec> message_flags();
Result<batch::FrameMessage> message_of(const base::ParsedFlags& flags);

// Of get, browse, move, dlq: --message-id, --correlation-id, --selector.
std::vector<base::FlagSpec> selection_flags();
Result<batch::Selection> selection_of(const base::ParsedFlags& flags);

// "414d51..." or any text of at most 24 bytes; what looks like 48 hexadecimal digits is one.
Result<std::string> identifier_of(std::string_view option, std::string_view text);
std::string hexadecimal(std::string_view bytes);
// Without bytes that a terminal would obey; cut after `width`.
std::string one_line(std::string_view bytes, size_t width);
base::json::Value message_json(const batch::FrameMessage& message);
// "2026-11-30 14:05:09" of the put; empty when the message has none.
std::string put_time_text(const mqi::MessageDescriptor& md);

// How far a long command is: on standard error, when that is a terminal, at most a few times a
// second. Clears its line when it goes.
class QueueProgress {
 public:
  explicit QueueProgress(bool is_quiet);
  ~QueueProgress();
  void show(std::string_view what, uint64_t done, uint64_t of);

 private:
  bool is_on_;
  bool has_shown_ = false;
  int64_t next_ns_ = 0;
};

// --count without a default, --unit, --quiet: what most of these commands have.
base::FlagSpec count_flag(std::string_view help);
base::FlagSpec unit_flag(std::string_view default_text, uint32_t max);
base::FlagSpec quiet_flag();
// The value of --count; 0 when it is not given.
uint64_t count_of(const base::ParsedFlags& flags);
std::vector<base::FlagSpec> with_flags(std::vector<base::FlagSpec> flags,
                                       const std::vector<std::vector<base::FlagSpec>>& more);

// Asks again and again: get and browse. `take` has the messages of each answer, and says false to
// stop, which backs out a get.
struct ReadPlan {
  batch::Request request;
  uint64_t count_max = 0;  // 0: all
  int64_t wait_ms = 0;     // for the first message of an answer
  bool is_get = false;
};
struct ReadResult {
  int exit_code = kExitDone;
  uint64_t count = 0;
};
ReadResult read_messages(QueueClient& client, ReadPlan plan,
                         const std::function<bool(const batch::Answer&)>& take);

}  // namespace millstream::cli
