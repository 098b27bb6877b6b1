// Who may do what with which object: asked at open, and once a connection. The queue manager has no
// rules of its own; whoever has (users, authority records) gives it an AccessControl.
// Thread: any; an answer must not block.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

namespace millstream::queue {

enum Right : uint32_t {
  kRightConnect = 1,
  kRightGet = 2,
  kRightPut = 4,
  kRightBrowse = 8,
  kRightInquire = 0x10,
  kRightSet = 0x20,
  kRightPassContext = 0x40,
  kRightSetContext = 0x80,
  kRightPublish = 0x100,
  kRightSubscribe = 0x200,
  kRightAlternateUser = 0x400,
  kRightAdmin = 0x800,
  kRightPassIdentity = 0x1000,  // the identity context alone; the two above are for all context
  kRightSetIdentity = 0x2000,
  kRightDelete = 0x4000,
};

struct AccessRequest {
  std::string_view user;
  int32_t object_type = 1;  // MQOT_
  std::string_view object;  // for topics: the topic string
  uint32_t rights = 0;      // all of them
};

class AccessControl {
 public:
  virtual ~AccessControl() = default;
  // Empty: allowed. Else which rule refused it, for the log (the caller gets 2035).
  virtual std::string refuses(const AccessRequest& request) const = 0;
};

}  // namespace millstream::queue
