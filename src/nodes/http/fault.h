// The reply to a client whose request no flow answered properly: BIP3113E and the chain of
// exceptions, in the form the HTTPInput node's faultFormat chooses.
// Thread: any.
#pragma once
#include <string>

#include "base/error.h"

namespace millstream::nodes::http {

enum class FaultFormat : uint8_t { kSoap11, kSoap12, kHtml, kJson };

struct Fault {
  std::string content_type;
  std::string body;
};
// `summary` is the one-line message ("BIP3113E: ..."); `cause` may be null.
Fault make_fault(FaultFormat format, const std::string& summary, const base::Error* cause);

// "BIP2230E: ... : BIP2488E: ..." with the inserts in quotes, outermost first.
std::string describe_chain(const base::Error& error);

}  // namespace millstream::nodes::http
