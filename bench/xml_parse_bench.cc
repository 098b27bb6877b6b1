// XML bytes -> full tree with namespaces, beside pugixml in place and libxml2 SAX2, on SaleEnvelope
// documents of 2 K, 20 K, 200 K and 2 MB. Memory is warm: arenas and allocators keep it. The buffer
// that pugixml parses in place is refilled outside the timing.
//   xml_parse_bench --benchmark_min_time=1
#include <benchmark/benchmark.h>
#include <libxml/parser.h>
#include <malloc.h>
#include <time.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <pugixml.hpp>
#include <random>
#include <string>
#include <vector>

#include "parsers/xmlnsc/xmlnsc_domain.h"
#include "tree/assembly.h"

namespace {

using namespace millstream;

class SaleEnvelope {
 public:
  explicit SaleEnvelope(int lists) {
    out_ = "<SaleEnvelope><Header><SaleListCount>" + std::to_string(lists) +
           "</SaleListCount></Header>";
    for (int i = 0; i < lists; ++i) {
      out_ += "<SaleList>";
      invoice(11, 7, 5, 19, 15, "Sterling");
      invoice(7, 21, 15, 10, 13, "Euros");
      out_ += "</SaleList>";
    }
    out_ += "<Trailer><CompletionTime>12.00.00</CompletionTime></Trailer></SaleEnvelope>";
  }
  std::string take() { return std::move(out_); }

 private:
  void invoice(int surname, int description1, int category1, int description2, int category2,
               const char* currency) {
    out_ += "<Invoice>";
    field("Initial", letters(1));
    field("Initial", letters(1));
    field("Surname", letters(surname));
    item(description1, category1);
    item(description2, category2);
    field("Balance", digits(2) + "." + digits(2));
    field("Currency", currency);
    out_ += "</Invoice>";
  }
  void item(int description, int category) {
    out_ += "<Item>";
    for (int i = 0; i < 3; ++i) field("Code", "0" + std::to_string(random_() % 8));
    field("Description", letters(description));
    field("Category", letters(category));
    field("Price", digits(2) + "." + digits(2));
    field("Quantity", "0" + std::to_string(random_() % 8));
    out_ += "</Item>";
  }
  void field(const char* name, const std::string& text) {
    ((((((out_ += "<") += name) += ">") += text) += "</") += name) += ">";
  }
  std::string letters(int n) {
    std::string s;
    for (int i = 0; i < n; ++i) {
      unsigned r = random_() % 52;
      s += static_cast<char>(r < 26 ? 'a' + r : 'A' + r - 26);
    }
    return s;
  }
  std::string digits(int n) {
    std::string s;
    for (int i = 0; i < n; ++i) s += static_cast<char>('0' + random_() % 10);
    return s;
  }
  std::mt19937 random_{20261130};
  std::string out_;
};

const std::string& document(int lists) {
  static std::string documents[4];
  int i = lists == 2 ? 0 : lists == 20 ? 1 : lists == 200 ? 2 : 3;
  if (documents[i].empty()) documents[i] = SaleEnvelope(lists).take();
  return documents[i];
}

std::shared_ptr<const base::NameTable> names(bool is_known) {
  auto table = std::make_shared<base::NameTable>();
  if (is_known) {
    for (const char* n : {"SaleEnvelope", "Header", "SaleListCount", "SaleList", "Invoice",
                          "Initial", "Surname", "Item", "Code", "Description", "Category", "Price",
                          "Quantity", "Balance", "Currency", "Trailer", "CompletionTime"}) {
      table->intern_qname("", n);
    }
  }
  table->freeze();
  return table;
}

void report(benchmark::State& state, size_t bytes) {
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * bytes));
}

void parse_with(benchmark::State& state, bool is_known) {
  const std::string& xml = document(static_cast<int>(state.range(0)));
  auto table = names(is_known);
  tree::MessageArena arena(table);
  for (auto _ : state) {
    arena.reset(table);
    tree::TreeContext& context = arena.context();
    auto* root =
        tree::make_domain_root(context, parsers::xmlnsc::domain(), context.names.empty_qname());
    (void)parsers::xmlnsc::domain().parse(context, root, xml, {}).ok();
    tree::complete(root);
    if (context.has_parse_error()) state.SkipWithError("parse error");
    benchmark::DoNotOptimize(root->first);
  }
  report(state, xml.size());
}
// The deployment's ESQL names every field, as the benchmark flow does.
void BM_millstream(benchmark::State& state) { parse_with(state, true); }
// No name is known before the message comes.
void BM_millstream_unknown_names(benchmark::State& state) { parse_with(state, false); }

