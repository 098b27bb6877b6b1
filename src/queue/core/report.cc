#include "queue/core/report.h"

#include "queue/core/name_resolution.h"
#include "queue/core/queue_manager.h"

namespace millstream::queue {
namespace {

namespace ro = mqi::ro;

constexpr size_t kReportDataBytes = 100;

int32_t report_mask(ReportKind kind) {
  switch (kind) {
    case ReportKind::kArrival:
      return ro::kCoaMask;
    case ReportKind::kDelivery:
      return ro::kCodMask;
    case ReportKind::kExpiration:
      return ro::kExpirationMask;
    case ReportKind::kException:
      return ro::kExceptionMask;
  }
  return 0;
}

bool report_has_data(int32_t report, ReportKind kind) {
  switch (kind) {
    case ReportKind::kArrival:
      return (report & ro::kCoaWithData) == ro::kCoaWithData;
    case ReportKind::kDelivery:
      return (report & ro::kCodWithData) == ro::kCodWithData;
    case ReportKind::kExpiration:
      return (report & ro::kExpirationWithData) == ro::kExpirationWithData;
    case ReportKind::kException:
      return (report & ro::kExceptionWithData) == ro::kExceptionWithData;
  }
  return false;
}

int32_t report_feedback(ReportKind kind, int32_t reason) {
  switch (kind) {
    case ReportKind::kArrival:
      return mqi::fb::kCoa;
    case ReportKind::kDelivery:
      return mqi::fb::kCod;
    case ReportKind::kExpiration:
      return mqi::fb::kExpiration;
    case ReportKind::kException:
      return reason;
  }
  return 0;
}

void report_context(QueueManager& manager, mqi::MessageDescriptor& md) {
  md.put_appl_type = mqi::at::kQueueManager;
  md.put_appl_name = std::string_view(manager.name());
  mqi::format_put_time(manager.now_gmt_micros(), md.put_date, md.put_time);
  md.appl_origin_data = "";
}

MessageRef make_report(QueueManager& manager, const Message& original, ReportKind kind,
                       int32_t feedback) {
  const mqi::MessageDescriptor& from = original.md;
  MessageRef report = Message::create();
  mqi::MessageDescriptor& md = report->md;
  md = from;
  md.message_type = mqi::mt::kReport;
  md.feedback = report_feedback(kind, feedback);
  md.expiry = mqi::kUnlimited;
  md.backout_count = 0;
  bool passes_expiry = (from.report & ro::kPassDiscardAndExpiry) != 0;
  md.report = passes_expiry ? from.report & ro::kDiscardMessage : ro::kNone;
  if (passes_expiry && original.expires_gmt_ms != 0 && kind != ReportKind::kExpiration) {
    int64_t left = (original.expires_gmt_ms - manager.now_gmt_micros() / 1000) / 100;
    md.expiry = static_cast<int32_t>(left < 1 ? 1 : left);
    report->expires_gmt_ms = original.expires_gmt_ms;
  }
  if ((from.report & ro::kPassMessageId) == 0) manager.make_message_id(md.message_id);
  if ((from.report & ro::kPassCorrelationId) == 0) md.correlation_id = from.message_id;
  md.reply_to_queue = "";
  md.reply_to_queue_manager = std::string_view(manager.name());
  report_context(manager, md);
  bool has_data = report_has_data(from.report, kind);
  bool has_full_data = (from.report & report_mask(kind)) == report_mask(kind);
  if (has_full_data) {
    report->body = original.body;
    report->properties = original.properties;
  } else if (has_data) {
    report->body = original.body.part(0, std::min(kReportDataBytes, original.body.size()));
  } else {
    md.format = "";
  }
  if ((from.flags & (mqi::mf::kSegment | mqi::mf::kLastSegment)) != 0) {
    md.original_length = static_cast<int32_t>(original.body.size());
  } else {
    md.flags &= mqi::mf::kInGroup | mqi::mf::kLastInGroup;
  }
  return report;
}

}  // namespace

bool wants_report(int32_t report, ReportKind kind) { return (report & report_mask(kind)) != 0; }

MessageRef copy_message(const Message& message) {
  MessageRef copy = Message::create();
  copy->md = message.md;
  copy->body = message.body;
  copy->properties = message.properties;
  copy->origin = message.origin;
  copy->origin_kind = message.origin_kind;
  if (message.long_ids != nullptr) copy->long_ids = std::make_unique<LongIds>(*message.long_ids);
  copy->expires_gmt_ms = message.expires_gmt_ms;
  copy->due_gmt_ms = message.due_gmt_ms;
  return copy;
}

void add_report(QueueManager& manager, const Message& original, ReportKind kind, int32_t feedback,
                UnitOfWork& unit) {
  std::string_view queue = original.md.reply_to_queue.view();
  std::string_view where = original.md.reply_to_queue_manager.view();
  MessageRef report = make_report(manager, original, kind, feedback);
  Resolved to;
  UnitPut put;
  Outcome outcome = resolve_queue(manager, queue, where, false, to);
  MessageRef plain = copy_message(*report);
  if (outcome.is_ok()) outcome = make_manager_put(manager, to, std::move(report), put);
  if (outcome.is_ok()) {
    unit.puts.push_back(std::move(put));
    return;
  }
  (void)add_dead_letter(manager, *plain, outcome.reason, queue, where, unit);
}

Outcome add_dead_letter(QueueManager& manager, const Message& original, int32_t reason,
                        std::string_view queue, std::string_view queue_manager, UnitOfWork& unit) {
  const std::string& name = manager.settings().dead_letter_queue;
  if (name.empty()) return Outcome::failed(mqi::reason::kUnknownObjectName);
  Resolved to;
  if (Outcome o = resolve_queue(manager, name, {}, false, to); !o.is_ok()) return o;
  auto number = [](std::string& out, int32_t v) {
    out.append(reinterpret_cast<const char*>(&v), 4);
  };
  const mqi::MessageDescriptor& from = original.md;
  mqi::MessageDescriptor stamp;
  report_context(manager, stamp);
  std::string header = "DLH ";
  number(header, 1);
  number(header, reason);
  header += mqi::FixedText<48>(queue).padded();
  header +=
      mqi::FixedText<48>(queue_manager.empty() ? std::string_view(manager.name()) : queue_manager)
          .padded();
  number(header, from.encoding);
  number(header, from.ccsid);
  header += from.format.padded();
  number(header, stamp.put_appl_type);
  header += stamp.put_appl_name.padded();
  header += stamp.put_date.padded();
  header += stamp.put_time.padded();
  MessageRef letter = copy_message(original);
  letter->body = Body::join(header, original.body.view());
  letter->md.format = "MQDEAD";
  letter->md.encoding = 546;
  letter->md.report &= ~(ro::kCoaMask | ro::kCodMask | ro::kExpirationMask);
  letter->md.backout_count = 0;
  letter->due_gmt_ms = 0;
  UnitPut put;
  if (Outcome o = make_manager_put(manager, to, std::move(letter), put); !o.is_ok()) return o;
  unit.puts.push_back(std::move(put));
  return Outcome::ok();
}

}  // namespace millstream::queue
