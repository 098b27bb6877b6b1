// User trace of a flow: what its nodes and its ESQL do with each message, as lines in the product's
// form, in a file of bounded size for each flow.
//   2026-11-30 15:04:05.123456     4711   UserTrace   BIP2537I: Node 'F.Compute': Executing ...
// Lines of one message are written together, node by node.
// Thread: any.
#pragma once
#include <memory>
#include <string>
#include <string_view>

#include "flow/observer.h"
#include "observe/rotating_file.h"

namespace millstream::observe {

// "BIP3904I: text" after time and thread; multi-line texts stay so.
std::string user_trace_line(int64_t gmt_us, long thread, std::string_view text);

class UserTrace final : public flow::Observer {
 public:
  static constexpr size_t kBufferBytes = 16 * 1024;  // of one message, then it is written

  explicit UserTrace(std::shared_ptr<RotatingFile> file) : file_(std::move(file)) {}
  std::unique_ptr<flow::MessageObserver> start(flow::Invocation& invocation) override;
  // A line outside of any message's trace.
  static void write(RotatingFile& file, int number, std::string_view text);

 private:
  const std::shared_ptr<RotatingFile> file_;  // shared with Trace nodes of the same flow
};

}  // namespace millstream::observe
