// XPath against libxml2: generated expressions over generated documents must select the same nodes
// and give the same values, in the XMLNSC and in the XMLNS domain.
// The seed is fixed; MS_XPATH_SEED and MS_XPATH_ROUNDS run others.
// Legitimate differences, which the generator leaves out: numbers that need more than 15 digits as
// text (libxml2 rounds them), following:: and preceding:: from an attribute (libxml2 leaves out the
// children of its element), the text '-' as a number (0 there), the namespace axis, id() and name()
// of prefixed names.
#include <doctest/doctest.h>
#include <libxml/parser.h>
#include <libxml/xpath.h>
#include <libxml/xpathInternals.h>

#include <cmath>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "parsers/common/xml_test_support.h"
#include "parsers/xmlns/xmlns_domain.h"
#include "parsers/xmlnsc/xmlnsc_domain.h"
#include "query/xpath.h"

namespace {

using namespace millstream;
using query::XPathValue;
using tree::Element;

class Generator {
 public:
  Generator(uint32_t seed, bool has_comments) : random_(seed), has_comments_(has_comments) {}

  std::string document() {
    elements_ = 0;
    return element(0, "r");
  }
  std::string expression() {
    switch (pick(8)) {
      case 0:
        return boolean(2);
      case 1:
        return number(2);
      case 2:
        return text(2);
      case 3:
        return nodes(2) + " | " + nodes(2);
      case 4:
        return filtered();
      default:
        return nodes(3);
    }
  }

 private:
  uint32_t pick(uint32_t n) { return random_() % n; }
  template <size_t N>
  std::string one_of(const char* const (&list)[N]) {
    return list[pick(N)];
  }
  std::string name() {
    constexpr const char* kNames[] = {"a", "b", "c", "d"};
    return one_of(kNames);
  }
  std::string value() {
    constexpr const char* kValues[] = {
        "1",   "2",   "3.5", "10", "4", "x",     "yy",
        "x y", " z ", "",    "0",  "a", "12.25", "\xc3\xa9t\xc3\xa9"};
    return one_of(kValues);
  }

  std::string element(int depth, std::string name_of_it) {
    bool is_prefixed = depth > 0 && pick(6) == 0;
    std::string tag = (is_prefixed ? "p:" : "") + name_of_it;
    std::string out = "<" + tag + " id=\"" + std::to_string(++elements_) + "\"";
    if (depth == 0) out += " xmlns:p=\"urn:p\"";
    if (pick(3) == 0) out += " x=\"" + value() + "\"";
    if (pick(4) == 0) out += " p:y=\"" + value() + "\"";
    out += ">";
    bool was_text = false;
    uint32_t children = depth > 4 ? 0 : pick(5);
    if (pick(2)) {
      out += value();
      was_text = true;
    }
    for (uint32_t i = 0; i < children && elements_ < 60; ++i) {
      if (has_comments_ && pick(8) == 0)
        out += "<!--" + name() + "-->";
      else if (has_comments_ && pick(12) == 0)
        out += "<?" + name() + " data?>";
      else
        out += element(depth + 1, name());
      was_text = pick(4) == 0;
      if (was_text) out += value();
    }
    return out + "</" + tag + ">";
  }

