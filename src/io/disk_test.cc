#include <doctest/doctest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>

#include "io/aligned_buffer.h"
#include "io/crc32c.h"
#include "io/durable.h"
#include "io/posix_disk.h"
#include "io/sim_disk.h"

namespace millstream {

namespace millstream {

namespace {
io::AlignedBuffer disk_page(char fill, size_t pages = 1) {
  io::AlignedBuffer buffer(pages * 4096);
  std::memset(buffer.data(), fill, buffer.size());
  return buffer;
}

std::string disk_test_folder() {
  char name[] = "/var/tmp/ms_disk_XXXXXX";  // not /tmp: it may be without direct I/O
  REQUIRE(::mkdtemp(name));
  return name;
}
}  // namespace

TEST_CASE("crc32c: known values, both ways, in pieces") {
  CHECK(io::crc32c("123456789", 9) == 0xE3069283);
  const std::string zeros(32, '\0');
  CHECK(io::crc32c(zeros.data(), 32) == 0x8A9136AA);  // RFC 3720, B.4
  std::string text;
  base::SeededRandom random(5);
  for (int i = 0; i < 1000; ++i) text.push_back(static_cast<char>(random.next_u64()));
  for (size_t n = 0; n < text.size(); n += 7) {
    const uint32_t whole = io::crc32c(text.data(), n);
    CHECK(whole == io::crc32c_portable(text.data(), n));
    CHECK(whole == io::crc32c(text.data() + n / 3, n - n / 3, io::crc32c(text.data(), n / 3)));
  }
}

TEST_CASE("posix disk: files, folders, the lock and what a refusal says") {
  const std::string path = disk_test_folder();
  {
    auto disk = std::move(io::open_posix_disk(path)).take_value();
    REQUIRE(disk->make_folder("a").ok());
    REQUIRE(disk->make_folder("a").ok());
    auto file = std::move(disk->create("a/one", 8192)).take_value();
    CHECK_FALSE(disk->create("a/one", 4096).ok());
    REQUIRE(disk->sync_folder("a").ok());
    auto page = disk_page('x');
    REQUIRE(file->write(4096, page.data(), 4096).ok());
    REQUIRE(file->extend(3 * 4096).ok());
    REQUIRE(file->write_later(8192, page.data(), 4096).ok());
    REQUIRE(file->sync().ok());
    auto back = disk_page('y', 3);
    REQUIRE(file->read(0, back.data(), 3 * 4096).ok());
    CHECK(back.data()[0] == '\0');
    CHECK(back.data()[4096] == 'x');
    CHECK(back.data()[12287] == 'x');
    CHECK_FALSE(file->read(8192, back.data(), 8192).ok());
    REQUIRE(disk->rename("a/one", "a/two").ok());
    CHECK(std::move(disk->list("a")).take_value() == std::vector<std::string>{"two"});
    CHECK(std::move(disk->list("none")).take_value().empty());
    auto loose = std::move(disk->create_unlinked()).take_value();
    REQUIRE(loose->write_later(5, "hello", 5).ok());
    char text[5];
    REQUIRE(loose->read(5, text, 5).ok());
    CHECK(std::string_view(text, 5) == "hello");
    REQUIRE(disk->lock().ok());
    auto other = std::move(io::open_posix_disk(path)).take_value();
    const Status refused = other->lock();
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().text.find("in use by another process") != std::string::npos);
    REQUIRE(disk->remove("a/two").ok());
    CHECK(std::move(disk->free_bytes()).take_value() > 0);
  }
  CHECK(std::move(io::open_posix_disk(path)).take_value()->lock().ok());
  REQUIRE(io::remove_tree(path).ok());
}

TEST_CASE("posix disk: procfs refuses to be a data directory") {
  CHECK_FALSE(io::open_posix_disk("/proc/self/fd/none/x").ok());
}

TEST_CASE("sim disk: durable writes survive, later ones only by chance, sync decides") {
  int kept = 0;
  for (uint64_t seed = 0; seed < 64; ++seed) {
    io::SimDisk disk(seed);
    auto file = std::move(disk.create("f", 4 * 4096)).take_value();
    REQUIRE(disk.sync_folder("").ok());
    auto page = disk_page('a');
    REQUIRE(file->write(0, page.data(), 4096).ok());
    REQUIRE(file->write_later(4096, page.data(), 4096).ok());
    REQUIRE(file->sync().ok());
    REQUIRE(file->write_later(8192, page.data(), 4096).ok());
    disk.restart();
    CHECK_FALSE(file->read(0, page.data(), 4096).ok());  // a file of the past
    const std::string now = disk.content("f");
    CHECK(now.substr(0, 8192) == std::string(8192, 'a'));
    kept += now[8192] == 'a';
  }
  CHECK(kept > 10);
  CHECK(kept < 54);
}

TEST_CASE("sim disk: a crash tears the write that it hits, and names wait for their folder") {
  bool has_torn = false, has_lost_name = false, has_kept_name = false;
  for (uint64_t seed = 0; seed < 64; ++seed) {
    io::SimDisk disk(seed);
    auto file = std::move(disk.create("d/f", 4 * 4096)).take_value();
    REQUIRE(disk.sync_folder("d").ok());
    auto other = std::move(disk.create("d/g", 4096)).take_value();
    auto pages = disk_page('b', 4);
    disk.crash_at(1);
    CHECK_FALSE(file->write(0, pages.data(), 4 * 4096).ok());
    CHECK(disk.has_crashed());
    CHECK_FALSE(disk.open("d/f").ok());
    disk.restart();
    const std::string now = disk.content("d/f");
    const auto written = std::count(now.begin(), now.end(), 'b');
    has_torn |= written > 0 && written < 4 * 4096;
    const bool is_there = disk.open("d/g").ok();
    has_lost_name |= !is_there;
    has_kept_name |= is_there;
  }
  CHECK(has_torn);
  CHECK(has_lost_name);
  CHECK(has_kept_name);
}

TEST_CASE("sim disk: faults, room, damage") {
  io::SimDisk disk(1, 16 * 4096);
  auto file = std::move(disk.create("f", 2 * 4096)).take_value();
  auto page = disk_page('c');
  disk.fail_at(1, io::SimFault::kEio);
  CHECK_FALSE(file->write(0, page.data(), 4096).ok());
  disk.fail_at(2, io::SimFault::kShortWrite);
  CHECK(file->write(0, page.data(), 4096).ok());
  const Status cut = file->write(4096, page.data(), 4096);
  REQUIRE_FALSE(cut.ok());
  CHECK(io::is_disk_full(cut.error()));
  auto full = disk.create("g", 15 * 4096);
  REQUIRE_FALSE(full.ok());
  CHECK(io::is_disk_full(full.error()));
  CHECK(std::move(disk.free_bytes()).take_value() == 14 * 4096);
  auto more = disk_page('d');
  REQUIRE(file->write(0, more.data(), 4096).ok());
  disk.fail_read_at(1, io::SimReadFault::kStale);
  REQUIRE(file->read(0, page.data(), 4096).ok());
  CHECK(page.data()[0] == 'c');
  disk.fail_read_at(1, io::SimReadFault::kBitFlip);
  REQUIRE(file->read(0, page.data(), 4096).ok());
  CHECK(std::memcmp(page.data(), more.data(), 4096) != 0);
  disk.flip_bit("f", 5, 1);
  CHECK(disk.content("f")[5] == ('d' ^ 2));
  disk.swap_pages("f", 0, 4096);
  CHECK(disk.content("f")[4096 + 5] == ('d' ^ 2));
  disk.zero_page("f", 4096);
  CHECK(disk.content("f")[4096] == '\0');
  disk.truncate("f", 4096);
  CHECK(disk.content("f").size() == 4096);
}

}  // namespace millstream

}  // namespace millstream
