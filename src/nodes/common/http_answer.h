// The answer to an HTTP request as the start of a message: Properties and HTTPResponseHeader, for
// every node that gets one (HTTPRequest, RESTRequest, their asynchronous kinds). The body is the
// node's to parse.
// Thread: the fiber of the message.
#pragma once
#include <cstdint>
#include <string_view>

#include "flow/invocation.h"
#include "http/client.h"
#include "tree/assembly.h"

namespace millstream::nodes::common {

// Views live as long as the message.
struct HttpAnswerBody {
  std::string_view bytes;
  std::string_view content_type;
  uint32_t ccsid = 0;  // of the charset parameter; 0: it names none that is known
};

// Appends both folders to `root` and takes the response's buffer.
HttpAnswerBody begin_http_answer(flow::Invocation& invocation, tree::Element* root,
                                 millstream::http::ClientResponse& response);

// Copies MQMD, MQRFH2 and the like from the message `from` behind the first folder of `to`, in
// their order; Properties, bodies and HTTP folders stay behind.
Status copy_other_headers(tree::TreeContext& context, tree::Element* from, tree::Element* to);

}  // namespace millstream::nodes::common
