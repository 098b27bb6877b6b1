// A client process of the shipped server, for tests/crash/server.py, which kills the server at any
// instant: units of work over three queues, sessions that get, moves, publications that one unit
// takes to three queues, and IBM MQ's REST API. It writes what it means to do and what it was told.
//
//   server_client work PORT LEDGER NAME   until the server is gone
//   server_client check PORT LEDGERS      browses all of a server at rest and judges; exit 1 when a
//                                         promise broke
//   server_client drain PORT              takes all there is
//
// NAME is ROUND-CLIENT. A message of an earlier round counts as flagged: after an unclean stop it
// may come again, and the batch endpoint has no field to say so.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "admin/batch/batch_frames.h"
#include "base/random.h"
#include "mqi/reasons.h"
#include "sim/ledger.h"
#include "sim/message_text.h"

namespace millstream::sim {
namespace {

namespace batch = admin::batch;
using Kind = LedgerEntry::Kind;

constexpr const char* kQueues[] = {"Q1", "Q2", "Q3"};
constexpr const char* kMovedQueue = "MOVED";  // gets what is moved from Q3
constexpr const char* kRestQueue = "R1";      // texts, by REST alone
constexpr int kPatienceS = 60;

int64_t client_now_ns() {
  timespec t{};
  clock_gettime(CLOCK_MONOTONIC, &t);
  return int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

[[noreturn]] void finding(const std::string& why) {
  std::fprintf(stderr, "server_client: %s\n", why.c_str());
  _exit(2);
}

struct HttpAnswer {
  int status = 0;
  std::string body;
};

// One connection, one request after another; no answer: the server is gone.
class HttpConnection {
 public:
  explicit HttpConnection(int port) : port_(port) {}
  ~HttpConnection() { drop(); }

  std::optional<HttpAnswer> call(std::string_view method, std::string_view path,
                                 std::string_view headers, std::string_view body) {
    if (fd_ < 0 && !connect()) return std::nullopt;
    std::string out = std::string(method) + " " + std::string(path) +
                      " HTTP/1.1\r\nHost: localhost\r\nibm-mq-rest-csrf-token: x\r\n" +
                      std::string(headers) + "Content-Length: " + std::to_string(body.size()) +
                      "\r\n\r\n" + std::string(body);
    for (size_t at = 0; at < out.size();) {
      const ssize_t n = ::send(fd_, out.data() + at, out.size() - at, MSG_NOSIGNAL);
      if (n <= 0) return drop();
      at += static_cast<size_t>(n);
    }
    return read_answer();
  }

 private:
  bool connect() {
    fd_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(port_));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const timeval patience{kPatienceS, 0};
    (void)::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    const int on = 1;
    (void)::setsockopt(fd_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (::connect(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) return true;
    drop();
    return false;
  }

  std::nullopt_t drop() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
    return std::nullopt;
  }

  std::optional<HttpAnswer> read_answer() {
    std::string in;
    size_t head_end = std::string::npos, body_bytes = 0;
    HttpAnswer answer;
    for (;;) {
      char buffer[65536];
      const ssize_t n = ::recv(fd_, buffer, sizeof buffer, 0);
      if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
        finding("no answer for " + std::to_string(kPatienceS) + " s");
      }
      if (n <= 0) return drop();
      in.append(buffer, static_cast<size_t>(n));
      if (head_end == std::string::npos) {
        head_end = in.find("\r\n\r\n");
        if (head_end == std::string::npos) continue;
        std::string head = in.substr(0, head_end + 2);
        std::transform(head.begin(), head.end(), head.begin(), [](unsigned char c) {
          return static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
        });
        answer.status = std::atoi(head.c_str() + 9);
        const size_t at = head.find("\r\ncontent-length:");
        if (at != head.npos) body_bytes = std::strtoull(head.c_str() + at + 17, nullptr, 10);
        if (answer.status == 204) body_bytes = 0;
        head_end += 4;
      }
      if (in.size() < head_end + body_bytes) continue;
      answer.body = in.substr(head_end, body_bytes);
      return answer;
    }
  }

  int port_, fd_ = -1;
};

std::optional<batch::Answer> ask(HttpConnection& connection, const batch::Request& request) {
  auto http = connection.call("POST", "/millstream/v1/qmgr/*/batch",
                              "Content-Type: " + std::string(batch::kContentType) + "\r\n",
                              batch::encode(request));
  if (!http) return std::nullopt;
  // A server that stops, or a session that went with it: what was asked is not answered.
  if (http->status == 503 || http->status == 410) return std::nullopt;
  if (http->status != 200) finding("HTTP " + std::to_string(http->status) + ": " + http->body);
  auto answer = batch::decode_answer(http->body);
  if (!answer.ok()) finding(answer.error().describe());
  return std::move(answer).take_value();
}

bool is_gone(const batch::Answer& answer) {
  return answer.reason == mqi::reason::kConnectionBroken ||
         answer.reason == mqi::reason::kQMgrStopping || answer.reason == mqi::reason::kHconnError ||
         answer.reason == mqi::reason::kQMgrNotAvailable;
}

// A publication is one message on each of three queues; its key says so with a 'p'.
std::string ledger_key(const std::string& key, const std::string& queue) {
  if (key.empty() || key.back() != 'p') return key;
  return key + "@" + (queue == kMovedQueue ? "Q3" : queue);
}

class ServerClient {
 public:
  ServerClient(int port, const std::string& ledger, std::string name)
      : connection_(port), name_(std::move(name)) {
    round_ = name_.substr(0, name_.find('-') + 1);
    file_ = ::open(ledger.c_str(), O_CREAT | O_APPEND | O_WRONLY | O_CLOEXEC, 0644);
    if (file_ < 0) finding("no ledger " + ledger);
  }

