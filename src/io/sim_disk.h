// A disk in memory that behaves as badly as a disk may: a volatile cache whose content survives a
// crash page by page or sector by sector as the seed says, torn writes, names that come and go
// until their folder is synced, errors, short writes, flipped bits and stale reads on demand. The
// queue store's tests run on it.
//
//   SimDisk disk(seed);
//   disk.crash_at(17);        // the 17th operation from now happens in part, all later ones fail
//   ... until disk.has_crashed()
//   disk.restart();           // what was not durable is there, or not, as the seed chose
//
// An operation is whatever changes the disk; reads are counted apart. Pages are 4096 bytes, sectors
// 512. Thread: any (one lock).
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "base/random.h"
#include "io/disk.h"

namespace millstream::io {

enum class SimFault : uint8_t { kNone, kEio, kEnospc, kShortWrite };
enum class SimReadFault : uint8_t { kNone, kEio, kBitFlip, kStale };

class SimDisk final : public Disk {
 public:
  explicit SimDisk(uint64_t seed, uint64_t capacity_bytes = 1ull << 40);
  ~SimDisk() override;

  Status make_folder(const std::string& name) override;
  Result<std::unique_ptr<DiskFile>> create(const std::string& name, uint64_t bytes) override;
  Result<std::unique_ptr<DiskFile>> open(const std::string& name) override;
  Result<std::unique_ptr<DiskFile>> create_unlinked() override;
  Status rename(const std::string& from, const std::string& to) override;
  Status remove(const std::string& name) override;
  Status sync_folder(const std::string& name) override;
  Result<std::vector<std::string>> list(const std::string& folder) override;
  Status lock() override;
  Result<uint64_t> free_bytes() override;
  size_t page_bytes() const override { return 4096; }
  const std::string& path() const override { return path_; }

  // Operations count from 1; `n` is from now on. 0: never.
  void crash_at(uint64_t n);
  void fail_at(uint64_t n, SimFault fault);
  void fail_read_at(uint64_t n, SimReadFault fault);
  void set_capacity(uint64_t bytes);
  bool has_crashed() const;
  uint64_t operations() const;
  uint64_t reads() const;
  uint64_t durable_writes() const;  // write() and sync(), what a flush costs
  // After a crash, or pulling the plug now. Open files of the past answer with errors for ever.
  void restart();
  // All unsynced content survives: only the process died (kill -9).
  void restart_process();

  // Damage, for tests: what is on the disk, behind everybody's back.
  void flip_bit(const std::string& name, uint64_t offset, int bit = 0);
  void zero_page(const std::string& name, uint64_t offset);
  void truncate(const std::string& name, uint64_t size);
  void swap_pages(const std::string& name, uint64_t a, uint64_t b);
  std::string content(const std::string& name) const;
  void set_content(const std::string& name, std::string bytes);
  std::vector<std::string> all_files() const;

 private:
  friend class SimDiskFile;
  struct Node {
    std::string now;            // what reads see
    std::string durable;        // what is on the platter
    std::set<uint64_t> dirty;   // sectors in which they differ, or may
    uint64_t stale_offset = 0;  // before the last write
    std::string stale;
  };
  using NodePtr = std::shared_ptr<Node>;
  using Names = std::map<std::string, NodePtr>;

  // What the coming operation has to do: go on, fail, or happen in part and end the world.
  enum class Fate : uint8_t { kGoes, kFails, kFull, kShort, kCrashes };
  Fate next_fate();
  Status refuse(const std::string& name, uint64_t offset, Fate fate) const;
  Status write_node(const std::string& name, Node& node, uint64_t offset, const char* data,
                    size_t size, bool is_durable);
  Status sync_node(const std::string& name, Node& node);
  Status extend_node(const std::string& name, Node& node, uint64_t size);
  Status read_node(const std::string& name, Node& node, uint64_t offset, char* out, size_t size);
  void settle(Node& node, uint64_t sector);
  void settle_by_seed(Node& node);
  uint64_t used_bytes() const;
  bool chance() { return random_.next_u64() & 1; }
  Node& damage_node(const std::string& name);

  mutable std::mutex mutex_;
  base::SeededRandom random_;
  uint64_t capacity_;
  std::string path_ = "sim";
  Names now_, durable_;
  std::set<NodePtr> nodes_;
  uint64_t generation_ = 0;  // of the running process
  uint64_t operations_ = 0, reads_ = 0, durable_writes_ = 0;
  uint64_t crash_at_ = 0, fail_at_ = 0, fail_read_at_ = 0;
  SimFault fault_ = SimFault::kNone;
  SimReadFault read_fault_ = SimReadFault::kNone;
  bool has_crashed_ = false;
};

}  // namespace millstream::io
