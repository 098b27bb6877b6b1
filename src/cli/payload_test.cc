#include "cli/payload.h"

#include <doctest/doctest.h>

#include <bit>
#include <cstring>
#include <string>
#include <vector>

namespace millstream::cli {
namespace {

// SHA-256 (FIPS 180-4), enough for the test.
class PayloadHash {
 public:
  static std::string hex(std::string_view text) {
    PayloadHash hash;
    std::string padded(text);
    padded += '\x80';
    while (padded.size() % 64 != 56) padded += '\0';
    for (int shift = 56; shift >= 0; shift -= 8) {
      padded += static_cast<char>((static_cast<uint64_t>(text.size()) * 8) >> shift);
    }
    for (size_t at = 0; at < padded.size(); at += 64) hash.add_block(padded.data() + at);
    std::string out;
    for (uint32_t word : hash.state_) {
      for (int shift = 28; shift >= 0; shift -= 4) out += "0123456789abcdef"[(word >> shift) & 15];
    }
    return out;
  }

 private:
  // The first 32 bits of the fractions of the cube roots of the first 64 primes, computed here.
  static std::vector<uint32_t> round_constants() {
    std::vector<uint32_t> out;
    for (uint64_t prime = 2; out.size() < 64; ++prime) {
      bool is_prime = true;
      for (uint64_t d = 2; d * d <= prime; ++d) is_prime = is_prime && prime % d != 0;
      if (!is_prime) continue;
      // Largest r with r^3 <= prime * 2^96; its low 32 bits are the fraction.
      uint64_t root = 0;
      for (int bit = 40; bit >= 0; --bit) {
        const auto r = static_cast<long double>(root | (uint64_t{1} << bit));
        if (r * r * r <= static_cast<long double>(prime) * 0x1p96L) root |= uint64_t{1} << bit;
      }
      out.push_back(static_cast<uint32_t>(root));
    }
    return out;
  }

  void add_block(const char* block) {
    static const std::vector<uint32_t> kRounds = round_constants();
    uint32_t w[64];
    for (size_t i = 0; i < 16; ++i) {
      uint32_t word = 0;
      for (size_t b = 0; b < 4; ++b) word = word << 8 | static_cast<uint8_t>(block[i * 4 + b]);
      w[i] = word;
    }
    for (size_t i = 16; i < 64; ++i) {
      const uint32_t a = w[i - 15], b = w[i - 2];
      w[i] = w[i - 16] + w[i - 7] + (std::rotr(a, 7) ^ std::rotr(a, 18) ^ (a >> 3)) +
             (std::rotr(b, 17) ^ std::rotr(b, 19) ^ (b >> 10));
    }
    uint32_t s[8];
    std::memcpy(s, state_, sizeof s);
    for (size_t i = 0; i < 64; ++i) {
      const uint32_t e = s[4], a = s[0];
      const uint32_t t1 = s[7] + (std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25)) +
                          ((e & s[5]) ^ (~e & s[6])) + kRounds[i] + w[i];
      const uint32_t t2 = (std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22)) +
                          ((a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]));
      std::memmove(s + 1, s, 7 * sizeof s[0]);
      s[4] += t1;
      s[0] = t1 + t2;
    }
    for (size_t i = 0; i < 8; ++i) state_[i] += s[i];
  }

  uint32_t state_[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
};

struct PayloadCase {
  int sale_lists;
  size_t xml_bytes, json_bytes;
  const char* xml_sha256;
  const char* json_sha256;
  const char* sum;
};

constexpr PayloadCase kPayloadCases[] = {
    {2, 2'136, 1'364, "9343ff0f25a87d07f35527021d07db745584bade2cc432bc2635c0d27b0b4d33",
     "4ce2c2e0d798d0220b04b505628636aa0c5e5defbbd599423c07242e6664cfe0", "371.10"},
    {20, 20'119, 12'755, "67e771db6b361bd5466c83818f48beb762801369b565b141a7e194f806d8cff4",
     "758459b814c6727b6790def9ddfdb1e9caa199b8c997c9ca689e2e07af345e76", "6067.50"},
    {200, 199'940, 126'633, "f05f8700d22513f8bfb9dd2b8b6bdffdeb74b3ebcff2d0f036702380dde8233d",
     "009d7e97bad062726cfd58031d2c27fde35f16535442cd547433af3a6b019c3a", "63484.51"},
    {2000, 1'998'141, 1'265'513, "e0678cfc5cf2f3e70f943c59573c8f772506447413a52e30d1010450ce21e15e",
     "c2b73651040a11e0d6c770a584fe0918b40cf4976a73d3d793e804fb533941d4", "629082.81"}};

// Adds up what a text-only reading of the message finds: no parser, no Decimal.
int64_t cents_in_xml(const std::string& xml) {
  int64_t cents = 0;
  for (std::string_view tag : {"<Price>", "<Quantity>", "<Balance>"}) {
    for (size_t at = xml.find(tag); at != std::string::npos; at = xml.find(tag, at + 1)) {
      const std::string text = xml.substr(at + tag.size(), 5);
      cents += std::stoi(text.substr(0, 2)) * 100;
      if (text[2] == '.') cents += std::stoi(text.substr(3, 2));
    }
  }
  return cents;
}

TEST_CASE("payload: the test's own SHA-256") {
  CHECK(PayloadHash::hex("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(PayloadHash::hex("abc") ==
        "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST_CASE("payload: sizes, hashes and sums are those that are published") {
  for (const PayloadCase& c : kPayloadCases) {
    CAPTURE(c.sale_lists);
    const std::string xml = make_sales_payload(c.sale_lists, PayloadFormat::kXml);
    const std::string json = make_sales_payload(c.sale_lists, PayloadFormat::kJson);
    CHECK(xml.size() == c.xml_bytes);
    CHECK(json.size() == c.json_bytes);
    CHECK(PayloadHash::hex(xml) == c.xml_sha256);
    CHECK(PayloadHash::hex(json) == c.json_sha256);
    CHECK(sales_payload_sum(c.sale_lists).to_text() == c.sum);
    value::Decimal expected = value::Decimal::from_scaled(cents_in_xml(xml), -2);
    CHECK(value::Decimal::compare(sales_payload_sum(c.sale_lists), expected) ==
          value::Ordering::kEqual);
  }
}

TEST_CASE("payload: each list has 999 bytes and a larger message begins with the smaller one") {
  const std::string one = make_sales_payload(1, PayloadFormat::kXml);
  const std::string two = make_sales_payload(2, PayloadFormat::kXml);
  CHECK(two.size() - one.size() == 999);
  const size_t list_at = one.find("<SaleList>");
  CHECK(one.substr(list_at, 999) == two.substr(two.find("<SaleList>"), 999));
}

TEST_CASE("payload: an absurd count is brought into range") {
  CHECK(make_sales_payload(-5, PayloadFormat::kJson) ==
        make_sales_payload(1, PayloadFormat::kJson));
}

}  // namespace
}  // namespace millstream::cli
