#include "admin/batch/dead_letter.h"

#include "mqi/structures.h"

namespace millstream::admin::batch {
namespace {

std::string trimmed(std::string_view text) {
  text = text.substr(0, text.find('\0'));
  while (text.ends_with(' ')) text.remove_suffix(1);
  return std::string(text);
}

}  // namespace

std::optional<DeadLetter> read_dead_letter(std::string_view body) {
  if (body.size() < kDeadLetterHeaderBytes || !body.starts_with("DLH ")) return std::nullopt;
  const bool is_little = mqi::read_int32(body.data() + 4, true) == 1;
  if (!is_little && mqi::read_int32(body.data() + 4, false) != 1) return std::nullopt;
  auto number = [&](size_t at) { return mqi::read_int32(body.data() + at, is_little); };
  DeadLetter out;
  out.reason = number(8);
  out.queue = trimmed(body.substr(12, 48));
  out.queue_manager = trimmed(body.substr(60, 48));
  out.encoding = number(108);
  out.ccsid = number(112);
  out.format = trimmed(body.substr(116, 8));
  out.put_appl_type = number(124);
  out.put_appl_name = trimmed(body.substr(128, 28));
  out.put_date = trimmed(body.substr(156, 8));
  out.put_time = trimmed(body.substr(164, 8));
  return out;
}

void strip_dead_letter(const DeadLetter& letter, mqi::MessageDescriptor& md) {
  md.format = letter.format;
  md.encoding = letter.encoding;
  md.ccsid = letter.ccsid;
}

bool is_selected(const Selection& selection, const mqi::MessageDescriptor& md,
                 const DeadLetter* letter, int64_t now_gmt_micros) {
  if (selection.reason != 0 && (!letter || letter->reason != selection.reason)) return false;
  if (!selection.dead_queue.empty() && (!letter || letter->queue != selection.dead_queue)) {
    return false;
  }
  if (selection.age_s_min <= 0) return true;
  // Of a dead letter the time at which it died, else that of its put.
  const int64_t since = letter ? mqi::parse_put_time(letter->put_date, letter->put_time)
                               : mqi::parse_put_time(md.put_date.view(), md.put_time.view());
  return since != 0 && now_gmt_micros - since >= selection.age_s_min * 1'000'000;
}

}  // namespace millstream::admin::batch
