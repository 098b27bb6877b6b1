// Branches of global transactions: started and ended by connections, prepared, committed, rolled
// back, recovered and forgotten by xid from any connection, with the return codes of XA. A prepared
// branch survives its connection and a restart, and is listed for the operator, who may decide it;
// the outcome is then kept until the transaction manager says forget.
//
// Xids are opaque bytes: format (4), length of gtrid (4), of bqual (4), both; at most 140.
// A branch without persistent content is prepared in memory only: a restart forgets it, as it
// forgets its messages.
// Thread: any; a branch that is associated belongs to its connection. Lock: before those of queues.
#pragma once
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "queue/core/unit_of_work.h"

namespace millstream::queue {

class Connection;

namespace xa {
inline constexpr int32_t kOk = 0, kReadOnly = 3, kHeuristicMixed = 5, kHeuristicRollback = 6,
                         kHeuristicCommit = 7, kRolledBack = 100, kErrorAsync = -2,
                         kErrorFailed = -3, kErrorUnknown = -4, kErrorInvalid = -5,
                         kErrorProtocol = -6, kErrorGone = -7, kErrorDuplicate = -8,
                         kErrorOutside = -9;
inline constexpr int32_t kPending = INT32_MIN;
// Flags.
inline constexpr int32_t kNoFlags = 0, kJoin = 0x00200000, kResume = 0x08000000,
                         kSuccess = 0x04000000, kFail = 0x20000000, kSuspend = 0x02000000,
                         kOnePhase = 0x40000000;
inline constexpr size_t kXidBytesMax = 140;
}  // namespace xa

// Called on the connection's executor, and only after a call returned xa::kPending.
using XaDone = std::function<void(int32_t)>;

struct BranchStatus {
  std::string xid;
  bool is_prepared = false;
  int32_t heuristic = 0;  // xa::kHeuristicCommit or -Rollback
  size_t puts = 0;
  size_t gets = 0;
  size_t lost = 0;  // of queues that are no more: found at a start
};

class XaBranches {
 public:
  explicit XaBranches(QueueManager& manager) : manager_(manager) {}

  // Associates the branch with the connection, whose unit becomes the branch's.
  int32_t start(uint64_t connection, std::string_view xid, int32_t flags, UnitOfWork& unit);
  int32_t end(uint64_t connection, std::string_view xid, int32_t flags, UnitOfWork& unit);
  int32_t prepare(std::string_view xid, base::Executor& executor, XaDone done);
  int32_t commit(std::string_view xid, bool is_one_phase, base::Executor& executor, XaDone done);
  int32_t rollback(std::string_view xid, base::Executor& executor, XaDone done);
  int32_t forget(std::string_view xid, base::Executor& executor, XaDone done);
  std::vector<std::string> recover() const;
  std::vector<BranchStatus> status() const;
  // By the operator: decides a prepared branch and keeps that it did.
  int32_t decide(std::string_view xid, bool commits, base::Executor& executor, XaDone done);
  // The connection has gone: what it did not prepare is backed out.
  void abandon(uint64_t connection);

  // At start.
  void recovered(const RedoUnit& unit, std::span<const Location> puts);
  void recovered_heuristic(std::string_view xid, uint8_t outcome);

 private:
  enum class State : uint8_t { kActive, kIdle, kPreparing, kPrepared, kDeciding, kHeuristic };
  struct Branch {
    State state = State::kActive;
    uint64_t connection = 0;
    UnitOfWork unit;
    bool is_stored = false;
    int32_t heuristic = 0;
    size_t lost = 0;
  };
  using Lock = std::unique_lock<std::mutex>;
  int32_t commit_prepared(const std::string& xid, UnitOfWork unit, bool is_stored,
                          base::Executor& executor, XaDone done);
  int32_t rollback_prepared(const std::string& xid, UnitOfWork unit, bool is_stored,
                            base::Executor& executor, XaDone done);
  int32_t append(RedoKind kind, const std::string& xid, uint8_t outcome, base::Executor& executor,
                 XaDone done, std::function<void(UnitOfWork)> durable = nullptr);

  QueueManager& manager_;
  mutable std::mutex mutex_;
  std::map<std::string, Branch, std::less<>> branches_;
};

}  // namespace millstream::queue
