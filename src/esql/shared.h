// SHARED variables of one flow: values and trees that outlive messages (spec A2, D). Those of a
// schema are one a flow, those of a module one a node: each node has a block of its own.
//
// One lock covers the store. An Execution takes it when a statement first touches a SHARED variable
// and gives it back at the end of that statement, so a statement is atomic; it is never held while
// a fiber can suspend (calls of routines let go of it, and a SELECT that goes through very many
// rows now and then), so a plain mutex does. Memory: old values
// stay in the arena until it holds twice what is alive; then all is copied into a fresh one.
// References into the trees that live longer than a statement pin the arena; while there are pins
// nothing is moved. What leaves the store is copied into the message's arena.
// An initial value is stored when it is complete, so nobody meets a variable without one. When its
// expression calls a routine, the lock is open meanwhile: messages that arrive then compute it too,
// and the first to finish gives the value. Thread: any.
#pragma once
#include <memory>
#include <mutex>
#include <vector>

#include "esql/exec.h"

namespace millstream::esql {

class SharedStore {
 public:
  static constexpr size_t kCompactAboveBytes = 256 * 1024;

  SharedStore(size_t slot_count, std::shared_ptr<const base::NameTable> table);

  // A block for the modules of one more node; its number goes into Invocation::shared_node. A flow
  // of one node may do without: block 0 serves schema and module.
  uint32_t add_node();

  void lock() { mutex_.lock(); }
  void unlock();  // compacts when there is much garbage and nobody holds references
  // With the lock held:
  void pin() { ++pins_; }
  void unpin() { --pins_; }
  Slot& slot(const ast::Variable& v, uint32_t node) {
    return blocks_[v.module ? node : kSchemaBlock][v.slot];
  }
  tree::TreeContext& context() { return generation_->context; }
  void set_scalar(Slot& slot, const value::Value& v);
  // An empty tree for a ROW variable.
  void make_row(Slot& slot, std::string_view name);

  size_t used_bytes() const { return generation_->arena.used_bytes(); }

 private:
  struct Generation {
    explicit Generation(std::shared_ptr<const base::NameTable> table)
        : context(arena, std::move(table)) {}
    base::Arena arena;
    tree::TreeContext context;
  };
  static constexpr uint32_t kSchemaBlock = 0;
  void compact();

  std::mutex mutex_;
  std::shared_ptr<const base::NameTable> table_;  // shared by the deployment
  std::unique_ptr<Generation> generation_;
  const size_t slot_count_;
  std::vector<std::vector<Slot>> blocks_;  // by node; each slot has one address for good
  size_t pins_ = 0;
  size_t alive_bytes_ = 0;  // after the last compaction
};

}  // namespace millstream::esql
