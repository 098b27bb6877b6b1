#include "io/durable.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "io/file.h"
#include "io/folder_watch.h"
#include "io/zip.h"
#include "io/zip_writer.h"

namespace millstream::io {
namespace {

struct WatchedFolder {
  WatchedFolder() {
    std::string pattern = (std::filesystem::temp_directory_path() / "ms_io_XXXXXX").string();
    path = mkdtemp(pattern.data());
  }
  ~WatchedFolder() { std::filesystem::remove_all(path); }
  std::string operator/(const std::string& name) const { return path + "/" + name; }
  std::string path;
};

}  // namespace

TEST_CASE("a tree is removed with its links, not with what they point to") {
  WatchedFolder f;
  REQUIRE(make_folders(f / "a/b/c").ok());
  REQUIRE(make_folders(f / "kept").ok());
  REQUIRE(write_file_synced(f / "kept/x", "x").ok());
  REQUIRE(write_file_synced(f / "a/b/c/y", "y").ok());
  REQUIRE(::symlink((f / "kept").c_str(), (f / "a/link").c_str()) == 0);
  CHECK(sync_folder(f / "a").ok());
  CHECK(remove_tree(f / "a").ok());
  CHECK(path_kind(f / "a") == PathKind::kMissing);
  CHECK(read_file(f / "kept/x").value() == "x");
  CHECK(remove_tree(f / "a").ok());
  CHECK(rename_path(f / "kept", f / "moved").ok());
  CHECK_FALSE(rename_path(f / "kept", f / "moved").ok());
}

TEST_CASE("archives that are written are read back, and are the same each time") {
  auto make = [] {
    ZipWriter zip;
    zip.add("empty", "");
    zip.add("folder/text.txt", std::string(100'000, 'a') + "end");
    zip.add("bytes", std::string("\0\x01\xff", 3));
    return std::move(zip).finish("x.zip").take_value();
  };
  const std::string bytes = make();
  CHECK(bytes == make());
  CHECK(bytes.size() < 2000);
  const std::vector<ZipEntry> entries = read_zip(bytes, "x.zip").take_value();
  REQUIRE(entries.size() == 3);
  CHECK(entries[0].content.empty());
  CHECK(entries[1].name == "folder/text.txt");
  CHECK(entries[1].content == std::string(100'000, 'a') + "end");
  CHECK(entries[2].content == std::string("\0\x01\xff", 3));
}

TEST_CASE("changes below a folder are seen, those of editors are not") {
  using Event = FolderWatch::Event;
  WatchedFolder f;
  REQUIRE(make_folders(f / "old").ok());
  FolderWatch watch = FolderWatch::open({f.path}).take_value();
  CHECK(watch.wait(0) == Event::kTimeout);
  REQUIRE(write_file(f / "old/.x.swp", "x").ok());
  CHECK(watch.wait(0) == Event::kTimeout);
  REQUIRE(write_file(f / "old/x", "x").ok());
  CHECK(watch.wait(-1) == Event::kChange);
  REQUIRE(make_folders(f / "new/deep").ok());
  CHECK(watch.wait(-1) == Event::kChange);
  while (watch.wait(0) == Event::kChange) {
  }
  REQUIRE(write_file(f / "new/deep/y", "y").ok());
  CHECK(watch.wait(-1) == Event::kChange);
  while (watch.wait(0) == Event::kChange) {
  }
  std::thread waker([&watch] { watch.wake(); });
  CHECK(watch.wait(-1) == Event::kWoken);
  waker.join();
}

TEST_CASE("of a single file only its own changes are seen") {
  using Event = FolderWatch::Event;
  WatchedFolder f;
  REQUIRE(write_file(f / "conf.yaml", "a").ok());
  FolderWatch watch = FolderWatch::open({f / "conf.yaml"}).take_value();
  REQUIRE(write_file(f / "other", "x").ok());
  CHECK(watch.wait(0) == Event::kTimeout);
  REQUIRE(write_file(f / "conf.next", "b").ok());
  REQUIRE(rename_path(f / "conf.next", f / "conf.yaml").ok());
  CHECK(watch.wait(-1) == Event::kChange);
  CHECK_FALSE(FolderWatch::open({f / "missing"}).ok());
}

}  // namespace millstream::io
