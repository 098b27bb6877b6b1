#include "cli/describe.h"

#include <doctest/doctest.h>

namespace millstream::cli {
namespace {

TEST_CASE("describe: topics are sorted and complete") {
  const Topic* previous = nullptr;
  for (const Topic& topic : all_topics()) {
    CHECK_FALSE(topic.text.empty());
    if (previous) {
      bool is_sorted = previous->kind < topic.kind ||
                       (previous->kind == topic.kind && previous->name < topic.name);
      CHECK(is_sorted);
    }
    previous = &topic;
  }
}

TEST_CASE("describe: an error is found in every form of its number") {
  for (std::string_view word : {"BIP2230", "bip2230e", "2230", "BIP2230W"}) {
    auto found = find_topics(word);
    REQUIRE(found.size() == 1);
    CHECK(found[0]->name == "BIP2230");
  }
  CHECK(find_topics("BIP2230X").empty());
  CHECK(find_topics("230").empty());
  CHECK(find_topics("").empty());
  CHECK(find_topics("no such thing").empty());
}

TEST_CASE("describe: a property of one node, or of all that have it") {
  const std::string one = property_text("httpinput.urlspecifier");
  CHECK(one.starts_with("HTTPInput.URLSpecifier (property)\n\nPath, as in /orders;"));
  CHECK(one.find("Type: string") != std::string::npos);
  CHECK(property_text("ComIbmWSInput.URLSpecifier") == one);
  const std::string all = property_text("additionalInstances");
  CHECK(all.find("HTTPInput.additionalInstances") != std::string::npos);
  CHECK(property_text("HTTPInput.nothing").empty());
  CHECK(property_text("Nothing.URLSpecifier").empty());
  CHECK(property_text("").empty());
}

}  // namespace
}  // namespace millstream::cli
