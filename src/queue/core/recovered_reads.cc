// After a start: reads the headers that say more than the index does.
#include "queue/core/message_codec.h"
#include "queue/core/queue_manager.h"

namespace millstream::queue {
namespace {

class RecoveredRead final : public ReadDone {
 public:
  explicit RecoveredRead(std::function<void(MessageRef)> then) : then_(std::move(then)) {}
  void read(Result<StoredMessage> stored) override {
    std::unique_ptr<RecoveredRead> self(this);
    if (!stored.ok()) return;  // the store says so itself, and fails
    StoredMessage bytes = std::move(stored).take_value();
    auto message = decode_message(bytes.header, std::move(bytes.body));
    if (message.ok()) then_(std::move(message).take_value());
  }

 private:
  std::function<void(MessageRef)> then_;
};

}  // namespace

void QueueManager::read_headers(std::vector<Effects::Read> reads) {
  for (Effects::Read& read : reads) {
    auto* done = new RecoveredRead([this, read](MessageRef message) {
      bool is_delayed = message->due_gmt_ms != 0;
      {
        std::lock_guard lock(read.queue->mutex());
        const mqi::MessageDescriptor& md = message->md;
        read.queue->set_place(read.sequence,
                              {md.sequence_number, md.offset, md.flags, md.original_length});
      }
      if (!is_delayed) return;
      options_.executor->post(while_alive([this, read, due = message->due_gmt_ms] {
        schedule_delayed(read.queue, read.sequence, due);
      }));
    });
    store_->read(read.location, *done);
  }
}

}  // namespace millstream::queue
