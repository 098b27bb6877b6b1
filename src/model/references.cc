#include "model/references.h"

#include <algorithm>

#include "base/ascii.h"
#include "base/percent.h"
#include "model/errors_gen.h"
#include "model/openapi.h"

namespace millstream::model {
namespace {

constexpr uint32_t kFileDepthOfJson = 200;

// ~1 and ~0 of a JSON pointer in a URI fragment.
std::string decode_token(std::string_view token) {
  const std::string text = base::percent_decode(token);
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '~' && i + 1 < text.size() && (text[i + 1] == '0' || text[i + 1] == '1')) {
      out += text[++i] == '0' ? '~' : '/';
    } else {
      out += text[i];
    }
  }
  return out;
}

const json::Value* find_step(const json::Value& at, const std::string& token) {
  if (at.is_object()) return at.find(token);
  if (!at.is_array() || token.empty() || token.size() > 9) return nullptr;
  size_t index = 0;
  for (char c : token) {
    if (c < '0' || c > '9') return nullptr;
    index = index * 10 + static_cast<size_t>(c - '0');
  }
  return index < at.items().size() ? &at.items()[index] : nullptr;
}

bool has_uri_scheme(std::string_view s) {
  const size_t colon = s.find(':');
  if (colon == std::string_view::npos || colon == 0) return false;
  return std::all_of(s.begin(), s.begin() + static_cast<std::ptrdiff_t>(colon), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '+' ||
           c == '-' || c == '.';
  });
}

}  // namespace

std::string pointer_step(const std::string& pointer, std::string_view name) {
  std::string out = pointer + "/";
  for (char c : name) {
    if (c == '~') {
      out += "~0";
    } else if (c == '/') {
      out += "~1";
    } else {
      out += c;
    }
  }
  return out;
}

std::string DocumentPlace::text() const {
  if (!file || !line) return {};
  return file->shown_name() + ":" + std::to_string(line);
}

base::Position DocumentPlace::position() const {
  if (!file) return {};
  return {file->name, line, line ? 1u : 0u};
}

Status parse_document_file(DocumentFile& file) {
  std::string_view body = file.text;
  if (body.starts_with("\xEF\xBB\xBF")) body.remove_prefix(3);
  const std::string_view start = base::trim_white_space(body);
  file.is_yaml = !start.starts_with('{') && !start.starts_with('[');
  file.root = file.is_yaml
                  ? MS_TRY(yaml_to_json(body, file.name))
                  : MS_TRY(json::parse(body, {.depth_max = kFileDepthOfJson, .file = file.name}));
  return {};
}

std::string join_reference(std::string_view from, std::string_view reference, const char*& why) {
  auto refuse = [&why](const char* reason) {
    why = reason;
    return std::string();
  };
  if (has_uri_scheme(reference) || reference.starts_with("//")) {
    return refuse("only files of the project are read, nothing from a URL");
  }
  if (reference.starts_with('/')) {
    return refuse("the path is absolute; it has to be relative to this file");
  }
  if (reference.find('?') != std::string_view::npos) return refuse("a file has no query");
  std::vector<std::string> parts;
  auto add = [&parts](std::string part) {
    if (part.empty() || part == ".") return true;
    if (part != "..") {
      parts.push_back(std::move(part));
      return true;
    }
    if (parts.empty()) return false;
    parts.pop_back();
    return true;
  };
  const size_t folder = from.rfind('/');
  for (size_t at = 0; folder != std::string_view::npos && at < folder;) {
    const size_t end = std::min(from.find('/', at), folder);
    add(std::string(from.substr(at, end - at)));
    at = end + 1;
  }
  for (size_t at = 0; at <= reference.size();) {
    const size_t end = std::min(reference.find('/', at), reference.size());
    std::string part = base::percent_decode(reference.substr(at, end - at));
    at = end + 1;
    if (part.find_first_of(std::string_view("/\\#\0", 4)) != std::string::npos) {
      return refuse("the name of the file has a character that no file of a project has");
    }
    if (!add(std::move(part))) return refuse("it leads out of the project");
  }
  if (parts.empty() || reference.ends_with('/')) return refuse("it names a folder");
  std::string out;
  for (const std::string& part : parts) out += (out.empty() ? "" : "/") + part;
  return out;
}

