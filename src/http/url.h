// Taking URLs, query strings and percent-encoding apart. Thread: any.
#pragma once
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace millstream::http {

struct Url {
  bool is_https = false;
  std::string host;  // without brackets for IPv6
  int port = 80;
  std::string user_info;          // "user:password", decoded; never sent as part of the URL
  std::string target;             // path and query, begins with '/', never empty
  std::string authority() const;  // for the Host field: port only when not the scheme's
};

// http:// and https:// only. Spaces and control characters are refused.
Result<Url> parse_url(std::string_view text);
// A Location header relative to the URL it came from.
Result<Url> resolve_redirect(const Url& from, std::string_view location);

// %XX decoded; a '%' without two digits stays. `plus_is_space` for query strings.
std::string percent_decode(std::string_view text, bool plus_is_space = false);
// Everything but unreserved characters becomes %XX.
std::string percent_encode(std::string_view text);

inline constexpr size_t kQueryParametersMax = 1000;
// "a=1&b=2" in order; later ones beyond the limit are dropped.
std::vector<std::pair<std::string, std::string>> parse_query(std::string_view query);

}  // namespace millstream::http
