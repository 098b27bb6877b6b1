#include "cli/payload.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "base/random.h"

namespace millstream::cli {
namespace {

constexpr uint64_t kPayloadSeed = 0x5A1E'E57A'2026'0001;
constexpr int kCodes = 3, kInitials = 2, kItems = 2, kInvoices = 2;
constexpr int kDigitMax = 7;  // of Code and Quantity

struct SaleItem {
  std::array<int, kCodes> codes;
  std::string description, category;
  int price_cents, quantity;
};

struct Invoice {
  std::array<char, kInitials> initials;
  std::string surname;
  std::array<SaleItem, kItems> items;
  int balance_cents;
  std::string currency;
};

using SaleList = std::array<Invoice, kInvoices>;

SaleList first_sale_list() {
  return {Invoice{{'R', 'E'},
                  "Wetherfield",
                  {SaleItem{{0, 1, 2}, "Lantern", "Tools", 1450, 1},
                   SaleItem{{2, 1, 0}, "The Harbour Gazette", "Books and Media", 85, 3}},
                  1705,
                  "Sterling"},
          Invoice{{'J', 'M'},
                  "Marlowe",
                  {SaleItem{{3, 0, 4}, "Birds of the Seashore", "Books and Media", 2399, 2},
                   SaleItem{{7, 5, 6}, "Field Lens", "Optical Goods", 3610, 1}},
                  8408,
                  "Euros"}};
}

// Fills the texts and numbers of a list with others of the same lengths.
class SaleListFiller {
 public:
  void fill(SaleList& list) {
    for (Invoice& invoice : list) {
      for (char& c : invoice.initials) c = letter();
      letters(invoice.surname);
      for (SaleItem& item : invoice.items) {
        for (int& code : item.codes) code = below(kDigitMax + 1);
        letters(item.description);
        letters(item.category);
        item.price_cents = below(10'000);
        item.quantity = below(kDigitMax + 1);
      }
      invoice.balance_cents = below(10'000);
    }
  }

 private:
  // The bias of the remainder is below 2^-50 and does not matter here.
  int below(int n) { return static_cast<int>(random_.next_u64() % static_cast<uint64_t>(n)); }
  char letter() {
    const int i = below(52);
    return static_cast<char>(i < 26 ? 'A' + i : 'a' + i - 26);
  }
  void letters(std::string& text) {
    for (char& c : text) c = letter();
  }

  base::SeededRandom random_{kPayloadSeed};
};

template <typename Visit>
void for_each_sale_list(int count, Visit&& visit) {
  SaleList list = first_sale_list();
  SaleListFiller filler;
  for (int i = 0; i < count; ++i) {
    if (i > 0) filler.fill(list);
    visit(list);
  }
}

int clamped(int sale_lists) { return std::clamp(sale_lists, 1, kSaleListsMax); }

std::string two_digits(int n) {
  return {static_cast<char>('0' + n / 10), static_cast<char>('0' + n % 10)};
}
std::string amount(int cents) { return two_digits(cents / 100) + "." + two_digits(cents % 100); }

// As a JSON number: no leading zero, and none at the end of the fraction.
std::string json_amount(int cents) {
  std::string text = std::to_string(cents / 100);
  if (cents % 100 == 0) return text;
  text += "." + two_digits(cents % 100);
  if (text.back() == '0') text.pop_back();
  return text;
}

void xml_field(std::string& out, std::string_view name, std::string_view text) {
  out.append("<").append(name).append(">").append(text);
  out.append("</").append(name).append(">");
}

void write_xml(std::string& out, const SaleList& list) {
  out += "<SaleList>";
  for (const Invoice& invoice : list) {
    out += "<Invoice>";
    for (char c : invoice.initials) xml_field(out, "Initial", {&c, 1});
    xml_field(out, "Surname", invoice.surname);
    for (const SaleItem& item : invoice.items) {
      out += "<Item>";
      for (int code : item.codes) xml_field(out, "Code", two_digits(code));
      xml_field(out, "Description", item.description);
      xml_field(out, "Category", item.category);
      xml_field(out, "Price", amount(item.price_cents));
      xml_field(out, "Quantity", two_digits(item.quantity));
      out += "</Item>";
    }
    xml_field(out, "Balance", amount(invoice.balance_cents));
    xml_field(out, "Currency", invoice.currency);
    out += "</Invoice>";
  }
  out += "</SaleList>";
}

void write_json_item(std::string& out, const SaleItem& item) {
  out += "{\"Code\":[";
  for (int i = 0; i < kCodes; ++i) {
    out.append(i ? ",\"" : "\"").append(two_digits(item.codes[static_cast<size_t>(i)])) += '"';
  }
  out.append("],\"Description\":\"").append(item.description);
  out.append("\",\"Category\":\"").append(item.category);
  out.append("\",\"Price\":").append(json_amount(item.price_cents));
  out.append(",\"Quantity\":").append(std::to_string(item.quantity)) += '}';
}

void write_json(std::string& out, const SaleList& list) {
  out += "{\"Invoice\":[";
  for (const Invoice& invoice : list) {
    if (&invoice != list.data()) out += ',';
    out += "{\"Initial\":[\"";
    out.append(1, invoice.initials[0]).append("\",\"").append(1, invoice.initials[1]);
    out.append("\"],\"Surname\":\"").append(invoice.surname).append("\",\"Item\":[");
    for (const SaleItem& item : invoice.items) {
      if (&item != invoice.items.data()) out += ',';
      write_json_item(out, item);
    }
    out.append("],\"Balance\":").append(json_amount(invoice.balance_cents));
    out.append(",\"Currency\":\"").append(invoice.currency).append("\"}");
  }
  out += "]}";
}

std::string make_xml(int count) {
  std::string out;
  out.reserve(static_cast<size_t>(count) * 999 + 160);
  out += "<SaleEnvelope><Header>";
  xml_field(out, "SaleListCount", std::to_string(count));
  out += "</Header>";
  for_each_sale_list(count, [&](const SaleList& list) { write_xml(out, list); });
  out += "<Trailer><CompletionTime>12.00.00</CompletionTime></Trailer></SaleEnvelope>";
  return out;
}

std::string make_json(int count) {
  std::string out;
  out.reserve(static_cast<size_t>(count) * 700 + 160);
  out += "{\"SaleEnvelope\":{\"Header\":{\"SaleListCount\":" + std::to_string(count) + "},";
  out += "\"SaleList\":[";
  bool is_first = true;
  for_each_sale_list(count, [&](const SaleList& list) {
    if (!std::exchange(is_first, false)) out += ',';
    write_json(out, list);
  });
  out += "],\"Trailer\":{\"CompletionTime\":\"12.00.00\"}}}";
  return out;
}

constexpr std::pair<std::string_view, int> kPayloadSizes[] = {
    {"2K", 2}, {"20K", 20}, {"200K", 200}, {"2MB", 2000}};

}  // namespace

std::string make_sales_payload(int sale_lists, PayloadFormat format) {
  const int count = clamped(sale_lists);
  return format == PayloadFormat::kXml ? make_xml(count) : make_json(count);
}

value::Decimal sales_payload_sum(int sale_lists) {
  value::Decimal sum;
  const auto add = [&sum](int64_t coefficient, int32_t exponent) {
    // At most kSaleListsMax * 10 numbers below 100: far from any limit of DECIMAL.
    (void)value::Decimal::add(sum, value::Decimal::from_scaled(coefficient, exponent), sum);
  };
  for_each_sale_list(clamped(sale_lists), [&](const SaleList& list) {
    for (const Invoice& invoice : list) {
      for (const SaleItem& item : invoice.items) {
        add(item.price_cents, -2);
        add(item.quantity, 0);
      }
      add(invoice.balance_cents, -2);
    }
  });
  return sum;
}

const base::CommandSpec& payload_command() {
  static const base::CommandSpec kSpec{
      .name = "payload",
      .arguments = "sales",
      .summary = "Print a test message, the same bytes on every machine.",
      .description =
          "sales is a SaleEnvelope: a list of invoices as the examples http-xml-sum and "
          "http-json-sum take it. The size names the XML form; JSON holds the same "
          "values in about 65 percent of the bytes.",
      .arguments_min = 1,
      .arguments_max = 1,
      .flags = {{.name = "size",
                 .value_name = "SIZE",
                 .help = "2, 20, 200 or 2,000 sale lists.",
                 .kind = base::FlagKind::kChoice,
                 .default_text = "2K",
                 .choices = {"2K", "20K", "200K", "2MB"}},
                {.name = "format",
                 .value_name = "FORMAT",
                 .help = "Form of the message.",
                 .kind = base::FlagKind::kChoice,
                 .default_text = "xml",
                 .choices = {"xml", "json"}},
                {.name = "sum",
                 .help = "Print the sum of every Price, Quantity and Balance instead.",
                 .kind = base::FlagKind::kSwitch}},
      .examples = {
          {"millstream payload sales --size 200K --format xml > sales.xml", "199,940 bytes of XML"},
          {"millstream payload sales --size 200K --sum", "what the sum must be"}}};
  return kSpec;
}

int run_payload(const base::ParsedFlags& flags) {
  if (flags.arguments()[0] != "sales") {
    std::fprintf(stderr, "There is no payload '%s'; the only one is sales.\n",
                 flags.arguments()[0].c_str());
    return 2;
  }
  int sale_lists = 0;
  for (const auto& [name, count] : kPayloadSizes) {
    if (name == flags.text("size")) sale_lists = count;
  }
  const auto format = flags.text("format") == "json" ? PayloadFormat::kJson : PayloadFormat::kXml;
  const std::string text = flags.is_on("sum") ? sales_payload_sum(sale_lists).to_text() + "\n"
                                              : make_sales_payload(sale_lists, format);
  const bool is_written = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  return is_written && std::fflush(stdout) == 0 ? 0 : 1;
}

}  // namespace millstream::cli
