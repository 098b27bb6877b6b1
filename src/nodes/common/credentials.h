// User names, passwords and tokens of the server, by kind and name: what the section Credentials of
// server.conf.yaml says (the product's mqsicredentials and mqsisetdbparms keep the same data), such
// as kind "http", name "partner". A service of the deployment (flow/services.h).
// Thread: filled while loading, then read only.
#pragma once
#include <map>
#include <string>
#include <string_view>

namespace millstream::nodes::common {

struct Credential {
  std::string user;
  std::string password;
  std::string token;    // accessToken or bearerToken
  std::string api_key;  // apiKey
};

class Credentials {
 public:
  void add(std::string_view kind, std::string_view name, Credential credential) {
    all_[std::string(kind)][std::string(name)] = std::move(credential);
  }
  // Null when there is none.
  const Credential* find(std::string_view kind, std::string_view name) const {
    auto of_kind = all_.find(kind);
    if (of_kind == all_.end()) return nullptr;
    auto found = of_kind->second.find(name);
    return found == of_kind->second.end() ? nullptr : &found->second;
  }
  // "http::partner" (as mqsisetdbparms writes names), or a name of kind `kind`.
  const Credential* find_identity(std::string_view kind, std::string_view identity) const {
    const size_t colons = identity.find("::");
    if (colons == std::string_view::npos) return find(kind, identity);
    return find(identity.substr(0, colons), identity.substr(colons + 2));
  }

 private:
  std::map<std::string, std::map<std::string, Credential, std::less<>>, std::less<>> all_;
};

}  // namespace millstream::nodes::common
