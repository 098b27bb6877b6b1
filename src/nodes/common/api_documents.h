// The OpenAPI documents of one application and its libraries, by the path that nodes and
// descriptors name them with; each is read once, with the files it refers to. The loader fills in
// how files are found.
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
    std::string file;                  // for messages
    std::string path = {};             // in its project or library
    model::ProjectReader beside = {};  // what it refers to, by the path in the same project
  };
  // An error when there is no such file.
  using Reader = std::function<Result<File>(std::string_view path)>;
  explicit ApiDocuments(Reader reader) : reader_(std::move(reader)) {}

  Result<std::shared_ptr<const model::ApiDocument>> find(const std::string& path) {
    auto it = documents_.find(path);
    if (it != documents_.end()) return it->second;
    File file = MS_TRY(reader_(path));
    model::DocumentFile document;
    document.path = std::move(file.path);
    document.name = std::move(file.file);
    document.text = std::move(file.text);
    std::shared_ptr<const model::ApiDocument> loaded =
        MS_TRY(model::ApiDocument::load(std::move(document), std::move(file.beside)));
    documents_[path] = loaded;
    return loaded;
  }

 private:
  const Reader reader_;
  std::map<std::string, std::shared_ptr<const model::ApiDocument>> documents_;
};

}  // namespace millstream::nodes::common
