#include "server/cors_conf.h"

#include <algorithm>

#include "base/ascii.h"
#include "server/errors_gen.h"

namespace millstream::server {
namespace {

using format::YamlNode;

class CorsReader {
 public:
  CorsReader(const std::string& file, const YamlNode& section, const std::string& path,
             base::Diagnostics& diagnostics)
      : file_(file), section_(section), path_(path), diagnostics_(diagnostics) {}

  // Null when it is absent or has no value.
  const YamlNode* find(const char* key) const {
    const YamlNode* node = section_.find(key);
    return node && !node->is_null() ? node : nullptr;
  }
  void read_boolean(const char* key, bool& out) const {
    const YamlNode* node = find(key);
    if (!node) return;
    const std::optional<bool> value = node->as_bool();
    if (value) out = *value;
    if (!value) refuse(*node, key, "true or false");
  }
  void read_text(const char* key, std::string& out) const {
    const YamlNode* node = find(key);
    if (!node) return;
    if (node->is_scalar()) {
      out = node->text;
    } else {
      refuse(*node, key, "a list separated by commas");
    }
  }
  void read_seconds(const char* key, int64_t& out) const {
    const YamlNode* node = find(key);
    if (!node) return;
    const std::optional<int64_t> value = node->as_integer();
    if (value) out = *value;
    if (!value) refuse(*node, key, "a number of seconds");
  }

 private:
  void refuse(const YamlNode& node, const char* key, const char* wanted) const {
    Status status = base::make_error(errors::kBadSetting, {path_ + "/" + key, node.text, wanted});
    diagnostics_.error(status.error(), {file_, node.line, node.column});
  }

  const std::string& file_;
  const YamlNode& section_;
  const std::string& path_;
  base::Diagnostics& diagnostics_;
};

}  // namespace

void apply_cors(const std::string& file, const YamlNode& root, const char* connector,
                nodes::http::CorsSettings& out, base::Diagnostics& diagnostics) {
  const YamlNode* section = root.find_path({"ResourceManagers", connector});
  if (!section || !section->is_mapping()) return;
  apply_cors_section(file, *section, std::string("ResourceManagers/") + connector, out,
                     diagnostics);
}

void apply_cors_section(const std::string& file, const YamlNode& section, const std::string& path,
                        nodes::http::CorsSettings& out, base::Diagnostics& diagnostics) {
  const CorsReader reader(file, section, path, diagnostics);
  reader.read_boolean("CORSEnabled", out.is_enabled);
  reader.read_boolean("CORSAllowCredentials", out.allows_credentials);
  reader.read_text("CORSExposeHeaders", out.exposed_headers);
  reader.read_seconds("CORSMaxAge", out.max_age_s);
  reader.read_text("CORSAllowMethods", out.allowed_methods);
  reader.read_text("CORSAllowHeaders", out.allowed_headers);
  std::string origins;
  reader.read_text("CORSAllowOrigins", origins);
  if (origins.empty()) return;
  out.allowed_origins.clear();
  for (size_t at = 0; at <= origins.size();) {
    const size_t end = std::min(origins.find(',', at), origins.size());
    const std::string_view origin =
        base::trim_white_space(std::string_view(origins).substr(at, end - at));
    if (!origin.empty()) out.allowed_origins.emplace_back(origin);
    at = end + 1;
  }
}

}  // namespace millstream::server
