// One MQGET under way: looks, waits, reads what is not in memory, and takes. Most end within the
// call; the rest goes on in tasks on the connection's executor and ends with the callback.
//
// A message that it takes is locked for it from the moment it was found, by itself or by the queue
// that granted it; whatever ends the operation early gives it back to its place.
// Thread: the connection's executor, but for granted() and read(), which only post.
#pragma once
#include <map>
#include <memory>

#include "queue/core/connection.h"

namespace millstream::queue {

class GetOperation final : public Waiter,
                           public ReadDone,
                           public std::enable_shared_from_this<GetOperation> {
 public:
  GetOperation(Connection& connection, std::shared_ptr<Connection::Handle> handle, GetCall& call,
               Done done);
  // The outcome, or pending.
  Outcome start();
  // By the application: as if the wait interval were over. False: too late.
  bool cancel();
  // By close and disconnect: ends it whatever it does.
  void end(const Outcome& outcome);
  void report(Connection& connection, const Outcome& outcome) const;
  Hobj handle_id() const { return handle_->id; }

 private:
  // By its options; whether SYNCPOINT_IF_PERSISTENT means it depends on the message.
  bool is_in_unit() const {
    return (call_->options & (mqi::gmo::kSyncpoint | mqi::gmo::kSyncpointIfPersistent)) != 0;
  }
  bool browses() const { return (call_->options & mqi::gmo::kBrowseAny) != 0; }
  Outcome check() const;
  Outcome prepare();
  void prepare_selector();
  void use_selector_index();
  // Looks once; none there: waits or 2033.
  Outcome look();
  Outcome look_under_cursor();
  bool is_under_cursor() const {
    return (call_->options & (mqi::gmo::kUnderCursor | mqi::gmo::kBrowseUnderCursor)) != 0;
  }
  bool is_inhibited() const;  // the queue or the alias; under the queue's lock
  Outcome wait_or_fail(std::unique_lock<std::mutex>& lock);
  Outcome browse(Slot slot, std::unique_lock<std::mutex>& lock);
  void mark(Sequence sequence);
  // logical.cc: groups, and segments taken as one message.
  Outcome prepare_logical();
  bool is_first_segment(Slot slot) const;
  Outcome whole(Slot first, std::unique_lock<std::mutex>& lock);
  Entry whole_entry(const std::vector<Slot>& slots) const;
  Outcome take_whole(const std::vector<Slot>& slots, const MessageRef& message,
                     std::unique_lock<std::mutex>& lock);
  // `slot` is locked for us.
  Outcome take(Slot slot);
  Outcome finish_take(Slot slot, const Entry& entry, const MessageRef& message);
  // The outcome of a get in a unit, now or after a start's mark is durable.
  Outcome when_marked(const Outcome& outcome);
  // body_form.cc: the message as this get wants it; the same when nothing differs.
  void prepare_form();
  const MessageRef& formed(const MessageRef& found);
  Outcome converted(const Outcome& outcome);
  // poison.cc: what other protocols' getters cannot handle themselves.
  bool is_poison(const Entry& entry) const;
  Outcome move_poison(Slot slot, const Entry& entry, const MessageRef& message);
  // Reads the entry's message; goes on with look() or take().
  Outcome read(Slot slot, const Entry& entry, std::unique_lock<std::mutex>& lock);
  void read(Result<StoredMessage> message) override;
  void granted(Slot slot, Sequence sequence) override;
  // Fills the caller's structure; 2079 and 2080 by the size of its buffer.
  Outcome deliver(const Entry& entry, const MessageRef& message);
  void give_back();
  void on_granted(Slot slot, Sequence sequence);
  void on_read(Result<StoredMessage> message);
  void on_deadline();
  Outcome unlock_message();
  void complete(const Outcome& outcome);
  Outcome finish(const Outcome& outcome);

  Connection* connection_;  // null when ended
  QueueManager& manager_;
  base::Executor& executor_;
  std::shared_ptr<Connection::Handle> handle_;
  QueueRef queue_;
  GetCall* call_;
  Done done_;
  Position from_;
  Position start_;
  std::string selector_id_;  // that the selector wants to be the correlation identifier
  bool is_gathering_ = false;
  std::map<Sequence, MessageRef> parts_;  // segments that had to be read
  Loaded loaded_;
  bool has_form_ = false;  // properties may have to go into the body, or away
  MessageRef formed_from_;
  MessageRef formed_;
  int32_t wanted_encoding_ = 0;  // MQGMO_CONVERT
  int32_t wanted_ccsid_ = 0;
  uint64_t marker_ = 0;
  Sequence held_ = 0;  // the message that is locked for us
  Sequence reading_ = 0;
  std::shared_ptr<GetOperation> reading_self_;
  bool has_no_way_out_ = false;  // of a poison message
  bool is_async_ = false;
  bool is_waiting_ = false;
  int64_t deadline_ns_ = 0;
  base::Executor::TimerId timer_ = 0;
};

}  // namespace millstream::queue
