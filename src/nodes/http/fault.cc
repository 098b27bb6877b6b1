#include "nodes/http/fault.h"

#include "base/json_value.h"
#include "base/markup.h"

namespace millstream::nodes::http {
namespace {

constexpr size_t kChainBytesMax = 16 * 1024;

}  // namespace

std::string describe_chain(const base::Error& error) {
  std::string out;
  for (const base::Error* e = &error; e; e = e->causes.empty() ? nullptr : e->causes[0].get()) {
    if (!out.empty()) out += " : ";
    out += e->id_with_letter() + ": " + e->text;
    // What 2230 has to say is which node it was.
    if (e->number == 2230 && !e->node_label.empty()) out += " in node '" + e->node_label + "'";
    for (const base::Insert& insert : e->inserts) {
      // Inserts that the text shows already say nothing new.
      if (!insert.text.empty() && e->text.find(insert.text) == std::string::npos) {
        out += " '" + insert.text + "'";
      }
    }
    if (out.size() > kChainBytesMax) {
      out.resize(kChainBytesMax);
      return out + "...";
    }
  }
  return out;
}

Fault make_fault(FaultFormat format, const std::string& summary, const base::Error* cause) {
  const std::string detail = cause ? describe_chain(*cause) : std::string();
  const std::string text = base::escape_markup(summary);
  const std::string more = base::escape_markup(detail);
  switch (format) {
    case FaultFormat::kSoap11:
      return {"text/xml; charset=utf-8",
              "<SOAP-ENV:Envelope xmlns:SOAP-ENV=\"http://schemas.xmlsoap.org/soap/envelope/\">"
              "<SOAP-ENV:Body><SOAP-ENV:Fault><faultcode>SOAP-ENV:Server</faultcode><faultstring>" +
                  text + "</faultstring><detail><Text>" + more +
                  "</Text></detail></SOAP-ENV:Fault></SOAP-ENV:Body></SOAP-ENV:Envelope>"};
    case FaultFormat::kSoap12:
      return {"application/soap+xml; charset=utf-8",
              "<SOAP-ENV:Envelope xmlns:SOAP-ENV=\"http://www.w3.org/2003/05/soap-envelope\">"
              "<SOAP-ENV:Body><SOAP-ENV:Fault><SOAP-ENV:Code><SOAP-ENV:Value>SOAP-ENV:Receiver"
              "</SOAP-ENV:Value></SOAP-ENV:Code><SOAP-ENV:Reason><SOAP-ENV:Text xml:lang=\"en\">" +
                  text + "</SOAP-ENV:Text></SOAP-ENV:Reason><SOAP-ENV:Detail><Text>" + more +
                  "</Text></SOAP-ENV:Detail></SOAP-ENV:Fault></SOAP-ENV:Body></SOAP-ENV:Envelope>"};
    case FaultFormat::kHtml:
      return {"text/html; charset=utf-8", "<html><head><title>Error</title></head><body><h1>" +
                                              text + "</h1><p>" + more + "</p></body></html>\n"};
    case FaultFormat::kJson:
      break;
  }
  base::json::Value fault = base::json::Value::object();
  fault.set("message", summary);
  if (!detail.empty()) fault.set("detail", detail);
  base::json::Value document = base::json::Value::object();
  document.set("error", std::move(fault));
  return {"application/json; charset=utf-8", base::json::write(document)};
}

}  // namespace millstream::nodes::http
