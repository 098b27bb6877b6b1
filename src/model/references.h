// $ref of OpenAPI documents: within the document, and into other files of its project, which are
// read when something refers to them.
//
// A pointer names a place of any of them: "#/components/schemas/Order" is in the document itself,
// "models/order.json#/Order" in that file of the project; a reference is relative to the file it
// stands in. Nothing outside the project is read: no URLs, no absolute paths, no way out by "..".
// Files may refer to each other in circles. Limits: the constants of References.
// Lifetime: values and files live as long as the References. Thread: resolve from one; the rest
// any.
#pragma once
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/json_value.h"
#include "base/result.h"

namespace millstream::model {

namespace json = base::json;

// What a project has at a path ("models/order.json"); an error when there is nothing.
struct ProjectFile {
  std::string text;
  std::string name;  // for messages
};
using ProjectReader = std::function<Result<ProjectFile>(const std::string& path)>;

struct DocumentFile {
  std::string path;  // in the project; empty where nobody said
  std::string name;  // for messages while loading
  std::string text;
  bool is_yaml = false;
  int depth = 0;  // of the document 0, of what it names 1, ...
  json::Value root;

  const std::string& shown_name() const { return path.empty() ? name : path; }
};

// A line of the document or of a file it refers to.
struct DocumentPlace {
  const DocumentFile* file = nullptr;
  uint32_t line = 0;

  std::string text() const;  // "orders.yaml:57", "" when unknown
  base::Position position() const;
};

class References {
 public:
  static constexpr int kChainMax = 50;      // references to references
  static constexpr size_t kFilesMax = 500;  // beside the document
  static constexpr int kFileDepthMax = 50;  // files that are named by files that are named by ...
  static constexpr size_t kBytesMax = 16u << 20;  // of all files beside the document

  // `document.root` may come later, before resolve(). Without a reader no other file is read.
  explicit References(DocumentFile document, ProjectReader reader = {});
  References(const References&) = delete;
  References& operator=(const References&) = delete;

  // `v` itself when it is no reference; `pointer` becomes that of the target.
  Result<const json::Value*> resolve(const json::Value& v, std::string& pointer);
  // One reference of the chain: `reference` is the text of a $ref that stands at `pointer`.
  Result<const json::Value*> step(const json::Value& reference, std::string& pointer);
  const json::Value& root() const { return files_[0]->root; }
  DocumentPlace place_of(const json::Value& v, const std::string& pointer) const;
  // The document, then the others in the order they were read.
  const std::vector<std::unique_ptr<DocumentFile>>& files() const { return files_; }
  const DocumentFile& file_of(std::string_view pointer) const;

 private:
  Result<const DocumentFile*> open(const std::string& path, const json::Value& reference,
                                   const std::string& pointer);
  Status fail(const json::Value& reference, const std::string& pointer, std::string_view why) const;

  const ProjectReader reader_;
  std::vector<std::unique_ptr<DocumentFile>> files_;
  std::map<std::string, const DocumentFile*, std::less<>> by_path_;
  size_t bytes_ = 0;
};

std::string pointer_step(const std::string& pointer, std::string_view name);  // escapes ~ and /

// Reads JSON when the text begins with '{' or '[', else YAML.
Status parse_document_file(DocumentFile& file);

// The path of the project that `reference` (without a fragment) means in the file `from`:
// "../a.json" in "api/b.yaml" is "a.json". Empty when it is refused; `why` then says the reason.
std::string join_reference(std::string_view from, std::string_view reference, const char*& why);

}  // namespace millstream::model
