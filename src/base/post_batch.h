// Posts of one thread, kept until all of them are made, so that each executor wakes up once and not
// once a task: a block of the journal may answer a hundred sessions.
//
//   PostBatch::Scope scope(batch);   // until it ends, posts of this thread are kept
//
// Executors that know of batches ask current() in their post(); others go on as ever. Tasks of one
// executor keep their order. Whoever opens a scope must not wait within it for what it posts.
// Thread: the one that opens the scope. The executors outlive it.
#pragma once
#include <functional>
#include <vector>

#include "base/executor.h"

namespace millstream::base {

class PostBatch {
 public:
  class Scope {
   public:
    explicit Scope(PostBatch& batch);
    ~Scope();
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    PostBatch& batch_;
    PostBatch* const outer_;
  };

  // The innermost open scope's of this thread, or null.
  static PostBatch* current();
  void add(Executor& executor, std::function<void()> task);

 private:
  void post_all();

  struct Group {
    Executor* executor = nullptr;
    std::vector<std::function<void()>> tasks;
  };
  std::vector<Group> groups_;  // kept with their room: there are as many as reactors
};

}  // namespace millstream::base
