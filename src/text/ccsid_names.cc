#include "text/ccsid_names.h"

#include <cstring>

#include "text/ccsid.h"
#include "text/utf8.h"

namespace millstream::text {
namespace {

struct NamedCcsid {
  int32_t ccsid;
  const char* iana;       // preferred name for output
  const char* converter;  // ICU converter; null: handled by us or "ibm-<ccsid>"
};

constexpr NamedCcsid kNamed[] = {
    {1208, "UTF-8", nullptr},
    {1200, "UTF-16", nullptr},
    {1201, "UTF-16BE", nullptr},
    {1202, "UTF-16LE", nullptr},
    {1232, "UTF-32", nullptr},
    {1233, "UTF-32BE", nullptr},
    {1234, "UTF-32LE", nullptr},
    {819, "ISO-8859-1", nullptr},
    {367, "US-ASCII", nullptr},
    {912, "ISO-8859-2", nullptr},
    {913, "ISO-8859-3", nullptr},
    {914, "ISO-8859-4", nullptr},
    {915, "ISO-8859-5", nullptr},
    {1089, "ISO-8859-6", nullptr},
    {813, "ISO-8859-7", nullptr},
    {916, "ISO-8859-8", nullptr},
    {920, "ISO-8859-9", nullptr},
    {921, "ISO-8859-13", nullptr},
    {923, "ISO-8859-15", nullptr},
    {437, "IBM437", nullptr},
    {850, "IBM850", nullptr},
    {852, "IBM852", nullptr},
    {855, "IBM855", nullptr},
    {857, "IBM857", nullptr},
    {858, "IBM00858", nullptr},
    {866, "IBM866", nullptr},
    {874, "TIS-620", nullptr},
    {878, "KOI8-R", nullptr},
    {37, "IBM037", nullptr},
    {273, "IBM273", nullptr},
    {277, "IBM277", nullptr},
    {278, "IBM278", nullptr},
    {280, "IBM280", nullptr},
    {284, "IBM284", nullptr},
    {285, "IBM285", nullptr},
    {297, "IBM297", nullptr},
    {500, "IBM500", nullptr},
    {871, "IBM871", nullptr},
    {1047, "IBM1047", nullptr},
    {1140, "IBM01140", nullptr},
    {1141, "IBM01141", nullptr},
    {1142, "IBM01142", nullptr},
    {1143, "IBM01143", nullptr},
    {1144, "IBM01144", nullptr},
    {1145, "IBM01145", nullptr},
    {1146, "IBM01146", nullptr},
    {1147, "IBM01147", nullptr},
    {1148, "IBM01148", nullptr},
    {1149, "IBM01149", nullptr},
    // The Windows sets with the euro sign; 5346 to 5354 are their own numbers for them.
    {1250, "windows-1250", "windows-1250"},
    {1251, "windows-1251", "windows-1251"},
    {1252, "windows-1252", "windows-1252"},
    {1253, "windows-1253", "windows-1253"},
    {1254, "windows-1254", "windows-1254"},
    {1255, "windows-1255", "windows-1255"},
    {1256, "windows-1256", "windows-1256"},
    {1257, "windows-1257", "windows-1257"},
    {1258, "windows-1258", "windows-1258"},
    {5346, "windows-1250", "windows-1250"},
    {5347, "windows-1251", "windows-1251"},
    {5348, "windows-1252", "windows-1252"},
    {5349, "windows-1253", "windows-1253"},
    {5350, "windows-1254", "windows-1254"},
    // In these two the byte 5C is a backslash, as every other system has it.
    {943, "Shift_JIS", "ibm-943_P15A-2003"},
    {932, "Shift_JIS", "ibm-943_P15A-2003"},
    {954, "EUC-JP", "EUC-JP"},
    {33722, "EUC-JP", "ibm-33722"},
    {1381, "GB2312", "ibm-1386"},  // a subset of it
    {1383, "GB2312", "ibm-1383"},
    {1386, "GBK", "ibm-1386"},
    {54936, "GB18030", "gb18030"},
    {5488, "GB18030", "gb18030"},
    {950, "Big5", "windows-950"},
    {949, "KS_C_5601-1987", "ibm-949"},
    {970, "EUC-KR", "ibm-970"},
};

struct Alias {
  const char* name;
  int32_t ccsid;
};

constexpr Alias kAliases[] = {
    {"UTF8", 1208},
    {"UTF16", 1200},
    {"UTF16BE", 1201},
    {"UTF16LE", 1202},
    {"ISO-10646-UCS-2", 1200},
    {"UCS-2", 1200},
    {"ISO_8859-1", 819},
    {"ISO8859-1", 819},
    {"ISO8859_1", 819},
    {"LATIN1", 819},
    {"L1", 819},
    {"ASCII", 367},
    {"ISO646-US", 367},
    {"LATIN-9", 923},
    {"LATIN9", 923},
    {"ISO8859-15", 923},
    {"ISO_8859-15", 923},
    {"SHIFT-JIS", 943},
    {"SJIS", 943},
    {"WINDOWS-31J", 943},
    {"MS932", 943},
    {"EUCJP", 954},
    {"EUCKR", 970},
    {"GB_2312-80", 1383},
    {"EUC-CN", 1383},
    {"CP936", 1386},
    {"MS936", 1386},
    {"BIG-5", 950},
    {"MS950", 950},
    {"KS_C_5601", 949},
    {"UHC", 949},
    {"MS949", 949},
    {"EBCDIC-CP-US", 37},
};

// The number in "IBM-1047", "ibm01140", "cp037", "CCSID1208", "windows-1252"; 0 = none.
int32_t numbered_ccsid(std::string_view name) {
  constexpr std::string_view kPrefixes[] = {"IBM", "CP", "CCSID", "WINDOWS-", "X-IBM"};
  for (std::string_view prefix : kPrefixes) {
    if (name.size() <= prefix.size() ||
        !equals_ignoring_ascii_case(name.substr(0, prefix.size()), prefix)) {
      continue;
    }
    std::string_view digits = name.substr(prefix.size());
    if (digits.front() == '-' || digits.front() == '_') digits.remove_prefix(1);
    if (digits.empty() || digits.size() > 6) return 0;
    int32_t n = 0;
    for (char c : digits) {
      if (c < '0' || c > '9') return 0;
      n = n * 10 + (c - '0');
    }
    return n;
  }
  return 0;
}

}  // namespace

std::string converter_name(int32_t ccsid) {
  for (const NamedCcsid& n : kNamed) {
    if (n.ccsid == ccsid && n.converter != nullptr) return n.converter;
  }
  return "ibm-" + std::to_string(ccsid);
}

std::optional<int32_t> ccsid_of_encoding(std::string_view name) {
  for (const NamedCcsid& n : kNamed) {
    if (equals_ignoring_ascii_case(name, n.iana)) return n.ccsid;
  }
  for (const Alias& a : kAliases) {
    if (equals_ignoring_ascii_case(name, a.name)) return a.ccsid;
  }
  int32_t n = numbered_ccsid(name);
  if (n > 0 && is_known_ccsid(n)) return n;
  return std::nullopt;
}

std::string_view encoding_of_ccsid(int32_t ccsid) {
  if (ccsid == 1209) return "UTF-8";
  if (ccsid == 13488 || ccsid == 17584) return "UTF-16";
  for (const NamedCcsid& n : kNamed) {
    if (n.ccsid == ccsid) return n.iana;
  }
  return {};
}

}  // namespace millstream::text