  // Until the server is gone.
  void run() {
    while (!is_over_) {
      unit_ = name_ + "u" + std::to_string(++units_);
      switch (up_to(12)) {
        case 0:
        case 1:
        case 2:
        case 3:
          put_over_queues();
          break;
        case 4:
          publish();
          break;
        case 5:
          rest_put();
          break;
        case 6:
          rest_get();
          break;
        case 7:
          move();
          break;
        default:
          get_session();
      }
    }
  }

 private:
  uint64_t up_to(uint64_t n) { return base::system_random().next_u64() % n; }

  void write(LedgerEntry entry) {
    entry.at_ns = client_now_ns();
    if (entry.unit.empty()) entry.unit = unit_;
    std::string line;
    write_entry(entry, line);
    if (::write(file_, line.data(), line.size()) != static_cast<ssize_t>(line.size())) {
      finding("the ledger cannot be written");
    }
  }
  void write(Kind kind, std::string queue = "") {
    LedgerEntry entry;
    entry.kind = kind;
    entry.queue = std::move(queue);
    write(std::move(entry));
  }

  // What is answered decides the unit; without an answer it stays unknown.
  void settle(const std::optional<batch::Answer>& answer) {
    if (!answer || is_gone(*answer)) {
      is_over_ = true;
      return;
    }
    write(answer->is_failed() ? Kind::kBackedOut : Kind::kCommitted);
  }

  LedgerEntry put_entry(const std::string& key, const std::string& queue) {
    LedgerEntry entry;
    entry.kind = Kind::kPut;
    entry.queue = queue;
    entry.key = key;
    entry.producer = name_;
    entry.number = number_;
    return entry;
  }

  std::string next_key(const char* mark) { return name_ + "k" + std::to_string(++number_) + mark; }

  void put_over_queues() {
    batch::Request request;
    request.operation = batch::Operation::kPut;
    request.queue = kQueues[0];
    const uint64_t rounds = 1 + up_to(3);
    for (uint64_t i = 0; i < 3 * rounds; ++i) {
      const std::string queue = kQueues[i % 3];
      LedgerEntry entry = put_entry(next_key(""), queue);
      entry.is_persistent = up_to(8) != 0;
      entry.priority = static_cast<int>(up_to(3));
      batch::FrameMessage message;
      message.md.message_id = mqi::Id(entry.key);
      message.md.persistence = entry.is_persistent ? 1 : 0;
      message.md.priority = entry.priority;
      const size_t bytes = up_to(12) == 0 ? 300'000 + up_to(200'000) : 40 + up_to(3000);
      message.body = make_message_text(entry.key, bytes);
      message.data_bytes = message.body.size();
      request.messages.push_back(std::move(message));
      request.text += queue + "\n";
      write(std::move(entry));
    }
    write(Kind::kCommit);
    settle(ask(connection_, request));
  }

