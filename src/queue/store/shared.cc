#include "queue/store/shared.h"

#include "base/assert.h"
#include "queue/store/errors_gen.h"
#include "queue/store/format.h"

namespace millstream::queue {

Status check_options(const StoreOptions& options) {
  auto require = [](const char* name, uint64_t value, uint64_t min, uint64_t max) -> Status {
    if (value >= min && value <= max) return {};
    return base::make_error(
        store::errors::kStoreOption,
        {name, static_cast<int64_t>(value), static_cast<int64_t>(min), static_cast<int64_t>(max)});
  };
  constexpr uint64_t kPage = store::kPageBytes;
  MS_TRY(require("block_bytes_max", options.block_bytes_max, 2 * kPage, 16ull << 20));
  MS_TRY(require("chunk_bytes", options.chunk_bytes, 1024, options.block_bytes_max - 256));
  MS_TRY(require("segment_bytes", options.segment_bytes, options.block_bytes_max, 1ull << 30));
  MS_TRY(require("first_segment_bytes", options.first_segment_bytes, options.block_bytes_max,
                 options.segment_bytes));
  MS_TRY(require("spill_file_bytes", options.spill_file_bytes, 4 * kPage, 1ull << 30));
  MS_TRY(require("spill_block_bytes", options.spill_block_bytes, kPage, 16ull << 20));
  MS_TRY(require("segments_spare", options.segments_spare, 1, 1024));
  for (const uint64_t size : {options.block_bytes_max, options.segment_bytes,
                              options.first_segment_bytes, options.spill_file_bytes}) {
    MS_TRY(require("a size modulo 4096", size % kPage, 0, 0));
  }
  return {};
}

}  // namespace millstream::queue

namespace millstream::queue::store {

void StoreShared::fail(const Status& status) {
  MS_ASSERT(!status.ok());
  if (has_failed.exchange(true)) return;
  std::lock_guard lock(tell_mutex);
  listener.failed(status.error());
}

void StoreShared::set_workers(base::Worker* log, base::Worker* checkpoint) {
  std::lock_guard lock(wake_mutex_);
  log_worker_ = log;
  checkpoint_worker_ = checkpoint;
}

void StoreShared::wake_log() {
  std::lock_guard lock(wake_mutex_);
  if (log_worker_) log_worker_->wake();
}

void StoreShared::wake_checkpoint() {
  std::lock_guard lock(wake_mutex_);
  if (checkpoint_worker_) checkpoint_worker_->wake();
}

void StoreShared::wake_checkpoint_at(int64_t deadline_ns) {
  std::lock_guard lock(wake_mutex_);
  if (checkpoint_worker_) checkpoint_worker_->wake_at(deadline_ns);
}

Status StoreShared::failure(const std::string& file, uint64_t offset, Status cause) {
  // One after the other: arguments of one call have no order.
  Status outer = base::make_error(errors::kStoreFailed,
                                  {file, static_cast<int64_t>(offset), cause.error().text});
  return base::wrap_error(std::move(outer), std::move(cause));
}

}  // namespace millstream::queue::store
