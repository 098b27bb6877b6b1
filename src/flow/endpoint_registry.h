// A register in which nodes make themselves known when they start: URLs of the HTTP listener, names
// of callable flows. Between begin_change() and end_change() entries come and go as always, and
// conflicts are found, but who looks something up sees the state from before; end_change() shows
// all of it in one step. A redeployment stops the old version and starts the new one in between,
// so that no message meets a gap. The process makes it known with Services::set_registry().
// Thread: one changes at a time; look-ups by any, all the while.
#pragma once

namespace millstream::flow {

class EndpointRegistry {
 public:
  virtual void begin_change() = 0;
  virtual void end_change() = 0;

 protected:
  ~EndpointRegistry() = default;
};

}  // namespace millstream::flow
