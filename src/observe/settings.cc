#include "observe/settings.h"

#include <algorithm>
#include <charconv>

#include "http/url.h"
#include "observe/errors_gen.h"
#include "observe/setting_reports.h"

namespace millstream::observe {
namespace {

using format::YamlNode;

constexpr const char* kDefaultCollector = "http://localhost:4318";
constexpr std::string_view kTracesPath = "/v1/traces";

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

std::vector<std::string_view> split_list(std::string_view text) {
  std::vector<std::string_view> out;
  for (size_t at = 0; at <= text.size();) {
    const size_t comma = std::min(text.find(',', at), text.size());
    const std::string_view item = trimmed(text.substr(at, comma - at));
    if (!item.empty()) out.push_back(item);
    at = comma + 1;
  }
  return out;
}

// ---------------------------------------------------------------- server.conf.yaml

class ConfReader : public SettingReports {
 public:
  ConfReader(const std::string& file, const YamlNode& root, base::Diagnostics& diagnostics)
      : SettingReports(file, diagnostics), root_(root) {}

  // Null when it is not there or has no value.
  const YamlNode* find(std::initializer_list<std::string_view> path) const {
    const YamlNode* node = root_.find_path(path);
    return node && !node->is_null() ? node : nullptr;
  }
  static std::string key_of(std::initializer_list<std::string_view> path) {
    std::string key;
    for (std::string_view part : path) key += (key.empty() ? "" : "/") + std::string(part);
    return key;
  }
  // Index of the word, or -1.
  int word(std::initializer_list<std::string_view> path,
           std::initializer_list<std::string_view> words, std::string_view wanted) {
    const YamlNode* node = find(path);
    if (!node) return -1;
    const auto it =
        node->is_scalar() ? std::find(words.begin(), words.end(), node->text) : words.end();
    if (it != words.end()) return static_cast<int>(it - words.begin());
    refuse(*node, key_of(path), wanted);
    return -1;
  }
  void boolean(std::initializer_list<std::string_view> path, bool& out) {
    const YamlNode* node = find(path);
    if (!node) return;
    const std::optional<bool> is_on = node->as_bool();
    if (is_on) out = *is_on;
    if (!is_on) refuse(*node, key_of(path), "true or false");
  }
  void number(std::initializer_list<std::string_view> path, int64_t low, int64_t high,
              int64_t& out) {
    const YamlNode* node = find(path);
    if (!node) return;
    const std::optional<int64_t> n = node->as_integer();
    if (n && *n >= low && *n <= high) {
      out = *n;
    } else {
      refuse(*node, key_of(path),
             "a number from " + std::to_string(low) + " to " + std::to_string(high));
    }
  }

