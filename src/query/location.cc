#include "query/location.h"

#include <cmath>

#include "query/errors_gen.h"
#include "query/xpath_ast.h"
#include "query/xpath_nodes.h"
#include "text/utf8.h"
#include "tree/edit.h"

namespace millstream::query {
namespace {

using tree::Element;

Status location_error(std::string_view text, size_t offset, std::string_view reason) {
  return base::make_error(errors::kLocationSyntax, {text, reason, offset + 1});
}

// Steps of a compiled XPath that is no more than a place.
Status steps_of_xpath(std::string_view text, const XPathExpr& e, std::string& tree_name,
                      std::vector<LocationStep>& out) {
  const XPathExpr* path = &e;
  if (e.op == XPathOp::kVariable) {
    tree_name = e.text;
    return {};
  }
  if (path->op != XPathOp::kPath) return location_error(text, e.offset, "it is not a path");
  if (!path->args.empty()) {
    if (path->args[0]->op != XPathOp::kVariable) {
      return location_error(text, e.offset, "it begins with an expression");
    }
    tree_name = path->args[0]->text;
  }
  for (const XPathStep& s : path->steps) {
    if (s.axis == XPathAxis::kSelf && s.test == XPathTest::kNode && s.predicates.empty()) continue;
    bool is_child = s.axis == XPathAxis::kChild || s.axis == XPathAxis::kAttribute;
    if (!is_child || s.test != XPathTest::kName || s.predicates.size() > 1) {
      return location_error(text, e.offset, "only steps by name with an index are possible");
    }
    LocationStep step{
        .ns = s.ns, .local = s.local, .is_attribute = s.axis == XPathAxis::kAttribute};
    if (!s.predicates.empty()) {
      const XPathExpr& p = *s.predicates[0];
      bool is_last = p.op == XPathOp::kCall && p.function == XPathFunction::kLast;
      bool is_index = p.op == XPathOp::kNumber && p.number >= 1 &&
                      p.number <= Location::kIndexMax && p.number == std::floor(p.number);
      if (!is_last && !is_index) return location_error(text, p.offset, "the index is not a number");
      step.index = is_last ? 0 : static_cast<uint32_t>(p.number);
    }
    out.push_back(std::move(step));
  }
  return {};
}

// An ESQL field reference without expressions.
class DottedParser {
 public:
  DottedParser(std::string_view text, const XPathNamespaces& namespaces)
      : text_(text), namespaces_(namespaces) {}

  Status run(std::vector<LocationStep>& out) {
    while (true) {
      if (out.size() >= Location::kStepsMax) return fail("it has too many steps");
      LocationStep step;
      MS_TRY(parse_type(step));
      step.local = MS_TRY(parse_name());
      if (at_ < text_.size() && text_[at_] == ':') {
        ++at_;
        MS_TRY(map_prefix(step));
        step.local = MS_TRY(parse_name());
      }
      MS_TRY(parse_index(step));
      out.push_back(std::move(step));
      if (at_ >= text_.size()) return {};
      if (text_[at_++] != '.') return fail("a dot is expected");
    }
  }

 private:
  Status fail(std::string_view reason) { return location_error(text_, at_, reason); }

  Status map_prefix(LocationStep& step) {
    for (const auto& [prefix, uri] : namespaces_) {
      if (prefix != step.local) continue;
      step.ns = uri;
      return {};
    }
    return fail("no namespace is mapped to the prefix '" + step.local + "'");
  }

  // "(XMLNSC.Attribute)"; other types do not change where a place is.
  Status parse_type(LocationStep& step) {
    if (at_ >= text_.size() || text_[at_] != '(') return {};
    size_t end = text_.find(')', at_);
    if (end == std::string_view::npos) return fail("the bracket of the type is not closed");
    std::string_view type = text_.substr(at_ + 1, end - at_ - 1);
    type = type.substr(type.rfind('.') == std::string_view::npos ? 0 : type.rfind('.') + 1);
    step.is_attribute = text::equals_ignoring_ascii_case(type, "Attribute");
    at_ = end + 1;
    return {};
  }