// The first field of the first invoice, then the message is thrown away.
void BM_millstream_first_field(benchmark::State& state) {
  const std::string& xml = document(static_cast<int>(state.range(0)));
  auto table = names(true);
  tree::MessageArena arena(table);
  for (auto _ : state) {
    arena.reset(table);
    tree::TreeContext& context = arena.context();
    auto* root =
        tree::make_domain_root(context, parsers::xmlnsc::domain(), context.names.empty_qname());
    (void)parsers::xmlnsc::domain().parse(context, root, xml, {}).ok();
    tree::Element* e = tree::first_child(root);
    int wanted = static_cast<int>(state.range(0)) / 100;  // the list at 1 % of the message
    e = tree::find_child(e, "SaleList");
    while (wanted-- > 1) e = tree::next_sibling(e);
    e = tree::find_child(tree::find_child(e, "Invoice"), "Surname");
    value::Value v = tree::scalar_value(e);
    benchmark::DoNotOptimize(v);
  }
}

void BM_millstream_serialise(benchmark::State& state) {
  const std::string& xml = document(static_cast<int>(state.range(0)));
  auto table = names(true);
  tree::MessageArena arena(table);
  tree::TreeContext& context = arena.context();
  auto* root =
      tree::make_domain_root(context, parsers::xmlnsc::domain(), context.names.empty_qname());
  (void)parsers::xmlnsc::domain().parse(context, root, xml, {}).ok();
  std::string out;
  for (auto _ : state) {
    out.clear();
    if (!parsers::xmlnsc::domain().serialise(context, root, {}, out).ok()) {
      state.SkipWithError("not serialised");
    }
    benchmark::DoNotOptimize(out.data());
  }
  if (out != xml) state.SkipWithError("not the same document");
  report(state, xml.size());
}

double cpu_seconds() {
  timespec t;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_nsec) * 1e-9;
}

// CPU time of batches: reading the clock costs as much as parsing 2 K.
void BM_pugixml_in_place(benchmark::State& state) {
  const std::string& xml = document(static_cast<int>(state.range(0)));
  constexpr size_t kBatch = 32;
  std::vector<std::string> buffers(kBatch, xml);
  pugi::xml_document document;
  size_t used = std::max<size_t>(1, std::min(kBatch, kBatch * 20'000 / xml.size()));
  for (auto _ : state) {
    for (size_t i = 0; i < used; ++i) std::memcpy(buffers[i].data(), xml.data(), xml.size());
    double from = cpu_seconds();
    for (size_t i = 0; i < used; ++i) {
      if (!document.load_buffer_inplace(buffers[i].data(), xml.size(), pugi::parse_default,
                                        pugi::encoding_utf8)) {
        state.SkipWithError("parse error");
      }
    }
    state.SetIterationTime(cpu_seconds() - from);
  }
  report(state, xml.size() * used);
}

void BM_libxml2_sax2(benchmark::State& state) {
  const std::string& xml = document(static_cast<int>(state.range(0)));
  static int64_t elements;
  xmlSAXHandler sax{};
  sax.initialized = XML_SAX2_MAGIC;
  sax.startElementNs = [](void*, const xmlChar*, const xmlChar*, const xmlChar*, int,
                          const xmlChar**, int, int, const xmlChar**) { ++elements; };
  sax.endElementNs = [](void*, const xmlChar*, const xmlChar*, const xmlChar*) {};
  sax.characters = [](void*, const xmlChar*, int n) { elements += n; };
  for (auto _ : state) {
    if (xmlSAXUserParseMemory(&sax, nullptr, xml.data(), static_cast<int>(xml.size()))) {
      state.SkipWithError("parse error");
    }
    benchmark::DoNotOptimize(elements);
  }
  report(state, xml.size());
}

#define MS_SIZES Arg(2)->Arg(20)->Arg(200)->Arg(2000)
BENCHMARK(BM_millstream)->MS_SIZES;
BENCHMARK(BM_millstream_unknown_names)->MS_SIZES;
BENCHMARK(BM_pugixml_in_place)->MS_SIZES->UseManualTime();
BENCHMARK(BM_libxml2_sax2)->MS_SIZES;
BENCHMARK(BM_millstream_serialise)->MS_SIZES;
BENCHMARK(BM_millstream_first_field)->Arg(2000);

}  // namespace

int main(int argc, char** argv) {
  mallopt(M_MMAP_THRESHOLD, 1 << 30);  // pugixml gets memory that stays mapped, as ours does
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
