// Values -> path, query, headers and cookies of a request, by RFC 6570 and the styles of OpenAPI.
#include <algorithm>

#include "model/errors_gen.h"
#include "model/parameters.h"

namespace millstream::model {
namespace {

// Everything but unreserved characters; `keeps_reserved` leaves what URLs give a meaning.
std::string encode_url_text(std::string_view text, bool keeps_reserved) {
  static constexpr char kDigits[] = "0123456789ABCDEF";
  constexpr std::string_view kReserved = ":/?#[]@!$&'()*+,;=%";
  std::string out;
  for (char c : text) {
    const bool is_plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
                          (c >= 'a' && c <= 'z') || c == '-' || c == '.' || c == '_' || c == '~';
    if (is_plain || (keeps_reserved && kReserved.find(c) != std::string_view::npos)) {
      out += c;
    } else {
      out += '%';
      out += kDigits[static_cast<unsigned char>(c) >> 4];
      out += kDigits[static_cast<unsigned char>(c) & 15];
    }
  }
  return out;
}

class ParameterEncoder {
 public:
  explicit ParameterEncoder(const Parameter& p) : p_(p) {}

  std::string encode(std::string_view s) const {
    if (p_.place == ParameterPlace::kHeader) return std::string(s);
    return encode_url_text(s, p_.allows_reserved && p_.place == ParameterPlace::kQuery);
  }

  // Items of a list, or names and values of an object.
  std::string joined(const json::Value& v, const std::string& delimiter,
                     const std::string& between) const {
    std::string out;
    if (v.is_array()) {
      for (const json::Value& item : v.items()) {
        if (!out.empty()) out += delimiter;
        out += encode(text_of(item));
      }
    } else if (v.is_object()) {
      for (const json::Member& m : v.members()) {
        if (!out.empty()) out += delimiter;
        out += encode(m.name) + between + encode(text_of(m.value));
      }
    } else {
      out = encode(text_of(v));
    }
    return out;
  }

  std::string in_path(const json::Value& v) const {
    const bool is_compound = v.is_array() || v.is_object();
    if (p_.style == ParameterStyle::kLabel) {
      return "." + joined(v, p_.explodes ? "." : ",", p_.explodes ? "=" : ",");
    }
    if (p_.style != ParameterStyle::kMatrix) return joined(v, delimiter(), p_.explodes ? "=" : ",");
    if (!is_compound || !p_.explodes) return ";" + p_.name + "=" + joined(v, ",", ",");
    std::string out;
    for (const json::Value& item : v.items()) out += ";" + p_.name + "=" + encode(text_of(item));
    for (const json::Member& m : v.members()) {
      out += ";" + encode(m.name) + "=" + encode(text_of(m.value));
    }
    return out;
  }

  // Pairs joined by `separator`: '&' of a query, "; " of cookies.
  std::string in_pairs(const json::Value& v, const std::string& separator) const {
    std::string out;
    auto add = [&](const std::string& name, const std::string& text) {
      if (!out.empty()) out += separator;
      out += name + "=" + text;
    };
    const std::string name = encode_url_text(p_.name, false);
    if (p_.style == ParameterStyle::kDeepObject && v.is_object()) {
      for (const json::Member& m : v.members()) add_deep(name, m, add);
    } else if (p_.explodes && v.is_array()) {
      for (const json::Value& item : v.items()) add(name, encode(text_of(item)));
    } else if (p_.explodes && v.is_object()) {
      for (const json::Member& m : v.members()) {
        add(encode_url_text(m.name, false), encode(text_of(m.value)));
      }
    } else {
      add(name, joined(v, delimiter(), ","));
    }
    return out;
  }

  std::string in_header(const json::Value& v) const {
    return joined(v, ",", p_.explodes ? "=" : ",");
  }

 private:
  template <typename Add>
  void add_deep(const std::string& name, const json::Member& m, const Add& add) const {
    const std::string key = name + "%5B" + encode_url_text(m.name, false) + "%5D";
    if (!m.value.is_array()) return add(key, encode(text_of(m.value)));
    for (const json::Value& item : m.value.items()) add(key, encode(text_of(item)));
  }

  std::string delimiter() const {
    switch (p_.style) {
      case ParameterStyle::kSpaceDelimited:
        return "%20";
      case ParameterStyle::kPipeDelimited:
        return "%7C";
      case ParameterStyle::kTabDelimited:
        return "%09";
      default:
        return ",";
    }
  }

  const Parameter& p_;
};

}  // namespace

Result<EncodedRequest> encode_request(
    const Operation& operation,
    const std::vector<std::pair<const Parameter*, json::Value>>& values) {
  EncodedRequest out;
  std::vector<std::pair<std::string, std::string>> in_path;
  std::string cookies;
  for (const auto& [parameter, given] : values) {
    const ParameterEncoder encoder(*parameter);
    const json::Value value = parameter->is_json ? json::Value(json::write(given)) : given;
    switch (parameter->place) {
      case ParameterPlace::kPath:
        in_path.emplace_back(parameter->name, encoder.in_path(value));
        break;
      case ParameterPlace::kQuery: {
        const std::string pairs = encoder.in_pairs(value, "&");
        if (!out.query.empty() && !pairs.empty()) out.query += '&';
        out.query += pairs;
        break;
      }
      case ParameterPlace::kHeader:
        out.headers.emplace_back(parameter->name, encoder.in_header(value));
        break;
      case ParameterPlace::kCookie: {
        const std::string pairs = encoder.in_pairs(value, "; ");
        if (!cookies.empty() && !pairs.empty()) cookies += "; ";
        cookies += pairs;
        break;
      }
    }
  }
  if (!cookies.empty()) out.headers.emplace_back("Cookie", cookies);
  const std::string& path = operation.path;
  for (size_t at = 0; at < path.size();) {
    const size_t open = std::min(path.find('{', at), path.size());
    out.path += path.substr(at, open - at);
    if (open == path.size()) break;
    const size_t close = path.find('}', open);
    const std::string name = path.substr(open + 1, close - open - 1);
    auto found = std::find_if(in_path.begin(), in_path.end(),
                              [&](const auto& entry) { return entry.first == name; });
    if (found == in_path.end() || found->second.empty()) {
      return base::make_error(errors::kNoPathParameter, {operation.id, name});
    }
    out.path += found->second;
    at = close + 1;
  }
  return out;
}

}  // namespace millstream::model