  std::string node_test(bool is_attribute) {
    switch (pick(is_attribute ? 6 : 12)) {
      case 0:
        return "*";
      case 1:
        return "node()";
      case 2:
        return is_attribute ? "p:y" : "p:" + name();
      case 3:
        return is_attribute ? "p:*" : "p:*";
      case 6:
        return "text()";
      case 7:
        return "comment()";
      case 8:
        return "processing-instruction()";
      default:
        return is_attribute ? (pick(2) ? "id" : "x") : name();
    }
  }
  // `may_be_attribute`: the step before may have led to attributes.
  std::string step(int depth, bool& may_be_attribute) {
    constexpr const char* kAxes[] = {"",
                                     "",
                                     "",
                                     "",
                                     "child::",
                                     "descendant::",
                                     "descendant-or-self::",
                                     "self::",
                                     "parent::",
                                     "ancestor::",
                                     "ancestor-or-self::",
                                     "following-sibling::",
                                     "preceding-sibling::",
                                     "following::",
                                     "preceding::",
                                     "@"};
    std::string axis = one_of(kAxes);
    bool looks_around = axis == "following::" || axis == "preceding::";
    if (may_be_attribute && looks_around) axis = "parent::";
    bool is_attribute = axis == "@";
    bool keeps = axis == "self::" || axis == "ancestor-or-self::" || axis == "descendant-or-self::";
    may_be_attribute = is_attribute || (may_be_attribute && keeps);
    if (pick(15) == 0 && !is_attribute) {
      may_be_attribute = false;
      return "..";
    }
    std::string out = axis + node_test(is_attribute);
    bool outer = context_may_be_attribute_;
    context_may_be_attribute_ = may_be_attribute;
    while (depth > 0 && pick(3) == 0) out += "[" + predicate(depth - 1) + "]";
    context_may_be_attribute_ = outer;
    return out;
  }
  std::string nodes(int depth) {
    std::string out = pick(3) == 0 ? "" : pick(2) ? "/" : "//";
    if (out.empty() && pick(5) == 0) out = ".//";
    bool may_be_attribute = context_may_be_attribute_ && (out.empty() || out == ".//");
    uint32_t steps = 1 + pick(3);
    for (uint32_t i = 0; i < steps; ++i) {
      if (i) {
        out += pick(5) == 0 ? "//" : "/";
      }
      out += step(depth, may_be_attribute);
    }
    return out;
  }
  std::string filtered() {
    std::string set = nodes(2);
    context_may_be_attribute_ = true;
    std::string filter = predicate(1);
    context_may_be_attribute_ = false;
    return "(" + set + ")[" + filter + "]";
  }
  std::string predicate(int depth) {
    switch (pick(7)) {
      case 0:
        return std::to_string(1 + pick(4));
      case 1:
        return "last()";
      case 2:
        return "position() " + comparison() + " " + std::to_string(pick(4));
      case 3:
        return depth > 0 ? nodes(depth - 1) : "@x";
      case 4:
        return "last() - 1";
      default:
        return boolean(depth);
    }
  }
  std::string comparison() {
    constexpr const char* kOps[] = {"=", "!=", "<", "<=", ">", ">="};
    return one_of(kOps);
  }
  std::string any(int depth) {
    switch (pick(4)) {
      case 0:
        return number(depth);
      case 1:
        return text(depth);
      case 2:
        return boolean(depth);
      default:
        return nodes(depth > 0 ? depth - 1 : 0);
    }
  }
  std::string boolean(int depth) {
    if (depth <= 0) return pick(2) ? "@x" + comparison() + "2" : ". = '" + value() + "'";
    switch (pick(7)) {
      case 0:
        return "(" + boolean(depth - 1) + " and " + boolean(depth - 1) + ")";
      case 1:
        return "(" + boolean(depth - 1) + " or " + boolean(depth - 1) + ")";
      case 2:
        return "not(" + any(depth - 1) + ")";
      case 3:
        return "contains(" + text(depth - 1) + "," + text(depth - 1) + ")";
      case 4:
        return "starts-with(" + text(depth - 1) + "," + text(depth - 1) + ")";
      case 5:
        return "boolean(" + any(depth - 1) + ")";
      default:
        return any(depth - 1) + " " + comparison() + " " + any(depth - 1);
    }
  }
  std::string number(int depth) {
    if (depth <= 0) return pick(2) ? std::to_string(pick(5)) : "2.5";
    switch (pick(8)) {
      case 0:
        return "count(" + nodes(depth - 1) + ")";
      case 1:
        return "sum(" + nodes(depth - 1) + ")";
      case 2:
        return "string-length(" + text(depth - 1) + ")";
      case 3:
        return "number(" + any(depth - 1) + ")";
      case 4:
        return "(" + number(depth - 1) + " + " + number(depth - 1) + ")";
      case 5:
        return "(" + number(depth - 1) + " mod " + number(depth - 1) + ")";
      case 6:
        return std::string(pick(2) ? "floor" : "round") + "(" + number(depth - 1) + ")";
      default:
        return "(" + number(depth - 1) + " * - " + number(depth - 1) + ")";
    }
  }
  std::string text(int depth) {
    if (depth <= 0) return "'" + value() + "'";
    switch (pick(8)) {
      case 0:
        return "string(" + nodes(depth - 1) + ")";
      case 1:
        return "concat(" + text(depth - 1) + "," + text(depth - 1) + ")";
      case 2:
        return "substring(" + text(depth - 1) + "," + number(0) + "," + number(0) + ")";
      case 3:
        return "substring-before(" + text(depth - 1) + ",' ')";
      case 4:
        return "substring-after(" + text(depth - 1) + "," + text(0) + ")";
      case 5:
        return "normalize-space(" + text(depth - 1) + ")";
      case 6:
        return "translate(" + text(depth - 1) + ",'xya','XY')";
      default:
        return "local-name(" + nodes(depth - 1) + ")";
    }
  }

