// What nodes need from the process that deploys them, by type: the HTTP listener, the compiled ESQL
// of the application, ... The engine itself knows none of them (DESIGN: flow knows no esql), so
// they travel here. The owner keeps every service alive longer than the flows. Thread: filled
// before deployment, then read only.
#pragma once
#include <map>
#include <typeindex>
#include <vector>

#include "flow/endpoint_registry.h"

namespace millstream::flow {

class Services {
 public:
  template <typename T>
  void set(T* service) {
    services_[std::type_index(typeid(T))] = service;
  }
  // For one whose entries change in one step at a redeployment.
  template <typename T>
  void set_registry(T* service) {
    set(service);
    registries_.push_back(service);
  }
  template <typename T>
  T* find() const {
    auto it = services_.find(std::type_index(typeid(T)));
    return it == services_.end() ? nullptr : static_cast<T*>(it->second);
  }
  const std::vector<EndpointRegistry*>& registries() const { return registries_; }

 private:
  std::vector<EndpointRegistry*> registries_;
  std::map<std::type_index, void*> services_;
};

}  // namespace millstream::flow
