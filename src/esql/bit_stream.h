// ASBITSTREAM and CREATE ... PARSE: the clauses they share. Internal to the executor.
// Thread: clauses any once compiled; evaluation that of the message.
#pragma once
#include <string_view>

#include "esql/compile.h"
#include "esql/constants.h"
#include "tree/domain.h"

namespace millstream::esql {

// The clauses' values; 0 and empty: not stated.
struct BitStreamArguments {
  int64_t options = 0;
  uint32_t ccsid = 0;
  uint32_t encoding = 0;
  std::string_view message_set, message_type, message_format;
};

// The clauses' expressions; eval() sets `has_null` when one of them was NULL.
class BitStreamClauses {
 public:
  BitStreamClauses(Compiler& c, const ast::BitStreamOptions& o);
  Status eval(Frame& f, BitStreamArguments& out, bool& has_null) const;

 private:
  const ExprNode* options_;
  const ExprNode* encoding_;
  const ExprNode* ccsid_;
  const ExprNode* set_;
  const ExprNode* type_;
  const ExprNode* format_;
};

// Of the OPTIONS word.
tree::BitStreamMode bit_stream_mode(int64_t options);
// The bytes of a field: the original ones of an unmodified body, else what its domain writes.
Status serialise_field(Frame& f, const Ref& ref, const BitStreamArguments& arguments,
                       value::Value& out);

}  // namespace millstream::esql
