#include "wire/amqp/broker/kept_links.h"

#include <utility>

namespace millstream::wire::amqp {

uint64_t KeptLinks::keep(Key key, std::vector<KeptDelivery> deliveries) {
  Kept before;  // of an earlier link of the name; goes back outside of the lock
  std::lock_guard lock(mutex_);
  if (links_.size() >= kLinksMax && links_.find(key) == links_.end()) return 0;
  Kept& kept = links_[std::move(key)];
  before = std::exchange(kept, {++last_number_, std::move(deliveries)});
  return kept.number;
}

std::vector<KeptDelivery> KeptLinks::take(const Key& key) {
  std::lock_guard lock(mutex_);
  auto found = links_.find(key);
  if (found == links_.end()) return {};
  std::vector<KeptDelivery> taken = std::move(found->second.deliveries);
  links_.erase(found);
  return taken;
}

void KeptLinks::expire(uint64_t number) {
  std::vector<KeptDelivery> expired;
  {
    std::lock_guard lock(mutex_);
    for (auto at = links_.begin(); at != links_.end(); ++at) {
      if (at->second.number != number) continue;
      expired = std::move(at->second.deliveries);
      links_.erase(at);
      break;
    }
  }
  for (KeptDelivery& d : expired) d.delivery.release();
}

void KeptLinks::clear() {
  std::map<Key, Kept> all;
  {
    std::lock_guard lock(mutex_);
    all.swap(links_);
  }
  for (auto& [key, kept] : all) {
    for (KeptDelivery& d : kept.deliveries) d.delivery.release();
  }
}

std::string encode_unsettled(const std::vector<KeptDelivery>& deliveries) {
  if (deliveries.empty()) return {};
  Writer w;
  Writer::Compound map = w.begin_map();
  for (const KeptDelivery& d : deliveries) {
    w.element(map);
    w.binary(d.tag);
    w.element(map);
    encode_state(w, {.kind = d.said});
  }
  w.end(map);
  return std::string(w.bytes());
}

}  // namespace millstream::wire::amqp
