// The answer to a REST call as a message, for RESTRequest and RESTAsyncResponse.
// Thread: create while loading; the rest in a message's fiber.
#pragma once
#include "flow/invocation.h"
#include "http/client.h"
#include "nodes/common/body.h"
#include "nodes/common/location.h"

namespace millstream::nodes::rest {

// From the properties of either node.
class AnswerReader {
 public:
  template <typename Properties>
  static Result<AnswerReader> create(const Properties& p, const flow::PropertySet& set) {
    common::BodyParserChoice parser = MS_TRY(common::choose_body_parser(
        p.message_domain_property, p.parser_xmlnsc_use_for_xmlns_domain));
    common::set_xml_options(p, set, parser);
    parser.message_set = p.message_set_property;
    parser.message_type = p.message_type_property;
    parser.message_format = p.message_format_property;
    common::MessagePlace result = MS_TRY(common::MessagePlace::parse(p.result_data_location));
    common::MessagePlace output = MS_TRY(common::MessagePlace::parse(p.output_data_location));
    common::MessagePlace error = MS_TRY(common::MessagePlace::parse(p.error_data_location));
    AnswerReader made(std::move(parser), std::move(result), std::move(output), std::move(error));
    // A domain that is set means that domain; else the answer says what it is.
    made.trusts_content_type_ =
        p.content_type_handling && set.find("messageDomainProperty") == nullptr;
    return made;
  }

  // `in` with the answer where the properties want it. Takes the buffer of the response.
  Result<tree::MessageAssembly> read(flow::Invocation& invocation, const tree::MessageAssembly& in,
                                     millstream::http::ClientResponse& response) const;

 private:
  AnswerReader(common::BodyParserChoice parser, common::MessagePlace result,
               common::MessagePlace output, common::MessagePlace error)
      : parser_(std::move(parser)),
        result_(std::move(result)),
        output_(std::move(output)),
        error_(std::move(error)) {}
  Result<tree::Element*> make_root(flow::Invocation& invocation,
                                   millstream::http::ClientResponse& response) const;

  common::BodyParserChoice parser_;
  common::MessagePlace result_, output_, error_;
  bool trusts_content_type_ = true;
};

inline bool is_success(int status) { return status >= 200 && status < 300; }

}  // namespace millstream::nodes::rest
