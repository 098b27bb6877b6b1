// Which ICU converter stands for a CCSID. Private to the folder.
// Thread: any.
#pragma once
#include <cstdint>
#include <string>

namespace millstream::text {

std::string converter_name(int32_t ccsid);  // "ibm-37"; may name one that does not exist

}  // namespace millstream::text
