// STOMP over sockets, against a queue manager in memory.
#include <doctest/doctest.h>

#include "wire/stomp/stomp_for_test.h"

namespace millstream::wire::stomp {
namespace {

using testing::eventually;
using testing::RawClient;
using testing::StompWorld;

const std::string kFrameEnd(1, '\0');

struct Client : RawClient {
  explicit Client(StompWorld& world, const std::string& version = "1.2",
                  const std::string& headers = "")
      : RawClient(world.endpoint->port()) {
    std::string connect = "CONNECT\n";
    if (version != "1.0") connect += "accept-version:" + version + "\nhost:h\n";
    frame(connect + headers);
    connected = next();
  }
  // `head` without the empty line; lines end with \n.
  void frame(const std::string& head, const std::string& body = "") {
    send(head + (head.ends_with('\n') ? "" : "\n") + "\n" + body + kFrameEnd);
  }
  // The next frame, without its NUL and heart-beats before it.
  std::string next() {
    std::string out = receive_until(kFrameEnd);
    if (!out.empty()) out.pop_back();
    out.erase(0, out.find_first_not_of('\n'));
    return out;
  }
  // Answers when everything before has been done.
  void settle() {
    frame("BEGIN\ntransaction:settle\nreceipt:settled");
    frame("ABORT\ntransaction:settle");
    CHECK(next() == "RECEIPT\nreceipt-id:settled\n\n");
  }
  std::string connected;
};

std::string header(const std::string& frame, const std::string& name) {
  const size_t at = frame.find("\n" + name + ":");
  if (at == std::string::npos) return "-";
  const size_t from = at + name.size() + 2;
  return frame.substr(from, frame.find('\n', from) - from);
}

std::string body(const std::string& frame) { return frame.substr(frame.find("\n\n") + 2); }

TEST_CASE("stomp session: versions are negotiated, and mistakes end the connection") {
  StompWorld world;
  CHECK(header(Client(world, "1.0").connected, "version") == "1.0");
  CHECK(header(Client(world, "1.0,1.1").connected, "version") == "1.1");
  CHECK(header(Client(world, "1.1,1.2,2.0").connected, "version") == "1.2");
  Client none(world, "3.0");
  CHECK(none.connected.starts_with("ERROR\nversion:1.0,1.1,1.2\n"));
  CHECK(none.receive_end());
  auto fails = [&](const std::string& frame, const std::string& message) {
    Client client(world, "1.1");
    client.frame(frame);
    std::string error = client.next();
    CHECK(error.starts_with("ERROR\n"));
    CHECK(header(error, "message") == message);
    CHECK(client.receive_end());
  };
  fails("HELLO", "The command is not known.");
  fails("CONNECT", "There is a connection already.");
  fails("SUBSCRIBE\ndestination:DEV.QUEUE.1", "The header id is missing.");
  fails("SEND\nx:\\q", "The frame is malformed.");
  fails("ACK\nsubscription:1\nmessage-id:2", "Nothing waits for this acknowledgement.");
  fails("COMMIT\ntransaction:t", "There is no such transaction.");
  fails("BEGIN", "The header transaction is missing.");
  fails("UNSUBSCRIBE\nid:9", "There is no such subscription.");
  fails("SUBSCRIBE\nid:1\ndestination:DEV.QUEUE.1\nack:sometimes",
        "The subscription is not to the standard.");
  fails("SEND\ndestination:DEV.QUEUE.1\npriority:high", "The message cannot be kept.");
  fails("SUBSCRIBE\nid:1\ndestination:DEV.QUEUE.1\nselector:((", "SUBSCRIBE was refused.");
  RawClient early(world.endpoint->port());
  early.send("SEND\n\n" + kFrameEnd);
  CHECK(early.receive_until(kFrameEnd).starts_with("ERROR\n"));
  CHECK(early.receive_end());
  CHECK(eventually([&] { return world.endpoint->stats().connections == 0; }));
}

TEST_CASE("stomp session: a message comes back as it was sent, in each version") {
  StompWorld world;
  for (const std::string version : {"1.0", "1.1", "1.2"}) {
    CAPTURE(version);
    Client client(world, version);
    client.frame("SUBSCRIBE\nid:s1\ndestination:/queue/DEV.QUEUE.1\nreceipt:r1");
    CHECK(client.next() == "RECEIPT\nreceipt-id:r1\n\n");
    client.frame(
        "SEND\ndestination:/queue/DEV.QUEUE.1\ncontent-type:text/plain\npersistent:true\n"
        "x-own:one\nx-own:two\nreceipt:r2",
        "gr\xC3\xBC\xC3\x9F");
    std::string first = client.next(), second = client.next();
    if (second.starts_with("MESSAGE")) std::swap(first, second);
    CHECK(second == "RECEIPT\nreceipt-id:r2\n\n");
    CHECK(body(first) == "gr\xC3\xBC\xC3\x9F");
    CHECK(header(first, "subscription") == "s1");
    CHECK(header(first, "destination") == "/queue/DEV.QUEUE.1");
    CHECK(header(first, "content-type") == "text/plain");
    CHECK(header(first, "persistent") == "true");
    CHECK(header(first, "content-length") == "6");
    CHECK(first.find("x-own:one\nx-own:two\n") != std::string::npos);
    CHECK(header(first, "receipt") == "-");
    CHECK(header(first, "message-id") != "-");
    client.frame("DISCONNECT\nreceipt:bye");
    CHECK(client.next() == "RECEIPT\nreceipt-id:bye\n\n");
    CHECK(client.receive_end());
  }
  CHECK(world.depth("DEV.QUEUE.1") == 0);
}

TEST_CASE("stomp session: bodies with NULs, of a megabyte, and one byte at a time") {
  StompWorld world;
  Client client(world);
  client.frame("SUBSCRIBE\nid:1\ndestination:DEV.QUEUE.1\nack:auto");
  std::string big(3'000'000, 'b');
  big[1'000'000] = '\0';
  client.frame("SEND\ndestination:DEV.QUEUE.1\ncontent-length:3000000", big);
  std::string head = client.receive_until("\n\n");
  CHECK(header(head, "content-length") == "3000000");
  REQUIRE(client.receive_bytes(big.size() + 1));
  CHECK(client.received == big + kFrameEnd);
  client.received.clear();
  const std::string one =
      "SEND\ndestination:DEV.QUEUE.1\ncontent-length:3\n\na" + kFrameEnd + "b" + kFrameEnd;
  for (char c : one) client.send({&c, 1});
  CHECK(header(client.receive_until("\n\n"), "content-length") == "3");
  REQUIRE(client.receive_bytes(4));
  CHECK(client.received == "a" + kFrameEnd + "b" + kFrameEnd);
}

TEST_CASE("stomp session: client acknowledges all before it, client-individual that one") {
  StompWorld world;
  Client sender(world);
  auto fill = [&](int count) {
    for (int i = 1; i <= count; ++i) {
      sender.frame("SEND\ndestination:DEV.QUEUE.1\nreceipt:r", "m" + std::to_string(i));
      CHECK(sender.next().starts_with("RECEIPT"));
    }
  };
  fill(3);
  {
    Client client(world, "1.2");
    client.frame("SUBSCRIBE\nid:a:b\ndestination:DEV.QUEUE.1\nack:client-individual");
    std::string m1 = client.next(), m2 = client.next(), m3 = client.next();
    CHECK(body(m1) + body(m2) + body(m3) == "m1m2m3");
    client.frame("ACK\nid:" + header(m2, "ack") + "\nreceipt:x");
    CHECK(client.next().starts_with("RECEIPT"));
    client.frame("DISCONNECT");
    CHECK(client.receive_end());
  }
  CHECK(eventually([&] { return world.depth("DEV.QUEUE.1") == 2; }));
  {
    Client client(world, "1.1");
    client.frame("SUBSCRIBE\nid:s\ndestination:DEV.QUEUE.1\nack:client");
    std::string m1 = client.next(), m3 = client.next();
    CHECK(body(m1) + body(m3) == "m1m3");
    CHECK(header(m1, "redelivered") == "true");
    CHECK(header(m1, "ack") == "-");
    client.frame("ACK\nsubscription:s\nmessage-id:" + header(m3, "message-id") + "\nreceipt:x");
    CHECK(client.next().starts_with("RECEIPT"));
  }
  CHECK(eventually([&] { return world.depth("DEV.QUEUE.1") == 0; }));
  fill(1);
  {
    Client client(world, "1.0");
    client.frame("SUBSCRIBE\ndestination:DEV.QUEUE.1\nack:client");
    std::string m1 = client.next();
    CHECK(header(m1, "subscription") == "-");
    client.frame("ACK\nmessage-id:" + header(m1, "message-id") + "\nreceipt:x");
    CHECK(client.next().starts_with("RECEIPT"));
    client.frame("UNSUBSCRIBE\ndestination:DEV.QUEUE.1\nreceipt:y");
    CHECK(client.next().starts_with("RECEIPT"));
  }
  CHECK(world.depth("DEV.QUEUE.1") == 0);
}

TEST_CASE("stomp session: what is refused comes again, and goes away when it is poison") {
  StompWorld world;
  world.run_mqsc(
      "ALTER QLOCAL(DEV.QUEUE.1) BOTHRESH(3) BOQNAME(DEV.QUEUE.2)\n"
      "ALTER QMGR DEADQ(DEV.DEAD.LETTER.QUEUE)");
  Client client(world);
  client.frame("SEND\ndestination:DEV.QUEUE.1", "poison");
  client.frame("SUBSCRIBE\nid:1\ndestination:DEV.QUEUE.1\nack:client-individual");
  for (int i = 0; i < 3; ++i) {
    std::string m = client.next();
    CHECK(body(m) == "poison");
    CHECK(header(m, "redelivered") == (i == 0 ? "-" : "true"));
    client.frame("NACK\nid:" + header(m, "ack"));
  }
  CHECK(eventually([&] { return world.depth("DEV.QUEUE.2") == 1; }));
  client.frame("SEND\ndestination:DEV.QUEUE.1", "bad");
  client.frame("NACK\nid:" + header(client.next(), "ack") + "\nrequeue:false");
  CHECK(eventually([&] { return world.depth("DEV.DEAD.LETTER.QUEUE") == 1; }));
  CHECK(world.depth("DEV.QUEUE.1") == 0);
  Client old(world, "1.0");
  old.frame("NACK\nmessage-id:1");
  CHECK(header(old.next(), "message") == "The command is not known.");
}

TEST_CASE("stomp session: transactions, several at a time") {
  StompWorld world;
  Client client(world);
  client.frame("BEGIN\ntransaction:t1");
  client.frame("BEGIN\ntransaction:t2");
  client.frame("SEND\ndestination:DEV.QUEUE.1\ntransaction:t1", "one");
  client.frame("SEND\ndestination:DEV.QUEUE.1\ntransaction:t2", "two");
  client.settle();
  Client browser(world);
  browser.frame("SUBSCRIBE\nid:b\ndestination:DEV.QUEUE.1\nbrowser:true");
  CHECK(header(browser.next(), "browser") == "end");
  client.frame("COMMIT\ntransaction:t1\nreceipt:c");
  CHECK(client.next() == "RECEIPT\nreceipt-id:c\n\n");
  client.frame("ABORT\ntransaction:t2\nreceipt:a");
  CHECK(client.next() == "RECEIPT\nreceipt-id:a\n\n");
  CHECK(world.depth("DEV.QUEUE.1") == 1);
  // An acknowledgement in a transaction that is aborted: it comes again.
  client.frame("SUBSCRIBE\nid:1\ndestination:DEV.QUEUE.1\nack:client");
  std::string first = client.next();
  client.frame("BEGIN\ntransaction:t3");
  client.frame("ACK\nid:" + header(first, "ack") + "\ntransaction:t3");
  client.frame("ABORT\ntransaction:t3");
  std::string again = client.next();
  CHECK(body(again) == "one");
  CHECK(header(again, "redelivered") == "true");
  client.frame("BEGIN\ntransaction:t4");
  client.frame("ACK\nid:" + header(again, "ack") + "\ntransaction:t4");
  client.frame("SEND\ndestination:DEV.QUEUE.2\ntransaction:t4", "answer");
  client.frame("COMMIT\ntransaction:t4\nreceipt:c");
  CHECK(client.next() == "RECEIPT\nreceipt-id:c\n\n");
  CHECK(world.depth("DEV.QUEUE.1") == 0);
  CHECK(world.depth("DEV.QUEUE.2") == 1);
  // What is open when the connection breaks has never been.
  client.frame("BEGIN\ntransaction:t5");
  client.frame("SEND\ndestination:DEV.QUEUE.1\ntransaction:t5", "lost");
  client.settle();
  client.reset();
  CHECK(eventually([&] { return world.endpoint->stats().connections == 1; }));
  CHECK(world.depth("DEV.QUEUE.1") == 0);
}

TEST_CASE("stomp session: a transaction's messages come in its order to who waits") {
  StompWorld world;
  Client client(world);
  for (const std::string mode : {"auto", "client"}) {
    client.frame("SUBSCRIBE\nid:" + mode + "\ndestination:DEV.QUEUE.1\nack:" + mode);
    client.frame("BEGIN\ntransaction:t");
    client.frame("SEND\ndestination:DEV.QUEUE.1\ntransaction:t", "aborted");
    client.frame("ABORT\ntransaction:t");
    client.frame("BEGIN\ntransaction:t");
    for (int i = 1; i <= 5; ++i) {
      client.frame("SEND\ndestination:DEV.QUEUE.1\ntransaction:t", std::to_string(i));
    }
    client.settle();
    client.frame("COMMIT\ntransaction:t");
    std::string all;
    for (int i = 1; i <= 5; ++i) all += body(client.next());
    CHECK(all == "12345");
    client.frame("UNSUBSCRIBE\nid:" + mode);
  }
}

TEST_CASE("stomp session: topics, durable subscriptions, selectors, browsers, replies") {
  StompWorld world;
  Client publisher(world);
  auto publish = [&](const std::string& text, const std::string& headers = "") {
    publisher.frame("SEND\ndestination:/topic/dev/a\nreceipt:p\n" + headers, text);
    CHECK(publisher.next().starts_with("RECEIPT"));
  };
  const std::string subscribe =
      "SUBSCRIBE\nid:d\ndestination:/topic/dev/+\ndurable:true\nreceipt:r";
  {
    Client client(world, "1.2", "client-id:c1\n");
    client.frame(subscribe);
    CHECK(client.next().starts_with("RECEIPT"));
    publish("live");
    std::string m = client.next();
    CHECK(body(m) == "live");
    CHECK(header(m, "destination") == "/topic/dev/a");
    client.frame("DISCONNECT\nreceipt:x");
    CHECK(client.next().starts_with("RECEIPT"));
  }
  publish("kept");
  {
    Client client(world, "1.2", "client-id:c1\n");
    client.frame(subscribe);
    CHECK(client.next().starts_with("RECEIPT"));
    CHECK(body(client.next()) == "kept");
    client.frame("UNSUBSCRIBE\nid:d\ndurable:true\nreceipt:r");
    CHECK(client.next().starts_with("RECEIPT"));
  }
  publish("nobody");
  Client client(world, "1.2", "client-id:c1\n");
  client.frame(subscribe);
  CHECK(client.next().starts_with("RECEIPT"));
  client.frame("SUBSCRIBE\nid:s\ndestination:topic://dev/a\nselector:color = 'red'\nreceipt:r");
  CHECK(client.next().starts_with("RECEIPT"));
  client.frame("UNSUBSCRIBE\nid:d\ndurable:true\nreceipt:r");
  CHECK(client.next().starts_with("RECEIPT"));
  publish("1", "color:blue");
  publish("2", "color:red");
  std::string m = client.next();
  CHECK(body(m) == "2");
  CHECK(header(m, "subscription") == "s");
  // Browsing leaves the messages.
  client.frame("SEND\ndestination:DEV.QUEUE.3", "here");
  client.frame("SUBSCRIBE\nid:b\ndestination:DEV.QUEUE.3\nbrowser:true");
  CHECK(body(client.next()) == "here");
  CHECK(header(client.next(), "browser") == "end");
  CHECK(world.depth("DEV.QUEUE.3") == 1);
  // A request and its reply.
  client.frame("SUBSCRIBE\nid:t\ndestination:/temp-queue/mine");
  client.frame("SEND\ndestination:DEV.QUEUE.1\nreply-to:/temp-queue/mine\ncorrelation-id:7", "?");
  publisher.frame("SUBSCRIBE\nid:q\ndestination:DEV.QUEUE.1");
  std::string request = publisher.next();
  publisher.frame("SEND\ndestination:" + header(request, "reply-to") +
                      "\ncorrelation-id:" + header(request, "correlation-id"),
                  "!");
  std::string reply = client.next();
  CHECK(body(reply) == "!");
  CHECK(header(reply, "correlation-id") == "7");
}

TEST_CASE("stomp session: prefetch is how many are with the client") {
  StompWorld world;
  Client client(world);
  for (int i = 1; i <= 3; ++i) client.frame("SEND\ndestination:DEV.QUEUE.1", std::to_string(i));
  client.frame("SUBSCRIBE\nid:1\ndestination:DEV.QUEUE.1\nack:client\nprefetch-count:2");
  std::string m1 = client.next(), m2 = client.next();
  CHECK(body(m1) + body(m2) == "12");
  client.settle();
  client.frame("ACK\nid:" + header(m2, "ack"));
  CHECK(body(client.next()) == "3");
}

TEST_CASE("stomp session: heart-beats both ways, and an end without them") {
  StompWorld world;
  Client client(world, "1.2", "heart-beat:300,250\n");
  CHECK(header(client.connected, "heart-beat") == "250,300");
  CHECK(client.receive_until("\n") == "\n");  // behind CONNECTED
  CHECK(client.receive_until("\n") == "\n");
  CHECK(client.receive_end());  // we send nothing
  CHECK(header(Client(world, "1.1", "heart-beat:0,0\n").connected, "heart-beat") == "0,0");
  CHECK(header(Client(world, "1.1", "heart-beat:x\n").connected, "message") ==
        "heart-beat is not two numbers.");
}

TEST_CASE("stomp session: users, their rights, and the rules of the channel") {
  StompWorld::Options options;
  options.is_dev = false;
  StompWorld world(options);
  world.run_mqsc(
      "SET CHLAUTH('DEV.APP.STOMP') TYPE(ADDRESSMAP) ADDRESS('*') USERSRC(CHANNEL) "
      "CHCKCLNT(REQUIRED) ACTION(REPLACE)");
  CHECK(Client(world, "1.2").connected.starts_with("ERROR"));
  CHECK(Client(world, "1.2", "login:app\npasscode:wrong\n").connected.starts_with("ERROR"));
  Client client(world, "1.2", "login:app\npasscode:passw0rd-of-app\n");
  CHECK(client.connected.starts_with("CONNECTED"));
  CHECK(world.endpoint->channel_status().at(0).user == "app");
  client.frame("SEND\ndestination:DEV.QUEUE.1\nreceipt:1", "allowed");
  CHECK(client.next().starts_with("RECEIPT"));
  client.frame("SEND\ndestination:SYSTEM.DEFAULT.LOCAL.QUEUE\nreceipt:2", "not allowed");
  std::string error = client.next();
  CHECK(header(error, "receipt-id") == "2");
  CHECK(body(error).find("2035") != std::string::npos);
  CHECK(client.receive_end());
  Client other(world, "1.2", "login:app\npasscode:passw0rd-of-app\n");
  other.frame("SEND\ndestination:queue://NO.SUCH.QUEUE\nreceipt:3", "x");
  CHECK(header(other.next(), "message") == "There is no such destination.");
}

TEST_CASE("stomp session: over a WebSocket") {
  StompWorld world;
  RawClient client(world.endpoint->port());
  client.send(
      "GET / HTTP/1.1\r\nHost: h\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
      "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
      "Sec-WebSocket-Protocol: v11.stomp, v12.stomp\r\n\r\n");
  std::string answer = client.receive_until("\r\n\r\n");
  CHECK(answer.starts_with("HTTP/1.1 101"));
  const std::string frame = "CONNECT\naccept-version:1.2\nhost:h\n\n" + kFrameEnd;
  std::string ws = "\x81";
  ws += static_cast<char>(0x80 | frame.size());
  ws += std::string(4, '\0') + frame;  // masked with zeros
  client.send(ws);
  std::string connected = client.receive_until(kFrameEnd);
  CHECK(connected.find("CONNECTED\nversion:1.2\n") != std::string::npos);
}

TEST_CASE("stomp session: a message that is too long, and limits of a session") {
  EndpointLimits limits;
  limits.message_bytes_max = 1'000;
  limits.links_max = 2;
  StompWorld world({}, limits);
  Client client(world);
  client.frame("SEND\ndestination:DEV.QUEUE.1\ncontent-length:1001");
  CHECK(header(client.next(), "message") == "The frame is malformed.");
  Client many(world);
  for (std::string id : {"1", "2", "3"}) {
    many.frame("SUBSCRIBE\nid:" + id + "\ndestination:DEV.QUEUE.1");
  }
  CHECK(header(many.next(), "message") == "There are too many subscriptions.");
}

}  // namespace
}  // namespace millstream::wire::stomp
