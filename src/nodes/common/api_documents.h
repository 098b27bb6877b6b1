// The OpenAPI documents of one application and its libraries, by the path that nodes and
// descriptors name them with; each is read once. The loader fills in how files are found.
// Lifetime: the application's. Thread: one, while loading; documents any.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "model/openapi.h"

namespace millstream::nodes::common {

class ApiDocuments {
 public:
  struct File {
    std::string text;
    std::string file;  // for messages
  };
  // An error when there is no such file.
  using Reader = std::function<Result<File>(std::string_view path)>;
  explicit ApiDocuments(Reader reader) : reader_(std::move(reader)) {}

  Result<std::shared_ptr<const model::ApiDocument>> find(const std::string& path) {
    auto it = documents_.find(path);
    if (it != documents_.end()) return it->second;
    File file = MS_TRY(reader_(path));
    std::shared_ptr<const model::ApiDocument> document =
        MS_TRY(model::ApiDocument::parse(std::move(file.text), file.file));
    documents_[path] = document;
    return document;
  }

 private:
  const Reader reader_;
  std::map<std::string, std::shared_ptr<const model::ApiDocument>> documents_;
};

}  // namespace millstream::nodes::common