  void note_got(const batch::FrameMessage& message, const std::string& queue) {
    const MessageText text = read_message_text(message.body, message.body.size());
    if (!text.error.empty()) finding("got from " + queue + ": " + text.error);
    LedgerEntry entry;
    entry.kind = Kind::kGot;
    entry.queue = queue;
    entry.key = ledger_key(text.key, queue);
    entry.producer = unit_;  // a session is a consumer of its own
    // What was moved is a new message, that nobody has got before.
    entry.is_flagged =
        message.md.backout_count > 0 || queue == kMovedQueue || !text.key.starts_with(round_);
    write(std::move(entry));
  }

  // Gets in units of one session; the last is committed, backed out, or left to the server's end.
  void get_session() {
    const std::string queue = up_to(5) == 0 ? kMovedQueue : kQueues[up_to(3)];
    batch::Request request;
    request.operation = batch::Operation::kGet;
    request.queue = queue;
    request.messages_max = static_cast<uint32_t>(1 + up_to(8));
    request.bytes_max = 4u << 20;
    if (up_to(4) == 0) request.wait_ms = static_cast<uint32_t>(up_to(200));
    bool commits_before = false;
    for (uint64_t n = 1 + up_to(3); n > 0; --n) {
      if (commits_before) write(Kind::kCommit);
      request.flags = commits_before ? batch::kCommit : 0;
      auto answer = ask(connection_, request);
      if (!answer || is_gone(*answer)) {
        is_over_ = true;
        return;
      }
      if (answer->is_failed()) finding("a get fails: " + std::to_string(answer->reason));
      if (commits_before) {
        write(Kind::kCommitted);
        unit_ = name_ + "u" + std::to_string(++units_);
      }
      request.token = answer->token;
      for (const batch::FrameMessage& message : answer->messages) note_got(message, queue);
      commits_before = true;
      if ((answer->flags & batch::kNoMore) != 0) break;
    }
    request.operation = batch::Operation::kEnd;
    request.flags = up_to(4) != 0 ? batch::kCommit : 0;
    if (request.flags != 0) {
      write(Kind::kCommit);
      return settle(ask(connection_, request));
    }
    write(Kind::kBackedOut);
    if (!ask(connection_, request)) is_over_ = true;
  }

  // One unit of gets and puts; where each message is afterwards the ledger sees at the end.
  void move() {
    batch::Request request;
    request.operation = batch::Operation::kMove;
    request.queue = kQueues[2];
    request.target = kMovedQueue;
    request.messages_max = static_cast<uint32_t>(1 + up_to(5));
    auto answer = ask(connection_, request);
    if (!answer || is_gone(*answer)) {
      is_over_ = true;
      return;
    }
    if (answer->token == 0) return;
    request.operation = batch::Operation::kEnd;
    request.token = answer->token;
    request.flags = batch::kCommit;
    if (!ask(connection_, request)) is_over_ = true;
  }

  void publish() {
    const std::string key = next_key("p");
    for (const char* queue : kQueues) {
      LedgerEntry entry = put_entry(ledger_key(key, queue), queue);
      entry.priority = 4;  // REST's for topics
      write(std::move(entry));
    }
    write(Kind::kCommit);
    rest_settle(connection_.call(
        "POST", "/ibmmq/rest/v3/messaging/qmgr/QM1/topic/fan%2Fout/message",
        "Content-Type: text/plain;charset=utf-8\r\nibm-mq-md-persistence: persistent\r\n",
        make_message_text(key, 0)));
  }

  void rest_put() {
    const std::string queue = kRestQueue, key = next_key("");
    write(put_entry(key, queue));
    write(Kind::kCommit);
    rest_settle(connection_.call(
        "POST", "/ibmmq/rest/v3/messaging/qmgr/QM1/queue/" + queue + "/message",
        "Content-Type: text/plain;charset=utf-8\r\nibm-mq-md-persistence: persistent\r\n",
        make_message_text(key, 0)));
  }

  void rest_settle(const std::optional<HttpAnswer>& answer) {
    if (!answer || answer->status == 503) {
      is_over_ = true;
      return;
    }
    if (answer->status != 201 && answer->status != 202) {
      finding("REST " + std::to_string(answer->status) + ": " + answer->body);
    }
    write(Kind::kCommitted);
  }

