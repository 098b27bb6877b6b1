#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "flow/flow_test_util.h"
#include "format/yaml.h"
#include "observe/activity_log.h"
#include "observe/flow_metrics.h"
#include "observe/hub.h"
#include "observe/message_trace.h"
#include "observe/origin_accounting.h"
#include "observe/rotating_file.h"
#include "observe/settings.h"
#include "observe/spans.h"
#include "observe/user_trace.h"

namespace millstream::observe {
namespace {

namespace json = base::json;
using flow::test::FlowFixture;
using flow::test::FlowText;

FlowText watched_flow() {
  FlowText text;
  text.nodes({{"In", "In"}, {"Say", "A"}, {"Fail", "X"}, {"Say", "H"}});
  text.wires({"In.out -> A", "A.out -> X", "X.failure -> H"});
  return text;
}

class TempFolder {
 public:
  TempFolder() {
    char name[] = "/tmp/ms-observe-XXXXXX";
    REQUIRE(mkdtemp(name));
    path = name;
  }
  ~TempFolder() { std::filesystem::remove_all(path); }
  std::string read(const std::string& name) const {
    std::ifstream in(path + "/" + name);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
  }
  std::string path;
};

// ---------------------------------------------------------------- settings

Settings settings_of(const std::string& yaml, std::string* said = nullptr) {
  Settings settings;
  base::Diagnostics diagnostics;
  Result<format::YamlNode> root = format::parse_yaml(yaml, "f.yaml");
  REQUIRE(root.ok());
  apply_conf("f.yaml", root.value(), settings, diagnostics);
  for (const base::Diagnostic& d : diagnostics.all()) {
    if (said) *said += d.format() + "\n";
  }
  if (!said) CHECK(diagnostics.all().empty());
  return settings;
}

TEST_CASE("settings: the sections of the product") {
  const Settings s = settings_of(
      "Statistics:\n"
      "  Snapshot: {publicationOn: active, outputFormat: 'csv,json', accountingOrigin: basic}\n"
      "  Archive: {archivalOn: active, majorInterval: 5, threadDataLevel: basic}\n"
      "traceNodeLevel: false\n"
      "ResourceManagers:\n"
      "  OpenTelemetryManager: {openTelemetryEnabled: true, exporterOtlpHttpUrl: "
      "'c:4318/v1/traces',\n"
      "    openTelemetryServiceName: orders, openTelemetryHostName: h1,\n"
      "    openTelemetryBatchSpanOptions: 'max_queue_size=99:schedule_delay_millis=7:"
      "max_export_batch_size=500'}\n"
      "  ActivityLogManager: {activityLogEnabled: true, defaultLogSizePerThread: 7,\n"
      "    minSeverityLevel: WARN}\n"
      "ActivityLog:\n"
      "  A: {fileName: a.csv, filter: 'RM=HTTP; MSGFLOW=F', minSeverityLevel: ERROR,\n"
      "    numberOfLogs: 2, maxAgeMins: 5, maxFileSizeMb: 3, formatEntries: true}\n"
      "  B: {enabled: false, consoleLog: true, consoleLogFormat: ibmjson}\n"
      "Millstream: {Tracing: {nodeSpans: all, logFiles: 7}}\n");
  CHECK(s.snapshot.is_on);
  CHECK(s.snapshot.is_csv);
  CHECK(s.snapshot.is_json);
  CHECK(s.snapshot.has_origins);
  CHECK_FALSE(s.snapshot.has_level);
  CHECK(s.archive.is_on);
  CHECK(s.archive.interval_s == 300);
  CHECK(s.archive.has_threads);
  CHECK_FALSE(s.are_trace_nodes_on);
  CHECK(s.tracing.is_on);
  CHECK(s.tracing.has_node_spans);
  CHECK(s.tracing.url == "http://c:4318/v1/traces");
  CHECK(s.tracing.service_name == "orders");
  CHECK(s.tracing.resource[0].second == "h1");
  CHECK(s.tracing.queue_max == 99);
  CHECK(s.tracing.batch_max == 99);
  CHECK(s.tracing.delay_ms == 7);
  CHECK(s.activity.is_on);
  CHECK(s.activity.entries_max == 7);
  CHECK(s.activity.severity_min == ActivitySeverity::kWarning);
  REQUIRE(s.activity.outputs.size() == 2);
  const ActivityOutput& a = s.activity.outputs[0];
  CHECK(a.name == "A");
  CHECK(a.file == "a.csv");
  CHECK(a.filter.size() == 2);
  CHECK(a.severity_min == ActivitySeverity::kError);
  CHECK(a.files_max == 2);
  CHECK(a.age_max_minutes == 5);
  CHECK(a.bytes_max == 3u << 20);
  CHECK(a.is_formatted);
  CHECK_FALSE(s.activity.outputs[1].writes());
  CHECK(s.log_files_max == 7);
  const Settings defaults = settings_of("Statistics:\n");
  CHECK_FALSE(defaults.snapshot.is_on);
  CHECK(defaults.archive.interval_s == 3600);
}

TEST_CASE("settings: what is not done is said, what cannot be meant is refused") {
  struct Case {
    const char *text, *part;
  };
  for (const Case& c : {
           Case{"ResourceManagers: {OpenTelemetryManager: {exporterOtlpGrpcEndpoint: 'c:4317'}}",
                "spans are sent over HTTP, to http://c:4318/v1/traces"},
           Case{"ResourceManagers: {OpenTelemetryManager: {openTelemetryTruststoreFile: x}}",
                "it is for gRPC"},
           Case{"ResourceManagers: {OpenTelemetryManager: {openTelemetrySpanProcessor: x}}",
                "batch or simple"},
           Case{"ResourceManagers: {OpenTelemetryManager: {openTelemetryBatchSpanOptions: a=1}}",
                "openTelemetryBatchSpanOptions is 'a=1'"},
           Case{"OpenTelemetry: {openTelemetryEnabled: true}",
                "the section is ResourceManagers/OpenTelemetryManager"},
           Case{"ActivityLog: {enabled: true}", "ActivityLog/enabled is 'true'; it must be"},
           Case{"ActivityLog: {A: {filter: 'X=1'}}", "A/filter is 'X=1'; it must be a list"},
           Case{"ActivityLog: {A: {filter: 'RM'}}", "A/filter is 'RM'; it must be a list"},
           Case{"ActivityLog: {A: {elkLog: true}}", "not sent to Elasticsearch"},
           Case{"ActivityLog: {A: {fileNmae: x}}", "no such property"},
           Case{"ActivityLog: {A: {numberOfLogs: 0}}", "a number from 1 to 1000"},
           Case{"ActivityLog: {A: {minSeverityLevel: LOW}}", "DEBUG, INFO, WARN or ERROR"},
           Case{"ResourceManagers: {ActivityLogManager: {defaultLogSizePerThread: 1000000}}",
                "a number from 1 to 100000"},
           Case{"Statistics: {csv: {sizeOfFile: 0}}", "Statistics/csv/sizeOfFile"},
       }) {
    std::string said;
    settings_of(c.text, &said);
    CAPTURE(said);
    CHECK(said.find(c.part) != std::string::npos);
  }
}

std::map<std::string, std::string>& variables() {
  static std::map<std::string, std::string> values;
  return values;
}

const char* find_variable(const char* name) {
  auto it = variables().find(name);
  return it == variables().end() ? nullptr : it->second.c_str();
}

TracingSettings tracing_of(std::map<std::string, std::string> values, const std::string& url = "",
                           size_t errors = 0) {
  variables() = std::move(values);
  TracingSettings tracing;
  base::Diagnostics diagnostics;
  apply_otel(&find_variable, url, tracing, diagnostics);
  CHECK(diagnostics.error_count() == errors);
  return tracing;
}

TEST_CASE("settings: the variables of OpenTelemetry") {
  CHECK_FALSE(tracing_of({}).is_on);
  TracingSettings t = tracing_of({{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://c:4318/"},
                                  {"OTEL_EXPORTER_OTLP_HEADERS", "a=1, b=x%20y"},
                                  {"OTEL_EXPORTER_OTLP_TRACES_HEADERS", "a=2"},
                                  {"OTEL_RESOURCE_ATTRIBUTES", "service.name=r,k=v"},
                                  {"OTEL_TRACES_SAMPLER", "parentbased_traceidratio"},
                                  {"OTEL_TRACES_SAMPLER_ARG", "0.25"},
                                  {"OTEL_BSP_MAX_QUEUE_SIZE", "100"}});
  CHECK(t.is_on);
  CHECK(t.url == "http://c:4318/v1/traces");
  REQUIRE(t.headers.size() == 2);
  CHECK(t.headers[0] == std::pair<std::string, std::string>("b", "x y"));
  CHECK(t.headers[1] == std::pair<std::string, std::string>("a", "2"));
  CHECK(t.service_name == "r");
  CHECK(t.resource.size() == 1);
  CHECK(t.sampler == Sampler::kRatio);
  CHECK(t.ratio == 0.25);
  CHECK(t.follows_parent);
  CHECK(t.queue_max == 100);
  CHECK(t.batch_max == 100);  // never more than the queue holds
  // A URL of the traces is taken as it is; the command line wins.
  t = tracing_of({{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "http://c/x"},
                  {"OTEL_TRACES_SAMPLER", "always_off"}});
  CHECK(t.url == "http://c/x");
  CHECK(t.sampler == Sampler::kAlwaysOff);
  CHECK_FALSE(t.follows_parent);
  CHECK(tracing_of({{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://c"}}, "http://d:1").url ==
        "http://d:1/v1/traces");
  CHECK_FALSE(tracing_of({{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://c"},
                          {"OTEL_SDK_DISABLED", "TRUE"},
                          {"OTEL_TRACES_SAMPLER", "nonsense"}})
                  .is_on);
  CHECK_FALSE(
      tracing_of({{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://c"}, {"OTEL_TRACES_EXPORTER", "none"}})
          .is_on);
  tracing_of({{"OTEL_TRACES_SAMPLER", "nonsense"}}, "http://d", 1);
  tracing_of({{"OTEL_TRACES_SAMPLER", "traceidratio"}, {"OTEL_TRACES_SAMPLER_ARG", "2"}},
             "http://d", 1);
  tracing_of({{"OTEL_BSP_SCHEDULE_DELAY", "soon"}}, "http://d", 1);
  tracing_of({{"OTEL_EXPORTER_OTLP_ENDPOINT", "c:4318"}}, "", 1);
}

// ---------------------------------------------------------------- spans

TEST_CASE("spans: a message, its nodes, its errors") {
  FlowFixture f;
  REQUIRE(f.build(watched_flow()));
  TracingSettings settings;
  settings.has_node_spans = true;
  auto queue = std::make_shared<SpanQueue>(100);
  auto tracer = std::make_shared<Tracer>(settings, queue);
  f.flow->observers().add(tracer);
  f.run();
  const std::vector<Span> spans = queue->take(100);
  REQUIRE(spans.size() == 4);
  CHECK(spans[0].name == "F In");
  CHECK_FALSE(spans[0].has_parent);
  CHECK_FALSE(spans[0].is_error);  // H handled it
  for (const Span& s : spans) {
    CHECK(s.context.trace_id == spans[0].context.trace_id);
    CHECK(s.end_ns >= s.start_ns);
    CHECK(s.start_ns > 0);
  }
  CHECK(spans[1].name == "A");
  CHECK(spans[1].parent_id == spans[0].context.span_id);
  CHECK(spans[2].name == "X");
  CHECK(spans[2].parent_id == spans[1].context.span_id);
  CHECK(spans[2].is_error);
  REQUIRE(spans[2].events.size() == 1);
  CHECK(spans[2].events[0].name == "exception");
  const std::string text = otlp_json(spans, "orders", {{"k", "v"}}, "1.0");
  Result<json::Value> document = json::parse(text);
  REQUIRE(document.ok());
  const json::Value& resource = document.value().get("resourceSpans").items()[0];
  const json::Value& first = resource.get("scopeSpans").items()[0].get("spans").items()[0];
  CHECK(first.get("traceId").as_string().size() == 32);
  CHECK(first.get("spanId").as_string().size() == 16);
  CHECK(first.get("kind").as_integer() == 5);
  CHECK(first.get("startTimeUnixNano").is_string());  // 64 bits are text in this mapping
}

TEST_CASE("spans: a full queue drops and counts") {
  SpanQueue queue(3);
  int calls = 0;
  queue.set_batch(2, [&] { ++calls; });
  queue.push(std::vector<Span>(1));
  CHECK(calls == 0);
  queue.push(std::vector<Span>(4));
  CHECK(calls == 1);
  CHECK(queue.size() == 3);
  CHECK(queue.dropped() == 2);
  CHECK(queue.take(2).size() == 2);
  CHECK(queue.take(2).size() == 1);
  CHECK(queue.take(2).empty());
}

TEST_CASE("spans: the ratio decides by the id of the trace") {
  TracingSettings settings;
  settings.sampler = Sampler::kRatio;
  settings.ratio = 0.5;
  Tracer half(settings, std::make_shared<SpanQueue>(1));
  std::array<uint8_t, 16> id{};
  CHECK(half.samples(id));
  id[8] = 0xff;
  CHECK_FALSE(half.samples(id));
  settings.ratio = 0;
  CHECK_FALSE(Tracer(settings, std::make_shared<SpanQueue>(1)).samples({}));
  settings.ratio = 1;
  CHECK(Tracer(settings, std::make_shared<SpanQueue>(1)).samples(id));
}

TEST_CASE("spans: a message cannot make more than the limit") {
  FlowFixture f;
  FlowText text;
  text.nodes({{"In", "In"}, {"Say", "A"}});
  for (size_t i = 0; i < Tracer::kSpansPerMessageMax + 10; ++i) text.wire("In.out -> A");
  REQUIRE(f.build(text));
  TracingSettings settings;
  settings.has_node_spans = true;
  auto queue = std::make_shared<SpanQueue>(10'000);
  f.flow->observers().add(std::make_shared<Tracer>(settings, queue));
  f.run();
  CHECK(queue->size() == Tracer::kSpansPerMessageMax);
  CHECK(queue->dropped() == 11);
}

// ---------------------------------------------------------------- files

TEST_CASE("rotating file: bounded in size and number, with a header each") {
  TempFolder folder;
  RotatingFile file(folder.path + "/sub/x.txt", 30, 2, "head\n");
  for (char c = 'a'; c < 'g'; ++c) file.write(std::string(9, c) + "\n");
  CHECK(folder.read("sub/x.txt") == "head\neeeeeeeee\nfffffffff\n");
  CHECK(folder.read("sub/x.txt.1") == "head\nccccccccc\nddddddddd\n");
  CHECK_FALSE(std::filesystem::exists(folder.path + "/sub/x.txt.2"));
  file.write(std::string(100, 'z') + "\n");  // longer than a file: whole all the same
  CHECK(folder.read("sub/x.txt").size() == 106);
  file.clear();
  CHECK_FALSE(std::filesystem::exists(folder.path + "/sub/x.txt"));
  file.write("again\n");
  CHECK(folder.read("sub/x.txt") == "head\nagain\n");
  {
    RotatingFile anew(
        {.path = folder.path + "/sub/x.txt", .bytes_max = 99, .files_max = 2, .starts_anew = true});
    anew.write("new\n");
    anew.write("newer\n");
  }
  CHECK(folder.read("sub/x.txt") == "new\nnewer\n");
  CHECK(folder.read("sub/x.txt.1") == "head\nagain\n");
  RotatingFile nowhere("/proc/none/x.txt", 30, 2);
  CHECK_FALSE(nowhere.open().ok());
  nowhere.write("lost\n");
}

TEST_CASE("user trace: lines of a message in the product's form") {
  TempFolder folder;
  FlowFixture f;
  REQUIRE(f.build(watched_flow()));
  auto file = std::make_shared<RotatingFile>(folder.path + "/t.txt", 1 << 20, 2);
  auto trace = std::make_shared<UserTrace>(file);
  f.flow->observers().add(trace);
  f.run();
  const std::string text = folder.read("t.txt");
  CHECK(text.find("   UserTrace   BIP3904I: Invoking the evaluate() method of node (class=") !=
        std::string::npos);
  CHECK(text.find("BIP4007I: Message propagated to 'out' terminal of node 'F.A'.") !=
        std::string::npos);
  CHECK(text.find("BIP4008I: Message propagated to 'failure' terminal of node 'F.X'.") !=
        std::string::npos);
  CHECK(text.find("oops") != std::string::npos);
  f.flow->observers().remove(trace.get());
  f.run();
  CHECK(folder.read("t.txt") == text);
}

TEST_CASE("activity log: keeps the newest entries") {
  ActivityLog log({.entries_max = 100, .severity_min = ActivitySeverity::kWarning}, nullptr);
  for (size_t i = 0; i < 105; ++i) {
    ActivityEntry e;
    e.id = "BIP" + std::to_string(i) + "E";
    e.severity = ActivitySeverity::kError;
    log.add(e);
    e.severity = ActivitySeverity::kInfo;
    log.add(e);
  }
  const json::Value entries = log.entries();
  CHECK(entries.size() == 100);
  CHECK(entries.items()[0].get("bipNumber").as_string() == "BIP5E");
}

TEST_CASE("activity log: outputs choose by tag and severity, and begin anew") {
  TempFolder folder;
  ActivityEntry e;
  e.id = "BIP11501I";
  e.text = "He said \"no\",\nthen left";
  e.inserts = {"a", "b"};
  e.resource = "HTTP";
  e.flow = "F";
  e.node = "In";
  e.node_type = "HTTPInput";
  ActivityOutput o;
  std::string words;
  for (const auto& [name, text] : {std::pair{"fileName", "sub/a.csv"},
                                   {"filter", "RM=HTTP;RM=ODBC;MSGFLOW=F"},
                                   {"minSeverityLevel", "INFO"},
                                   {"formatEntries", "true"}}) {
    REQUIRE(set_activity_property(name, text, o, words) == PropertyOutcome::kTaken);
  }
  for (int run = 0; run < 2; ++run) {
    ActivityWriter writer(o, folder.path, "s");
    CHECK(writer.takes(e));
    writer.write(e);
    ActivityEntry other = e;
    other.flow = "G";
    writer.write(other);
    other = e;
    other.resource = "";
    writer.write(other);
    other = e;
    other.severity = ActivitySeverity::kDebug;
    writer.write(other);
    other = e;
    other.resource = "ODBC";
    CHECK(writer.takes(other));
  }
  const std::string text = folder.read("sub/a.csv");
  CHECK(text.find("\n\"BIP11501I\",\"INFO\",\"") != std::string::npos);
  CHECK(
      text.find("\"He said \"\"no\"\", then left\",\"a;b\",\"HTTP\",\"F\",\"In\",\"HTTPInput\"") !=
      std::string::npos);
  CHECK(std::count(text.begin(), text.end(), '\n') == 2);
  CHECK(std::filesystem::exists(folder.path + "/sub/a.csv.1"));
}

TEST_CASE("activity log: requests, statements and errors of a message, with their trace") {
  FlowFixture f;
  REQUIRE(f.build(watched_flow()));
  auto queue = std::make_shared<SpanQueue>(100);
  f.flow->observers().add(std::make_shared<Tracer>(TracingSettings{}, queue));
  auto log = std::make_shared<ActivityLog>(ActivityLog::Options{}, nullptr);
  f.flow->observers().add(log);
  f.run();
  const json::Value entries = log->entries();
  REQUIRE(entries.size() >= 2);
  const json::Value& first = entries.items()[0];
  CHECK(first.get("bipNumber").as_string() == "BIP11501I");
  CHECK(first.get("tags").get("TRACE_ID").as_string().size() == 32);
  CHECK(first.get("tags").get("TRACE_PARENT").as_string() ==
        "00-" + first.get("tags").get("TRACE_ID").as_string() + "-" +
            first.get("tags").get("SPAN_ID").as_string() + "-01");
  CHECK(entries.items()[entries.size() - 1].get("bipNumber").as_string() == "BIP11506I");
}

TEST_CASE("activity log: the resource managers of node types") {
  CHECK(resource_of("HTTPRequest") == "HTTP");
  CHECK(resource_of("RESTAsyncResponse") == "REST");
  CHECK(resource_of("DatabaseRoute") == "ODBC");
  CHECK(resource_of("CallableFlowInvoke") == "CALLABLE");
  CHECK(resource_of("TimeoutNotification") == "TIMER");
  CHECK(resource_of("Compute") == "");
}

// ---------------------------------------------------------------- traces of messages

TEST_CASE("message trace: so many messages, and no more when nobody fetches") {
  FlowFixture f;
  REQUIRE(f.build(watched_flow()));
  auto trace = std::make_shared<MessageTrace>(MessageTrace::Options{.messages = 2});
  f.flow->observers().add(trace);
  for (int i = 0; i < 3; ++i) f.run();
  const json::Value taken = trace->take();
  CHECK(taken.get("isDone").as_bool());
  std::string kinds;
  for (const json::Value& s : taken.get("steps").items()) {
    if (s.get("message").as_integer() == 1) kinds += s.get("kind").as_string() + " ";
    CHECK(s.get("message").as_integer() <= 2);
  }
  CHECK(kinds == "begin propagate enter propagate enter leave propagate enter leave leave end ");
  CHECK(taken.get("steps").items()[0].get("trees").get("Root").as_string().find("Root = (") !=
        std::string::npos);
  CHECK(trace->take().get("steps").size() == 0);
}

TEST_CASE("message trace: what waits to be fetched is bounded") {
  MessageTrace trace({});
  const size_t bytes = MessageTrace::kWaitingBytesMax / 2;
  for (int i = 0; i < 5; ++i) trace.add(json::Value::object(), bytes);
  json::Value taken = trace.take();
  CHECK(taken.get("steps").size() == 2);
  CHECK(taken.get("dropped").as_integer() == 3);
  trace.add(json::Value::object(), bytes);
  CHECK(trace.take().get("steps").size() == 1);
}

// ---------------------------------------------------------------- origins, metrics, hub

TEST_CASE("origins: accounts by name, the rest is anonymous") {
  OriginAccounting accounting;
  flow::FlowTotals one;
  one.input_bytes.add_value(10);
  one.commits = 1;
  for (int i = 0; i < 3; ++i) accounting.add("a", one, {});
  accounting.add("b", one, {});
  flow::StatisticsTotals interval;
  auto taken = accounting.take(flow::StatisticsReader::kSnapshot, interval);
  REQUIRE(taken.size() == 3);
  CHECK(taken[0].first == "Anonymous");
  CHECK(taken[1].first == "a");
  CHECK(taken[1].second.flow.input_bytes.count == 3);
  CHECK(taken[2].second.flow.commits == 1);
  CHECK(accounting.take(flow::StatisticsReader::kSnapshot, interval).size() == 1);
  // Archives have their own interval, and names are limited.
  for (size_t i = 0; i < OriginAccounting::kOriginsMax + 50; ++i) {
    accounting.add("n" + std::to_string(i), one, {});
  }
  taken = accounting.take(flow::StatisticsReader::kArchive, interval);
  CHECK(taken.size() <= OriginAccounting::kOriginsMax + 1);
  uint64_t all = 0;
  for (const auto& [name, totals] : taken) all += totals.flow.input_bytes.count;
  CHECK(all == 4 + OriginAccounting::kOriginsMax + 50);
}

TEST_CASE("hub: counters of a flow go on when it is deployed anew") {
  Hub hub;
  HubOptions options;
  options.server_name = "server";
  options.version = "1";
  REQUIRE(hub.configure(options).ok());
  auto count = [&hub] {
    const std::string text = hub.metrics_text();
    const std::string key = "millstream_flow_messages_total{application=\"App\",flow=\"F\"} ";
    const size_t at = text.find(key);
    return at == std::string::npos ? std::string("none") : text.substr(at + key.size(), 1);
  };
  CHECK(count() == "none");
  {
    FlowFixture f;
    f.services.set<flow::FlowListener>(&hub);
    REQUIRE(f.build(watched_flow()));
    REQUIRE(f.flow->start().ok());
    f.run();
    f.run();
    CHECK(count() == "2");
    CHECK(hub.with_flow("App/F", [](flow::Flow&) {}).ok());
    CHECK(hub.with_flow("F", [](flow::Flow&) {}).ok());
    CHECK_FALSE(hub.with_flow("G", [](flow::Flow&) {}).ok());
    FlowFixture next;
    next.services.set<flow::FlowListener>(&hub);
    REQUIRE(next.build(watched_flow()));
    REQUIRE(next.flow->start().ok());
    next.run();
    CHECK(count() == "3");  // both are there while the old one drains
    f.flow->stop();
    CHECK(hub.with_flow("F", [](flow::Flow&) {}).ok());
  }
  CHECK(count() == "3");
  CHECK_FALSE(hub.with_flow("F", [](flow::Flow&) {}).ok());
}

TEST_CASE("hub: what is switched on for a flow is on in its next version") {
  TempFolder folder;
  Hub hub;
  HubOptions options;
  options.work_folder = folder.path;
  REQUIRE(hub.configure(options).ok());
  hub.set_control({"App", "F"}, [](FlowControl& c) { c.user_trace = true; });
  FlowFixture f;
  f.services.set<flow::FlowListener>(&hub);
  REQUIRE(f.build(watched_flow()));
  REQUIRE(f.flow->start().ok());
  f.run();
  CHECK_FALSE(folder.read("log/userTrace.App.F.txt").empty());
  hub.set_control({"App", "F"}, [](FlowControl& c) { c.user_trace = false; });
  CHECK(f.flow->observers().is_empty());
}

}  // namespace
}  // namespace millstream::observe
