// The parser of XMLNSC compares a start tag with the name that followed last time. Records that
// mostly repeat, with names of all lengths, must come out as they are, and a wrong name be found.
#include <doctest/doctest.h>

#include <random>
#include <string>
#include <vector>

#include "parsers/common/xml_test_support.h"
#include "parsers/xmlns/xmlns_domain.h"
#include "parsers/xmlnsc/xmlnsc_domain.h"

namespace millstream::parsers {
namespace {

struct RecordMaker {
  explicit RecordMaker(uint32_t seed) : random(seed) {
    for (uint32_t size = 1; size <= 40; ++size) {
      names.push_back(std::string(size, 'a'));
      names.push_back(std::string(size - 1, 'a') + "b");
      if (size > 2) names.push_back("p:" + std::string(size - 2, 'c'));
    }
  }
  const std::string& name() { return names[random() % names.size()]; }
  std::string text() {
    switch (random() % 8) {
      case 0:
        return std::string(random() % 70, 'x');
      case 1:
        return "\xc3\xa4 and\ttab\nline";
      case 2:
        return "";
      default:
        return std::string(1 + random() % 12, '7');
    }
  }
  std::string leaf(const std::string& n) {
    std::string t = text();
    // As the writer has it: an empty one in short form.
    return t.empty() ? "<" + n + "/>" : "<" + n + ">" + t + "</" + n + ">";
  }
  std::string document() {
    std::vector<std::string> fields;
    for (uint32_t i = 0, n = 2 + random() % 12; i < n; ++i) fields.push_back(name());
    const std::string record = name(), group = name();
    std::string xml = "<r xmlns:p=\"urn:p\">";
    for (uint32_t i = 0, n = 3 + random() % 40; i < n; ++i) {
      xml += "<" + record + ">";
      for (const std::string& f : fields) {
        if (random() % 16 == 0) continue;
        uint32_t times = random() % 8 == 0 ? 3 : 1;
        while (times-- > 0) xml += leaf(random() % 32 == 0 ? name() : f);
      }
      xml += "<" + group + ">" + leaf(fields[0]) + "</" + group + "></" + record + ">";
    }
    return xml + "</r>";
  }
  std::mt19937 random;
  std::vector<std::string> names;
};

TEST_CASE("xml: records that mostly repeat come out as they went in") {
  constexpr uint32_t kSeed = 7;
  RecordMaker maker(kSeed);
  common::XmlBody body(xmlnsc::kDomain);
  for (int i = 0; i < 300; ++i) {
    std::string xml = maker.document();
    CAPTURE(xml);
    if (i % 2 == 0) {
      REQUIRE(body.parse_all(xml) == "");
    } else {
      body.parse(xml);  // piece by piece, as navigation asks for it
      for (tree::Element* e = tree::first_child(tree::first_child(body.root)); e;
           e = tree::next_sibling(e)) {
        (void)tree::first_child(e);
      }
    }
    CHECK(body.write() == xml);
  }
}

TEST_CASE("xml: a wrong byte anywhere is an error exactly when the other XML domain finds one") {
  constexpr uint32_t kSeed = 8;
  RecordMaker maker(kSeed);
  common::XmlBody quick(xmlnsc::kDomain);
  common::XmlBody other(xmlns::kDomain);
  constexpr std::string_view kBytes = "abc<>/ p:7&x";
  for (int i = 0; i < 3000; ++i) {
    std::string xml = maker.document();
    xml[maker.random() % xml.size()] = kBytes[maker.random() % kBytes.size()];
    CAPTURE(xml);
    CHECK(quick.parse_all(xml) == other.parse_all(xml));
  }
}

}  // namespace
}  // namespace millstream::parsers
