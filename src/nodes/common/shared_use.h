// Whether a module's messages share state: it declares a SHARED variable, or names one of its
// schema's, itself or through the routines it calls. By the words of the sources, so that a name in
// a comment counts too; that only makes a flow run one message at a time, as the product does by
// default. Thread: one, while loading.
#pragma once
#include "esql/program.h"

namespace millstream::nodes::common {

bool uses_shared_variables(const esql::Program& program, const esql::ast::Module& module);

}  // namespace millstream::nodes::common
