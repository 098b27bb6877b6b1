// Names in SQL text: plain ones as they are, so that the database folds their case; those that
// `is_quoted`, and all with other characters, between quotes, quotes within doubled. Whatever a
// name holds, it stays one identifier. ISO/IEC 9075-2, 5.2. Thread: any.
#pragma once
#include <string>
#include <string_view>

namespace millstream::text {

// `quote` as the driver names it; empty or a blank, as drivers without quotes do, means '"'. NUL
// characters are left out: no database takes them.
void append_sql_identifier(std::string& out, std::string_view name, bool is_quoted,
                           std::string_view quote = "\"");

}  // namespace millstream::text
