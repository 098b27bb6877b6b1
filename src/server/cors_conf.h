// The CORS keys of a connector section of server.conf.yaml. Thread: one, at start.
#pragma once
#include <string>

#include "base/diagnostics.h"
#include "format/yaml.h"
#include "nodes/http/cors.h"

namespace millstream::server {

// `connector` is "HTTPConnector" or "HTTPSConnector"; keys that are not there leave `out` alone.
void apply_cors(const std::string& file, const format::YamlNode& root, const char* connector,
                nodes::http::CorsSettings& out, base::Diagnostics& diagnostics);
// The same of the section itself, which messages call `path`.
void apply_cors_section(const std::string& file, const format::YamlNode& section,
                        const std::string& path, nodes::http::CorsSettings& out,
                        base::Diagnostics& diagnostics);

}  // namespace millstream::server
