#include "parsers/domains.h"

#include "parsers/blob/blob_domain.h"
#include "parsers/headers/http_headers.h"
#include "parsers/headers/mq_headers.h"
#include "parsers/headers/properties.h"
#include "parsers/json/json_domain.h"
#include "parsers/xmlns/xmlns_domain.h"
#include "parsers/xmlnsc/xmlnsc_domain.h"
#include "text/utf8.h"

namespace millstream::parsers {
namespace {

constexpr const tree::Domain* kDomains[] = {
    &xmlnsc::kDomain,
    &xmlns::kDomain,
    &json::kDomain,
    &blob::kDomain,
    &headers::kProperties,
    &headers::kMqmd,
    &headers::kMqrfh2,
    &headers::kMqdlh,
    &headers::kHttpInputHeader,
    &headers::kHttpReplyHeader,
    &headers::kHttpRequestHeader,
    &headers::kHttpResponseHeader,
};

constexpr std::string_view kKnownUnsupported[] = {
    "DFDL",  "MRM",   "SOAP",  "MIME",  "JMSMap", "JMSStream", "DataObject", "IDOC",    "MQIIH",
    "MQCIH", "MQRFH", "MQMDE", "MQPCF", "MQCFH",  "MQSAPH",    "MQWIH",      "SMQ_BMH",
};

}  // namespace

const tree::Domain* find_domain(std::string_view name) {
  if (text::equals_ignoring_ascii_case(name, "XML")) name = "XMLNS";
  for (const tree::Domain* d : kDomains) {
    if (name == d->name) return d;
  }
  for (const tree::Domain* d : kDomains) {
    if (text::equals_ignoring_ascii_case(name, d->name) ||
        text::equals_ignoring_ascii_case(name, d->parser_class)) {
      return d;
    }
  }
  return nullptr;
}

std::string unsupported_domain_reason(std::string_view name) {
  for (std::string_view known : kKnownUnsupported) {
    if (text::equals_ignoring_ascii_case(name, known)) {
      return "The message domain " + std::string(known) + " is not supported yet.";
    }
  }
  std::string known;
  for (const tree::Domain* d : kDomains) {
    if (!d->is_body) continue;
    if (!known.empty()) known += ", ";
    known += d->name;
  }
  return "There is no message domain named '" + std::string(name) + "'; known are " + known + ".";
}

}  // namespace millstream::parsers
