// The local unit of work of one message. Resource managers (queues, databases) join it; the input
// node ends it. Coordination is one-phase, in the order of joining: a participant whose commit
// fails makes the later ones roll back, and the error says so. Thread: the fiber of the message.
#pragma once
#include <memory>
#include <vector>

#include "base/result.h"

namespace millstream::flow {

// One resource manager's part of the work of one message.
class Participant {
 public:
  virtual ~Participant() = default;
  virtual std::string_view name() const = 0;  // for errors and the log
  // Makes the work durable; may suspend the fiber. After an error nothing of it is done.
  virtual Status commit() = 0;
  // Undoes the work; cannot fail, because nobody could act on it.
  virtual void rollback() = 0;
};

class UnitOfWork {
 public:
  // Joins once; the participant must outlive the end of the unit of work.
  void enlist(Participant* participant);
  // Joins one that lives as long as the unit of work, to be found by `key`.
  Participant& enlist_owned(const void* key, std::unique_ptr<Participant> participant);
  Participant* find(const void* key) const;  // null when none joined under it
  // Either ends the unit of work: the participants are forgotten.
  Status commit();
  void rollback();
  bool is_empty() const { return participants_.empty(); }

 private:
  struct Owned {
    const void* key;
    std::unique_ptr<Participant> participant;
  };
  std::vector<Participant*> participants_;
  std::vector<Owned> owned_;
};

}  // namespace millstream::flow
