// Message properties between the two forms that they have: beside a body, and in an MQRFH2 in front
// of it. The queue manager takes them out of what an application puts, so that selectors and gets
// with a message handle see them, and puts them back for a get that wants them in the body.
//
// The MQRFH2 may stand behind MQDLH headers. Folders that are no properties stay in it.
// Thread: any.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.h"
#include "mqi/conversion.h"
#include "mqi/properties.h"

namespace millstream::mqi {

struct PropertyBody {
  std::string body;
  BodyCoding coding;  // of the body
};

// Moves the properties of the body's MQRFH2 headers into `properties`; what is there already has
// precedence. False: there are none, and nothing has changed. An error means 2421 to an application
// that deals with properties, and to others that the header is data like any other.
Result<bool> take_properties(std::string_view body, const BodyCoding& coding,
                             PropertyList& properties, PropertyBody& out);

// The other way; an MQRFH2 that is there gets them in front of its folders.
Status insert_properties(std::string_view body, const BodyCoding& coding,
                         PropertyListView properties, PropertyBody& out);

}  // namespace millstream::mqi
