#include "queue/core/object_table.h"

namespace millstream::queue {

NamedQueueRef ObjectTable::find(std::string_view name) const {
  std::shared_lock lock(mutex_);
  auto found = queues_.find(name);
  return found == queues_.end() ? nullptr : found->second;
}

bool ObjectTable::add(NamedQueueRef object) {
  std::unique_lock lock(mutex_);
  std::string name = object->name;
  return queues_.emplace(std::move(name), std::move(object)).second;
}

void ObjectTable::replace(NamedQueueRef object) {
  std::unique_lock lock(mutex_);
  NamedQueueRef& place = queues_[object->name];
  if (place != nullptr) {
    place->inhibits_put = object->inhibits_put.load();
    place->inhibits_get = object->inhibits_get.load();
  }
  place = std::move(object);
}

void ObjectTable::remove(std::string_view name) {
  std::unique_lock lock(mutex_);
  auto found = queues_.find(name);
  if (found != queues_.end()) queues_.erase(found);
}

std::vector<NamedQueueRef> ObjectTable::all() const {
  std::shared_lock lock(mutex_);
  std::vector<NamedQueueRef> out;
  out.reserve(queues_.size());
  for (const auto& [name, object] : queues_) out.push_back(object);
  return out;
}

std::shared_ptr<const ProcessSettings> ObjectTable::find_process(std::string_view name) const {
  std::shared_lock lock(mutex_);
  auto found = processes_.find(name);
  return found == processes_.end() ? nullptr : found->second;
}

void ObjectTable::set_process(std::string_view name,
                              std::shared_ptr<const ProcessSettings> settings) {
  std::unique_lock lock(mutex_);
  if (settings == nullptr) {
    auto found = processes_.find(name);
    if (found != processes_.end()) processes_.erase(found);
    return;
  }
  processes_[std::string(name)] = std::move(settings);
}

}  // namespace millstream::queue