  std::mt19937 random_;
  bool has_comments_;
  bool context_may_be_attribute_ = false;
  int elements_ = 0;
};

std::string number_text(double d) {
  if (std::isnan(d)) return "number NaN";
  char buffer[64];
  std::snprintf(buffer, sizeof buffer, "number %.12g", d == 0 ? 0 : d);
  return buffer;
}

// A node as text that is the same on both sides: the id of its element and what it is.
std::string id_of_ours(Element* e) {
  for (Element* c = tree::first_child(e); c; c = tree::next_sibling(c)) {
    if (c->local_name() == "id") return std::string(tree::scalar_value(c).text());
  }
  return "/";
}

std::string describe_ours(const XPathValue& v, bool is_xmlns) {
  switch (v.kind) {
    case XPathValue::Kind::kBoolean:
      return v.boolean ? "true" : "false";
    case XPathValue::Kind::kNumber:
      return number_text(v.number);
    case XPathValue::Kind::kString:
      return "string " + v.text;
    case XPathValue::Kind::kNodes:
      break;
  }
  std::string out;
  for (const query::XPathNode& n : v.nodes) {
    Element* e = n.element;
    XPathValue one;
    one.nodes = {n};
    uint32_t type = e->type;
    bool is_attribute =
        is_xmlns ? type == tree::xmlns::kAttribute
                 : type == tree::xmlnsc::kAttribute || type == tree::xmlnsc::kSingleAttribute;
    bool is_comment = type == (is_xmlns ? tree::xmlns::kComment : tree::xmlnsc::kComment);
    bool is_pi = type == (is_xmlns ? tree::xmlns::kProcessingInstruction
                                   : tree::xmlnsc::kProcessingInstruction);
    if (n.is_text)
      out += id_of_ours(e) + " text " + one.to_string();
    else if ((type & tree::kTypeClassMask) == tree::kValue)
      out += id_of_ours(e->parent) + " text " + one.to_string();
    else if (is_attribute)
      out += id_of_ours(e->parent) + " @" + std::string(e->local_name()) + " " + one.to_string();
    else if (is_comment)
      out += id_of_ours(e->parent) + " comment " + one.to_string();
    else if (is_pi)
      out += id_of_ours(e->parent) + " pi " + std::string(e->local_name());
    else
      out += id_of_ours(e);
    out += '\n';
  }
  return "nodes\n" + out;
}

std::string text_of(const xmlChar* s) { return s ? reinterpret_cast<const char*>(s) : ""; }

std::string id_of_libxml(xmlNode* n) {
  if (!n || n->type != XML_ELEMENT_NODE) return "/";
  xmlChar* id = xmlGetNoNsProp(n, reinterpret_cast<const xmlChar*>("id"));
  std::string out = text_of(id);
  xmlFree(id);
  return out;
}

std::string describe_libxml(xmlXPathObject* o) {
  switch (o->type) {
    case XPATH_BOOLEAN:
      return o->boolval ? "true" : "false";
    case XPATH_NUMBER:
      return number_text(o->floatval);
    case XPATH_STRING:
      return "string " + text_of(o->stringval);
    default:
      break;
  }
  std::string out;
  if (o->nodesetval) xmlXPathNodeSetSort(o->nodesetval);
  for (int i = 0; o->nodesetval && i < o->nodesetval->nodeNr; ++i) {
    xmlNode* n = o->nodesetval->nodeTab[i];
    xmlChar* content = n->type == XML_ELEMENT_NODE || n->type == XML_DOCUMENT_NODE
                           ? nullptr
                           : xmlNodeGetContent(n);
    switch (n->type) {
      case XML_TEXT_NODE:
        out += id_of_libxml(n->parent) + " text " + text_of(content);
        break;
      case XML_ATTRIBUTE_NODE:
        out += id_of_libxml(n->parent) + " @" + text_of(n->name) + " " + text_of(content);
        break;
      case XML_COMMENT_NODE:
        out += id_of_libxml(n->parent) + " comment " + text_of(content);
        break;
      case XML_PI_NODE:
        out += id_of_libxml(n->parent) + " pi " + text_of(n->name);
        break;
      default:
        out += id_of_libxml(n);
    }
    xmlFree(content);
    out += '\n';
  }
  return "nodes\n" + out;
}

void ignore_error(void*, const char*, ...) {}

struct LibxmlDocument {
  explicit LibxmlDocument(const std::string& xml)
      : document(xmlReadMemory(xml.data(), static_cast<int>(xml.size()), "d.xml", nullptr,
                               XML_PARSE_NOERROR | XML_PARSE_NOWARNING)),
        context(xmlXPathNewContext(document)) {
    xmlXPathRegisterNs(context, reinterpret_cast<const xmlChar*>("p"),
                       reinterpret_cast<const xmlChar*>("urn:p"));
  }
  ~LibxmlDocument() {
    xmlXPathFreeContext(context);
    xmlFreeDoc(document);
  }
  std::string eval(const std::string& expression) {
    context->node = reinterpret_cast<xmlNode*>(document);
    xmlXPathObject* o =
        xmlXPathEvalExpression(reinterpret_cast<const xmlChar*>(expression.c_str()), context);
    if (!o) return "error";
    std::string out = describe_libxml(o);
    xmlXPathFreeObject(o);
    return out;
  }
  xmlDoc* document;
  xmlXPathContext* context;
};

const std::string kTooManySteps = "too many steps";

std::string eval_ours(parsers::common::XmlBody& body, const std::string& expression) {
  auto xpath = query::XPath::compile(expression, {{"p", "urn:p"}});
  if (!xpath.ok()) return xpath.error().text;
  auto v = xpath.value().evaluate(
      {.context = &body.context(), .node = body.root, .steps_max = 2'000'000});
  if (!v.ok()) return v.error().number == 1473 ? kTooManySteps : v.error().text;
  return describe_ours(v.value(), std::string_view(body.domain.name) == "XMLNS");
}

}  // namespace

