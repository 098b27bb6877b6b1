#include "admin/batch/batch_frames.h"

#include <cstring>

#include "admin/errors_gen.h"

namespace millstream::admin::batch {
namespace {

constexpr std::string_view kRequestMagic = "MSBQ";
constexpr std::string_view kAnswerMagic = "MSBA";

class FrameWriter {
 public:
  template <typename T>
  void number(T v) {
    static_assert(std::is_integral_v<T>);
    for (size_t i = 0; i < sizeof v; ++i) {
      out.push_back(static_cast<char>(static_cast<uint64_t>(v) >> (8 * i)));
    }
  }
  void text(std::string_view s) {
    number(static_cast<uint32_t>(s.size()));
    out.append(s);
  }
  std::string out;
};

// After something that does not fit everything reads as empty, and ok() is false.
class FrameReader {
 public:
  explicit FrameReader(std::string_view bytes) : bytes_(bytes) {}
  template <typename T>
  void number(T& v) {
    std::make_unsigned_t<T> n = 0;
    if (bytes_.size() < sizeof n) return fail();
    for (size_t i = 0; i < sizeof n; ++i) {
      n |= static_cast<std::make_unsigned_t<T>>(
          static_cast<uint64_t>(static_cast<uint8_t>(bytes_[i])) << (8 * i));
    }
    bytes_.remove_prefix(sizeof n);
    v = static_cast<T>(n);
  }
  void text(std::string& s, uint32_t max = kFieldBytesMax) {
    uint32_t n = 0;
    number(n);
    if (n > max || n > bytes_.size()) return fail();
    s.assign(bytes_.substr(0, n));
    bytes_.remove_prefix(n);
  }
  std::string_view take(size_t n) {
    if (n > bytes_.size()) {
      fail();
      return {};
    }
    const std::string_view out = bytes_.substr(0, n);
    bytes_.remove_prefix(n);
    return out;
  }
  bool ok() const { return ok_; }
  bool at_end() const { return bytes_.empty(); }
  void fail() {
    ok_ = false;
    bytes_ = {};
  }

