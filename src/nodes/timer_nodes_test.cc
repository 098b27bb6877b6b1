// Timer nodes on a virtual clock, with their store in a folder.
#include <filesystem>

#include "net/blocking_pool.h"
#include "nodes/node_test_support.h"
#include "nodes/timer/timer_service.h"
#include "value/datetime.h"

namespace millstream::nodes {
namespace {

using test::NodeFixture;
using timer::TimerService;
using value::Value;

struct TimerFolder {
  std::string path;
  TimerFolder() {
    char name[] = "/tmp/ms_timer_XXXXXX";
    path = ::mkdtemp(name);
  }
  ~TimerFolder() { std::filesystem::remove_all(path); }
};

// A clock that goes on, by as much as it is told, when nothing else is to be done.
class SteppedTime {
 public:
  explicit SteppedTime(const char* start) : clock_(start_of(start)) {}
  net::ReactorOptions options() {
    net::ReactorOptions options;
    options.clock = &clock_;
    options.idle_wait_ms = 1;
    options.on_idle = [this](int64_t deadline_ns) {
      if (net::BlockingPool::busy_in_all() > 0) return;
      const int64_t to = std::min(deadline_ns, limit_ns_.load());
      if (to > clock_.monotonic_ns()) clock_.advance_ns(to - clock_.monotonic_ns());
    };
    return options;
  }
  void allow(int64_t seconds) { limit_ns_ += seconds * net::kSecond; }
  int64_t limit_ns() const { return limit_ns_; }
  base::VirtualClock& clock() { return clock_; }

 private:
  static int64_t start_of(const char* text) {
    Value v;
    REQUIRE(value::parse_literal_body(value::Kind::kTimestamp, text, v).ok());
    return v.integer;
  }
  base::VirtualClock clock_;
  std::atomic<int64_t> limit_ns_{0};
};

// One run of a server: reactors, alarms and timers over the folder.
struct TimerWorld {
  SteppedTime& time;
  common::Alarms alarms;
  TimerService timers{alarms};
  std::unique_ptr<net::ReactorPool> pool;