  void rest_get() {
    const std::string queue = kRestQueue;
    auto answer = connection_.call(
        "DELETE", "/ibmmq/rest/v3/messaging/qmgr/QM1/queue/" + queue + "/message", "", "");
    if (!answer || answer->status == 503) {
      write(Kind::kGetUnknown, queue);
      is_over_ = true;
      return;
    }
    if (answer->status == 204) return;
    if (answer->status != 200) {
      finding("REST get " + std::to_string(answer->status) + ": " + answer->body);
    }
    const MessageText text = read_message_text(answer->body, answer->body.size());
    if (!text.error.empty()) finding("REST get from " + queue + ": " + text.error);
    LedgerEntry entry;
    entry.kind = Kind::kGot;
    entry.queue = queue;
    entry.key = text.key;
    entry.producer = unit_;
    entry.is_flagged = true;  // its headers do not say it
    write(std::move(entry));
    write(Kind::kCommit);
    write(Kind::kCommitted);
  }

  HttpConnection connection_;
  std::string name_, round_, unit_;
  int file_ = -1;
  bool is_over_ = false;
  uint64_t units_ = 0, number_ = 0;
};

// Browses, or takes when `ledger` is null.
void read_all(HttpConnection& connection, const std::string& queue, Ledger* ledger) {
  batch::Request request;
  request.operation = ledger != nullptr ? batch::Operation::kBrowse : batch::Operation::kGet;
  request.queue = queue;
  for (;;) {
    auto answer = ask(connection, request);
    if (!answer || answer->is_failed()) finding("reading " + queue + " fails");
    request.token = answer->token;
    request.flags = ledger != nullptr ? 0 : batch::kCommit;
    for (const batch::FrameMessage& message : answer->messages) {
      if (ledger == nullptr) break;
      const MessageText text = read_message_text(message.body, message.body.size());
      if (!text.error.empty()) finding("left on " + queue + ": " + text.error);
      LedgerEntry entry;
      entry.kind = Kind::kLeft;
      entry.at_ns = client_now_ns();
      entry.queue = queue;
      entry.key = ledger_key(text.key, queue);
      ledger->add(std::move(entry));
    }
    if ((answer->flags & batch::kNoMore) != 0) break;
  }
  request.operation = batch::Operation::kEnd;
  if (auto answer = ask(connection, request); !answer || answer->is_failed()) {
    finding("reading " + queue + " does not end");
  }
  if (ledger == nullptr) return;
  request = {};
  request.operation = batch::Operation::kDepth;
  request.queue = queue;
  auto answer = ask(connection, request);
  if (!answer || answer->is_failed()) finding("no depth of " + queue);
  LedgerEntry depth;
  depth.kind = Kind::kDepth;
  depth.at_ns = client_now_ns();
  depth.queue = queue;
  depth.number = answer->depth;
  ledger->add(std::move(depth));
}

int check(int port, const std::string& ledgers) {
  Ledger ledger;
  for (const auto& file : std::filesystem::directory_iterator(ledgers)) {
    std::ifstream in(file.path());
    std::stringstream text;
    text << in.rdbuf();
    std::vector<LedgerEntry> entries;
    std::string error;
    if (!read_entries(text.str(), entries, error)) finding(file.path().string() + ": " + error);
    for (LedgerEntry& entry : entries) ledger.add(std::move(entry));
  }
  HttpConnection connection(port);
  for (const char* queue : {"Q1", "Q2", "Q3", kMovedQueue, kRestQueue}) {
    read_all(connection, queue, &ledger);
  }
  LedgerOptions options;
  options.side_queues = {kMovedQueue};
  const LedgerVerdict verdict = ledger.check(options);
  std::fputs(verdict.summary().c_str(), stdout);
  return verdict.ok() ? 0 : 1;
}

int drain(int port) {
  HttpConnection connection(port);
  for (const char* queue : {"Q1", "Q2", "Q3", kMovedQueue, kRestQueue}) {
    read_all(connection, queue, nullptr);
  }
  return 0;
}

}  // namespace
}  // namespace millstream::sim

int main(int argc, char** argv) {
  using namespace millstream::sim;
  const std::string mode = argc > 1 ? argv[1] : "";
  if (mode == "work" && argc == 5) {
    ServerClient(std::atoi(argv[2]), argv[3], argv[4]).run();
    return 0;
  }
  if (mode == "check" && argc == 4) return check(std::atoi(argv[2]), argv[3]);
  if (mode == "drain" && argc == 3) return drain(std::atoi(argv[2]));
  std::fprintf(stderr,
               "usage: server_client work PORT LEDGER NAME | check PORT LEDGERS | drain PORT\n");
  return 2;
}
