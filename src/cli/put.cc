// millstream put: messages onto a queue.
#include <unistd.h>

#include <cstdio>
#include <string>

#include "cli/commands.h"
#include "cli/errors_gen.h"
#include "cli/queue_message.h"
#include "io/file.h"
#include "mqi/options.h"

namespace millstream::cli {
namespace {

constexpr size_t kPutUnitBytes = 4u << 20;
constexpr uint64_t kPutFileBytesMax = batch::kBodyBytesMax;

// Collects messages and sends them, a unit of work a request.
class Putter {
 public:
  Putter(QueueClient& client, const base::ParsedFlags& flags, batch::FrameMessage like)
      : client_(client),
        like_(std::move(like)),
        unit_(static_cast<size_t>(flags.integer("unit"))),
        is_one_unit_(flags.is_on("all-or-nothing")),
        shows_ids_(flags.is_on("show-ids")),
        copies_(static_cast<uint64_t>(flags.integer("count"))),
        progress_(flags.is_on("quiet")) {
    request_.operation = batch::Operation::kPut;
    request_.queue = flags.arguments()[0];
  }

  // False: it has failed, and said why.
  bool add(std::string_view body) {
    for (uint64_t i = 0; i < copies_; ++i) {
      batch::FrameMessage& message = request_.messages.emplace_back(like_);
      message.body = body;
      bytes_ += body.size() + message.properties.size();
      const bool is_full = request_.messages.size() >= unit_ || bytes_ >= kPutUnitBytes;
      if (is_full && !is_one_unit_ && !flush()) return false;
      if (!is_one_unit_ || request_.messages.size() <= batch::kMessagesMax) continue;
      std::fprintf(stderr, "One unit of work has at most %u messages.\n", batch::kMessagesMax);
      return false;
    }
    return true;
  }

  bool flush() {
    if (request_.messages.empty()) return true;
    const Result<batch::Answer> answer = client_.call(request_);
    if (!answer.ok()) {
      print_queue_error(answer.error());
      std::fprintf(stderr,
                   "%llu messages are on the queue; whether the next %zu are, is not known.\n",
                   static_cast<unsigned long long>(done_), request_.messages.size());
      return false;
    }
    if (answer.value().is_failed()) {
      print_queue_refusal(answer.value());
      std::fprintf(stderr, "%llu messages are on the queue, message %llu was refused.\n",
                   static_cast<unsigned long long>(done_),
                   static_cast<unsigned long long>(done_ + answer.value().done + 1));
      return false;
    }
    done_ += request_.messages.size();
    const std::string& ids = answer.value().text;
    for (size_t at = 0; shows_ids_ && at + 24 <= ids.size(); at += 24) {
      std::printf("%s\n", hexadecimal(std::string_view(ids).substr(at, 24)).c_str());
    }
    request_.messages.clear();
    bytes_ = 0;
    progress_.show("put", done_, 0);
    return true;
  }
  uint64_t done() const { return done_; }