  explicit TimerWorld(SteppedTime& t, const std::string& folder = "") : time(t) {
    timers.set_work_folder(folder);
    auto made = net::ReactorPool::create(1, time.options());
    REQUIRE(made.ok());
    pool = std::move(made).take_value();
    alarms.attach(*pool);
  }
  ~TimerWorld() { stop(); }
  void stop() {
    alarms.detach();
    pool->stop();
  }
  // Time goes on by so much; all that is due meanwhile has been done.
  void advance(int64_t seconds) {
    time.allow(seconds);
    pool->run_on(0, [&] {
      net::sleep_until(time.limit_ns());
      // What became due at the very end; database work is done on other threads.
      for (int quiet = 0; quiet < 50; ++quiet) {
        net::run_blocking([] {});
        net::Fiber::current()->yield();
      }
    });
  }
};

struct TimerFixture : NodeFixture {
  TimerWorld& world;
  explicit TimerFixture(TimerWorld& w, std::string esql = "")
      : NodeFixture(std::move(esql)), world(w) {
    services.set(&world.timers);
    observed.look = [this](const std::string&, flow::Invocation&, const tree::MessageAssembly& in) {
      tree::Element* folder = tree::find_child(in.local_environment, "TimeoutRequest");
      tree::Element* start = folder ? tree::find_child(folder, "StartTime") : nullptr;
      if (start)
        observed.events += "@" + std::string(tree::scalar_value(start).text().substr(0, 8));
    };
  }
  // TimeoutControl "Set" behind the input, and a controlled TimeoutNotification "Back".
  void make_pair(const test::TestProperties& notification = {},
                 const test::TestProperties& control = {}) {
    test::TestProperties c = control, n = notification;
    c["uniqueIdentifier"] = n["uniqueIdentifier"] = "t";
    n["operationMode"] = "controlled";
    node("ComIbmTimeoutControl", "Set", c);
    node("ComIbmTimeoutNotification", "Back", n);
    wires({"In.out -> Set", "Set.out -> set", "Set.failure -> bad", "Back.out -> back",
           "Back.failure -> backFailed"});
    REQUIRE(build());
  }
  std::string send(std::initializer_list<std::pair<const char*, const char*>> fields,
                   const std::string& body = "<a/>") {
    std::string out;
    world.pool->run_on(0, [&] {
      flow::PooledArena arena(names);
      flow::Invocation invocation(*flow, *arena);
      tree::TreeContext& context = arena->context();
      tree::MessageAssembly message = arena->make_assembly();
      parsers::headers::make_properties(context, message.root, {});
      Result<common::BodyParserChoice> choice = common::choose_body_parser("XMLNSC", false);
      const std::string padded = body + std::string(64, '\0');
      CHECK(common::add_body(context, message.root, choice.value(),
                             arena->arena().copy(padded).substr(0, body.size()), 1208, 546)
                .ok());
      tree::Element* folder =
          tree::ensure_child(context, message.local_environment, "TimeoutRequest");
      for (const auto& [name, text] : fields) {
        tree::set_child(context, folder, name, Value::make_character(text));
      }
      Status status = invocation.run_from_input(*flow->find_node("In"), message, 0);
      if (!status.ok()) observed.events += " => " + std::to_string(status.error().number);
    });
    return out;
  }
  std::string take() {
    std::string out;
    world.pool->run_on(0, [&] { out = std::exchange(observed.events, {}); });
    return out;
  }
};

TEST_CASE("timer: a message comes back at its time, once, as it was") {
  SteppedTime time("2026-01-10 08:00:00");
  TimerFolder folder;
  TimerWorld world(time, folder.path);
  TimerFixture f(world);
  f.make_pair();
  f.send({{"Action", "SET"}, {"Identifier", "a"}, {"StartTime", "08:01:00"}}, "<a><b>7</b></a>");
  CHECK(f.take() == "set<<a><b>7</b></a>>@08:01:00");
  world.advance(59);
  CHECK(f.take() == "");
  world.advance(2);
  CHECK(f.take() == "back<<a><b>7</b></a>>@08:01:00");
  world.advance(100'000);
  CHECK(f.take() == "");
  CHECK(world.timers.queue("t")->size() == 0);
  f.flow->stop();
  CHECK(f.flow->holds() == 0);
}

TEST_CASE("timer: intervals do not drift, and Count ends them") {
  SteppedTime time("2026-01-10 08:00:00");
  TimerWorld world(time);
  TimerFixture f(world);
  f.make_pair();
  f.send({{"Action", "SET"}, {"Identifier", "a"}, {"Interval", "300"}, {"Count", "3"}});
  world.advance(1);
  CHECK(f.take() == "set<<a/>> back<<a/>>@08:00:00");
  world.advance(299 + 300 + 5000);
  CHECK(f.take() == "back<<a/>>@08:05:00 back<<a/>>@08:10:00");
  CHECK(world.timers.queue("t")->size() == 0);
  // Without end, until it is cancelled.
  f.send({{"Action", "SET"}, {"Identifier", "b"}, {"Interval", "3600"}, {"Count", "-1"}});
  world.advance(2 * 3600 + 60);
  CHECK(f.take() == "set<<a/>> back<<a/>>@09:33:20 back<<a/>>@10:33:20 back<<a/>>@11:33:20");
  f.send({{"Action", "CANCEL"}, {"Identifier", "b"}});
  world.advance(100'000);
  CHECK(f.take() == "set<<a/>>");
  f.flow->stop();
}

TEST_CASE("timer: a second SET replaces the first unless AllowOverwrite is FALSE") {
  SteppedTime time("2026-01-10 08:00:00");
  TimerWorld world(time);
  TimerFixture f(world);
  f.make_pair();
  f.send({{"Action", "SET"}, {"Identifier", "a"}, {"StartTime", "08:10:00"}}, "<one/>");
  f.send({{"Action", "SET"}, {"Identifier", "a"}, {"StartTime", "08:20:00"}}, "<two/>");
  f.send({{"Action", "SET"},
          {"Identifier", "a"},
          {"StartTime", "08:30:00"},
          {"AllowOverwrite", "FALSE"}},
         "<three/>");
  CHECK(f.take() == "set<<one/>>@08:10:00 set<<two/>>@08:20:00 bad<<three/>>[2230>1937]@08:30:00");
  world.advance(3600);
  CHECK(f.take() == "back<<two/>>@08:20:00");
  f.flow->stop();
}

TEST_CASE("timer: a request is taken back when the flow's work is rolled back") {
  SteppedTime time("2026-01-10 08:00:00");
  TimerFolder folder;
  TimerWorld world(time, folder.path);
  TimerFixture f(world,
                 "CREATE COMPUTE MODULE Bad CREATE FUNCTION Main() RETURNS BOOLEAN BEGIN "
                 "THROW USER EXCEPTION; RETURN TRUE; END; END MODULE;\n");
  f.node("ComIbmTimeoutControl", "Set", {{"uniqueIdentifier", "t"}});
  f.node("ComIbmTimeoutNotification", "Back",
         {{"uniqueIdentifier", "t"}, {"operationMode", "controlled"}});
  f.node("ComIbmCompute", "C", {{"computeExpression", "esql://routine/#Bad.Main"}});
  f.wires({"In.out -> Set", "Set.out -> C", "Back.out -> back"});
  REQUIRE(f.build());
  f.send({{"Action", "SET"}, {"Identifier", "a"}});
  world.advance(10);
  CHECK(f.take() == " => 2230");
  CHECK(world.timers.store().list("t").take_value().empty());
  f.flow->stop();
}

TEST_CASE("timer: bad requests are exceptions of the node") {
  SteppedTime time("2026-01-10 08:00:00");
  TimerWorld world(time);
  TimerFixture f(world);
  f.make_pair();
  f.send({{"Action", "SET"}});
  f.send({{"Action", "SET"}, {"Identifier", "a"}, {"StartTime", "07:00:00"}});
  CHECK(f.take() == "bad<<a/>>[2230>1935] bad<<a/>>[2230>1936]@07:00:00");
  TimerFixture g(world);
  g.node("ComIbmTimeoutControl", "Set",
         {{"uniqueIdentifier", "t"}, {"requestLocation", "InputRoot.XMLNSC.Nothing"}});
  g.wires({"In.out -> Set", "Set.out -> set", "Set.failure -> bad"});
  REQUIRE(g.build());
  g.send({});
  CHECK(g.take() == "bad<<a/>>[2230>4601]");
  TimerFixture h(world);
  h.node("ComIbmTimeoutControl", "Set", {{"uniqueIdentifier", "{P}:Policy"}});
  CHECK_FALSE(h.build());
  CHECK(h.problems().find("MS1944") != std::string::npos);
}

// What happened in a server that ended; the same folder is then opened by the next one.
TEST_CASE("timer: after a restart missed events are ignored or come at once, as they say") {
  SteppedTime time("2026-01-10 08:00:00");
  TimerFolder folder;
  {
    TimerWorld world(time, folder.path);
    TimerFixture f(world);
    f.make_pair();
    for (const char* missed : {"TRUE", "FALSE"}) {
      const std::string body = std::string("<") + missed + "/>";
      f.send({{"Action", "SET"},
              {"Identifier", missed},
              {"StartTime", missed == std::string_view("TRUE") ? "08:10:05" : "08:10:00"},
              {"Interval", "600"},
              {"Count", "4"},
              {"IgnoreMissed", missed}},
             body);
    }
    f.send({{"Action", "SET"}, {"Identifier", "once"}, {"StartTime", "08:10:00"}}, "<once/>");
    world.advance(60);
    f.flow->stop();
  }
  time.clock().advance_ns(25 * 60 * net::kSecond);  // until 08:26
  time.allow(25 * 60);
  TimerWorld world(time, folder.path);
  TimerFixture f(world);
  f.make_pair();
  world.advance(1);
  CHECK(f.take() == "back<<FALSE/>>@08:10:00 back<<FALSE/>>@08:20:00");
  world.advance(3600);
  CHECK(f.take() ==
        "back<<FALSE/>>@08:30:00 back<<TRUE/>>@08:30:05 back<<FALSE/>>@08:40:00 "
        "back<<TRUE/>>@08:40:05");
  CHECK(world.timers.store().list("t").take_value().empty());
  f.flow->stop();
}

TEST_CASE("timer: requestPersistence no ends with the server, the others do not") {
  SteppedTime time("2026-01-10 08:00:00");
  TimerFolder folder;
  for (const char* persistence : {"no", "yes", "automatic"}) {
    CAPTURE(persistence);
    {
      TimerWorld world(time, folder.path);
      TimerFixture f(world);
      f.make_pair({}, {{"requestPersistence", persistence}});
      f.send({{"Action", "SET"},
              {"Identifier", "a"},
              {"StartDate", "2026-02-01"},
              {"StartTime", "00:00:00"}});
      f.flow->stop();
    }
    TimerWorld world(time, folder.path);
    REQUIRE(world.timers.open().ok());
    CHECK(world.timers.store().list("t").take_value().size() ==
          (std::string(persistence) == "no" ? 0 : 1));
  }
}

TEST_CASE("timer: an event that had begun when the server died comes again") {
  SteppedTime time("2026-01-10 08:00:00");
  TimerFolder folder;
  for (const char* mode : {"yes", "no"}) {
    CAPTURE(mode);
    {
      TimerWorld world(time, folder.path);
      TimerFixture f(world,
                     "CREATE COMPUTE MODULE Slow CREATE FUNCTION Main() RETURNS BOOLEAN BEGIN "
                     "SLEEP(3600000); RETURN TRUE; END; END MODULE;\n");
      f.node("ComIbmTimeoutControl", "Set", {{"uniqueIdentifier", mode}});
      f.node(
          "ComIbmTimeoutNotification", "Back",
          {{"uniqueIdentifier", mode}, {"operationMode", "controlled"}, {"transactionMode", mode}});
      f.node("ComIbmCompute", "C", {{"computeExpression", "esql://routine/#Slow.Main"}});
      f.wires({"In.out -> Set", "Back.out -> C", "C.out -> back"});
      REQUIRE(f.build());
      f.send({{"Action", "SET"}, {"Identifier", "a"}});
      world.advance(10);
      CHECK(f.take() == "");
      f.flow->stop();
      world.stop();  // with the flow in the middle of its work
    }
    TimerWorld world(time, folder.path);
    TimerFixture f(world);
    f.node("ComIbmTimeoutNotification", "Back",
           {{"uniqueIdentifier", mode}, {"operationMode", "controlled"}});
    f.wires({"Back.out -> back"});
    REQUIRE(f.build());
    world.advance(10);
    CHECK((f.take() == "") == (std::string(mode) == "no"));
    f.flow->stop();
  }
}

TEST_CASE("timer: a new version of the flow takes over without losing an event") {
  SteppedTime time("2026-01-10 08:00:00");
  TimerWorld world(time);
  TimerFixture old(world);
  old.make_pair();
  old.send({{"Action", "SET"}, {"Identifier", "a"}, {"StartTime", "08:00:10"}});
  world.advance(5);
  old.flow->stop();
  world.advance(10);  // due while no version runs
  CHECK(old.take() == "set<<a/>>@08:00:10");
  TimerFixture newer(world);
  newer.make_pair();
  world.advance(1);
  CHECK(newer.take() == "back<<a/>>@08:00:10");
  TimerFixture twice(world);
  twice.node("ComIbmTimeoutNotification", "A",
             {{"uniqueIdentifier", "x"}, {"operationMode", "controlled"}});
  twice.node("ComIbmTimeoutNotification", "B",
             {{"uniqueIdentifier", "x"}, {"operationMode", "controlled"}});
  CHECK_FALSE(twice.build());
  twice.flow->stop();
  newer.flow->stop();
}

TEST_CASE("timer: a CANCEL while its event runs leaves nothing behind") {
  SteppedTime time("2026-01-10 08:00:00");
  TimerWorld world(time);
  TimerFixture f(world,
                 "CREATE COMPUTE MODULE Slow CREATE FUNCTION Main() RETURNS BOOLEAN BEGIN "
                 "SLEEP(60000); SET OutputRoot = InputRoot; RETURN TRUE; END; END MODULE;\n");
  f.node("ComIbmTimeoutControl", "Set", {{"uniqueIdentifier", "t"}});
  f.node("ComIbmTimeoutNotification", "Back",
         {{"uniqueIdentifier", "t"}, {"operationMode", "controlled"}});
  f.node("ComIbmCompute", "C", {{"computeExpression", "esql://routine/#Slow.Main"}});
  f.wires({"In.out -> Set", "Back.out -> C", "C.out -> back"});
  REQUIRE(f.build());
  f.send({{"Action", "SET"}, {"Identifier", "a"}, {"Interval", "10"}, {"Count", "-1"}});
  world.advance(15);
  f.send({{"Action", "CANCEL"}, {"Identifier", "a"}});
  world.advance(10'000);
  CHECK(f.take() == "back<<a/>>@08:00:00");
  CHECK(world.timers.queue("t")->size() == 0);
  CHECK(world.timers.store().list("t").take_value().empty());
  f.flow->stop();
}

TEST_CASE("timer: a full disk is the exception of the node that sets") {
  SteppedTime time("2026-01-10 08:00:00");
  TimerFolder folder;
  TimerWorld world(time, folder.path);
  TimerFixture f(world);
  f.make_pair();
  REQUIRE(world.timers.store().database().execute("PRAGMA max_page_count=10").ok());
  f.send({{"Action", "SET"}, {"Identifier", "a"}, {"StartTime", "08:10:00"}},
         "<a>" + std::string(100'000, 'x') + "</a>");
  const std::string events = f.take();
  CHECK(events.find("bad<") == 0);
  CHECK(events.find("[2230>1938>1064]") != std::string::npos);
  f.send({{"Action", "SET"}, {"Identifier", "a"}, {"StartTime", "08:10:00"}}, "<small/>");
  world.advance(900);
  CHECK(f.take() == "set<<small/>>@08:10:00 back<<small/>>@08:10:00");
  f.flow->stop();
}

TEST_CASE("timer: messageDomain decides how the body comes back") {
  SteppedTime time("2026-01-10 08:00:00");
  TimerWorld world(time);
  TimerFixture f(world);
  f.make_pair({}, {{"messageDomain", "BLOB"}});
  std::string domain;
  f.observed.look = [&](const std::string& sink, flow::Invocation&,
                        const tree::MessageAssembly& in) {
    domain += sink + ":" + tree::body_of(in.root)->domain->name + " ";
  };
  f.send({{"Action", "SET"}, {"Identifier", "a"}});
  world.advance(1);
  CHECK(f.take() == "set<<a/>> back<<a/>>");
  CHECK(domain == "set:XMLNSC back:BLOB ");
  f.flow->stop();
}

TEST_CASE("timer: automatic messages begin with the flow and leave out what it is too busy for") {
  SteppedTime time("2026-01-10 08:00:00");
  TimerWorld world(time);
  TimerFixture f(world,
                 "CREATE COMPUTE MODULE Slow CREATE FUNCTION Main() RETURNS BOOLEAN BEGIN "
                 "SLEEP(25000); SET OutputLocalEnvironment = InputLocalEnvironment; "
                 "SET OutputRoot = InputRoot; RETURN TRUE; "
                 "END; END MODULE;\n");
  f.node("ComIbmTimeoutNotification", "Tick",
         {{"uniqueIdentifier", "auto"}, {"timeoutInterval", "10"}});
  f.node("ComIbmCompute", "C",
         {{"computeExpression", "esql://routine/#Slow.Main"},
          {"computeMode", "destinationAndMessage"}});
  f.wires({"Tick.out -> C", "C.out -> tick"});
  REQUIRE(f.build());
  world.advance(100);
  // Each takes 25 s: of the grid of 10 s every third is left.
  CHECK(f.take() == "tick<>@08:00:00 tick<>@08:00:30 tick<>@08:01:00");
  world.pool->run_on(0, [&] { f.flow->stop(); });
  world.advance(1000);
  CHECK(f.take() == "tick<>@08:01:30");
  CHECK(f.flow->holds() == 0);
}

TEST_CASE("timer: the Scheduler's messages have its times") {
  SteppedTime time("2026-09-11 08:58:30");
  TimerWorld world(time);
  TimerFixture f(world);
  f.node("ComIbmScheduler", "Hourly",
         {{"scheduleType", "calendar"}, {"cronExp", "00 * * * *"}, {"scheduleIdentifier", "h"}});
  f.node("ComIbmScheduler", "Often",
         {{"interval", "2"},
          {"unit", "hour"},
          {"runOnceOnCheck", "true"},
          {"messageType", "timeout"}});
  f.wires({"Hourly.out -> hourly", "Often.out -> often"});
  REQUIRE(f.build());
  world.advance(1);
  CHECK(f.take() == "often<>@08:58:30");
  world.advance(90);
  const std::string first = f.take();
  CHECK(first.find("\"currentEventTime\":\"2026-09-11T09:00:00.000+00:00\"") != std::string::npos);
  CHECK(first.find("\"lastEventTime\":\"1970-01-01T00:00:00.000+00:00\"") != std::string::npos);
  CHECK(first.find("\"scheduleIdentifier\":\"h\"") != std::string::npos);
  world.advance(3600);
  CHECK(f.take().find("\"lastEventTime\":\"2026-09-11T09:00:00.000+00:00\"") != std::string::npos);
  world.pool->run_on(0, [&] { f.flow->stop(); });
  TimerFixture bad(world);
  bad.node("ComIbmScheduler", "S", {{"scheduleType", "calendar"}, {"cronExp", "* * * * *"}});
  CHECK_FALSE(bad.build());
  CHECK(bad.problems().find("BIP5063") != std::string::npos);
}

}  // namespace
}  // namespace millstream::nodes
