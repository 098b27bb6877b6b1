// Rows and lists that expressions make: temporary elements in the message's arena, hung below a
// holder of the domain they are made for (Execution::temporary_domain), so that their field types
// survive when they are linked into a tree. Internal to the executor.
// Thread: that of the message.
#pragma once
#include "esql/compile.h"

namespace millstream::esql {

// An empty holder for temporary elements.
tree::Element* make_holder(Frame& f);
// A new nameless element below `holder`.
Ref make_temporary(Frame& f, tree::Element* holder, tree::FieldType type);

// One column of a ROW or SELECT: the value at the AS path below `row`. NULL makes nothing.
Status put_column(Frame& f, const Ref& row, const std::vector<StepNode>& as, size_t position,
                  const ExprNode& value);
// All children of `source`, copied below `row`.
Status put_all_columns(Frame& f, const Ref& row, const Ref& source);
// The items of anything: a list, or the one field or row.
Status for_each_item(Frame& f, const ExprNode& e, ItemSink& sink);
// One item of a list that holds the value of an expression.
Status make_item(Frame& f, tree::Element* holder, const ExprNode& value, Ref& out,
                 bool& is_temporary);

}  // namespace millstream::esql
