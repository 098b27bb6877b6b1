// What the checks of requests and replies share with the routing of requests. Private to
// nodes/rest.
#pragma once
#include "http/request.h"
#include "model/openapi.h"
#include "model/parameters.h"

namespace millstream::nodes::rest {

// The parts of a request that have parameters. Lives as long as both.
model::RawRequest raw_request(const millstream::http::Request& request,
                              const model::PathMatch& match);

}  // namespace millstream::nodes::rest
