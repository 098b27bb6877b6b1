#include "admin/batch/batch_frames.h"

#include <doctest/doctest.h>

#include <cstring>

#include "admin/batch/dead_letter.h"

namespace millstream::admin::batch {
namespace {

FrameMessage sample_message() {
  FrameMessage m;
  m.md.format = "MQSTR";
  m.md.priority = 7;
  m.properties = "props";
  m.body = std::string("a\0b", 3);
  m.data_bytes = 3;
  m.origin = "origin";
  m.origin_kind = 4;
  m.long_correlation_id = std::string(40, 'c');
  m.delay_ms = 1500;
  return m;
}

Request sample_request() {
  Request q;
  q.operation = Operation::kMove;
  q.flags = kRetry | kDeadLetters;
  q.token = 0xFEDCBA9876543210u;
  q.queue = "A";
  q.target = "B";
  q.messages_max = 17;
  q.selection.reason = 2053;
  q.selection.dead_queue = "ORDERS";
  q.selection.age_s_min = 60;
  q.text = "DISPLAY";
  q.messages = {sample_message(), sample_message()};
  return q;
}

Answer sample_answer() {
  Answer a;
  a.completion = 2;
  a.reason = 2085;
  a.token = 5;
  a.done = 6;
  a.depth = 7;
  a.detail = "NOPE";
  a.text = "text";
  a.exit_code = 10;
  a.failures = {{2053, "FULL", 3}};
  a.messages = {sample_message()};
  return a;
}

// "DLH " with reason 2053, queue ORDERS, of MQSTR; big-endian on demand.
std::string dead_body(bool is_little, std::string_view rest) {
  auto number = [&](uint32_t v) {
    if (!is_little) v = __builtin_bswap32(v);
    return std::string(reinterpret_cast<const char*>(&v), 4);
  };
  auto text = [](std::string s, size_t n) {
    s.resize(n, ' ');
    return s;
  };
  return "DLH " + number(1) + number(2053) + text("ORDERS", 48) + text("QM1", 48) + number(546) +
         number(1208) + text("MQSTR", 8) + number(6) + text("app", 28) + text("20261130", 8) +
         text("12000000", 8) + std::string(rest);
}

}  // namespace

TEST_CASE("batch frames: a request comes back as it was") {
  const std::string bytes = encode(sample_request());
  const Result<Request> back = decode_request(bytes);
  REQUIRE(back.ok());
  const Request& q = back.value();
  CHECK(q.operation == Operation::kMove);
  CHECK(q.token == 0xFEDCBA9876543210u);
  CHECK(q.selection.dead_queue == "ORDERS");
  CHECK(q.selection.age_s_min == 60);
  REQUIRE(q.messages.size() == 2);
  CHECK(q.messages[1].body == std::string("a\0b", 3));
  CHECK(q.messages[1].md.priority == 7);
  CHECK(q.messages[1].delay_ms == 1500);
  CHECK(encode(q) == bytes);
}

TEST_CASE("batch frames: an answer comes back as it was") {
  const std::string bytes = encode(sample_answer());
  const Result<Answer> back = decode_answer(bytes);
  REQUIRE(back.ok());
  CHECK(back.value().failures.at(0).where == "FULL");
  CHECK(encode(back.value()) == bytes);
}

TEST_CASE("batch frames: whatever is cut, added or of another version is refused") {
  const std::string request = encode(sample_request()), answer = encode(sample_answer());
  for (size_t n = 0; n < request.size(); ++n) {
    CHECK_FALSE(decode_request(std::string_view(request).substr(0, n)).ok());
  }
  for (size_t n = 0; n < answer.size(); ++n) {
    CHECK_FALSE(decode_answer(std::string_view(answer).substr(0, n)).ok());
  }
  CHECK_FALSE(decode_request(request + "x").ok());
  CHECK_FALSE(decode_request(answer).ok());
  std::string other = request;
  other[4] = 2;
  CHECK_FALSE(decode_request(other).ok());
  other = request;
  other[5] = 77;
  CHECK_FALSE(decode_request(other).ok());
}

TEST_CASE("batch frames: lengths and counts beyond their limits are refused") {
  Request q;
  q.queue = std::string(kFieldBytesMax + 1, 'q');
  CHECK_FALSE(decode_request(encode(q)).ok());
  q.queue = std::string(kFieldBytesMax, 'q');
  CHECK(decode_request(encode(q)).ok());
  q.messages.resize(kMessagesMax + 1);
  CHECK_FALSE(decode_request(encode(q)).ok());
  // A count without the messages must not take memory for them.
  std::string bytes = encode(Request());
  const uint32_t many = kMessagesMax;
  std::memcpy(bytes.data() + bytes.size() - 4, &many, 4);
  CHECK_FALSE(decode_request(bytes).ok());
}

TEST_CASE("dead letters: the header in both byte orders, and what is none") {
  for (bool is_little : {true, false}) {
    const auto letter = read_dead_letter(dead_body(is_little, "body"));
    REQUIRE(letter);
    CHECK(letter->reason == 2053);
    CHECK(letter->queue == "ORDERS");
    CHECK(letter->queue_manager == "QM1");
    CHECK(letter->format == "MQSTR");
    CHECK(letter->put_date == "20261130");
    mqi::MessageDescriptor md;
    md.format = "MQDEAD";
    strip_dead_letter(*letter, md);
    CHECK(md.format.view() == "MQSTR");
    CHECK(md.ccsid == 1208);
  }
  CHECK_FALSE(read_dead_letter("DLH "));
  CHECK_FALSE(read_dead_letter(dead_body(true, "").substr(0, 171)));
  CHECK_FALSE(read_dead_letter("XX" + dead_body(true, "")));
}

TEST_CASE("dead letters: selection by reason, queue and age") {
  const auto letter = read_dead_letter(dead_body(true, ""));
  const mqi::MessageDescriptor md;
  const int64_t died = mqi::parse_put_time("20261130", "12000000");
  auto wants = [&](Selection s, int64_t now) { return is_selected(s, md, &*letter, now); };
  CHECK(wants({}, died));
  CHECK(wants({.reason = 2053, .dead_queue = "ORDERS"}, died));
  CHECK_FALSE(wants({.reason = 2085}, died));
  CHECK_FALSE(wants({.dead_queue = "OTHER"}, died));
  CHECK(wants({.age_s_min = 60}, died + 60'000'000));
  CHECK_FALSE(wants({.age_s_min = 60}, died + 59'000'000));
  CHECK_FALSE(is_selected({.reason = 2053}, md, nullptr, died));
}

}  // namespace millstream::admin::batch