  Result<std::string> parse_name() {
    std::string name;
    if (at_ < text_.size() && text_[at_] == '"') {
      for (++at_; at_ < text_.size(); ++at_) {
        if (text_[at_] == '"') {
          if (at_ + 1 >= text_.size() || text_[at_ + 1] != '"') {
            ++at_;
            return name;
          }
          ++at_;
        }
        name.push_back(text_[at_]);
      }
      return fail("the quoted name is not closed");
    }
    constexpr std::string_view kEnds = ".:[]()\"'*{}/, \t\r\n";
    while (at_ < text_.size() && kEnds.find(text_[at_]) == std::string_view::npos) {
      name.push_back(text_[at_++]);
    }
    if (name.empty()) return fail("a name is expected");
    return name;
  }

  Status parse_index(LocationStep& step) {
    if (at_ >= text_.size() || text_[at_] != '[') return {};
    size_t end = text_.find(']', at_);
    if (end == std::string_view::npos) return fail("the index is not closed");
    std::string_view index = text_.substr(at_ + 1, end - at_ - 1);
    if (index == ">") {
      step.index = 0;
    } else if (index != "<") {
      double d = xpath_number(index);
      if (!(d >= 1 && d <= Location::kIndexMax && d == std::floor(d))) {
        return fail("the index is not a number from 1");
      }
      step.index = static_cast<uint32_t>(d);
    }
    at_ = end + 1;
    return {};
  }

