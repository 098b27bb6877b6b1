#include "observe/user_trace.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <ctime>

#include "base/clock.h"
#include "flow/invocation.h"

namespace millstream::observe {
namespace {

long thread_id() {
  thread_local const long id = ::syscall(SYS_gettid);
  return id;
}

std::string numbered(int number, char letter, std::string_view text) {
  return "BIP" + std::to_string(number) + letter + ": " + std::string(text);
}

class UserTraceMessage final : public flow::MessageObserver {
 public:
  explicit UserTraceMessage(std::shared_ptr<RotatingFile> file) : file_(std::move(file)) {}
  ~UserTraceMessage() override { flush(); }

  void begins(const flow::Node& input, const tree::MessageAssembly&, size_t) override {
    input_ = &input;
  }

  void enters(const flow::Node& node, const tree::MessageAssembly&, int) override {
    flush();  // what came before is seen even if this node never returns
    add(numbered(
        3904, 'I',
        "Invoking the evaluate() method of node (class=" + std::string(node.type().runtime_type) +
            ", name=" + node.id() + ", label=" + node.label() + ")."));
  }

  void propagates(const flow::Node& from, int output, const tree::MessageAssembly&) override {
    const std::string& terminal = from.output_name(output);
    const std::string_view type = from.type().name;
    if (&from == input_ && type == "HTTPInput") {
      add(numbered(3122, 'I',
                   "Message received and propagated to '" + terminal +
                       "' terminal of HTTP input node '" + from.full_label() + "'."));
    } else if (type == "Filter" && terminal != "failure") {
      const int number = terminal == "true" ? 4004 : terminal == "false" ? 4005 : 4006;
      add(numbered(number, 'I',
                   "Message propagated to '" + terminal + "' terminal of filter node '" +
                       from.full_label() + "'."));
    } else if (terminal == "out") {
      add(numbered(4007, 'I',
                   "Message propagated to 'out' terminal of node '" + from.full_label() + "'."));
    } else {
      add(numbered(4008, 'I',
                   "Message propagated to '" + terminal + "' terminal of node '" +
                       from.full_label() + "'."));
    }
  }

  void leaves(const flow::Node& node, const Status& status, const flow::NodeTimes&) override {
    if (!status.ok()) add_error(node, status.error());
  }

  void line(const flow::Node&, int number, std::string_view text) override {
    add(numbered(number, 'I', text));
  }
  bool wants_lines() const override { return true; }
  bool wants_statements() const override { return true; }

  void ends(const flow::Node& input, const Status& status) override {
    if (!status.ok()) add_error(input, status.error());
    flush();
  }

 private:
  // An exception is written where it is raised, not at each node that it passes.
  void add_error(const flow::Node& node, const base::Error& error) {
    const base::Error& inner = error.innermost();
    if (inner.number == last_error_ && inner.text == last_text_) return;
    last_error_ = inner.number;
    last_text_ = inner.text;
    std::string label = node.full_label();
    for (const base::Error* e = &error; e; e = e->causes.empty() ? nullptr : e->causes[0].get()) {
      add(e->id_with_letter() + ": " + e->text + " (Node '" +
          (e->node_label.empty() ? label : e->node_label) + "')");
    }
  }

  void add(std::string_view text) {
    buffer_ += user_trace_line(base::system_clock().wall_gmt_micros(), thread_id(), text);
    if (buffer_.size() > UserTrace::kBufferBytes) flush();
  }

  void flush() {
    if (buffer_.empty()) return;
    file_->write(buffer_);
    buffer_.clear();
  }

  const std::shared_ptr<RotatingFile> file_;
  const flow::Node* input_ = nullptr;
  std::string buffer_;
  int last_error_ = 0;
  std::string last_text_;
};

}  // namespace

std::string user_trace_line(int64_t gmt_us, long thread, std::string_view text) {
  const time_t seconds = gmt_us / 1'000'000;
  tm fields{};
  localtime_r(&seconds, &fields);
  char head[96];
  size_t size = strftime(head, sizeof head, "%Y-%m-%d %H:%M:%S", &fields);
  size += static_cast<size_t>(snprintf(head + size, sizeof head - size, ".%06d %8ld   UserTrace   ",
                                       static_cast<int>(gmt_us % 1'000'000), thread));
  std::string out(head, size);
  out += text;
  out += '\n';
  return out;
}

std::unique_ptr<flow::MessageObserver> UserTrace::start(flow::Invocation&) {
  return std::make_unique<UserTraceMessage>(file_);
}

void UserTrace::write(RotatingFile& file, int number, std::string_view text) {
  file.write(user_trace_line(base::system_clock().wall_gmt_micros(), thread_id(),
                             numbered(number, 'I', text)));
}

}  // namespace millstream::observe
