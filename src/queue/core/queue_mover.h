// Moves the messages of one queue to another, one unit of work of a hundred after another, with
// their context, identifiers and order. What cannot be put stays where it is.
// Thread: the manager's executor; destroys itself when it has told the result.
#pragma once
#include <memory>
#include <string>

#include "queue/core/connection.h"
#include "queue/objects/admin_target.h"

namespace millstream::queue {

class QueueMover : public std::enable_shared_from_this<QueueMover> {
 public:
  static void start(QueueManager& manager, std::string user, std::string from, std::string to,
                    objects::AdminDone done);

 private:
  static constexpr int kUnitMessages = 100;
  QueueMover(QueueManager& manager, std::string from, std::string to, objects::AdminDone done)
      : manager_(manager), from_(std::move(from)), to_(std::move(to)), done_(std::move(done)) {}
  void open(std::string user);
  void next();
  void got(const Outcome& outcome);
  void committed(const Outcome& outcome, bool is_last);
  void finish(int32_t reason);

  QueueManager& manager_;
  std::string from_;
  std::string to_;
  objects::AdminDone done_;
  std::shared_ptr<Connection> connection_;
  Hobj in_ = kNoObject;
  Hobj out_ = kNoObject;
  GetCall get_;
  PutCall put_;
  int in_unit_ = 0;
  int64_t moved_ = 0;
};

}  // namespace millstream::queue
