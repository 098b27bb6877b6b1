#include "format/xml_tokenizer.h"

#include <doctest/doctest.h>

#include <string>

namespace millstream::format {
namespace {

// One line an event.
std::string xml_events(std::string_view xml, const XmlLimits& limits = {}) {
  base::Arena arena;
  XmlTokenizer t(arena, xml, limits);
  std::string out;
  for (;;) {
    switch (t.next()) {
      case XmlEvent::kError:
        return out + t.error().error().text;
      case XmlEvent::kEnd:
        return out + ".";
      case XmlEvent::kXmlDecl:
        out += "?" + std::string(t.version()) + "," + std::string(t.encoding()) + "," +
               std::string(t.standalone()) + "|";
        break;
      case XmlEvent::kDoctype:
        out += "D" + std::string(t.doctype().name) + "," + std::string(t.doctype().system_id) +
               "," + std::string(t.doctype().internal_subset) + "|";
        break;
      case XmlEvent::kStartTag:
        out += "<" + std::string(t.name());
        for (const XmlAttribute& a : t.attributes()) {
          ((((out += " ") += a.name) += "=") += a.quote) += a.value;
        }
        out += "|";
        break;
      case XmlEvent::kEndTag:
        out += "/" + std::string(t.name()) + "|";
        break;
      case XmlEvent::kText:
        out += "T" + std::string(t.text()) + "|";
        break;
      case XmlEvent::kCData:
        out += "C" + std::string(t.text()) + "|";
        break;
      case XmlEvent::kComment:
        out += "-" + std::string(t.text()) + "|";
        break;
      case XmlEvent::kPi:
        out += "P" + std::string(t.name()) + "," + std::string(t.text()) + "|";
        break;
    }
  }
}

TEST_CASE("xml tokenizer: events in order") {
  CHECK(
      xml_events("<?xml version='1.0' encoding='UTF-8' standalone='no'?><!DOCTYPE a SYSTEM 's' "
                 "[<!ENTITY e 'v'>]><a b='1' c=\"2\">x&e;<d/><![CDATA[<]]><!--c--><?p q?></a>\n") ==
      "?1.0,UTF-8,no|Da,s,<!ENTITY e 'v'>|<a b='1 c=\"2|Txv|<d|/d|C<|-c|Pp,q|/a|T\n|.");
  CHECK(xml_events("<!DOCTYPE a [<!ENTITY e '1<b>2</b>3'>]><a>0&e;4</a>") ==
        "Da,,<!ENTITY e '1<b>2</b>3'>|<a|T0|T1|<b|T2|/b|T3|T4|/a|.");
  CHECK(xml_events("<a x='\r\n\t&#10;'>\r\n\r&#13;</a>") == "<a x='  \n|T\n\n\r|/a|.");
}

TEST_CASE("xml tokenizer: an error says reason, line, column and offset") {
  CHECK(xml_events("<a>\n  <b>\xC3\xA9</c></a>") ==
        "<a|T\n  |<b|T\xC3\xA9|XML parse error: the end tag does not match the start tag (line 2, "
        "column 7, offset 11).");
  CHECK(xml_events("<a>&#0;</a>") ==
        "<a|XML parse error: a reference to an illegal character (line 1, column 4, offset 3).");
  CHECK(xml_events("") ==
        "XML parse error: the document has no root element (line 1, column 1, offset 0).");
}

TEST_CASE("xml tokenizer: every limit") {
  XmlLimits limits;
  limits.depth_max = 2;
  CHECK(xml_events("<a><b/></a>", limits) == "<a|<b|/b|/a|.");
  CHECK(xml_events("<a><b><c/></b></a>", limits).find("nested too deeply") != std::string::npos);
  limits = {};
  limits.expansion_max = 100;
  std::string entity = "<!DOCTYPE a [<!ENTITY e '0123456789'>]><a>";
  CHECK(xml_events(entity + "&e;</a>", limits).ends_with("."));
  CHECK(xml_events(entity + "&e;&e;&e;&e;</a>", limits).find("more than the limit") !=
        std::string::npos);
  limits = {};
  limits.entity_depth_max = 1;
  std::string two = "<!DOCTYPE a [<!ENTITY e '<b/>'><!ENTITY f '&e;'>]><a>";
  CHECK(xml_events(two + "&e;</a>", limits).ends_with("."));
  CHECK(xml_events(two + "&f;</a>", limits).find("nested too deeply") != std::string::npos);
  limits = {};
  limits.entities_max = 1;
  CHECK(xml_events(two + "</a>", limits).find("too many entities") != std::string::npos);
  limits = {};
  limits.size_max = 10;
  CHECK(xml_events("<a>1234</a>", limits).find("larger than the limit") != std::string::npos);
}

TEST_CASE("xml tokenizer: specials at every distance from the end of a step") {
  for (size_t n = 0; n < 40; ++n) {
    std::string x(n, 'x');
    CHECK(xml_events("<a>" + x + "&lt;" + x + "</a>") == "<a|T" + x + "<" + x + "|/a|.");
    CHECK(xml_events("<a b='" + x + "&lt;" + x + "'/>") == "<a b='" + x + "<" + x + "|/a|.");
    CHECK(xml_events("<n" + x + "></n" + x + ">") == "<n" + x + "|/n" + x + "|.");
    CHECK(xml_events("<a><!--" + x + "--></a>") == "<a|-" + x + "|/a|.");
    CHECK(xml_events("<a>" + x + "\xC3").find("not valid UTF-8") != std::string::npos);
    CHECK(xml_events("<a>" + x + "]]></a>").find("']]>'") != std::string::npos);
    CHECK(xml_events("<a>" + x + std::string(1, '\0') + "</a>").find("illegal control") !=
          std::string::npos);
  }
}

}  // namespace
}  // namespace millstream::format
