// The small XML files that say what a container is: .project natures, *.descriptor references.
// Spec ace-artifacts 9. Thread: any.
#pragma once
#include "ace/container.h"

namespace millstream::ace {

// Fills kind, name and references of `container` from its descriptor and .project resources.
// Kind stays kOther when neither says anything.
Status read_descriptors(Container& container);

}  // namespace millstream::ace
