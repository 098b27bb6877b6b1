// A message for tests of selectors: properties by name, fields by id.
#pragma once
#include <map>
#include <string>

#include "mqi/properties.h"

namespace millstream::queue::selector {

struct SelectorTestSource final : mqi::PropertySource {
  std::map<std::string, mqi::PropertyView, std::less<>> named;
  std::map<mqi::PropertyId, mqi::PropertyView> fields;
  mqi::PropertyView find_property(mqi::PropertyId id, std::string_view name) const override {
    if (id != mqi::PropertyId::kNamed) {
      auto f = fields.find(id);
      return f == fields.end() ? mqi::PropertyView::null() : f->second;
    }
    auto p = named.find(name);
    return p == named.end() ? mqi::PropertyView::null() : p->second;
  }
};

}  // namespace millstream::queue::selector
