// JSON bytes -> full message tree with exact numbers, beside RapidJSON in situ, on SaleEnvelope
// documents of the sizes of the published tests. RapidJSON parses in place, so its buffer is
// refilled outside the timing. Both keep their memory between documents.
#include <benchmark/benchmark.h>
#include <rapidjson/document.h>

#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "parsers/json/json_domain.h"
#include "tree/assembly.h"

namespace {

namespace tree = millstream::tree;

std::string random_word(std::mt19937& random, size_t length) {
  std::string s;
  for (size_t i = 0; i < length; ++i) s += static_cast<char>('a' + random() % 26);
  return s;
}

void append_item(std::string& out, std::mt19937& random, size_t description, size_t category) {
  auto code = [&] { return "\"0" + std::to_string(random() % 8) + '"'; };
  out += "{\"Code\":[" + code() + ',' + code() + ',' + code() + "],\"Description\":\"" +
         random_word(random, description) + "\",\"Category\":\"" + random_word(random, category) +
         "\",\"Price\":" + std::to_string(random() % 100) + '.' +
         std::to_string(10 + random() % 90) + ",\"Quantity\":" + std::to_string(random() % 100) +
         '}';
}

std::string sale_envelope(int lists) {
  std::mt19937 random(1);
  std::string out = "{\"SaleEnvelope\":{\"Header\":{\"SaleListCount\":" + std::to_string(lists) +
                    "},\"SaleList\":[";
  for (int i = 0; i < lists; ++i) {
    out += i ? ",{\"Invoice\":[" : "{\"Invoice\":[";
    for (int invoice = 0; invoice < 2; ++invoice) {
      out += invoice ? ",{\"Initial\":[\"" : "{\"Initial\":[\"";
      out += random_word(random, 1) + "\",\"" + random_word(random, 1) + "\"],\"Surname\":\"" +
             random_word(random, invoice ? 7 : 11) + "\",\"Item\":[";
      append_item(out, random, invoice ? 21 : 7, invoice ? 15 : 5);
      out += ',';
      append_item(out, random, invoice ? 10 : 19, invoice ? 13 : 15);
      out += "],\"Balance\":" + std::to_string(random() % 100) + ".25,\"Currency\":\"" +
             (invoice ? "Euros" : "Sterling") + "\"}";
    }
    out += "]}";
  }
  return out + "],\"Trailer\":{\"CompletionTime\":\"12.00.00\"}}}";
}

void bm_message_tree(benchmark::State& state) {
  std::string document = sale_envelope(static_cast<int>(state.range(0)));
  auto table = std::make_shared<millstream::base::NameTable>();
  table->freeze();
  tree::MessageArena arena(table);
  for (auto _ : state) {
    arena.reset(table);
    auto& context = arena.context();
    auto* root = tree::make_domain_root(context, millstream::parsers::json::kDomain,
                                        context.names.qname("JSON"));
    bool ok =
        millstream::parsers::json::kDomain.parse(context, root, document, {.is_immediate = true})
            .ok();
    if (!ok) state.SkipWithError("parse failed");
    benchmark::DoNotOptimize(root->first);
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(document.size()));
}

void bm_rapidjson_in_situ(benchmark::State& state) {
  std::string document = sale_envelope(static_cast<int>(state.range(0)));
  std::vector<char> buffer(document.size() + 1);
  std::vector<char> pool(64 * 1024 * 1024);
  for (auto _ : state) {
    state.PauseTiming();
    std::memcpy(buffer.data(), document.c_str(), document.size() + 1);
    state.ResumeTiming();
    rapidjson::MemoryPoolAllocator<> allocator(pool.data(), pool.size());
    rapidjson::Document d(&allocator);
    d.ParseInsitu(buffer.data());
    if (d.HasParseError()) state.SkipWithError("parse failed");
    benchmark::DoNotOptimize(d);
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(document.size()));
}

// What the pauses cost, taken out of the figure above by using full-precision numbers as strings.
void bm_rapidjson_in_situ_numbers_as_strings(benchmark::State& state) {
  std::string document = sale_envelope(static_cast<int>(state.range(0)));
  std::vector<char> buffer(document.size() + 1);
  std::vector<char> pool(64 * 1024 * 1024);
  for (auto _ : state) {
    state.PauseTiming();
    std::memcpy(buffer.data(), document.c_str(), document.size() + 1);
    state.ResumeTiming();
    rapidjson::MemoryPoolAllocator<> allocator(pool.data(), pool.size());
    rapidjson::Document d(&allocator);
    d.ParseInsitu<rapidjson::kParseNumbersAsStringsFlag>(buffer.data());
    if (d.HasParseError()) state.SkipWithError("parse failed");
    benchmark::DoNotOptimize(d);
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(document.size()));
}

BENCHMARK(bm_message_tree)->Arg(2)->Arg(20)->Arg(200)->Arg(2000);
BENCHMARK(bm_rapidjson_in_situ)->Arg(2)->Arg(20)->Arg(200)->Arg(2000);
BENCHMARK(bm_rapidjson_in_situ_numbers_as_strings)->Arg(2)->Arg(20)->Arg(200)->Arg(2000);

}  // namespace
