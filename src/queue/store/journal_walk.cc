#include "queue/store/journal_walk.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <set>

#include "io/aligned_buffer.h"
#include "queue/store/unit_codec.h"

namespace millstream::queue::store {

std::vector<QueueId> queues_in_frames(std::string_view payload) {
  std::set<QueueId> queues;
  uint64_t at = 0;
  while (payload.size() - at >= sizeof(FrameHeader)) {
    FrameHeader frame;
    std::memcpy(&frame, payload.data() + at, sizeof frame);
    if (frame.bytes < sizeof frame || frame.bytes > payload.size() - at) break;
    UnitView unit;
    if ((frame.type & 0x3f) == static_cast<uint8_t>(FrameType::kUnit) &&
        unit.parse(payload.substr(at, frame.bytes))) {
      unit.for_puts([&](const PutView& p) { queues.insert(p.head.queue); });
      for (uint32_t i = 0; i < unit.gets(); ++i) queues.insert(unit.get(i).queue);
      for (uint32_t i = 0; i < unit.backouts(); ++i) queues.insert(unit.backout(i).queue);
      for (uint32_t i = 0; i < unit.clears(); ++i) queues.insert(unit.clear(i).queue);
    }
    at += frame.bytes;
  }
  return {queues.begin(), queues.end()};
}

Status walk_journal(
    io::Disk&, const std::vector<SegmentFile>& files, uint32_t segment_min,
    const std::function<Status(const WalkedBlock&)>& visit,
    const std::function<void(const std::string&, uint64_t, std::string, std::string_view)>& gap) {
  std::map<uint32_t, const SegmentFile*> segments;
  io::AlignedBuffer page(kPageBytes);
  for (const SegmentFile& file : files) {
    BlockHeader header;
    for (uint64_t at = 0; at + kPageBytes <= std::min<uint64_t>(file.bytes, 2 << 20);
         at += kPageBytes) {  // its first page may be the damaged one
      MS_TRY(file.file->read(at, page.data(), kPageBytes));
      if (!has_block_header(page.data(), kJournalMagic, &header)) continue;
      if (header.segment >= segment_min) segments.emplace(header.segment, &file);
      break;
    }
  }
  uint64_t expected = 0;
  io::AlignedBuffer whole;
  for (const auto& [segment, file] : segments) {
    const std::string name = segment_file_name(file->name_number);
    whole.reserve(file->bytes);
    MS_TRY(file->file->read(0, whole.data(), file->bytes));
    for (uint64_t at = 0; at + kPageBytes <= file->bytes;) {
      BlockHeader header;
      const char* block = whole.data() + at;
      const BlockState state = check_block(block, file->bytes - at, kJournalMagic, &header);
      const bool is_ours = state != BlockState::kNoHeader && state != BlockState::kTornHeader &&
                           header.segment == segment &&
                           (expected == 0 || header.sequence >= expected);
      if (!is_ours) {
        at += kPageBytes;
        continue;
      }
      if (expected != 0 && header.sequence > expected) {
        gap(name, at,
            "blocks " + std::to_string(expected) + " to " + std::to_string(header.sequence - 1) +
                " are missing before this place",
            {});
      }
      const uint64_t padded = pad_page(sizeof header + uint64_t{header.payload_bytes});
      const std::string_view payload(
          block + sizeof header,
          std::min<uint64_t>(header.payload_bytes, file->bytes - at - sizeof header));
      if (state == BlockState::kValid) {
        MS_TRY(visit({header, {segment, static_cast<uint32_t>(at / kPageBytes)}, name, payload}));
        expected = header.sequence + 1;
        at += padded;
      } else {
        gap(name, at, "block " + std::to_string(header.sequence) + " is damaged", payload);
        expected = header.sequence + 1;
        at += kPageBytes;
      }
    }
  }
  return {};
}

}  // namespace millstream::queue::store
