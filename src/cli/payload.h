// millstream payload: test messages that are the same bytes on every machine.
//
// "sales" is a SaleEnvelope: a header with the count, n SaleLists of two invoices with two items
// each, a trailer. The first SaleList is fixed, the others are filled from a fixed seed with texts
// of the same lengths, so that the XML form has exactly 137 + digits(n) + 999 * n bytes. XML and
// JSON of one size hold the same values. The hashes are in payload_test.cc.
// Thread: any.
#pragma once
#include <string>

#include "base/flags.h"
#include "value/decimal.h"

namespace millstream::cli {

enum class PayloadFormat : uint8_t { kXml, kJson };

constexpr int kSaleListsMax = 100'000;  // 100 MB of XML

// `sale_lists` is clamped to 1 ... kSaleListsMax. 2, 20, 200 and 2,000 are the sizes 2K to 2MB.
std::string make_sales_payload(int sale_lists, PayloadFormat format);
// Of every Price, Quantity and Balance, exactly; scale 2.
value::Decimal sales_payload_sum(int sale_lists);

const base::CommandSpec& payload_command();
int run_payload(const base::ParsedFlags& flags);

}  // namespace millstream::cli
