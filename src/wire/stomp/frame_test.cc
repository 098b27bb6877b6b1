// Frames of STOMP, whole and in pieces, good and hostile.
#include "wire/stomp/frame.h"

#include <doctest/doctest.h>

namespace millstream::wire::stomp {
namespace {

std::string shown(const Frame& frame) {
  std::string out(frame.command);
  for (const Header& header : frame.headers) {
    out += "|" + std::string(header.first) + "=" + std::string(header.second);
  }
  return out + "|" + std::string(frame.body.view());
}

// Everything that is in `bytes`, given in pieces of `step`; what the reader leaves comes again.
std::string read_all(std::string_view bytes, size_t step, Version version,
                     FrameLimits limits = {}) {
  FrameReader reader(limits);
  reader.set_version(version);
  std::string waiting, out;
  while (!bytes.empty()) {
    waiting += bytes.substr(0, step);
    bytes.remove_prefix(std::min(step, bytes.size()));
    std::string_view rest = waiting;
    while (true) {
      const FrameReader::Event event = reader.read(rest);
      if (event == FrameReader::Event::kBad) return out + "BAD " + reader.why();
      if (event == FrameReader::Event::kNone) break;
      out += shown(reader.frame()) + "\n";
    }
    waiting.erase(0, waiting.size() - rest.size());
  }
  return out;
}

const std::string kNul(1, '\0');

TEST_CASE("stomp frame: heads and bodies, in pieces of any size") {
  const std::string bytes = "\n\r\nSEND\ndestination:/queue/a\nx:1\nx:2\n\nhello" + kNul +
                            "\n\nSEND\r\ncontent-length:5\r\n\r\na" + kNul + "b\nc" + kNul +
                            "ACK\nid:7\n\n" + kNul + "SEND\ncontent-length:0\n\n" + kNul;
  const std::string expected =
      "SEND|destination=/queue/a|x=1|x=2|hello\n"
      "SEND|content-length=5|a" +
      kNul + "b\nc\nACK|id=7|\nSEND|content-length=0|\n";
  for (size_t step : {1u, 2u, 3u, 7u, 1000u}) {
    CAPTURE(step);
    CHECK(read_all(bytes, step, Version::k12) == expected);
  }
}

TEST_CASE("stomp frame: escapes by version") {
  const std::string bytes = "SEND\na\\cb:c\\nd\\\\e\n\n" + kNul;
  CHECK(read_all(bytes, 99, Version::k10) == "SEND|a\\cb=c\\nd\\\\e|\n");
  CHECK(read_all(bytes, 99, Version::k11) == "SEND|a:b=c\nd\\e|\n");
  CHECK(read_all(bytes, 99, Version::k12) == "SEND|a:b=c\nd\\e|\n");
  const std::string cr = "SEND\na:b\\rc\n\n" + kNul;
  CHECK(read_all(cr, 99, Version::k12) == "SEND|a=b\rc|\n");
  CHECK(read_all(cr, 99, Version::k11).starts_with("BAD"));
  CHECK(read_all("SEND\na:b\\t\n\n" + kNul, 99, Version::k11).starts_with("BAD"));
  CHECK(read_all("SEND\na:b\\\n\n" + kNul, 99, Version::k12).starts_with("BAD"));
  // CONNECT is the same in all versions.
  CHECK(read_all("CONNECT\nlogin:a\\cb\n\n" + kNul, 99, Version::kNone) ==
        "CONNECT|login=a\\cb|\n");
  // 1.0 takes blanks away, later ones keep them.
  CHECK(read_all("SEND\na: b \n\n" + kNul, 99, Version::k10) == "SEND|a=b|\n");
  CHECK(read_all("SEND\na: b \n\n" + kNul, 99, Version::k11) == "SEND|a= b |\n");
}

TEST_CASE("stomp frame: what is written is read again") {
  for (Version version : {Version::k11, Version::k12}) {
    FrameWriter writer("MESSAGE", version);
    writer.add("a:b", "line\nback\\slash:colon");
    writer.add("n", 42);
    CHECK(read_all(writer.take() + "body" + kNul, 1, version) ==
          "MESSAGE|a:b=line\nback\\slash:colon|n=42|body\n");
  }
  FrameWriter old("MESSAGE", Version::k10);
  old.add("a:b", "cannot be said");
  old.add("c", "two\nlines");
  CHECK(read_all(old.take() + kNul, 99, Version::k10) == "MESSAGE|c=two lines|\n");
}

TEST_CASE("stomp frame: limits and mistakes") {
  FrameLimits limits{.header_bytes_max = 100, .headers_max = 3, .body_bytes_max = 10};
  auto bad = [&](const std::string& bytes, std::string_view why) {
    for (size_t step : {1u, 1000u}) {
      CAPTURE(step);
      CHECK(read_all(bytes, step, Version::k12, limits) == "BAD " + std::string(why));
    }
  };
  bad("SEND\nlong:" + std::string(200, 'x'), "the headers are too long");
  bad(std::string(200, 'x'), "the headers are too long");
  bad("SEND\na:1\nb:2\nc:3\nd:4\n\n", "there are too many headers");
  bad("SEND\nno colon\n\n", "a header line has no name or no colon");
  bad("SEND\na:b" + kNul + "\n\n", "the headers do not end with an empty line");
  bad("SEND\na:b\n" + kNul, "the headers do not end with an empty line");
  bad("SEND\n:no name\n\n", "a header line has no name or no colon");
  bad("SEND\ncontent-length:11\n\n", "the body is longer than 10 bytes");
  bad("SEND\ncontent-length:18446744073709551615\n\n", "the body is longer than 10 bytes");
  bad("SEND\ncontent-length:99999999999999999999999\n\n", "content-length is no number");
  bad("SEND\ncontent-length:-1\n\n", "content-length is no number");
  bad("SEND\ncontent-length:1x\n\n", "content-length is no number");
  bad("SEND\ncontent-length:2\n\nabc" + kNul, "the body does not end where content-length says");
  bad("SEND\n\n01234567890", "the body is longer than 10 bytes");
}

}  // namespace
}  // namespace millstream::wire::stomp