 private:
  const YamlNode& root_;
};

void read_formats(ConfReader& conf, std::string_view section, StatisticsSettings& out) {
  const YamlNode* node = conf.find({"Statistics", section, "outputFormat"});
  if (!node) return;
  const std::string key = ConfReader::key_of({"Statistics", section, "outputFormat"});
  out.is_json = out.is_csv = out.is_user_trace = false;
  for (std::string_view format : split_list(node->text)) {
    if (format == "json") {
      out.is_json = true;
    } else if (format == "csv") {
      out.is_csv = true;
    } else if (format == "usertrace") {
      out.is_user_trace = true;
    } else if (format == "xml" || format == "bluemix" || format == "influxdb") {
      conf.warn(*node, key, std::string(format) + " needs a place to publish to that there is not");
    } else {
      conf.refuse(*node, key, "a list of json, csv, usertrace and xml");
    }
  }
}

void read_statistics(ConfReader& conf, std::string_view section, std::string_view switch_key,
                     StatisticsSettings& out) {
  const int on =
      conf.word({"Statistics", section, switch_key}, {"active", "inactive"}, "active or inactive");
  if (on >= 0) out.is_on = on == 0;
  const int level = conf.word({"Statistics", section, "nodeDataLevel"},
                              {"none", "basic", "advanced"}, "none, basic or advanced");
  if (level >= 0) {
    out.has_level = true;
    out.node_level = static_cast<flow::NodeDataLevel>(level);
  }
  const int origin =
      conf.word({"Statistics", section, "accountingOrigin"}, {"none", "basic"}, "none or basic");
  if (origin >= 0) out.has_origins = origin == 1;
  const int threads =
      conf.word({"Statistics", section, "threadDataLevel"}, {"none", "basic"}, "none or basic");
  if (threads >= 0) out.has_threads = threads == 1;
  read_formats(conf, section, out);
}

void read_statistics_files(ConfReader& conf, StatisticsFiles& out) {
  if (const YamlNode* path = conf.find({"Statistics", "csv", "filePath"})) out.folder = path->text;
  int64_t megabytes = static_cast<int64_t>(out.bytes_max >> 20), files = out.files_max;
  conf.number({"Statistics", "csv", "sizeOfFile"}, 1, 10'000, megabytes);
  conf.number({"Statistics", "csv", "numberOfFiles"}, 1, 1'000, files);
  out.bytes_max = static_cast<size_t>(megabytes) << 20;
  out.files_max = static_cast<int>(files);
}

// "max_queue_size=4096:schedule_delay_millis=5000:max_export_batch_size=512"
bool read_batch_options(std::string_view text, TracingSettings& tracing) {
  while (!text.empty()) {
    const size_t end = text.find(':');
    const std::string_view item = trimmed(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    const size_t equals = item.find('=');
    if (equals == std::string_view::npos) return false;
    const std::string_view name = item.substr(0, equals), value = item.substr(equals + 1);
    int64_t n = 0;
    const auto [last, error] = std::from_chars(value.data(), value.data() + value.size(), n);
    if (error != std::errc() || last != value.data() + value.size()) return false;
    if (n < 1 || n > 1'000'000) return false;
    if (name == "max_queue_size") {
      tracing.queue_max = static_cast<size_t>(n);
    } else if (name == "schedule_delay_millis") {
      tracing.delay_ms = n;
    } else if (name == "max_export_batch_size") {
      tracing.batch_max = static_cast<size_t>(n);
    } else {
      return false;
    }
  }
  tracing.batch_max = std::min(tracing.batch_max, tracing.queue_max);
  return true;
}

// Where spans go. There is no gRPC here; collectors that take it take OTLP over HTTP beside it.
void read_exporters(ConfReader& conf, const std::string& place, const YamlNode& section,
                    TracingSettings& tracing) {
  const YamlNode* grpc = section.find("exporterOtlpGrpcEndpoint");
  const YamlNode* http = section.find("exporterOtlpHttpUrl");
  const bool has_http = http && !http->text.empty();
  if (has_http) {
    tracing.url = http->text;
    if (tracing.url.find("://") == std::string::npos) tracing.url = "http://" + tracing.url;
  }
  if (!grpc || grpc->text.empty()) return;
  std::string why = "spans are sent over HTTP, to exporterOtlpHttpUrl";
  if (!has_http) {
    std::string_view host = grpc->text;
    if (const size_t scheme = host.find("://"); scheme != host.npos) host.remove_prefix(scheme + 3);
    tracing.url = "http://" + std::string(host.substr(0, host.rfind(':'))) + ":4318/v1/traces";
    why = "spans are sent over HTTP, to " + tracing.url + "; exporterOtlpHttpUrl says where else";
  }
  conf.warn(*grpc, place + "exporterOtlpGrpcEndpoint", why);
}

void read_open_telemetry(ConfReader& conf, TracingSettings& tracing) {
  if (const YamlNode* misplaced = conf.find({"OpenTelemetry"})) {
    conf.warn(*misplaced, "OpenTelemetry", "the section is ResourceManagers/OpenTelemetryManager");
  }
  const YamlNode* section = conf.find({"ResourceManagers", "OpenTelemetryManager"});
  if (!section) return;
  const std::string place = "ResourceManagers/OpenTelemetryManager/";
  conf.boolean({"ResourceManagers", "OpenTelemetryManager", "openTelemetryEnabled"}, tracing.is_on);
  read_exporters(conf, place, *section, tracing);
  if (const YamlNode* name = section->find("openTelemetryServiceName")) {
    tracing.service_name = name->text;
  }
  if (const YamlNode* host = section->find("openTelemetryHostName"); host && !host->text.empty()) {
    std::erase_if(tracing.resource, [](const auto& p) { return p.first == "host.name"; });
    tracing.resource.emplace_back("host.name", host->text);
  }
  const int processor =
      conf.word({"ResourceManagers", "OpenTelemetryManager", "openTelemetrySpanProcessor"},
                {"batch", "simple"}, "batch or simple");
  if (processor == 1) tracing.batch_max = 1;
  if (const YamlNode* options = section->find("openTelemetryBatchSpanOptions")) {
    if (!read_batch_options(options->text, tracing)) {
      conf.refuse(*options, place + "openTelemetryBatchSpanOptions",
                  "a list such as max_queue_size=2048:schedule_delay_millis=5000:"
                  "max_export_batch_size=512");
    }
  }
  for (const char* key : {"openTelemetryTruststoreType", "openTelemetryTruststoreFile",
                          "openTelemetryTruststorePass", "openTelemetryTrustAlias"}) {
    const YamlNode* store = section->find(key);
    if (store && !store->text.empty()) {
      conf.warn(*store, place + key, "it is for gRPC, which is not spoken");
    }
  }
}

}  // namespace

void apply_conf(const std::string& file, const YamlNode& root, Settings& settings,
                base::Diagnostics& diagnostics) {
  ConfReader conf(file, root, diagnostics);
  read_statistics(conf, "Snapshot", "publicationOn", settings.snapshot);
  read_statistics(conf, "Archive", "archivalOn", settings.archive);
  int64_t minutes = settings.archive.interval_s / 60;
  conf.number({"Statistics", "Archive", "majorInterval"}, 1, 43'200, minutes);
  settings.archive.interval_s = static_cast<int>(minutes * 60);
  read_statistics_files(conf, settings.statistics_csv);
  conf.boolean({"traceNodeLevel"}, settings.are_trace_nodes_on);

  TracingSettings& tracing = settings.tracing;
  read_open_telemetry(conf, tracing);
  const int spans =
      conf.word({"Millstream", "Tracing", "nodeSpans"}, {"transport", "all"}, "transport or all");
  if (spans >= 0) tracing.has_node_spans = spans == 1;

  apply_activity_conf(file, root, settings.activity, diagnostics);
  int64_t megabytes = static_cast<int64_t>(settings.log_bytes_max >> 20);
  int64_t files = settings.log_files_max;
  conf.number({"Millstream", "Tracing", "logFileMegabytes"}, 1, 1'000, megabytes);
  conf.number({"Millstream", "Tracing", "logFiles"}, 1, 100, files);
  settings.log_bytes_max = static_cast<size_t>(megabytes) << 20;
  settings.log_files_max = static_cast<int>(files);
}

// ---------------------------------------------------------------- OTEL_*

namespace {

class OtelReader {
 public:
  OtelReader(const char* (*find)(const char*), base::Diagnostics& diagnostics)
      : find_(find), diagnostics_(diagnostics) {}

  std::string_view text(const char* name) const {
    const char* value = find_(name);
    return value ? trimmed(value) : std::string_view();
  }
  // That of the traces wins over that of all signals.
  std::string_view either(const char* traces, const char* all) const {
    const std::string_view own = text(traces);
    return own.empty() ? text(all) : own;
  }
  void refuse(const char* name, std::string_view value, std::string_view wanted) {
    Status status = base::make_error(errors::kBadOtelSetting, {name, value, wanted});
    diagnostics_.error(status.error(), {});
  }
  template <typename T>
  void number(const char* name, int64_t low, int64_t high, T& out) {
    const std::string_view value = text(name);
    if (value.empty()) return;
    int64_t n = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), n);
    if (error == std::errc() && end == value.data() + value.size() && n >= low && n <= high) {
      out = static_cast<T>(n);
    } else {
      refuse(name, value, "a number from " + std::to_string(low) + " to " + std::to_string(high));
    }
  }
  // "key=value,key=value", values percent-encoded.
  void pairs(const char* name, std::vector<std::pair<std::string, std::string>>& out) {
    for (std::string_view item : split_list(text(name))) {
      const size_t equals = item.find('=');
      if (equals == std::string_view::npos || equals == 0) {
        refuse(name, text(name), "a list of name=value with commas");
        return;
      }
      const std::string key(trimmed(item.substr(0, equals)));
      std::erase_if(out, [&](const auto& p) { return p.first == key; });
      out.emplace_back(key, http::percent_decode(trimmed(item.substr(equals + 1))));
    }
  }

 private:
  const char* (*find_)(const char*);
  base::Diagnostics& diagnostics_;
};

void read_sampler(OtelReader& otel, TracingSettings& tracing) {
  const std::string_view name = otel.text("OTEL_TRACES_SAMPLER");
  std::string_view base_name = name;
  constexpr std::string_view kParent = "parentbased_";
  if (!name.empty()) tracing.follows_parent = name.substr(0, kParent.size()) == kParent;
  if (tracing.follows_parent && !name.empty()) base_name.remove_prefix(kParent.size());
  if (base_name == "always_on" || name.empty()) {
    if (!name.empty()) tracing.sampler = Sampler::kAlwaysOn;
  } else if (base_name == "always_off") {
    tracing.sampler = Sampler::kAlwaysOff;
  } else if (base_name == "traceidratio") {
    tracing.sampler = Sampler::kRatio;
    const std::string text(otel.text("OTEL_TRACES_SAMPLER_ARG"));
    char* end = nullptr;
    const double ratio = text.empty() ? 1 : std::strtod(text.c_str(), &end);
    if (!text.empty() && (*end != 0 || !(ratio >= 0 && ratio <= 1))) {
      otel.refuse("OTEL_TRACES_SAMPLER_ARG", text, "a number from 0 to 1");
    } else {
      tracing.ratio = ratio;
    }
  } else {
    otel.refuse("OTEL_TRACES_SAMPLER", name,
                "always_on, always_off or traceidratio, or one of them behind parentbased_");
  }
}

std::string traces_url(std::string_view base) {
  std::string url(base);
  while (!url.empty() && url.back() == '/') url.pop_back();
  if (!std::string_view(url).ends_with(kTracesPath)) url += kTracesPath;
  return url;
}

bool is_true_word(std::string_view word) {
  return word.size() == 4 && (word[0] | 32) == 't' && (word[1] | 32) == 'r' &&
         (word[2] | 32) == 'u' && (word[3] | 32) == 'e';
}

}  // namespace

void apply_otel(const char* (*find)(const char* name), const std::string& otlp_url,
                TracingSettings& tracing, base::Diagnostics& diagnostics) {
  OtelReader otel(find, diagnostics);
  const char* origin = "the endpoint";
  if (const std::string_view base = otel.text("OTEL_EXPORTER_OTLP_ENDPOINT"); !base.empty()) {
    origin = "OTEL_EXPORTER_OTLP_ENDPOINT";
    tracing.url = traces_url(base);
    tracing.is_on = true;
  }
  if (const std::string_view own = otel.text("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"); !own.empty()) {
    origin = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";
    tracing.url = own;  // as it is, says the specification
    tracing.is_on = true;
  }
  if (is_true_word(otel.text("OTEL_SDK_DISABLED")) || otel.text("OTEL_TRACES_EXPORTER") == "none") {
    tracing.is_on = false;
  }
  if (!otlp_url.empty()) {
    origin = "--otlp";
    tracing.url = traces_url(otlp_url);
    tracing.is_on = true;
  }
  if (!tracing.is_on) return;
  const bool is_from_conf = std::string_view(origin) == "the endpoint";
  if (tracing.url.empty()) tracing.url = kDefaultCollector;
  if (is_from_conf) tracing.url = traces_url(tracing.url);
  Result<http::Url> url = http::parse_url(tracing.url);
  if (!url.ok()) otel.refuse(origin, tracing.url, "a URL such as http://collector:4318");

  otel.pairs("OTEL_EXPORTER_OTLP_HEADERS", tracing.headers);
  otel.pairs("OTEL_EXPORTER_OTLP_TRACES_HEADERS", tracing.headers);
  otel.pairs("OTEL_RESOURCE_ATTRIBUTES", tracing.resource);
  std::erase_if(tracing.resource, [&](const auto& p) {
    if (p.first != "service.name") return false;
    tracing.service_name = p.second;
    return true;
  });
  if (const std::string_view name = otel.text("OTEL_SERVICE_NAME"); !name.empty()) {
    tracing.service_name = name;
  }
  otel.number("OTEL_EXPORTER_OTLP_TIMEOUT", 1, 600'000, tracing.timeout_ms);
  otel.number("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", 1, 600'000, tracing.timeout_ms);
  otel.number("OTEL_BSP_SCHEDULE_DELAY", 1, 600'000, tracing.delay_ms);
  otel.number("OTEL_BSP_MAX_QUEUE_SIZE", 1, 1'000'000, tracing.queue_max);
  otel.number("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", 1, 100'000, tracing.batch_max);
  tracing.batch_max = std::min(tracing.batch_max, tracing.queue_max);
  read_sampler(otel, tracing);
  const std::string_view protocol =
      otel.either("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "OTEL_EXPORTER_OTLP_PROTOCOL");
  if (!protocol.empty() && protocol != "http/json") {
    Status status =
        base::make_error(errors::kOtelProtocol, {"OTEL_EXPORTER_OTLP_PROTOCOL", protocol});
    diagnostics.warning({}, status.error().code->id, status.error().text);
  }
}

}  // namespace millstream::observe
