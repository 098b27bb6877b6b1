// Names that every ESQL program knows without declaring them: field type constants, options of
// PARSE and ASBITSTREAM, correlation names, special registers and broker properties (spec A6, A8,
// B6). All of them are found in any case; a variable of the same name hides them.
// Thread: any.
#pragma once
#include <cstdint>
#include <string_view>

#include "esql/ast.h"
#include "tree/field_type.h"

namespace millstream::esql {

// Option words of PARSE and ASBITSTREAM. The mode is in the low byte; the validation words are
// accepted and have no effect on a domain that does not validate.
constexpr int64_t kRootBitStream = 0;
constexpr int64_t kEmbeddedBitStream = 1;
constexpr int64_t kFolderBitStream = 2;
constexpr int64_t kBitStreamModeMask = 0xff;

// XMLNSC.Attribute, JSON.Array, ...; `domain` as written.
bool find_type_constant(std::string_view domain, std::string_view name, tree::FieldType& out);
bool is_type_domain(std::string_view domain);  // a domain that has type constants
// Name, NameValue, Value; RootBitStream, ValidateContent, ...
bool find_plain_constant(std::string_view name, int64_t& out);

// Correlation names of a module of this kind (`kind` null: a routine outside modules, which may be
// called from any).
bool find_correlation(std::string_view name, const ast::ModuleKind* kind, ast::Correlation& out);
// True when the name is a correlation name of some other kind of module.
bool is_foreign_correlation(std::string_view name, const ast::ModuleKind& kind);
bool is_input_only(ast::Correlation c);  // trees that cannot be changed

bool find_special(std::string_view name, ast::SpecialName& out);
// The canonical spelling (BrokerName); empty when there is no such property.
std::string_view find_broker_property(std::string_view name);

}  // namespace millstream::esql