 private:
  std::string_view bytes_;
  bool ok_ = true;
};

void write_message(FrameWriter& w, const FrameMessage& m) {
  mqi::encode_message_descriptor(m.md, w.out);
  w.text(m.properties);
  w.number(m.origin_kind);
  w.text(m.origin);
  w.text(m.long_message_id);
  w.text(m.long_correlation_id);
  w.text(m.long_group_id);
  w.number(m.delay_ms);
  w.number(m.data_bytes);
  w.text(m.body);
}

void read_message(FrameReader& r, FrameMessage& m) {
  const std::string_view md = r.take(mqi::kMqmdBytes);
  if (!r.ok()) return;
  Result<mqi::MessageDescriptor> decoded = mqi::decode_message_descriptor(md);
  if (!decoded.ok()) return r.fail();
  m.md = decoded.value();
  r.text(m.properties, kBodyBytesMax);
  r.number(m.origin_kind);
  r.text(m.origin, kBodyBytesMax);
  r.text(m.long_message_id);
  r.text(m.long_correlation_id);
  r.text(m.long_group_id);
  r.number(m.delay_ms);
  r.number(m.data_bytes);
  r.text(m.body, kBodyBytesMax);
}

void write_messages(FrameWriter& w, const std::vector<FrameMessage>& messages) {
  size_t bytes = 0;
  for (const FrameMessage& m : messages) {
    bytes += mqi::kMqmdBytes + 64 + m.properties.size() + m.origin.size() + m.body.size();
  }
  w.out.reserve(w.out.size() + bytes);
  w.number(static_cast<uint32_t>(messages.size()));
  for (const FrameMessage& m : messages) write_message(w, m);
}

void read_messages(FrameReader& r, std::vector<FrameMessage>& messages) {
  uint32_t n = 0;
  r.number(n);
  if (n > kMessagesMax) return r.fail();
  for (uint32_t i = 0; i < n && r.ok(); ++i) read_message(r, messages.emplace_back());
}

Status bad_frame(std::string_view why) { return base::make_error(errors::kBadBatch, {why}); }

Status check_start(FrameReader& r, std::string_view magic) {
  if (r.take(magic.size()) != magic) return bad_frame("it does not begin as one");
  uint8_t version = 0;
  r.number(version);
  if (version != kVersion) return bad_frame("its version is another");
  return {};
}

Status check_end(const FrameReader& r) {
  if (!r.ok()) return bad_frame("a length is beyond its end or a limit");
  if (!r.at_end()) return bad_frame("there is something behind its end");
  return {};
}

}  // namespace

std::string encode(const Request& q) {
  FrameWriter w;
  w.out = kRequestMagic;
  w.number(kVersion);
  w.number(static_cast<uint8_t>(q.operation));
  w.number(q.flags);
  w.number(q.token);
  w.text(q.queue);
  w.text(q.target);
  w.number(q.messages_max);
  w.number(q.bytes_max);
  w.number(q.body_bytes_max);
  w.number(q.wait_ms);
  w.text(q.selection.message_id);
  w.text(q.selection.correlation_id);
  w.text(q.selection.selector);
  w.number(q.selection.reason);
  w.text(q.selection.dead_queue);
  w.number(q.selection.age_s_min);
  w.text(q.text);
  write_messages(w, q.messages);
  return std::move(w.out);
}

Result<Request> decode_request(std::string_view bytes) {
  FrameReader r(bytes);
  MS_TRY(check_start(r, kRequestMagic));
  Request q;
  uint8_t operation = 0;
  r.number(operation);
  if (operation < 1 || operation > static_cast<uint8_t>(Operation::kDepth)) {
    return bad_frame("its operation is not known");
  }
  q.operation = static_cast<Operation>(operation);
  r.number(q.flags);
  r.number(q.token);
  r.text(q.queue);
  r.text(q.target);
  r.number(q.messages_max);
  r.number(q.bytes_max);
  r.number(q.body_bytes_max);
  r.number(q.wait_ms);
  r.text(q.selection.message_id);
  r.text(q.selection.correlation_id);
  r.text(q.selection.selector);
  r.number(q.selection.reason);
  r.text(q.selection.dead_queue);
  r.number(q.selection.age_s_min);
  r.text(q.text, kTextBytesMax);
  read_messages(r, q.messages);
  MS_TRY(check_end(r));
  return q;
}

std::string encode(const Answer& a) {
  FrameWriter w;
  w.out = kAnswerMagic;
  w.number(kVersion);
  w.number(a.completion);
  w.number(a.reason);
  w.number(a.flags);
  w.number(a.token);
  w.number(a.done);
  w.number(a.depth);
  w.text(a.detail);
  w.text(a.text);
  w.number(a.exit_code);
  w.number(static_cast<uint32_t>(a.failures.size()));
  for (const Failure& f : a.failures) {
    w.number(f.reason);
    w.text(f.where);
    w.number(f.count);
  }
  write_messages(w, a.messages);
  return std::move(w.out);
}

Result<Answer> decode_answer(std::string_view bytes) {
  FrameReader r(bytes);
  MS_TRY(check_start(r, kAnswerMagic));
  Answer a;
  r.number(a.completion);
  r.number(a.reason);
  r.number(a.flags);
  r.number(a.token);
  r.number(a.done);
  r.number(a.depth);
  r.text(a.detail);
  r.text(a.text, UINT32_MAX);
  r.number(a.exit_code);
  uint32_t failures = 0;
  r.number(failures);
  if (failures > kFailuresMax) r.fail();
  for (uint32_t i = 0; i < failures && r.ok(); ++i) {
    Failure& f = a.failures.emplace_back();
    r.number(f.reason);
    r.text(f.where);
    r.number(f.count);
  }
  read_messages(r, a.messages);
  MS_TRY(check_end(r));
  return a;
}

}  // namespace millstream::admin::batch
