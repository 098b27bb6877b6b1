#include "base/base64.h"

#include <doctest/doctest.h>

namespace millstream::base {
namespace {

TEST_CASE("base64: the vectors of RFC 4648") {
  const char* const plain[] = {"", "f", "fo", "foo", "foob", "fooba", "foobar"};
  const char* const coded[] = {"", "Zg==", "Zm8=", "Zm9v", "Zm9vYg==", "Zm9vYmE=", "Zm9vYmFy"};
  for (int i = 0; i < 7; ++i) {
    CHECK(base64_encode(plain[i]) == coded[i]);
    CHECK(base64_decode(coded[i]).value() == plain[i]);
  }
  CHECK(base64_decode("Zg").value() == "f");
  std::string all;
  for (int i = 0; i < 256; ++i) all += static_cast<char>(i);
  CHECK(base64_decode(base64_encode(all)).value() == all);
}

TEST_CASE("base64: what is not base64 is refused") {
  for (const char* bad : {"Z", "Zg=a", "Z g=", "Zm9v\n", "Zm9v=Zm9v", "===="}) {
    CAPTURE(bad);
    CHECK_FALSE(base64_decode(bad).has_value());
  }
}

}  // namespace
}  // namespace millstream::base
