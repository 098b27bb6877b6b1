#include "cli/queue_moves.h"

#include <algorithm>
#include <cstdio>

#include "cli/queue_message.h"

namespace millstream::cli {

MoveResult move_messages(QueueClient& client, batch::Request request, uint64_t count_max,
                         std::string_view what, bool is_quiet) {
  MoveResult result;
  QueueProgress progress(is_quiet);
  request.operation = batch::Operation::kMove;
  const uint32_t unit = request.messages_max;
  bool is_first = true;
  while (count_max == 0 || result.done < count_max) {
    if (count_max != 0) {
      request.messages_max =
          static_cast<uint32_t>(std::min<uint64_t>(unit, count_max - result.done));
    }
    const Result<batch::Answer> answer = client.call(request);
    if (!answer.ok()) {
      result.exit_code = print_queue_error(answer.error());
      std::fprintf(stderr, "%llu messages were %.*s; whether more were, is not known.\n",
                   static_cast<unsigned long long>(result.done), static_cast<int>(what.size()),
                   what.data());
      return result;
    }
    const batch::Answer& a = answer.value();
    result.done += a.done;
    for (const batch::Failure& f : a.failures) result.left[{f.reason, f.where}] += f.count;
    progress.show(what, result.done, a.depth);
    if (is_first && a.token != 0) client.guard(a.token);
    is_first = false;
    request.token = a.token;
    if (a.is_failed()) {
      result.exit_code = print_queue_refusal(a);
      return result;
    }
    if (a.token == 0) return result;
  }
  if (request.token == 0) return result;
  batch::Request end;
  end.operation = batch::Operation::kEnd;
  end.token = request.token;
  const Result<batch::Answer> answer = client.call(end);
  if (!answer.ok()) result.exit_code = print_queue_error(answer.error());
  return result;
}

int report_moves(const MoveResult& result, std::string_view what, std::string_view queue,
                 bool is_quiet, bool is_json) {
  uint64_t left = 0;
  for (const auto& [key, count] : result.left) left += count;
  if (is_json) {
    using base::json::Value;
    Value out = Value::object();
    out.set(what, result.done);
    Value failures = Value::array();
    for (const auto& [key, count] : result.left) {
      Value f = Value::object();
      f.set("reason", key.first);
      f.set("queue", key.second);
      f.set("messages", count);
      failures.push_back(std::move(f));
    }
    out.set("left", std::move(failures));
    std::printf("%s\n", base::json::write(out).c_str());
  } else {
    for (const auto& [key, count] : result.left) {
      std::fprintf(stderr, "%llu message%s left, %s: %s\n", static_cast<unsigned long long>(count),
                   count == 1 ? "" : "s", reason_text(key.first).c_str(), key.second.c_str());
    }
    if (!is_quiet) {
      std::fprintf(stderr, "%llu message%s %.*s from %.*s\n",
                   static_cast<unsigned long long>(result.done), result.done == 1 ? "" : "s",
                   static_cast<int>(what.size()), what.data(), static_cast<int>(queue.size()),
                   queue.data());
    }
  }
  if (result.exit_code != kExitDone) return result.exit_code;
  if (left > 0) return kExitRefused;
  return result.done == 0 ? kExitNothing : kExitDone;
}

}  // namespace millstream::cli
