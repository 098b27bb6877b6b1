#include "base/names.h"

#include <sys/random.h>

#include <cstring>

namespace millstream::base {
namespace {

constexpr size_t kFirstSlots = 256;

struct HashKey {
  uint64_t start;
  uint64_t factor;
};

HashKey make_hash_key() {
  HashKey key{0x9e3779b97f4a7c15ull, 0xff51afd7ed558ccdull};
  HashKey secret{};
  if (getrandom(&secret, sizeof secret, 0) == sizeof secret) {
    key.start ^= secret.start;
    key.factor ^= secret.factor;
  }
  key.factor |= 1;
  return key;
}

// Both halves of the product: every input bit reaches every output bit through the secret factor.
uint64_t mix_words(uint64_t a, uint64_t b) {
  unsigned __int128 product = static_cast<unsigned __int128>(a) * b;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

uint32_t hash_pair(const Name* ns, const Name* local) {
  return (ns->hash * 0x9e3779b1u) ^ local->hash;
}
uint32_t slot_hash(const Name* n) { return n->hash; }
uint32_t slot_hash(const QName* q) { return hash_pair(q->ns, q->local); }

template <typename T>
void insert_slot(internal::NameSlots<T>& table, const T* item) {
  if ((table.count() + 1) * 2 > table.slots.size()) {
    size_t size = table.slots.empty() ? kFirstSlots : table.slots.size() * 2;
    std::vector<const T*> old = std::move(table.slots);
    table.slots.assign(size, nullptr);
    table.used.clear();
    for (const T* o : old) {
      if (o) insert_slot(table, o);
    }
  }
  size_t mask = table.slots.size() - 1;
  size_t i = slot_hash(item) & mask;
  while (table.slots[i]) i = (i + 1) & mask;
  table.slots[i] = item;
  table.used.push_back(static_cast<uint32_t>(i));
}

const Name* find_name(const internal::NameSlots<Name>& table, std::string_view text,
                      uint32_t hash) {
  if (table.slots.empty()) return nullptr;
  size_t mask = table.slots.size() - 1;
  for (size_t i = hash & mask; table.slots[i]; i = (i + 1) & mask) {
    const Name* n = table.slots[i];
    if (n->hash == hash && n->view() == text) return n;
  }
  return nullptr;
}

const QName* find_pair(const internal::NameSlots<QName>& table, const Name* ns, const Name* local) {
  if (table.slots.empty()) return nullptr;
  size_t mask = table.slots.size() - 1;
  for (size_t i = hash_pair(ns, local) & mask; table.slots[i]; i = (i + 1) & mask) {
    if (table.slots[i]->ns == ns && table.slots[i]->local == local) return table.slots[i];
  }
  return nullptr;
}

template <typename T>
void clear_slots(internal::NameSlots<T>& table) {
  for (uint32_t i : table.used) table.slots[i] = nullptr;
  table.used.clear();
}

}  // namespace

// Names come from outside, so the hash is keyed: with a public one, a message of a hundred thousand
// chosen names would fall into one probe chain and stall its reactor.
uint32_t hash_name(std::string_view text) {
  static const HashKey kKey = make_hash_key();
  const char* p = text.data();
  size_t n = text.size();
  uint64_t h = kKey.start + n * 0x9e3779b97f4a7c15ull;  // sizes must not cancel bits of the text
  for (; n > 8; p += 8, n -= 8) {
    uint64_t word;
    std::memcpy(&word, p, 8);
    h = mix_words(h ^ word, kKey.factor);
  }
  uint64_t tail = 0;
  if (n >= 4) {  // the halves overlap when n < 8
    uint32_t low, high;
    std::memcpy(&low, p, 4);
    std::memcpy(&high, p + n - 4, 4);
    tail = low | static_cast<uint64_t>(high) << 32;
  } else if (n > 0) {  // the same byte may be taken twice
    auto byte = [&](size_t i) { return static_cast<uint64_t>(static_cast<unsigned char>(p[i])); };
    tail = byte(0) | byte(n / 2) << 8 | byte(n - 1) << 16;
  }
  h = mix_words(h ^ tail, kKey.factor);
  return static_cast<uint32_t>(h ^ (h >> 32));
}

NameTable::NameTable() { empty_ = intern(""); }

const Name* NameTable::intern(std::string_view text) {
  uint32_t hash = hash_name(text);
  if (const Name* n = find_name(names_, text, hash)) return n;
  std::string_view kept = arena_.copy(text);
  const Name* n = arena_.make<Name>(kept.data(), static_cast<uint32_t>(kept.size()), hash);
  insert_slot(names_, n);
  return n;
}

const QName* NameTable::intern_qname(std::string_view ns, std::string_view local) {
  const Name* n = intern(ns);
  const Name* l = intern(local);
  if (const QName* q = find_pair(qnames_, n, l)) return q;
  const QName* q = arena_.make<QName>(n, l);
  insert_slot(qnames_, q);
  return q;
}

const Name* NameTable::find(std::string_view text, uint32_t hash) const {
  return find_name(names_, text, hash);
}

const QName* NameTable::find_qname(const Name* ns, const Name* local) const {
  return find_pair(qnames_, ns, local);
}

NameScope::NameScope(Arena& arena, std::shared_ptr<const NameTable> table)
    : arena_(arena), table_(std::move(table)) {
  empty_qname_ = qname(empty(), empty());
}

void NameScope::reset(std::shared_ptr<const NameTable> table) {
  table_ = std::move(table);
  clear_slots(names_);
  clear_slots(qnames_);
  empty_qname_ = qname(empty(), empty());
}

const Name* NameScope::intern(std::string_view text) {
  uint32_t hash = hash_name(text);
  if (const Name* n = table_->find(text, hash)) return n;
  if (const Name* n = find_name(names_, text, hash)) return n;
  std::string_view kept = arena_.copy(text);
  const Name* n = arena_.make<Name>(kept.data(), static_cast<uint32_t>(kept.size()), hash);
  insert_slot(names_, n);
  return n;
}

const QName* NameScope::qname(const Name* ns, const Name* local) {
  if (const QName* q = table_->find_qname(ns, local)) return q;
  if (const QName* q = find_pair(qnames_, ns, local)) return q;
  const QName* q = arena_.make<QName>(ns, local);
  insert_slot(qnames_, q);
  return q;
}

const QName* NameScope::qname(std::string_view ns, std::string_view local) {
  return qname(intern(ns), intern(local));
}

}  // namespace millstream::base
