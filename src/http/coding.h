// Content codings (RFC 9110 section 8.4): gzip and deflate, in both directions. "deflate" is the
// zlib format; raw deflate, which some send under that name, is understood too.
// Limits: what comes out is bounded by the caller, however small the input.
// Thread: any; buffers belong to the reactor of the pool.
#pragma once
#include <string>
#include <string_view>

#include "base/result.h"
#include "net/buffer_pool.h"

namespace millstream::http {

enum class Coding : uint8_t { kIdentity, kGzip, kZlib, kRawDeflate, kUnknown };

// A value of Content-Encoding; several codings on top of each other are unknown.
Coding parse_coding(std::string_view value);
// What Content-Encoding says of it, empty for identity.
std::string_view coding_name(Coding coding);
// A message in this coding may go to who sent this Accept-Encoding (empty: all is accepted).
bool is_coding_accepted(std::string_view accept_encoding, Coding coding);

Status compress(Coding coding, std::string_view plain, std::string& out);
// Into a buffer of the pool; returns the size. An error when it would exceed `bytes_max`, or the
// input is damaged or cut.
Result<size_t> decompress(Coding coding, std::string_view packed, net::BufferPool& pool,
                          net::Buffer& out, size_t bytes_max);

}  // namespace millstream::http
