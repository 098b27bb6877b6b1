// The binary frames of the batch endpoint: what commands ask of queues and what they are answered.
// One layout for all operations, little-endian, lengths in front of everything that varies, so that
// a reader needs no table of operations. docs/internals/batch-endpoint.md is its description.
// Limits: below; a frame that breaks one is refused as a whole.
// Thread: any. Ownership: decoded frames own what is in them.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "mqi/message_descriptor.h"

namespace millstream::admin::batch {

inline constexpr uint8_t kVersion = 1;
inline constexpr std::string_view kContentType = "application/vnd.millstream.batch";
inline constexpr uint32_t kMessagesMax = 10'000;       // of a frame
inline constexpr uint32_t kReplyBytesMax = 16u << 20;  // a get ends with the message that is beyond
inline constexpr uint32_t kTextBytesMax = 16u << 20;   // of a script or an answer's text
inline constexpr uint32_t kFieldBytesMax = 64u << 10;  // names, selectors, identifiers
inline constexpr uint32_t kBodyBytesMax = 104'857'600;  // MQ's largest MAXMSGL
inline constexpr uint32_t kWaitMsMax = 30'000;          // of one request
inline constexpr uint32_t kFailuresMax = 1'000;

enum class Operation : uint8_t {
  kPut = 1,     // all messages in one unit of work, committed before the answer; `text`, when
                // there, names the queue of each, a line each
  kGet = 2,     // into the session's unit; kCommit commits what was given before
  kBrowse = 3,  // from the session's cursor on
  kEnd = 4,     // commits (kCommit) or backs out, and ends the session
  kGuard = 5,   // says that the client is alive; answered after a while or with the end
  kMove = 6,    // one unit of gets and puts; kRetry, kDiscard and kStrip for dead letters
  kMqsc = 7,    // runs `text`
  kExport = 8,  // the queue manager as a script
  kDepth = 9,   // of the queue
};

// Bits of Request::flags.
inline constexpr uint32_t kCommit = 1;         // get, end
inline constexpr uint32_t kRetry = 2;          // move: to where the dead-letter header says
inline constexpr uint32_t kDiscard = 4;        // move: nowhere
inline constexpr uint32_t kStrip = 8;          // move: without the dead-letter header
inline constexpr uint32_t kDeadLetters = 16;   // move: only messages with such a header
inline constexpr uint32_t kSetContext = 32;    // put: the origin fields are those of the frame
inline constexpr uint32_t kEcho = 64;          // mqsc
inline constexpr uint32_t kStopAtError = 128;  // mqsc
inline constexpr uint32_t kVerifyOnly = 256;   // mqsc
inline constexpr uint32_t kSummary = 512;      // mqsc: the counts at the end
inline constexpr uint32_t kAllObjects = 1024;  // export
inline constexpr uint32_t kAllAttributes = 2048;
// Bit of Answer::flags.
inline constexpr uint32_t kNoMore = 1;

struct FrameMessage {
  mqi::MessageDescriptor md;
  std::string properties;  // a mqi::PropertyList's bytes
  std::string body;
  uint64_t data_bytes = 0;  // of the whole body, when only a part was asked for
  std::string origin;
  uint8_t origin_kind = 0;
  std::string long_message_id, long_correlation_id, long_group_id;
  int64_t delay_ms = 0;
};

// Which messages. What is empty, zero or negative selects nothing away.
struct Selection {
  std::string message_id;  // bytes
  std::string correlation_id;
  std::string selector;    // of JMS
  int32_t reason = 0;      // of the dead-letter header
  std::string dead_queue;  // its original destination
  int64_t age_s_min = 0;   // since the message was put
};

struct Request {
  Operation operation = Operation::kPut;
  uint32_t flags = 0;
  uint64_t token = 0;  // of the session; 0: none, or a new one
  std::string queue;
  std::string target;  // of a move
  uint32_t messages_max = 0;
  uint32_t bytes_max = 0;       // of bodies
  uint32_t body_bytes_max = 0;  // browse: no more of each; 0: all
  uint32_t wait_ms = 0;
  Selection selection;
  std::string text;
  std::vector<FrameMessage> messages;
};

struct Failure {
  int32_t reason = 0;
  std::string where;
  uint64_t count = 0;
};

struct Answer {
  int32_t completion = 0;
  int32_t reason = 0;
  uint32_t flags = 0;
  uint64_t token = 0;
  uint64_t done = 0;   // messages put, moved; of a failed put the index of the one that failed
  uint64_t depth = 0;  // of the queue, as it was
  std::string detail;  // more about the reason: the queue that it speaks of
  std::string text;    // mqsc, export
  int32_t exit_code = 0;
  std::vector<Failure> failures;  // of a move, by reason and destination
  std::vector<FrameMessage> messages;
  bool is_failed() const { return completion == 2; }
};

std::string encode(const Request& request);
std::string encode(const Answer& answer);
Result<Request> decode_request(std::string_view bytes);
Result<Answer> decode_answer(std::string_view bytes);

}  // namespace millstream::admin::batch
