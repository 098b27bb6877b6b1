// The server's side of the SASL layer (5.3): frames around wire::SaslServer.
// The last word of SCRAM goes as a challenge of its own, which the client answers with nothing:
// clients of AMQP look for it there, not in the outcome.
// Thread: the connection's. It may be destroyed at any time.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "wire/amqp/codec/writer.h"
#include "wire/amqp/engine/frame.h"
#include "wire/common/broker.h"
#include "wire/common/transport.h"

namespace millstream::wire::amqp {

class SaslExchange {
 public:
  static constexpr uint32_t kFrameBytesMax = 4'096;  // 512 by the standard; tokens may be longer
  static constexpr int kStepsMax = 8;

  // The outcome has been sent. Refused: `why` for the log.
  using Done = std::function<void(bool is_accepted, Login login, std::string why)>;
  SaslExchange(Broker& broker, Caller caller, base::Executor& executor, Transport& transport,
               Done done);

  // Our header and mechanisms.
  void start();
  enum class Result : uint8_t { kMore, kWaits, kBroken };
  // One frame. Waits: nothing is to be received until `resumed` is called.
  Result receive(const Frame& frame);
  void set_resumed(std::function<void()> resumed) { resumed_ = std::move(resumed); }

 private:
  enum class Outcome : uint8_t { kOk = 0, kAuth = 1, kSystem = 2 };
  Result on_response(std::string_view response);
  void on_step(SaslServer::Step step);
  template <typename T>
  void send(const T& body);
  void finish(Outcome outcome, Login login, std::string why);

  Broker& broker_;
  Caller caller_;
  base::Executor& executor_;
  Transport& transport_;
  Done done_;
  std::function<void()> resumed_;
  std::unique_ptr<SaslServer> server_;
  Writer writer_;
  int steps_ = 0;
  bool is_waiting_ = false;
  bool is_in_step_ = false;
  bool is_finished_ = false;
  bool has_last_word_ = false;  // accepted; the client's empty answer comes
  Login login_;
};

}  // namespace millstream::wire::amqp