TEST_CASE("xpath selects and computes what libxml2 does") {
  const char* seed_text = std::getenv("MS_XPATH_SEED");
  const char* rounds_text = std::getenv("MS_XPATH_ROUNDS");
  uint32_t seed = seed_text ? static_cast<uint32_t>(std::atoi(seed_text)) : 20261130;
  int rounds = rounds_text ? std::atoi(rounds_text) : 300;
  xmlSetGenericErrorFunc(nullptr, ignore_error);
  int wrong = 0, stopped = 0, compared = 0;
  for (int round = 0; round < rounds && wrong < 10; ++round) {
    // XMLNSC joins the text around comments and puts it after them, so it gets none.
    bool is_compact = round % 2 == 0;
    uint32_t round_seed = seed + static_cast<uint32_t>(round);
    Generator generator(round_seed, !is_compact);
    std::string xml = generator.document();
    LibxmlDocument peer(xml);
    REQUIRE(peer.document);
    parsers::common::XmlBody body(is_compact ? parsers::xmlnsc::kDomain : parsers::xmlns::kDomain);
    REQUIRE(body.parse_all(xml, {.retain_mixed_content = true}) == "");
    for (int i = 0; i < 120 && wrong < 10; ++i) {
      std::string expression = generator.expression();
      std::string expected = peer.eval(expression);
      std::string answer = eval_ours(body, expression);
      ++compared;
      stopped += answer == kTooManySteps;
      if (answer == expected || answer == kTooManySteps) continue;
      ++wrong;
      FAIL_CHECK("seed ", round_seed, " ", std::string(body.domain.name), "\n", expression, "\n",
                 xml, "\nlibxml2: ", expected, "\nours: ", answer);
    }
  }
  CHECK(compared >= rounds * 100);
  CHECK(stopped < compared / 50);
}
