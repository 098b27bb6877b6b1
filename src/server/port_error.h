// The error of a port that cannot be opened. The layers below say the address again, each; only the
// reason is new.
// Thread: any.
#pragma once
#include <string>

#include "server/errors_gen.h"

namespace millstream::server {

inline std::string reason_of_listening(const base::Error& error) {
  const std::string text = error.innermost().text;
  const size_t reason = text.rfind(": ");
  std::string why = reason == std::string::npos ? text : text.substr(reason + 2);
  if (why.ends_with('.')) why.pop_back();
  return why;
}

inline Status port_in_use(const std::string& host, int port, const base::Error& error) {
  return base::make_error(errors::kPortInUse, {host, port, reason_of_listening(error)});
}

}  // namespace millstream::server
