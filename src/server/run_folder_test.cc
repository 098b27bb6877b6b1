#include "server/run_folder.h"

#include <doctest/doctest.h>

#include "ace/fixtures_for_test.h"
#include "io/file.h"

namespace millstream::server {
namespace {

using ace::Container;
using ace::TempTree;

std::unique_ptr<Container> application_of(const std::string& name, const std::string& text) {
  auto c = std::make_unique<Container>();
  c->kind = ace::ContainerKind::kApplication;
  c->name = name;
  c->location = "x.bar!/" + name + ".appzip";
  c->resources.emplace_back("sub/F.esql", "F.esql", text);
  c->resources.emplace_back(".project", ".project", "<projectDescription/>");
  REQUIRE(make_deployable(*c).ok());
  return c;
}

std::string text_of(const std::string& file) {
  Result<std::string> text = io::read_file(file);
  return text.ok() ? text.value() : "none";
}

bool is_there(const std::string& path) { return io::path_kind(path) != io::PathKind::kMissing; }

}  // namespace

TEST_CASE("without a commit nothing has happened") {
  TempTree tree;
  tree.write("run/A/sub/F.esql", "old");
  {
    RunFolderChange change(tree.path());
    const auto a = application_of("A", "new");
    REQUIRE(change.prepare({a.get()}, {}).ok());
    CHECK(is_there(tree / "run/.deploying/new/A/application.descriptor"));
    RunFolderChange second(tree.path());
    CHECK(second.prepare({a.get()}, {}).error().code->id == std::string_view("MS2013"));
  }
  CHECK(text_of(tree / "run/A/sub/F.esql") == "old");
  CHECK_FALSE(is_there(tree / "run/.deploying"));
}

TEST_CASE("a commit replaces, adds and removes") {
  TempTree tree;
  tree.write("run/A/sub/F.esql", "old");
  tree.write("run/A/gone.esql", "old");
  tree.write("run/folder/F.esql", "old");
  Container removed;
  removed.name = "named otherwise";
  removed.location = tree / "run/folder";
  const auto a = application_of("A", "new");
  const auto b = application_of("B", "b");
  RunFolderChange change(tree.path());
  REQUIRE(change.prepare({a.get(), b.get()}, {&removed}).ok());
  REQUIRE(change.commit().ok());
  CHECK(text_of(tree / "run/A/sub/F.esql") == "new");
  CHECK(text_of(tree / "run/B/sub/F.esql") == "b");
  for (const char* gone : {"run/A/gone.esql", "run/folder", "run/.deploying", "run/A/.project"}) {
    CHECK_FALSE(is_there(tree / gone));
  }
}

TEST_CASE("after a crash at any step either version is there, whole") {
  // The states of the disk between the steps of a change, in their order.
  for (int steps = 0; steps <= 5; ++steps) {
    TempTree tree;
    tree.write("run/A/F.esql", "old");
    tree.write("run/B/F.esql", "old");
    tree.write("run/.deploying/new/A/F.esql", "new");
    if (steps >= 1) tree.write("run/.deploying/commit.tmp", "write A\n");
    if (steps >= 2) tree.write("run/.deploying/commit", "write A\nremove B\n");
    std::filesystem::create_directories(tree / "run/.deploying/old");
    if (steps >= 3) std::filesystem::rename(tree / "run/A", tree / "run/.deploying/old/0");
    if (steps >= 4) std::filesystem::rename(tree / "run/.deploying/new/A", tree / "run/A");
    if (steps >= 5) std::filesystem::rename(tree / "run/B", tree / "run/.deploying/old/1");
    REQUIRE(recover_run_folder(tree.path()).ok());
    const bool is_new = steps >= 2;
    CHECK(text_of(tree / "run/A/F.esql") == (is_new ? "new" : "old"));
    CHECK(is_there(tree / "run/B") == !is_new);
    CHECK_FALSE(is_there(tree / "run/.deploying"));
  }
}

TEST_CASE("names that would leave the folder are refused") {
  for (const char* name : {"", ".", "..", ".x", "a/b", "a\\b", "a\nb"}) {
    Container c;
    c.name = name;
    CHECK_FALSE(make_deployable(c).ok());
  }
  Container c;
  c.name = std::string(kContainerNameBytesMax + 1, 'x');
  CHECK_FALSE(make_deployable(c).ok());
}

}  // namespace millstream::server
