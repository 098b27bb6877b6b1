// What sessions of AMQP of one queue manager share: which containers are connected that may be so
// only once.
// Thread: any.
#pragma once
#include <memory>
#include <mutex>
#include <string>
#include <unordered_set>

namespace millstream::wire::amqp {

class SharedState {
 public:
  // False: another connection has it.
  bool claim_container(const std::string& name);
  void release_container(const std::string& name);

 private:
  std::mutex mutex_;  // leaf
  std::unordered_set<std::string> containers_;
};

}  // namespace millstream::wire::amqp