 private:
  QueueClient& client_;
  const batch::FrameMessage like_;
  const size_t unit_;
  const bool is_one_unit_;
  const bool shows_ids_;
  const uint64_t copies_;
  QueueProgress progress_;
  batch::Request request_;
  size_t bytes_ = 0;
  uint64_t done_ = 0;
};

// The whole of a stream, or line by line as it comes.
bool put_stream(std::FILE* in, bool by_line, Putter& putter) {
  std::string text;
  char block[64 << 10];
  size_t n = 0;
  while ((n = std::fread(block, 1, sizeof block, in)) > 0) {
    text.append(block, n);
    if (text.size() > kPutFileBytesMax) {
      std::fprintf(stderr, "A message has at most %u bytes.\n", batch::kBodyBytesMax);
      return false;
    }
    size_t at = 0;
    for (size_t end = 0; by_line && (end = text.find('\n', at)) != std::string::npos;) {
      if (!putter.add(std::string_view(text).substr(at, end - at))) return false;
      at = end + 1;
    }
    text.erase(0, at);
  }
  if (std::ferror(in) != 0) {
    std::perror("standard input");
    return false;
  }
  return (by_line && text.empty()) || putter.add(text);
}

bool put_inputs(const base::ParsedFlags& flags, Putter& putter) {
  const bool by_line = flags.is_on("lines");
  const auto& arguments = flags.arguments();
  if (arguments.size() == 1) return put_stream(stdin, by_line, putter);
  for (size_t i = 1; i < arguments.size(); ++i) {
    const std::string& path = arguments[i];
    std::FILE* file = path == "-" ? stdin : std::fopen(path.c_str(), "rb");
    if (!file) {
      std::perror(path.c_str());
      return false;
    }
    const bool ok = put_stream(file, by_line, putter);
    if (file != stdin) std::fclose(file);
    if (!ok) return false;
  }
  return true;
}

}  // namespace

const base::CommandSpec& put_command() {
  static const base::CommandSpec kSpec{
      .name = "put",
      .arguments = "QUEUE [FILE...]",
      .summary = "Put messages on a queue: a file each, a line each, or standard input.",
      .description =
          "Each FILE is a message; with --lines each line of it. Without FILE, or for -, standard "
          "input is read. Messages go in units of work of --unit messages or 4 MB; what has been "
          "acknowledged is durable (with --work-dir messages are persistent unless --persistence "
          "says otherwise), and a unit with a message that is refused is put back as a "
          "whole. Exit code 0: all are on the queue; 1: a message or the connection failed, and "
          "standard error says how many are on the queue; 2: usage.",
      .arguments_min = 1,
      .arguments_max = 100'000,
      .flags = with_flags({{.name = "lines",
                            .help = "Each line is a message.",
                            .kind = base::FlagKind::kSwitch,
                            .short_name = 'l'},
                           {.name = "count",
                            .value_name = "N",
                            .help = "Put each message so many times.",
                            .kind = base::FlagKind::kInteger,
                            .default_text = "1",
                            .short_name = 'n',
                            .integer_min = 1},
                           unit_flag("1000", batch::kMessagesMax),
                           {.name = "all-or-nothing",
                            .help = "All messages in one unit of work.",
                            .kind = base::FlagKind::kSwitch},
                           {.name = "show-ids",
                            .help = "Print the identifier of each message.",
                            .kind = base::FlagKind::kSwitch},
                           quiet_flag()},
                          {message_flags(), message_client_flags()}),
      .examples = {{"echo hello | millstream put DEV.QUEUE.1", "one message"},
                   {"millstream put ORDERS a.xml b.xml --format MQSTR -p color=red", "two"},
                   {"millstream put ORDERS --lines < orders.txt --unit 500", "a line each"},
                   {"millstream put ORDERS a.xml --work-dir /var/mqsi/server1",
                    "of a server that is stopped"}}};
  return kSpec;
}

int run_put(const base::ParsedFlags& flags) {
  Result<batch::FrameMessage> like = message_of(flags);
  if (!like.ok()) {
    print_queue_error(like.error());
    return kExitUsage;
  }
  // On a stopped directory others would be gone with the end of this command.
  if (flags.has("work-dir") && !flags.has("persistence")) {
    like.value().md.persistence = mqi::kPersistent;
  }
  const Result<std::unique_ptr<QueueClient>> client = open_queue_client(flags);
  if (!client.ok()) return print_queue_error(client.error());
  Putter putter(*client.value(), flags, std::move(like).value());
  const bool is_done = put_inputs(flags, putter) && putter.flush();
  if (!is_done) return kExitRefused;
  if (!flags.is_on("quiet") && !flags.is_on("show-ids")) {
    std::fprintf(stderr, "%llu message%s put on %s\n",
                 static_cast<unsigned long long>(putter.done()), putter.done() == 1 ? "" : "s",
                 flags.arguments()[0].c_str());
  }
  return kExitDone;
}

}  // namespace millstream::cli