References::References(DocumentFile document, ProjectReader reader) : reader_(std::move(reader)) {
  files_.push_back(std::make_unique<DocumentFile>(std::move(document)));
  by_path_[files_[0]->path] = files_[0].get();
}

const DocumentFile& References::file_of(std::string_view pointer) const {
  const std::string_view path = pointer.substr(0, pointer.find('#'));
  if (path.empty()) return *files_[0];
  const auto known = by_path_.find(path);
  return known == by_path_.end() ? *files_[0] : *known->second;
}

DocumentPlace References::place_of(const json::Value& v, const std::string& pointer) const {
  return {&file_of(pointer), v.line()};
}

Status References::fail(const json::Value& reference, const std::string& pointer,
                        std::string_view why) const {
  return base::make_error_at(errors::kBadReference, place_of(reference, pointer).position(),
                             {pointer, reference.as_string(), why});
}

Result<const DocumentFile*> References::open(const std::string& path, const json::Value& reference,
                                             const std::string& pointer) {
  if (const auto known = by_path_.find(path); known != by_path_.end()) return known->second;
  if (!reader_) return fail(reference, pointer, "it names another file");
  if (files_.size() > kFilesMax) {
    return base::make_error_at(errors::kApiDocumentTooLarge,
                               place_of(reference, pointer).position(),
                               {kFilesMax, "other files that it refers to"});
  }
  auto file = std::make_unique<DocumentFile>();
  file->depth = file_of(pointer).depth + 1;
  if (file->depth > kFileDepthMax) {
    return base::make_error_at(errors::kApiDocumentTooLarge,
                               place_of(reference, pointer).position(),
                               {kFileDepthMax, "files that refer to each other in a row"});
  }
  Result<ProjectFile> read = reader_(path);
  if (!read.ok()) {
    return base::wrap_error(fail(reference, pointer, "the file cannot be read"),
                            std::move(read).take_status());
  }
  bytes_ += read.value().text.size();
  if (bytes_ > kBytesMax) {
    return base::make_error_at(errors::kApiDocumentTooLarge,
                               place_of(reference, pointer).position(),
                               {kBytesMax, "bytes in the files that it refers to"});
  }
  file->path = path;
  file->name = std::move(read.value().name);
  file->text = std::move(read.value().text);
  MS_TRY(parse_document_file(*file));
  by_path_[path] = file.get();
  files_.push_back(std::move(file));
  return files_.back().get();
}

Result<const json::Value*> References::step(const json::Value& reference, std::string& pointer) {
  const std::string& text = reference.as_string();
  const size_t hash = std::min(text.find('#'), text.size());
  const std::string fragment = text.substr(std::min(hash + 1, text.size()));
  if (!fragment.empty() && fragment[0] != '/') {
    return fail(reference, pointer, "only JSON pointers are supported after the #");
  }
  const DocumentFile* file = &file_of(pointer);
  if (hash > 0) {
    const char* why = nullptr;
    const std::string path = join_reference(file->path, text.substr(0, hash), why);
    if (why) return fail(reference, pointer, why);
    file = MS_TRY(open(path, reference, pointer));
  } else if (text.empty()) {
    return fail(reference, pointer, "it is empty");
  }
  const json::Value* at = &file->root;
  size_t start = 1;
  while (start <= fragment.size() && !fragment.empty()) {
    const size_t slash = std::min(fragment.find('/', start), fragment.size());
    at = find_step(*at, decode_token(std::string_view(fragment).substr(start, slash - start)));
    if (!at) return fail(reference, pointer, "there is nothing at this place");
    start = slash + 1;
  }
  pointer = (file == files_[0].get() ? "" : file->path) + "#" + fragment;
  return at;
}

Result<const json::Value*> References::resolve(const json::Value& v, std::string& pointer) {
  const json::Value* at = &v;
  for (int i = 0; i < kChainMax; ++i) {
    const json::Value* reference = at->find("$ref");
    if (!reference || !reference->is_string()) return at;
    at = MS_TRY(step(*reference, pointer));
  }
  return fail(*at->find("$ref"), pointer, "it leads back to itself");
}

}  // namespace millstream::model
