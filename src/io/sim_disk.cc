#include "io/sim_disk.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/assert.h"
#include "io/errors_gen.h"

namespace millstream::io {

namespace {
constexpr uint64_t kSectorBytes = 512;
constexpr uint64_t kSectorsAPage = 8;

std::string sim_folder_of(const std::string& name) {
  const size_t slash = name.rfind('/');
  return slash == std::string::npos ? "" : name.substr(0, slash);
}
}  // namespace

class SimDiskFile final : public DiskFile {
 public:
  SimDiskFile(SimDisk& disk, std::string name, SimDisk::NodePtr node)
      : disk_(disk),
        name_(std::move(name)),
        node_(std::move(node)),
        generation_(disk.generation_) {}
  const std::string& name() const override { return name_; }
  Result<uint64_t> size() override {
    std::lock_guard lock(disk_.mutex_);
    return static_cast<uint64_t>(node_->now.size());
  }
  Status read(uint64_t offset, void* out, size_t size) override {
    std::lock_guard lock(disk_.mutex_);
    MS_TRY(check(offset));
    return disk_.read_node(name_, *node_, offset, static_cast<char*>(out), size);
  }
  Status write(uint64_t offset, const void* data, size_t size) override {
    std::lock_guard lock(disk_.mutex_);
    MS_TRY(check(offset));
    ++disk_.durable_writes_;
    return disk_.write_node(name_, *node_, offset, static_cast<const char*>(data), size, true);
  }
  Status write_later(uint64_t offset, const void* data, size_t size) override {
    std::lock_guard lock(disk_.mutex_);
    MS_TRY(check(offset));
    return disk_.write_node(name_, *node_, offset, static_cast<const char*>(data), size, false);
  }
  Status sync() override {
    std::lock_guard lock(disk_.mutex_);
    MS_TRY(check(0));
    ++disk_.durable_writes_;
    return disk_.sync_node(name_, *node_);
  }
  Status extend(uint64_t size) override {
    std::lock_guard lock(disk_.mutex_);
    MS_TRY(check(size));
    return disk_.extend_node(name_, *node_, size);
  }

