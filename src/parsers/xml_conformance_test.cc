// tests/conformance/xml/documents.txt with both XML domains, whole and with text behind it that
// brings the fast loop into play.
#include <doctest/doctest.h>

#include <fstream>
#include <string>

#include "parsers/common/xml_test_support.h"
#include "parsers/xmlns/xmlns_domain.h"
#include "parsers/xmlnsc/xmlnsc_domain.h"

namespace millstream::parsers {
namespace {

std::string unescape_case(std::string_view s) {
  std::string out;
  for (size_t i = 0; i < s.size(); ++i) {
    if (s[i] != '\\' || i + 1 == s.size()) {
      out += s[i];
      continue;
    }
    char c = s[++i];
    if (c == 'x') {
      out += static_cast<char>(std::stoi(std::string(s.substr(i + 1, 2)), nullptr, 16));
      i += 2;
    } else {
      out += c == 'n' ? '\n' : c == 'r' ? '\r' : c == 't' ? '\t' : c;
    }
  }
  return out;
}

TEST_CASE("xml: the conformance documents") {
  std::ifstream file("tests/conformance/xml/documents.txt");
  REQUIRE(file.good());
  int cases = 0;
  for (std::string line; std::getline(file, line);) {
    if (line.size() < 2 || (line[0] != 'V' && line[0] != 'I')) continue;
    std::string xml = unescape_case(line.substr(line[1] == '*' ? 3 : 2));
    if (xml.empty()) continue;  // no body at all is no document, but no error either
    bool is_valid = line[0] == 'V';
    ++cases;
    CAPTURE(line);
    for (const tree::Domain* domain : {&xmlnsc::kDomain, &xmlns::kDomain}) {
      common::XmlBody b(*domain);
      std::string error = b.parse_all(xml);
      CAPTURE(error);
      CHECK(error.empty() == is_valid);
      common::XmlBody padded(*domain);
      CHECK(padded.parse_all(xml + std::string(200, '\n')).empty() == is_valid);
      if (is_valid) {
        common::XmlBody again(*domain);
        std::string once = b.write();
        CAPTURE(once);
        CHECK(again.round(once) == once);
      }
    }
  }
  CHECK(cases >= 150);
}

}  // namespace
}  // namespace millstream::parsers
