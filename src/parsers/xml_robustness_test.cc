// Hostile and odd input for both XML domains, and on-demand parsing against complete parsing.
#include <doctest/doctest.h>

#include <random>
#include <string>
#include <vector>

#include "parsers/common/xml_test_support.h"
#include "parsers/xmlns/xmlns_domain.h"
#include "parsers/xmlnsc/xmlnsc_domain.h"

namespace millstream::parsers {
namespace {

using common::XmlBody;
using tree::Element;

const tree::Domain* const kBoth[] = {&xmlnsc::kDomain, &xmlns::kDomain};

std::string repeat(std::string_view s, size_t n) {
  std::string out;
  out.reserve(s.size() * n);
  for (size_t i = 0; i < n; ++i) out += s;
  return out;
}

TEST_CASE("xml: a million levels are an error by default, and fit when allowed") {
  constexpr size_t kLevels = 1'000'000;
  std::string xml = repeat("<a>", kLevels) + repeat("</a>", kLevels);
  for (const tree::Domain* domain : kBoth) {
    XmlBody b(*domain);
    CHECK(b.parse_all(xml).find("nested too deeply (line 1, column 30001, offset 30000)") !=
          std::string::npos);
    tree::ParseOptions deep;
    deep.depth_max = kLevels;
    CHECK(b.parse_all(xml, deep) == "");
    std::string out = b.write();
    CHECK(out.size() == xml.size() - 7 + 4);  // the innermost is written as <a/>
    CHECK(b.parse_all(repeat("<a>", kLevels), deep) != "");
  }
}

TEST_CASE("xml: entity bombs") {
  std::string laughs = "<!DOCTYPE a [<!ENTITY e0 'lollollollol'>";
  for (int i = 1; i < 15; ++i) {
    std::string inner = repeat("&e" + std::to_string(i - 1) + ";", 10);
    laughs += "<!ENTITY e" + std::to_string(i) + " '" + inner + "'>";
  }
  std::string quadratic = "<!DOCTYPE a [<!ENTITY e '" + std::string(50'000, 'x') + "'>]><a>" +
                          repeat("&e;", 1000) + "</a>";
  std::string chain = "<!DOCTYPE a [<!ENTITY e0 '<b/>'>";
  for (int i = 1; i < 100; ++i) {
    chain += "<!ENTITY e" + std::to_string(i) + " '&e" + std::to_string(i - 1) + ";'>";
  }
  std::string parameters = "<!DOCTYPE a [<!ENTITY % p0 '<!ENTITY x \"1\">'>";
  for (int i = 1; i < 10; ++i) {
    std::string inner = repeat("&#37;p" + std::to_string(i - 1) + "; ", 10);
    parameters += "<!ENTITY % p" + std::to_string(i) + " '" + inner + "'>";
  }
  std::string many = "<!DOCTYPE a [";
  for (int i = 0; i < 20'000; ++i) many += "<!ENTITY n" + std::to_string(i) + " ''>";
  for (const tree::Domain* domain : kBoth) {
    XmlBody b(*domain);
    CHECK(b.parse_all(laughs + "]><a>&e14;</a>").find("expand to more") != std::string::npos);
    CHECK(b.parse_all(laughs + "]><a x='&e14;'/>").find("expand to more") != std::string::npos);
    CHECK(b.parse_all(quadratic).find("expand to more") != std::string::npos);
    CHECK(b.parse_all(chain + "]><a>&e99;</a>").find("nested too deeply") != std::string::npos);
    CHECK(b.parse_all(chain + "]><a x='&e99;'/>").find("nested too deeply") != std::string::npos);
    CHECK(b.parse_all(chain + "]><a>&e10;</a>") == "");
    CHECK(b.parse_all(parameters + "%p9;]><a/>").find("expand to more") != std::string::npos);
    CHECK(b.parse_all(many + "]><a/>").find("too many entities") != std::string::npos);
    CHECK(b.arena.arena().used_bytes() < 64u * 1024 * 1024);
  }
}

TEST_CASE("xml: very many attributes") {
  std::string xml = "<a";
  for (int i = 0; i < 50'000; ++i) xml += " n" + std::to_string(i) + "='v'";
  for (const tree::Domain* domain : kBoth) {
    XmlBody b(*domain);
    CHECK(b.parse_all(xml + "/>") == "");
    CHECK(b.write().size() == xml.size() + 2);
    CHECK(b.parse_all(xml + " n7='v'/>").find("occurs twice") != std::string::npos);
    CHECK(b.parse_all(xml + " xmlns:p='u' xmlns:q='u' p:x='' q:x=''/>").find("occurs twice") !=
          std::string::npos);
  }
}

TEST_CASE("xml: very many prefixes") {
  std::string outer, inner;
  for (int i = 0; i < 500; ++i) {
    outer += " xmlns:p" + std::to_string(i) + "='u'";
    inner += " xmlns:p" + std::to_string(i) + "='v'";
  }
  // Every child has to look past all hidden declarations.
  std::string xml =
      "<a xmlns='u'" + outer + "><b" + inner + ">" + repeat("<c/><d/>", 2000) + "</b></a>";
  for (const tree::Domain* domain : kBoth) {
    XmlBody b(*domain);
    CHECK(b.parse_all(xml) == "");
    XmlBody again(*domain);
    std::string once = b.write();
    CHECK(again.round(once) == once);
    CHECK(b.parse_all("<a xmlns:x='u'" + outer + "><b" + inner + "/></a>")
              .find("too many namespace declarations") != std::string::npos);
  }
}

const char kSample[] =
    "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE o [<!ENTITY e 'v<w/>'>]>\n"
    "<o:order xmlns:o=\"urn:o\" xmlns='urn:d' id='1' o:k=\"&lt;2\">\n  <!-- c -->\n"
    "  <item n=\"1\">text &amp; more</item>\n  <item n=\"2\"><![CDATA[x<y]]>z</item>\n"
    "  <deep><deeper><deepest>caf\xC3\xA9</deepest></deeper></deep><?p data?>&e;\n"
    "  <empty/><blank> </blank>mixed<last>1</last></o:order>\n<!-- end -->\n";

TEST_CASE("xml: cut off at every byte") {
  std::string xml = kSample;
  size_t complete_from = xml.find("</o:order>") + 10;
  for (const tree::Domain* domain : kBoth) {
    for (size_t n = 1; n < xml.size(); ++n) {
      XmlBody b(*domain);
      std::string error = b.parse_all(std::string_view(xml).substr(0, n));
      CAPTURE(n);
      bool is_in_comment = n > xml.rfind("\n<!--") + 1 && n < xml.size() - 1;
      CHECK(error.empty() == (n >= complete_from && !is_in_comment));
      CHECK(b.write().starts_with("error: ") == !error.empty());
    }
  }
}

TEST_CASE("xml: any byte replaced by any of a few never crashes") {
  std::string xml = kSample;
  for (const tree::Domain* domain : kBoth) {
    for (size_t at = 0; at < xml.size(); ++at) {
      for (char c : {'<', '>', '&', '"', '\0', '\x80', ']', '/', ':'}) {
        std::string damaged = xml;
        damaged[at] = c;
        XmlBody b(*domain);
        if (b.parse_all(damaged).empty()) b.write();
      }
    }
  }
}

// Visits a body in random order and dumps every element when it is first seen.
class Wanderer {
 public:
  Wanderer(Element* root, uint32_t seed) : random_(seed) { seen_.push_back(root); }
  void wander(int steps) {
    for (int i = 0; i < steps; ++i) {
      Element* e = seen_[random_() % seen_.size()];
      Element* next = nullptr;
      switch (random_() % 6) {
        case 0:
        case 1:
          next = tree::first_child(e);
          break;
        case 2:
        case 3:
          next = tree::next_sibling(e);
          break;
        case 4:
          (void)tree::scalar_value(e);
          break;
        default:
          if (random_() % 8 == 0) next = tree::last_child(e);
      }
      if (next) add(next);
    }
  }
  const std::vector<std::pair<Element*, std::string>>& notes() const { return notes_; }
  static std::string note(Element* e) {
    value::Value v = tree::scalar_value(e);
    return std::to_string(e->type) + std::string(e->local_name()) + "=" +
           (v.is_null() ? "NULL" : std::string(v.text()));
  }

 private:
  void add(Element* e) {
    seen_.push_back(e);
    notes_.emplace_back(e, note(e));
  }
  std::mt19937 random_;
  std::vector<Element*> seen_;
  std::vector<std::pair<Element*, std::string>> notes_;
};

TEST_CASE("xml: on demand in any order gives the same tree as at once") {
  std::string lists = "<r>" + repeat("<l><i a='1'>x</i><j><k>2</k></j><m/>t</l>\n", 20) + "</r>";
  for (const tree::Domain* domain : kBoth) {
    for (std::string_view xml : {std::string_view(kSample), std::string_view(lists)}) {
      for (bool keeps_all : {false, true}) {
        tree::ParseOptions options;
        options.retain_mixed_content = options.retain_comments = keeps_all;
        options.retain_processing_instructions = options.retain_document_type = keeps_all;
        XmlBody whole(*domain);
        REQUIRE(whole.parse_all(xml, options) == "");
        std::string expected;
        tree::dump(whole.root, expected);
        for (uint32_t seed = 1; seed <= 60; ++seed) {
          XmlBody b(*domain);
          b.parse(xml, options);
          Wanderer w(b.root, seed);
          w.wander(static_cast<int>(seed) * 3);
          tree::complete(b.root);
          CAPTURE(seed);
          for (const auto& [e, note] : w.notes()) CHECK(Wanderer::note(e) == note);
          std::string dump;
          tree::dump(b.root, dump);
          CHECK(dump == expected);
        }
      }
    }
  }
}

TEST_CASE("xml: navigation stops early, and errors wait until they are reached") {
  std::string xml = "<r>" + repeat("<l><i>x</i></l>", 1000) + "<broken></r>";
  for (const tree::Domain* domain : kBoth) {
    XmlBody b(*domain);
    b.parse(xml);
    CHECK(b.value({"r", "l", "i"}) == "x");
    CHECK(!b.context().has_parse_error());
    CHECK(b.root->is_open());
    CHECK(b.arena.arena().used_bytes() < 16'000);
    CHECK(b.at({"r", "missing"}) == nullptr);
    CHECK(b.context().has_parse_error());
    base::Error error = std::move(*b.context().take_parse_error().take_error());
    CHECK(error.id_with_letter() == "BIP5004E");
    CHECK(error.kind == base::ExceptionKind::kParser);
    REQUIRE(error.inserts.size() == 4);
    CHECK(error.inserts[3].text == std::to_string(xml.size() - 4));
    CHECK(b.write().starts_with("error: XML parse error"));
  }
}

TEST_CASE("xml: an unmodified body is sent as it came, a changed one is written anew") {
  for (const tree::Domain* domain : kBoth) {
    XmlBody b(*domain);
    b.parse(kSample);
    std::string out;
    CHECK(tree::serialise_body(b.context(), b.root, {}, out).ok());
    CHECK(out == kSample);
    tree::complete(b.root);
    out.clear();
    CHECK(tree::serialise_body(b.context(), b.root, {}, out).ok());
    CHECK(out == kSample);
    tree::mark_modified(b.root);
    out.clear();
    CHECK(tree::serialise_body(b.context(), b.root, {}, out).ok());
    CHECK(out != kSample);
  }
}

TEST_CASE("xml: a copy of an unmodified body parses the bytes again") {
  for (const tree::Domain* domain : kBoth) {
    XmlBody b(*domain);
    b.parse(kSample);
    (void)tree::first_child(tree::first_child(b.root));
    auto copied = tree::deep_copy(b.context(), b.root);
    REQUIRE(copied.ok());
    auto* copy = static_cast<tree::DomainRoot*>(copied.value());
    CHECK(copy->is_open());
    std::string a, c;
    tree::dump(b.root, a);
    tree::dump(copy, c);
    CHECK(a == c);
  }
}

TEST_CASE("xml: encodings") {
  std::string utf16 = "\xFF\xFE";
  for (char c : std::string("<a>x</a>")) utf16 += c, utf16 += '\0';
  std::string big;
  for (char c : std::string("<a>x</a>")) big += '\0', big += c;
  std::string ebcdic = "\x4C\x81\x6E\xA7\x4C\x61\x81\x6E";  // <a>x</a>
  for (const tree::Domain* domain : kBoth) {
    XmlBody b(*domain);
    b.parse(utf16);
    CHECK(b.value({"a"}) == "x");
    b.parse(big);
    CHECK(b.value({"a"}) == "x");
    tree::ParseOptions options;
    options.ccsid = 500;
    b.parse(ebcdic, options);
    CHECK(b.value({"a"}) == "x");
    b.parse("<?xml version='1.0' encoding='ISO-8859-1'?><a>\xE9</a>");
    CHECK(b.value({"a"}) == "\xC3\xA9");
    options.ccsid = 819;
    b.parse("<?xml version='1.0' encoding='UTF-8'?><a>\xE9</a>", options);
    CHECK(b.value({"a"}) == "\xC3\xA9");
    b.parse("<?xml version='1.0' encoding='x-nothing'?><a/>");
    CHECK(b.error.find("x-nothing") != std::string::npos);
    b.parse("\xEF\xBB\xBF<a>\xC3\xA9\xE2\x82\xAC</a>");
    tree::SerialiseOptions latin;
    latin.ccsid = 819;
    CHECK(b.write(latin) == "<a>\xE9&#8364;</a>");
    b.parse("<\xE2\x82\xAC/>");
    CHECK(b.write(latin).starts_with("error: "));
  }
}

}  // namespace
}  // namespace millstream::parsers
