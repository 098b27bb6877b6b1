// Where the queue commands send their frames: to a server's batch endpoint, or with --work-dir to
// the queue managers of a stopped work directory, opened in this process. Both run the same code
// (admin/batch/batch_service.h). Or to any broker of AMQP (amqp_queue_client.h).
//   auto client = MS_TRY(open_queue_client(flags));
//   batch::Answer answer = MS_TRY(client->call(request));
// Thread: main.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "admin/batch/batch_frames.h"
#include "base/flags.h"

namespace millstream::cli {

namespace batch = admin::batch;

// Exit codes of these commands.
inline constexpr int kExitDone = 0;
inline constexpr int kExitRefused = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitNothing = 3;  // no message was there, or none was selected

class QueueClient {
 public:
  virtual ~QueueClient() = default;
  virtual Result<batch::Answer> call(const batch::Request& request) = 0;
  // From now on the server knows at once when this process dies.
  virtual void guard(uint64_t token) = 0;
};

// Those of the admin port (admin_client.h), --work-dir, --qmgr, --buffered.
std::vector<base::FlagSpec> queue_client_flags();
// The same, of commands whose --url may be that of a broker of AMQP.
std::vector<base::FlagSpec> message_client_flags();
// `queue_manager`: the one that the arguments name; empty: that of --qmgr, or the default one.
Result<std::unique_ptr<QueueClient>> open_queue_client(const base::ParsedFlags& flags,
                                                       std::string_view queue_manager = {});
// On standard error. Returns kExitRefused.
int print_queue_error(const base::Error& error);
// What the MQI refused: "2053 MQRC_Q_FULL: ORDERS"; without a reason what a broker of AMQP has
// said. Returns kExitRefused.
int print_queue_refusal(const batch::Answer& answer);
std::string reason_text(int32_t reason);

}  // namespace millstream::cli
