// A connection of AMQP 1.0 whose peer does anything in any order: the input is a script of steps,
// performatives with values of the script among them, in segments of any size; our side attaches,
// sends, settles, detaches and closes in between. What must hold: nothing is read beyond its end,
// no window, credit or unsettled delivery goes below nothing, and the engine ends when it says so.
#include <cstdint>
#include <cstdlib>

#include "wire/amqp/engine/engine_for_test.h"

namespace amqp = millstream::wire::amqp;

namespace {

class Script {
 public:
  Script(const uint8_t* data, size_t size) : p_(data), end_(data + size) {}
  bool at_end() const { return p_ == end_; }
  uint8_t byte() { return p_ == end_ ? 0 : *p_++; }
  std::string_view bytes(size_t n) {
    n = std::min(n, static_cast<size_t>(end_ - p_));
    std::string_view out(reinterpret_cast<const char*>(p_), n);
    p_ += n;
    return out;
  }

 private:
  const uint8_t* p_;
  const uint8_t* end_;
};

template <typename T>
void add_frame(std::string& out, uint16_t channel, const T& performative,
               std::string_view payload = {}) {
  amqp::Writer w;
  w.big32(0);
  w.byte(2);
  w.byte(0);
  w.big16(channel);
  amqp::encode(w, performative);
  w.raw(payload);
  w.put_big32(0, static_cast<uint32_t>(w.size()));
  out += w.bytes();
}

constexpr std::string_view kStates[] = {
    {}, {"\0\x53\x24\x45", 4}, {"\0\x53\x26\x45", 4}, {"\0\x53\x25\x45", 4}, {"\x40", 1}};

// The next step of the peer, as bytes on the wire.
void add_peer_step(Script& script, std::string& out, uint32_t& next_id) {
  uint8_t what = script.byte();
  uint16_t channel = what >> 7 & 1;
  uint8_t a = script.byte();
  switch (what % 10) {
    case 0:
      return add_frame(out, channel, amqp::Open{.container_id = "p", .max_frame_size = 512u + a});
    case 1:
      return add_frame(out, channel, amqp::Begin{.next_outgoing_id = a, .incoming_window = a % 5u});
    case 2:
      return add_frame(out, channel,
                       amqp::Attach{.name = a % 2 != 0 ? "x" : "y",
                                    .handle = a % 4u,
                                    .role = (a & 4) != 0,
                                    .snd_settle_mode = static_cast<uint8_t>(a >> 3 & 3),
                                    .rcv_settle_mode = static_cast<uint8_t>(a >> 5 & 1),
                                    .initial_delivery_count = a});
    case 3:
      return add_frame(out, channel,
                       amqp::Flow{.next_incoming_id = a % 3u,
                                  .incoming_window = script.byte(),
                                  .next_outgoing_id = a,
                                  .handle = a % 4u,
                                  .delivery_count = a,
                                  .link_credit = script.byte(),
                                  .drain = (a & 16) != 0,
                                  .echo = (a & 32) != 0});
    case 4: {
      amqp::Transfer t{.handle = a % 4u, .more = (a & 8) != 0, .aborted = (a & 64) != 0};
      if ((a & 4) != 0) {
        t.delivery_id = (a & 128) != 0 ? script.byte() : next_id++;
        t.delivery_tag = "t";
      }
      if ((a & 16) != 0) t.settled = true;
      return add_frame(out, channel, t, script.bytes(script.byte()));
    }
    case 5:
      return add_frame(out, channel,
                       amqp::Disposition{.role = (a & 1) != 0,
                                         .first = a >> 3u,
                                         .last = script.byte(),
                                         .settled = (a & 2) != 0,
                                         .state = kStates[a % std::size(kStates)]});
    case 6:
      return add_frame(out, channel, amqp::Detach{.handle = a % 4u, .closed = (a & 4) != 0});
    case 7:
      return add_frame(out, channel, amqp::End{});
    case 8:
      return add_frame(out, channel, amqp::Close{});
    default:
      out += script.bytes(a);  // whatever it is
  }
}

void take_own_step(Script& script, amqp::TestSide& side) {
  uint8_t what = script.byte();
  amqp::Link* link = side.link;
  switch (what % 8) {
    case 0:
      if (link != nullptr && !link->is_sender()) link->set_credit(script.byte());
      break;
    case 1:
      if (link != nullptr && link->is_sender() && link->can_send()) {
        std::string body(script.byte() * 8u, 'b');
        (void)link->send({.tag = "o", .is_settled = (what & 8) != 0, .head = body});
      }
      break;
    case 2:
      if (link != nullptr) {
        link->say(script.byte(), {.kind = amqp::StateKind::kAccepted}, (what & 8) != 0);
      }
      break;
    case 3:
      if (link != nullptr) link->detach((what & 8) != 0);
      break;
    case 4:
      if (side.session != nullptr) side.session->end();
      side.link = nullptr;
      break;
    case 5:
      if (link != nullptr && !link->is_sender()) link->request_drain();
      break;
    case 6:
      side.output.congested = (what & 8) != 0;
      if (!side.output.congested) side.engine.drained();
      break;
    default:
      if (link != nullptr && link->is_sender()) link->drained();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Script script(data, size);
  amqp::EngineLimits limits;
  limits.frame_bytes_max = 4096;
  limits.incoming_window = 16;
  limits.message_bytes_max = 8192;
  limits.partial_bytes_max = 16384;
  limits.unsettled_max = 32;
  limits.handle_max = 3;
  limits.links_max = 4;
  amqp::TestSide side(limits);
  side.accepts = script.byte() % 2 != 0;
  side.credit = script.byte() % 8;
  std::string incoming, kept;
  uint32_t next_id = 0;
  if (script.byte() % 4 != 0) {  // mostly as far as a session
    add_frame(incoming, 0, amqp::Open{.container_id = "p"});
    add_frame(incoming, 0, amqp::Begin{.next_outgoing_id = 0, .incoming_window = 100});
  }
  while (!script.at_end() && !side.is_finished) {
    if (script.byte() % 4 == 0) {
      take_own_step(script, side);
    } else {
      add_peer_step(script, incoming, next_id);
    }
    size_t segment = std::min<size_t>(incoming.size(), 1 + script.byte() * 4u);
    kept.append(incoming, 0, segment);
    incoming.erase(0, segment);
    if (kept.size() >= side.engine.wanted_bytes()) kept.erase(0, side.engine.receive(kept, 1));
    side.engine.flush();
    if (side.session != nullptr) {
      if (side.session->unsettled_in() > limits.unsettled_max) abort();
      if (side.session->unsettled_out() > limits.unsettled_max) abort();
    }
    if (side.engine.link_count() > limits.links_max) abort();
    if (side.output.bytes.size() > 1u << 20) side.output.bytes.clear();
  }
  if (!side.is_finished) (void)side.engine.tick(int64_t{1} << 60);
  return 0;
}
