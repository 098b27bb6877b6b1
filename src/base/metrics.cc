#include "base/metrics.h"

#include <dirent.h>
#include <sys/resource.h>
#include <unistd.h>

#include <atomic>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstring>

namespace millstream::base {

namespace internal {
thread_local constinit uint32_t t_thread_number_plus_one = 0;

uint32_t assign_thread_number() {
  static std::atomic<uint32_t> next{0};
  t_thread_number_plus_one = next.fetch_add(1) % kThreadNumbers + 1;
  return t_thread_number_plus_one;
}
}  // namespace internal

namespace {

std::string metric_number(double v) {
  if (std::isnan(v)) return "NaN";
  if (std::isinf(v)) return v > 0 ? "+Inf" : "-Inf";
  char text[40];
  return std::string(text, std::to_chars(text, text + sizeof text, v).ptr);
}

void append_escaped(std::string_view text, bool is_label, std::string& out) {
  for (const char c : text) {
    if (c == '\\') {
      out += "\\\\";
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '"' && is_label) {
      out += "\\\"";
    } else {
      out += c;
    }
  }
}

const char* metric_type_name(MetricType type) {
  if (type == MetricType::kCounter) return "counter";
  return type == MetricType::kGauge ? "gauge" : "histogram";
}

}  // namespace

void MetricWriter::family(std::string_view name, MetricType type, std::string_view help) {
  if (auto it = index_.find(name); it != index_.end()) {
    current_ = it->second;
    return;
  }
  current_ = families_.size();
  index_.emplace(name, current_);
  Family f;
  f.name = name;
  f.head = "# HELP " + f.name + " ";
  append_escaped(help, false, f.head);
  f.head += "\n# TYPE " + f.name + " " + metric_type_name(type) + "\n";
  families_.push_back(std::move(f));
}

void MetricWriter::line(std::string_view suffix, const MetricLabels& labels,
                        std::string_view extra_label, std::string_view extra_value,
                        const std::string& value) {
  Family& f = families_[current_];
  std::string& out = f.samples;
  out += f.name;
  out += suffix;
  char open = '{';
  auto put = [&](std::string_view name, std::string_view text) {
    out += open;
    open = ',';
    out += name;
    out += "=\"";
    append_escaped(text, true, out);
    out += '"';
  };
  for (const auto& [name, text] : labels) put(name, text);
  if (!extra_label.empty()) put(extra_label, extra_value);
  if (open == ',') out += '}';
  out += ' ';
  out += value;
  out += '\n';
}

void MetricWriter::sample(const MetricLabels& labels, uint64_t value) {
  line({}, labels, {}, {}, std::to_string(value));
}

void MetricWriter::sample(const MetricLabels& labels, double value) {
  line({}, labels, {}, {}, metric_number(value));
}

void MetricWriter::histogram(const MetricLabels& labels, std::span<const double> bounds,
                             std::span<const uint64_t> counts, double sum) {
  uint64_t below = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    below += counts[i];
    line("_bucket", labels, "le", i < bounds.size() ? metric_number(bounds[i]) : "+Inf",
         std::to_string(below));
  }
  line("_sum", labels, {}, {}, metric_number(sum));
  line("_count", labels, {}, {}, std::to_string(below));
}

std::string MetricWriter::take() {
  std::string out;
  for (const Family& f : families_) {
    if (f.samples.empty()) continue;
    out += f.head;
    out += f.samples;
  }
  families_.clear();
  index_.clear();
  return out;
}

uint64_t MetricRegistry::add(Collector collector) {
  std::lock_guard lock(mutex_);
  collectors_[++last_id_] = std::move(collector);
  return last_id_;
}

void MetricRegistry::remove(uint64_t id) {
  std::lock_guard lock(mutex_);
  collectors_.erase(id);
}

void MetricRegistry::collect(MetricWriter& writer) {
  std::lock_guard lock(mutex_);
  for (auto& [id, collector] : collectors_) collector(writer);
}

std::string MetricRegistry::text() {
  MetricWriter writer;
  collect(writer);
  return writer.take();
}

MetricRegistry& process_metrics() {
  static MetricRegistry registry;
  return registry;
}

// ---------------------------------------------------------------- the process

namespace {

struct ProcStat {
  uint64_t threads = 0, start_ticks = 0, virtual_bytes = 0, resident_pages = 0;
};

// The fields of /proc/self/stat behind the command name, which may hold anything.
ProcStat read_proc_stat() {
  ProcStat out;
  FILE* file = std::fopen("/proc/self/stat", "re");
  if (!file) return out;
  char text[1024];
  const size_t size = std::fread(text, 1, sizeof text - 1, file);
  std::fclose(file);
  text[size] = 0;
  const char* p = std::strrchr(text, ')');
  if (!p) return out;
  constexpr int kFirstField = 3;  // after ") "
  int field = kFirstField;
  for (p += 2; *p; ++field) {
    const uint64_t value = std::strtoull(p, nullptr, 10);
    if (field == 20) out.threads = value;
    if (field == 22) out.start_ticks = value;
    if (field == 23) out.virtual_bytes = value;
    if (field == 24) out.resident_pages = value;
    while (*p && *p != ' ') ++p;
    while (*p == ' ') ++p;
  }
  return out;
}

uint64_t open_descriptors() {
  DIR* folder = ::opendir("/proc/self/fd");
  if (!folder) return 0;
  uint64_t count = 0;
  while (const dirent* e = ::readdir(folder)) count += e->d_name[0] != '.';
  ::closedir(folder);
  return count > 0 ? count - 1 : 0;  // without that of the folder
}

double boot_time() {
  FILE* file = std::fopen("/proc/stat", "re");
  if (!file) return 0;
  char line[512];
  unsigned long long seconds = 0;
  while (std::fgets(line, sizeof line, file)) {
    if (std::sscanf(line, "btime %llu", &seconds) == 1) break;
  }
  std::fclose(file);
  return static_cast<double>(seconds);
}

}  // namespace

void collect_process_metrics(MetricWriter& w) {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  const ProcStat stat = read_proc_stat();
  w.family("process_cpu_seconds_total", MetricType::kCounter,
           "Total user and system CPU time spent in seconds.");
  w.sample({}, seconds(usage.ru_utime) + seconds(usage.ru_stime));
  w.family("process_resident_memory_bytes", MetricType::kGauge, "Resident memory size in bytes.");
  w.sample({}, stat.resident_pages * static_cast<uint64_t>(::sysconf(_SC_PAGESIZE)));
  w.family("process_virtual_memory_bytes", MetricType::kGauge, "Virtual memory size in bytes.");
  w.sample({}, stat.virtual_bytes);
  w.family("process_open_fds", MetricType::kGauge, "Number of open file descriptors.");
  w.sample({}, open_descriptors());
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) == 0) {
    w.family("process_max_fds", MetricType::kGauge, "Maximum number of open file descriptors.");
    w.sample({}, static_cast<uint64_t>(limit.rlim_cur));
  }
  w.family("process_threads", MetricType::kGauge, "Number of threads.");
  w.sample({}, stat.threads);
  w.family("process_start_time_seconds", MetricType::kGauge,
           "Start time of the process since unix epoch in seconds.");
  w.sample({}, boot_time() + static_cast<double>(stat.start_ticks) /
                                 static_cast<double>(::sysconf(_SC_CLK_TCK)));
}

}  // namespace millstream::base
