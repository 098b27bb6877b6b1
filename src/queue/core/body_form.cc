// The form in which a body travels: properties that an application put in an MQRFH2 are taken out
// of it, so that selectors see them; a get has them in front of the body again, beside it or not at
// all, as its options and PROPCTL say; and MQGMO_CONVERT.
#include "mqi/conversion.h"
#include "mqi/property_body.h"
#include "queue/core/get_operation.h"
#include "queue/core/report.h"

namespace millstream::queue {
namespace {

mqi::BodyCoding coding_of(const mqi::MessageDescriptor& md, int32_t manager_ccsid) {
  return {md.encoding, md.ccsid > 0 ? md.ccsid : manager_ccsid, std::string(md.format.view())};
}

void set_form(mqi::PropertyBody form, Message& message) {
  message.body = Body::adopt(std::move(form.body));
  message.md.encoding = form.coding.encoding;
  message.md.ccsid = form.coding.ccsid;
  message.md.format = std::string_view(form.coding.format);
}

}  // namespace

// An application that deals with properties hears of a header that is broken; for any other the
// header is data.
Outcome Connection::take_body_properties(const PutCall& call, Message& message) const {
  constexpr int32_t kSegments = mqi::mf::kSegment | mqi::mf::kLastSegment;
  if ((message.md.flags & kSegments) != 0) return Outcome::ok();
  auto list = mqi::PropertyList::from_bytes(message.properties);
  if (!list.ok()) return Outcome::failed(mqi::reason::kPropertyNotAvailable);
  mqi::PropertyList properties = std::move(list).take_value();
  mqi::PropertyBody form;
  auto taken = mqi::take_properties(
      message.body.view(), coding_of(message.md, manager_.settings().ccsid), properties, form);
  if (!taken.ok()) {
    return call.properties.empty() ? Outcome::ok() : Outcome::failed(mqi::reason::kRfhFormatError);
  }
  if (!taken.value()) return Outcome::ok();
  set_form(std::move(form), message);
  message.properties = properties.bytes();
  return Outcome::ok();
}

void GetOperation::prepare_form() {
  namespace gmo = mqi::gmo;
  constexpr int32_t kInBody =
      gmo::kPropertiesForceRfh2 | gmo::kNoProperties | gmo::kPropertiesCompatibility;
  has_form_ = !call_->takes_properties || (call_->options & kInBody) != 0 ||
              handle_->property_control == mqi::PropertyControl::kForce;
  wanted_encoding_ = call_->md.encoding;
  wanted_ccsid_ = call_->md.ccsid > 0 ? call_->md.ccsid : manager_.settings().ccsid;
}

const MessageRef& GetOperation::formed(const MessageRef& found) {
  if (!has_form_ || found->properties.empty()) return found;
  if (formed_from_.get() == found.get()) return formed_;
  formed_from_ = formed_ = found;
  auto request = mqi::property_request_of(call_->options);
  if (!request.ok()) return formed_;
  auto properties = mqi::PropertyListView::trusted(found->properties);
  mqi::PropertyDelivery delivery = mqi::decide_delivery(handle_->property_control, request.value(),
                                                        call_->takes_properties, properties);
  if (delivery == mqi::PropertyDelivery::kHandle) return formed_;
  MessageRef copy = copy_message(*found);
  copy->properties.clear();
  if (delivery == mqi::PropertyDelivery::kRfh2) {
    mqi::PropertyBody form;
    Status status = mqi::insert_properties(
        found->body.view(), coding_of(found->md, manager_.settings().ccsid), properties, form);
    if (!status.ok()) return formed_;  // no text of a property can be written: they stay beside
    set_form(std::move(form), *copy);
  }
  formed_ = std::move(copy);
  return formed_;
}

// A warning leaves body and descriptor as they were. That the body was cut is the more important
// one; whether it was converted is in the descriptor then.
Outcome GetOperation::converted(const Outcome& outcome) {
  mqi::MessageDescriptor& md = call_->md;
  bool is_cut = outcome.reason == mqi::reason::kTruncatedMsgAccepted;
  std::string out;
  int32_t reason = mqi::convert_body(call_->body.view(), coding_of(md, manager_.settings().ccsid),
                                     wanted_encoding_, wanted_ccsid_, is_cut, out);
  if (reason == 0 && out.size() > call_->buffer_bytes) reason = mqi::reason::kConvertedMsgTooBig;
  if (reason != 0) return outcome.is_ok() ? Outcome::warning(reason) : outcome;
  md.encoding = wanted_encoding_;
  md.ccsid = wanted_ccsid_;
  if (!is_cut) call_->data_bytes = out.size();
  call_->body = Body::adopt(std::move(out));
  return outcome;
}

}  // namespace millstream::queue
