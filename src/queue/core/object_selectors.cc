#include "queue/core/object_selectors.h"

#include "mqi/message_descriptor.h"

namespace millstream::queue {
namespace {

using objects::Attr;
using Source = ObjectSelector::Source;

constexpr uint8_t kL = 1;  // local queues and models of them
constexpr uint8_t kA = 2;
constexpr uint8_t kR = 4;
constexpr uint8_t kQ = 8;  // the queue manager
constexpr uint8_t kAny = kL | kA | kR;

constexpr ObjectSelector kSelectors[] = {
    {2, Attr::kCcsid, 0, kQ},
    {3, Attr::kCcsid, 0, kL, Source::kDepth},
    {4, Attr::kDefsopt, 0, kL},
    {5, Attr::kDefpsist, 0, kAny},
    {6, Attr::kDefprty, 0, kAny},
    {7, Attr::kDeftype, 0, kL},
    {8, Attr::kHardenbo, 0, kL},
    {9, Attr::kGet, 0, kL | kA},
    {10, Attr::kPut, 0, kAny},
    {11, Attr::kMaxhands, 0, kQ},
    {12, Attr::kUsage, 0, kL},
    {13, Attr::kMaxmsgl, 0, kL | kQ},
    {14, Attr::kMaxprty, 0, kQ},
    {15, Attr::kMaxdepth, 0, kL},
    {16, Attr::kMsgdlvsq, 0, kL},
    {17, Attr::kCcsid, 0, kL, Source::kOpenInput},
    {18, Attr::kCcsid, 0, kL, Source::kOpenOutput},
    {20, Attr::kCcsid, 0, kAny, Source::kType},
    {21, Attr::kRetintvl, 0, kL},
    {22, Attr::kBothresh, 0, kL},
    {23, Attr::kShare, 0, kL},
    {24, Attr::kTrigger, 0, kL},
    {25, Attr::kTrigint, 0, kQ},
    {26, Attr::kTrigmpri, 0, kL},
    {28, Attr::kTrigtype, 0, kL},
    {29, Attr::kTrigdpth, 0, kL},
    {30, Attr::kSyncpt, 0, kQ},
    {31, Attr::kCmdlevel, 0, kQ},
    {32, Attr::kPlatform, 0, kQ},
    {33, Attr::kMaxumsgs, 0, kQ},
    {34, Attr::kDistl, 0, kL | kQ},
    {40, Attr::kQdepthhi, 0, kL},
    {41, Attr::kQdepthlo, 0, kL},
    {42, Attr::kQdpmaxev, 0, kL},
    {43, Attr::kQdphiev, 0, kL},
    {44, Attr::kQdploev, 0, kL},
    {45, Attr::kScope, 0, kAny},
    {46, Attr::kQsvciev, 0, kL},
    {47, Attr::kAuthorev, 0, kQ},
    {48, Attr::kInhibtev, 0, kQ},
    {49, Attr::kLocalev, 0, kQ},
    {50, Attr::kRemoteev, 0, kQ},
    {51, Attr::kConfigev, 0, kQ},
    {52, Attr::kStrstpev, 0, kQ},
    {53, Attr::kPerfmev, 0, kQ},
    {54, Attr::kQsvcint, 0, kL},
    {55, Attr::kChad, 0, kQ},
    {56, Attr::kChadev, 0, kQ},
    {58, Attr::kClwllen, 0, kQ},
    {61, Attr::kDefbind, 0, kAny},
    {68, Attr::kMarkint, 0, kQ},
    {73, Attr::kChlev, 0, kQ},
    {75, Attr::kSslev, 0, kQ},
    {76, Attr::kSslrkeyc, 0, kQ},
    {78, Attr::kNpmclass, 0, kL},
    {92, Attr::kSslfips, 0, kQ},
    {93, Attr::kIpaddrv, 0, kQ},
    {94, Attr::kLoggerev, 0, kQ},
    {95, Attr::kClwlrank, 0, kAny},
    {96, Attr::kClwlprty, 0, kAny},
    {97, Attr::kClwlmruc, 0, kQ},
    {98, Attr::kClwluseq, 0, kL | kQ},
    {99, Attr::kCmdev, 0, kQ},
    {119, Attr::kSchinit, 0, kQ},
    {120, Attr::kScmdserv, 0, kQ},
    {122, Attr::kMonchl, 0, kQ},
    {123, Attr::kMonq, 0, kL | kQ},
    {127, Attr::kStatmqi, 0, kQ},
    {128, Attr::kStatq, 0, kL | kQ},
    {129, Attr::kStatchl, 0, kQ},
    {131, Attr::kStatint, 0, kQ},
    {133, Attr::kAcctmqi, 0, kQ},
    {134, Attr::kAcctq, 0, kL | kQ},
    {135, Attr::kAcctint, 0, kQ},
    {136, Attr::kAcctcono, 0, kQ},
    {137, Attr::kRouterec, 0, kQ},
    {138, Attr::kActivrec, 0, kQ},
    {183, Attr::kTreelife, 0, kQ},
    {184, Attr::kDefpresp, 0, kAny},
    {187, Attr::kPsmode, 0, kQ},
    {188, Attr::kDefreada, 0, kL | kA},
    {190, Attr::kPropctl, 0, kL | kA},
    {192, Attr::kMaxpropl, 0, kQ},
    {193, Attr::kTargtype, 0, kA},
    {239, Attr::kActvcono, 0, kQ},
    {240, Attr::kActvtrc, 0, kQ},
    {243, Attr::kXrcap, 0, kQ},
    {248, Attr::kChlauth, 0, kQ},
    {250, Attr::kDefclxq, 0, kQ},
    {251, Attr::kSplcap, 0, kQ},
    {252, Attr::kCertvpol, 0, kQ},
    {254, Attr::kRevdns, 0, kQ},
    {265, Attr::kAmqpcap, 0, kQ},
    {272, Attr::kImgrcovq, 0, kL | kQ},
    {273, Attr::kAdvcap, 0, kQ},
    {275, Attr::kStrmqos, 0, kL},
    {2002, Attr::kTarget, 48, kA},
    {2003, Attr::kCommandq, 48, kQ},
    {2004, Attr::kDescr, 12, kAny, Source::kCreationDate},
    {2005, Attr::kDescr, 8, kAny, Source::kCreationTime},
    {2006, Attr::kDeadq, 48, kQ},
    {2008, Attr::kInitq, 48, kL},
    {2012, Attr::kProcess, 48, kL},
    {2013, Attr::kDescr, 64, kAny},
    {2014, Attr::kDescr, 64, kQ},
    {2015, Attr::kDescr, 48, kQ, Source::kName},
    {2016, Attr::kDescr, 48, kAny, Source::kName},
    {2017, Attr::kRqmname, 48, kR},
    {2018, Attr::kRname, 48, kR},
    {2019, Attr::kBoqname, 48, kL},
    {2023, Attr::kTrigdata, 64, kL},
    {2024, Attr::kXmitq, 48, kR},
    {2025, Attr::kDefxmitq, 48, kQ},
    {2026, Attr::kChadexit, 128, kQ},
    {2027, Attr::kDescr, 12, kAny | kQ, Source::kAlterationDate},
    {2028, Attr::kDescr, 8, kAny | kQ, Source::kAlterationTime},
    {2029, Attr::kCluster, 48, kAny},
    {2030, Attr::kClusnl, 48, kAny},
    {2032, Attr::kQmid, 48, kQ},
    {2033, Attr::kClwlexit, 128, kQ},
    {2034, Attr::kClwldata, 32, kQ},
    {2035, Attr::kRepos, 48, kQ},
    {2036, Attr::kReposnl, 48, kQ},
    {2049, Attr::kSslkeyr, 256, kQ},
    {2050, Attr::kSslcrlnl, 48, kQ},
    {2119, Attr::kCustom, 128, kAny | kQ},
    {2120, Attr::kVersion, 8, kQ},
    {2121, Attr::kCertlabl, 64, kQ},
    {2125, Attr::kConnauth, 48, kQ},
    {2138, Attr::kStreamq, 48, kL},
};

// YYYY-MM-DD and HH.MM.SS.
std::string selector_moment(int64_t gmt_ms, bool is_date) {
  if (gmt_ms == 0) return {};
  mqi::FixedText<8> date;
  mqi::FixedText<8> time;
  mqi::format_put_time(gmt_ms * 1000, date, time);
  std::string d(date.padded());
  std::string t(time.padded());
  return is_date ? d.substr(0, 4) + "-" + d.substr(4, 2) + "-" + d.substr(6, 2)
                 : t.substr(0, 2) + "." + t.substr(2, 2) + "." + t.substr(4, 2);
}

}  // namespace

std::span<const ObjectSelector> object_selectors() { return kSelectors; }

const ObjectSelector* find_object_selector(int32_t selector, uint8_t type_bit) {
  for (const ObjectSelector& s : kSelectors) {
    if (s.selector == selector && (s.types & type_bit) != 0) return &s;
  }
  return nullptr;
}

bool is_object_selector(int32_t selector) {
  return find_object_selector(selector, 0xFF) != nullptr;
}

uint8_t object_type_bit(objects::ObjectType type) {
  switch (type) {
    case objects::ObjectType::kQlocal:
    case objects::ObjectType::kQmodel:
      return kL;
    case objects::ObjectType::kQalias:
      return kA;
    case objects::ObjectType::kQremote:
      return kR;
    case objects::ObjectType::kQmgr:
      return kQ;
    default:
      return 0;
  }
}

int32_t queue_type_number(objects::ObjectType type) {
  switch (type) {
    case objects::ObjectType::kQmodel:
      return 2;
    case objects::ObjectType::kQalias:
      return 3;
    case objects::ObjectType::kQremote:
      return 6;
    default:
      return 1;
  }
}

std::string selected_text(const ObjectSelector& selector, const objects::Definition& definition) {
  switch (selector.source) {
    case Source::kName:
      return definition.name();
    case Source::kCreationDate:
      return selector_moment(definition.created_gmt_ms(), true);
    case Source::kCreationTime:
      return selector_moment(definition.created_gmt_ms(), false);
    case Source::kAlterationDate:
      return selector_moment(definition.altered_gmt_ms(), true);
    case Source::kAlterationTime:
      return selector_moment(definition.altered_gmt_ms(), false);
    default:
      return definition.text(selector.attribute);
  }
}

int64_t selected_number(const ObjectSelector& selector, const objects::Definition& definition) {
  if (selector.source == Source::kType) return queue_type_number(definition.type());
  return definition.number(selector.attribute);
}

}  // namespace millstream::queue
