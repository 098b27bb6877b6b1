// ResetContentDescriptor: the body goes through bytes into another parser.
#include "flow/invocation.h"
#include "nodes/common/body.h"
#include "nodes/construction/errors_gen.h"
#include "nodes/construction/reset_content_descriptor_properties_gen.h"
#include "parsers/headers/properties.h"

namespace millstream::nodes::construction {
namespace {

using Properties = ResetContentDescriptorProperties;

class ResetContentDescriptor final : public flow::Node {
 public:
  ResetContentDescriptor(Properties properties, common::BodyParserChoice choice)
      : properties_(std::move(properties)), choice_(std::move(choice)) {}

  Status evaluate(flow::Invocation& invocation, const tree::MessageAssembly& in, int) override {
    tree::TreeContext& context = invocation.context();
    tree::MessageAssembly out = in;
    out.root = MS_TRY(tree::deep_copy(context, in.root));
    tree::DomainRoot* body = tree::body_of(out.root);
    if (body && parses_anew()) {
      const bool is_other = properties_.reset_message_domain;
      const tree::Domain& domain = is_other ? *choice_.domain : *body->domain;
      const std::string_view folder =
          is_other ? std::string_view(choice_.folder) : body->local_name();
      std::string bytes;
      MS_TRY(common::write_body(context, in.root, bytes));
      const uint32_t ccsid =
          static_cast<uint32_t>(parsers::headers::property_integer(out.root, "CodedCharSetId", 0));
      const uint32_t encoding =
          static_cast<uint32_t>(parsers::headers::property_integer(out.root, "Encoding", 0));
      tree::detach(body);
      MS_TRY(common::add_body_as(context, out.root, domain, folder, choice_,
                                 context.arena.copy(bytes), ccsid, encoding));
    }
    if (tree::Element* folder = tree::find_domain(out.root, "Properties")) {
      reset(context, folder, "MessageSet", properties_.reset_message_set, properties_.message_set);
      reset(context, folder, "MessageType", properties_.reset_message_type,
            properties_.message_type);
      reset(context, folder, "MessageFormat", properties_.reset_message_format,
            properties_.message_format);
    }
    return invocation.propagate(*this, kOut, out);
  }

 private:
  static constexpr int kOut = 1;

  bool parses_anew() const {
    return properties_.reset_message_domain || properties_.reset_message_set ||
           properties_.reset_message_type || properties_.reset_message_format;
  }

  static void reset(tree::TreeContext& context, tree::Element* folder, std::string_view name,
                    bool is_reset, const std::string& text) {
    if (is_reset) tree::set_child(context, folder, name, value::Value::make_character(text));
  }

  const Properties properties_;
  const common::BodyParserChoice choice_;
};

}  // namespace

Result<std::unique_ptr<flow::Node>> create_reset_content_descriptor(
    flow::NodeBuildContext& context) {
  Properties properties = MS_TRY(
      read_reset_content_descriptor_properties(context.definition.properties, context.diagnostics));
  common::BodyParserChoice choice;
  if (properties.reset_message_domain) {
    choice = MS_TRY(common::choose_body_parser(properties.message_domain,
                                               properties.parser_xmlnsc_use_for_xmlns_domain));
  }
  common::set_xml_options(properties, context.definition.properties, choice);
  choice.message_set = properties.message_set;
  choice.message_type = properties.message_type;
  choice.message_format = properties.message_format;
  return std::unique_ptr<flow::Node>(
      new ResetContentDescriptor(std::move(properties), std::move(choice)));
}

}  // namespace millstream::nodes::construction