 private:
  Status check(uint64_t offset) const {
    if (generation_ == disk_.generation_) return {};
    return disk_.refuse(name_, offset, SimDisk::Fate::kCrashes);
  }
  SimDisk& disk_;
  std::string name_;
  SimDisk::NodePtr node_;
  uint64_t generation_;
};

SimDisk::SimDisk(uint64_t seed, uint64_t capacity_bytes)
    : random_(seed), capacity_(capacity_bytes) {}
SimDisk::~SimDisk() = default;

SimDisk::Fate SimDisk::next_fate() {
  if (has_crashed_) return Fate::kFails;
  ++operations_;
  if (operations_ == crash_at_) {
    has_crashed_ = true;
    return Fate::kCrashes;
  }
  if (operations_ != fail_at_) return Fate::kGoes;
  switch (fault_) {
    case SimFault::kNone:
      return Fate::kGoes;
    case SimFault::kEio:
      return Fate::kFails;
    case SimFault::kEnospc:
      return Fate::kFull;
    case SimFault::kShortWrite:
      return Fate::kShort;
  }
  return Fate::kGoes;
}

Status SimDisk::refuse(const std::string& name, uint64_t offset, Fate fate) const {
  if (fate == Fate::kFull || fate == Fate::kShort) {
    return base::make_error(errors::kDiskFull,
                            {name, static_cast<int64_t>(offset), "no space left (simulated)"});
  }
  return base::make_error(errors::kDiskFailed, {name, static_cast<int64_t>(offset),
                                                has_crashed_ ? "the power is off (simulated)"
                                                             : "I/O error (simulated)"});
}

uint64_t SimDisk::used_bytes() const {
  uint64_t used = 0;
  for (const NodePtr& node : nodes_) {
    if (node.use_count() > 1) used += node->now.size();
  }
  return used;
}

// The sector's content now is the content for ever.
void SimDisk::settle(Node& node, uint64_t sector) {
  const uint64_t from = sector * kSectorBytes;
  if (from >= node.now.size()) return;
  const size_t n = std::min<uint64_t>(kSectorBytes, node.now.size() - from);
  if (node.durable.size() < from + n) node.durable.resize(from + n, '\0');
  std::memcpy(node.durable.data() + from, node.now.data() + from, n);
}

void SimDisk::settle_by_seed(Node& node) {
  const bool by_sector = chance();
  uint64_t last_page = UINT64_MAX;
  bool is_kept = false;
  for (const uint64_t sector : node.dirty) {
    if (by_sector || sector / kSectorsAPage != last_page) is_kept = chance();
    last_page = sector / kSectorsAPage;
    if (is_kept) settle(node, sector);
  }
  node.dirty.clear();
}

Status SimDisk::write_node(const std::string& name, Node& node, uint64_t offset, const char* data,
                           size_t size, bool is_durable) {
  MS_ASSERT(size > 0);
  const Fate fate = next_fate();
  if (fate == Fate::kFails || fate == Fate::kFull) return refuse(name, offset, fate);
  if (offset + size > node.now.size()) {
    if (used_bytes() + (offset + size - node.now.size()) > capacity_) {
      return refuse(name, offset, Fate::kFull);
    }
    node.now.resize(offset + size, '\0');
  }
  const size_t done = fate == Fate::kShort ? size / 2 : size;
  node.stale_offset = offset;
  node.stale = node.now.substr(offset, done);
  std::memcpy(node.now.data() + offset, data, done);
  std::set<uint64_t> sectors;
  for (uint64_t s = offset / kSectorBytes; s * kSectorBytes < offset + done; ++s) {
    sectors.insert(sectors.end(), s);
  }
  if (fate == Fate::kGoes && is_durable) {
    for (const uint64_t s : sectors) {
      settle(node, s);
      node.dirty.erase(s);
    }
    return {};
  }
  node.dirty.merge(sectors);  // of a crash in the middle the seed decides at restart
  return fate == Fate::kGoes ? Status() : refuse(name, offset, fate);
}

Status SimDisk::sync_node(const std::string& name, Node& node) {
  const Fate fate = next_fate();
  if (fate == Fate::kGoes) {
    for (const uint64_t sector : node.dirty) settle(node, sector);
    node.dirty.clear();
    node.durable.resize(node.now.size(), '\0');
    return {};
  }
  // After a failed flush the kernel calls the pages clean; the disk has whatever it has.
  if (fate != Fate::kCrashes) settle_by_seed(node);
  return refuse(name, 0, fate);
}

Status SimDisk::extend_node(const std::string& name, Node& node, uint64_t size) {
  const Fate fate = next_fate();
  if (fate == Fate::kFails || fate == Fate::kFull || fate == Fate::kShort) {
    return refuse(name, size, fate);
  }
  if (size <= node.now.size()) return fate == Fate::kGoes ? Status() : refuse(name, size, fate);
  if (used_bytes() + (size - node.now.size()) > capacity_) return refuse(name, size, Fate::kFull);
  node.now.resize(size, '\0');
  if (fate == Fate::kGoes || chance()) node.durable.resize(size, '\0');
  return fate == Fate::kGoes ? Status() : refuse(name, size, fate);
}

Status SimDisk::read_node(const std::string& name, Node& node, uint64_t offset, char* out,
                          size_t size) {
  if (has_crashed_) return refuse(name, offset, Fate::kFails);
  ++reads_;
  const bool is_faulty = reads_ == fail_read_at_;
  if (is_faulty && read_fault_ == SimReadFault::kEio) return refuse(name, offset, Fate::kFails);
  if (offset + size > node.now.size()) {
    return base::make_error(errors::kDiskFailed,
                            {name, static_cast<int64_t>(offset), "the file ends here"});
  }
  std::memcpy(out, node.now.data() + offset, size);
  if (is_faulty && read_fault_ == SimReadFault::kBitFlip) {
    out[random_.next_u64() % size] ^= static_cast<char>(1 << (random_.next_u64() % 8));
  }
  if (is_faulty && read_fault_ == SimReadFault::kStale) {
    const uint64_t from = std::max(offset, node.stale_offset);
    const uint64_t to = std::min(offset + size, node.stale_offset + node.stale.size());
    if (from < to) {
      std::memcpy(out + (from - offset), node.stale.data() + (from - node.stale_offset), to - from);
    }
  }
  return {};
}

Status SimDisk::make_folder(const std::string&) {
  std::lock_guard lock(mutex_);
  return has_crashed_ ? refuse("", 0, Fate::kFails) : Status();
}

Result<std::unique_ptr<DiskFile>> SimDisk::create(const std::string& name, uint64_t bytes) {
  std::lock_guard lock(mutex_);
  const Fate fate = next_fate();
  if (fate == Fate::kFails || fate == Fate::kFull || fate == Fate::kShort) {
    return refuse(name, 0, fate);
  }
  if (now_.contains(name)) {
    return base::make_error(errors::kDiskFailed, {name, 0, "the file exists"});
  }
  if (used_bytes() + bytes > capacity_) return refuse(name, 0, Fate::kFull);
  auto node = std::make_shared<Node>();
  node->now.resize(bytes, '\0');
  if (fate == Fate::kGoes || chance()) node->durable.resize(bytes, '\0');
  nodes_.insert(node);
  now_[name] = node;
  if (fate == Fate::kCrashes) return refuse(name, 0, fate);
  return std::unique_ptr<DiskFile>(std::make_unique<SimDiskFile>(*this, name, node));
}

Result<std::unique_ptr<DiskFile>> SimDisk::open(const std::string& name) {
  std::lock_guard lock(mutex_);
  if (has_crashed_) return refuse(name, 0, Fate::kFails);
  const auto found = now_.find(name);
  if (found == now_.end()) {
    return base::make_error(errors::kDiskFailed, {name, 0, "no such file"});
  }
  return std::unique_ptr<DiskFile>(std::make_unique<SimDiskFile>(*this, name, found->second));
}

Result<std::unique_ptr<DiskFile>> SimDisk::create_unlinked() {
  std::lock_guard lock(mutex_);
  const Fate fate = next_fate();
  if (fate != Fate::kGoes) return refuse("overflow", 0, fate);
  auto node = std::make_shared<Node>();
  nodes_.insert(node);
  return std::unique_ptr<DiskFile>(std::make_unique<SimDiskFile>(*this, "overflow", node));
}

Status SimDisk::rename(const std::string& from, const std::string& to) {
  std::lock_guard lock(mutex_);
  const Fate fate = next_fate();
  if (fate != Fate::kGoes && fate != Fate::kCrashes) return refuse(from, 0, fate);
  const auto found = now_.find(from);
  if (found == now_.end()) return refuse(from, 0, Fate::kFails);
  NodePtr node = found->second;
  now_.erase(found);
  now_[to] = std::move(node);
  return fate == Fate::kGoes ? Status() : refuse(from, 0, fate);
}

Status SimDisk::remove(const std::string& name) {
  std::lock_guard lock(mutex_);
  const Fate fate = next_fate();
  if (fate != Fate::kGoes && fate != Fate::kCrashes) return refuse(name, 0, fate);
  if (now_.erase(name) == 0) return refuse(name, 0, Fate::kFails);
  return fate == Fate::kGoes ? Status() : refuse(name, 0, fate);
}

Status SimDisk::sync_folder(const std::string& name) {
  std::lock_guard lock(mutex_);
  const Fate fate = next_fate();
  if (fate != Fate::kGoes) return refuse(name, 0, fate);
  std::erase_if(durable_, [&](const auto& entry) { return sim_folder_of(entry.first) == name; });
  for (const auto& [path, node] : now_) {
    if (sim_folder_of(path) == name) durable_[path] = node;
  }
  return {};
}

Result<std::vector<std::string>> SimDisk::list(const std::string& folder) {
  std::lock_guard lock(mutex_);
  if (has_crashed_) return refuse(folder, 0, Fate::kFails);
  std::vector<std::string> names;
  for (const auto& [path, node] : now_) {
    if (sim_folder_of(path) == folder) {
      names.push_back(folder.empty() ? path : path.substr(folder.size() + 1));
    }
  }
  return names;
}

Status SimDisk::lock() { return {}; }

Result<uint64_t> SimDisk::free_bytes() {
  std::lock_guard lock(mutex_);
  const uint64_t used = used_bytes();
  return used < capacity_ ? capacity_ - used : 0;
}

void SimDisk::crash_at(uint64_t n) {
  std::lock_guard lock(mutex_);
  crash_at_ = n == 0 ? 0 : operations_ + n;
}

void SimDisk::fail_at(uint64_t n, SimFault fault) {
  std::lock_guard lock(mutex_);
  fail_at_ = n == 0 ? 0 : operations_ + n;
  fault_ = fault;
}

void SimDisk::fail_read_at(uint64_t n, SimReadFault fault) {
  std::lock_guard lock(mutex_);
  fail_read_at_ = n == 0 ? 0 : reads_ + n;
  read_fault_ = fault;
}

void SimDisk::set_capacity(uint64_t bytes) {
  std::lock_guard lock(mutex_);
  capacity_ = bytes;
}

bool SimDisk::has_crashed() const {
  std::lock_guard lock(mutex_);
  return has_crashed_;
}

uint64_t SimDisk::operations() const {
  std::lock_guard lock(mutex_);
  return operations_;
}

uint64_t SimDisk::reads() const {
  std::lock_guard lock(mutex_);
  return reads_;
}

uint64_t SimDisk::durable_writes() const {
  std::lock_guard lock(mutex_);
  return durable_writes_;
}

void SimDisk::restart() {
  std::lock_guard lock(mutex_);
  Names names = durable_;
  std::set<std::string> changed;  // names that may be the old or the new one
  for (const auto& [name, node] : durable_) {
    const auto found = now_.find(name);
    if (found == now_.end() || found->second != node) changed.insert(name);
  }
  for (const auto& [name, node] : now_) {
    if (!durable_.contains(name)) changed.insert(name);
  }
  for (const std::string& name : changed) {
    if (!chance()) continue;
    const auto found = now_.find(name);
    if (found == now_.end()) {
      names.erase(name);
    } else {
      names[name] = found->second;
    }
  }
  nodes_.clear();
  for (const auto& [name, node] : names) {
    settle_by_seed(*node);
    node->now = node->durable;
    node->stale.clear();
    nodes_.insert(node);
  }
  now_ = durable_ = std::move(names);
  has_crashed_ = false;
  crash_at_ = fail_at_ = fail_read_at_ = 0;
  ++generation_;
}

void SimDisk::restart_process() {
  std::lock_guard lock(mutex_);
  MS_ASSERT(!has_crashed_);
  nodes_.clear();
  for (const auto& [name, node] : now_) nodes_.insert(node);
  crash_at_ = fail_at_ = fail_read_at_ = 0;
  ++generation_;
}

SimDisk::Node& SimDisk::damage_node(const std::string& name) {
  const auto found = now_.find(name);
  MS_CHECK(found != now_.end());
  return *found->second;
}

void SimDisk::flip_bit(const std::string& name, uint64_t offset, int bit) {
  std::lock_guard lock(mutex_);
  Node& node = damage_node(name);
  MS_CHECK(offset < node.now.size());
  node.now[offset] ^= static_cast<char>(1 << bit);
  settle(node, offset / kSectorBytes);
}

void SimDisk::zero_page(const std::string& name, uint64_t offset) {
  std::lock_guard lock(mutex_);
  Node& node = damage_node(name);
  const uint64_t from = offset / 4096 * 4096;
  for (uint64_t at = from; at < std::min<uint64_t>(from + 4096, node.now.size()); ++at) {
    node.now[at] = '\0';
  }
  node.durable = node.now;
}

void SimDisk::truncate(const std::string& name, uint64_t size) {
  std::lock_guard lock(mutex_);
  Node& node = damage_node(name);
  MS_CHECK(size <= node.now.size());
  node.now.resize(size);
  node.durable = node.now;
}

void SimDisk::swap_pages(const std::string& name, uint64_t a, uint64_t b) {
  std::lock_guard lock(mutex_);
  Node& node = damage_node(name);
  MS_CHECK(std::max(a, b) + 4096 <= node.now.size());
  std::swap_ranges(node.now.begin() + static_cast<int64_t>(a),
                   node.now.begin() + static_cast<int64_t>(a) + 4096,
                   node.now.begin() + static_cast<int64_t>(b));
  node.durable = node.now;
}

std::string SimDisk::content(const std::string& name) const {
  std::lock_guard lock(mutex_);
  const auto found = now_.find(name);
  MS_CHECK(found != now_.end());
  return found->second->now;
}

void SimDisk::set_content(const std::string& name, std::string bytes) {
  std::lock_guard lock(mutex_);
  NodePtr& node = now_[name];
  if (!node) node = std::make_shared<Node>();
  nodes_.insert(node);
  node->now = node->durable = std::move(bytes);
  durable_[name] = node;
}

std::vector<std::string> SimDisk::all_files() const {
  std::lock_guard lock(mutex_);
  std::vector<std::string> names;
  for (const auto& [name, node] : now_) names.push_back(name);
  return names;
}

}  // namespace millstream::io