  std::string_view text_;
  const XPathNamespaces& namespaces_;
  size_t at_ = 0;
};

struct Found {
  Element* element = nullptr;
  uint32_t count = 0;  // of the name, as far as it was looked at
};

Found find_step(Element* parent, const LocationStep& step) {
  XPathClassifier classifier;
  Found f;
  for (Element* c = tree::first_child(parent); c; c = tree::next_sibling(c)) {
    if (c->local_name() != step.local || c->namespace_uri() != step.ns) continue;
    // An attribute and an element of one name are different places.
    if ((classifier.kind_of(c) == XPathNodeKind::kAttribute) != step.is_attribute) continue;
    ++f.count;
    if (step.index == 0) f.element = c;
    if (f.count == step.index) {
      f.element = c;
      break;
    }
  }
  return f;
}

tree::FieldType attribute_type(Element* parent) {
  tree::DomainRoot* root = tree::domain_root_of(parent);
  if (!root) return tree::kNameValue;
  std::string_view name = root->domain->name;
  return name == "XMLNSC"  ? tree::xmlnsc::kAttribute
         : name == "XMLNS" ? tree::xmlns::kAttribute
                           : tree::kNameValue;
}

bool is_message_root(std::string_view tree_name) {
  return tree_name == "Root" || tree_name == "InputRoot" || tree_name == "OutputRoot";
}

constexpr std::string_view kAssemblyNames[] = {
    "Root",
    "InputRoot",
    "OutputRoot",
    "Body",
    "InputBody",
    "Properties",
    "InputProperties",
    "LocalEnvironment",
    "InputLocalEnvironment",
    "OutputLocalEnvironment",
    "DestinationList",
    "InputDestinationList",
    "OutputDestinationList",
    "Environment",
    "ExceptionList",
    "InputExceptionList",
    "OutputExceptionList",
};

}  // namespace

bool is_assembly_name(std::string_view name) {
  for (std::string_view known : kAssemblyNames) {
    if (name == known) return true;
  }
  return false;
}

Element* assembly_tree(std::string_view name, const tree::MessageAssembly& input,
                       const tree::MessageAssembly* output) {
  bool is_output = name.starts_with("Output");
  if (is_output && !output) return nullptr;
  const tree::MessageAssembly& a = is_output ? *output : input;
  if (is_output) name.remove_prefix(6);
  if (name.starts_with("Input")) name.remove_prefix(5);
  if (name == "Root") return a.root;
  if (name == "Body") return tree::body_of(a.root);
  if (name == "Properties") return a.root ? tree::find_child(a.root, "Properties") : nullptr;
  if (name == "LocalEnvironment" || name == "DestinationList") return a.local_environment;
  if (name == "Environment") return a.environment;
  if (name == "ExceptionList") return a.exception_list;
  return nullptr;
}

XPathVariables assembly_variables(const tree::MessageAssembly& input,
                                  const tree::MessageAssembly* output,
                                  std::function<bool(std::string_view, XPathValue&)> properties) {
  const bool has_output = output != nullptr;
  tree::MessageAssembly out = has_output ? *output : tree::MessageAssembly();
  return [input, has_output, out, properties = std::move(properties)](std::string_view name,
                                                                      XPathValue& value) {
    if (is_assembly_name(name)) {
      if (name.starts_with("Output") && !has_output) return false;
      value = XPathValue::of(assembly_tree(name, input, has_output ? &out : nullptr));
      return true;
    }
    return properties && properties(name, value);
  };
}

Result<Location> Location::parse(std::string_view text, const XPathNamespaces& namespaces) {
  Location l;
  l.text_ = std::string(text);
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  bool is_xpath =
      text.starts_with("$") || text.starts_with("@") || text.find('/') != std::string_view::npos;
  if (is_xpath) {
    XPath xpath = MS_TRY(XPath::compile(text, namespaces));
    MS_TRY(steps_of_xpath(text, xpath.root(), l.tree_name_, l.steps_));
    if (l.steps_.size() > kStepsMax) return location_error(text, 0, "it has too many steps");
    return l;
  }
  MS_TRY(DottedParser(text, namespaces).run(l.steps_));
  // Correlation names are keywords of ESQL: any case.
  for (std::string_view known : kAssemblyNames) {
    if (l.steps_[0].ns.empty() && text::equals_ignoring_ascii_case(l.steps_[0].local, known)) {
      l.tree_name_ = known;
      l.steps_.erase(l.steps_.begin());
      break;
    }
  }
  return l;
}

Element* Location::find(Element* top) const {
  for (const LocationStep& step : steps_) {
    if (!top) return nullptr;
    top = find_step(top, step).element;
  }
  return top;
}

Result<Element*> Location::ensure(
    tree::TreeContext& context, Element* top,
    const std::function<const tree::Domain*(std::string_view)>& domains) const {
  auto fail = [this](std::string_view reason) {
    return base::make_error(errors::kLocationMissing, {text_, reason});
  };
  if (!top) return fail("the tree does not exist here");
  Element* e = top;
  for (size_t i = 0; i < steps_.size(); ++i) {
    const LocationStep& step = steps_[i];
    Found f = find_step(e, step);
    if (context.has_parse_error()) return context.take_parse_error();
    if (f.element) {
      e = f.element;
      continue;
    }
    if (step.index > f.count + 1) {
      return fail("index " + std::to_string(step.index) + " comes after a gap");
    }
    const base::QName* name = context.names.qname(step.ns, step.local);
    bool is_last = i + 1 == steps_.size();
    Element* made;
    if (i == 0 && is_message_root(tree_name_)) {
      const tree::Domain* domain = domains ? domains(step.local) : nullptr;
      if (!domain) return fail("there is no domain named '" + step.local + "'");
      made = tree::make_domain_root(context, *domain, name);
    } else if (step.is_attribute) {
      made = tree::make_element(context, name, attribute_type(e));
    } else {
      made = tree::make_element(context, name, is_last ? tree::kNameValue : tree::kName);
    }
    tree::append_child(e, made);
    e = made;
  }
  return e;
}

}  // namespace millstream::query
