#include <doctest/doctest.h>

#include "queue/mqsc/export.h"
#include "queue/mqsc/json_form.h"
#include "queue/mqsc/runner.h"
#include "queue/mqsc/script_apply.h"
#include "queue/objects/memory_target.h"
#include "queue/objects/system_objects.h"

namespace millstream::queue::mqsc {
namespace {

namespace json = base::json;

// What a program sees of a script.
struct ScriptOutcome {
  std::string text;
  ScriptResult result;
};

ScriptOutcome run_all(objects::AdminTarget& target, std::string_view script) {
  ScriptOutcome out;
  run_script(
      target, script, {}, [&](std::string_view line) { out.text += std::string(line) + "\n"; },
      [&](const ScriptResult& result) { out.result = result; });
  return out;
}

struct NewManager {
  base::VirtualClock clock{1'767'225'600'000'000};
  objects::MemoryTarget target{"QM1", clock};
  NewManager() {
    for (std::string_view script :
         {objects::system_objects_script(), objects::developer_objects_script()}) {
      std::string output;
      run_script(
          target, script, {}, [&](std::string_view line) { output.append(line) += '\n'; },
          [&](const ScriptResult& result) {
            INFO(output);
            CHECK(result.exit_code() == kExitOk);
          });
    }
  }
};

bool same_definitions(const objects::AdminTarget& a, const objects::AdminTarget& b,
                      std::string& difference) {
  for (int f = 0; f <= static_cast<int>(objects::ObjectFamily::kQmgr); ++f) {
    auto family = static_cast<objects::ObjectFamily>(f);
    auto left = a.catalogue().find_generic(family, "*");
    auto right = b.catalogue().find_generic(family, "*");
    for (size_t i = 0; i < left.size() || i < right.size(); ++i) {
      if (i < left.size() && i < right.size() && left[i]->name() == right[i]->name() &&
          left[i]->same_attributes(*right[i])) {
        continue;
      }
      difference = i < left.size() ? left[i]->name() : right[i]->name();
      return false;
    }
  }
  return true;
}

json::Value ask(objects::AdminTarget& target, std::string_view text) {
  Result<json::Value> request = json::parse(text);
  REQUIRE(request.ok());
  json::Value out;
  run_json(target, request.value(), [&](JsonAnswer answer) {
    INFO(answer.problem);
    CHECK(answer.is_valid);
    out = std::move(answer.body);
  });
  return out;
}

std::string problem_of(objects::AdminTarget& target, std::string_view text) {
  std::string out = "none";
  run_json(target, json::parse(text).value(), [&](JsonAnswer answer) {
    if (!answer.is_valid) out = answer.problem;
  });
  return out;
}

}  // namespace

TEST_CASE("a new queue manager has the names that tools and tutorials use") {
  NewManager qm;
  using objects::ObjectFamily;
  for (const char* name :
       {"SYSTEM.DEFAULT.LOCAL.QUEUE", "SYSTEM.DEFAULT.MODEL.QUEUE", "SYSTEM.ADMIN.COMMAND.QUEUE",
        "SYSTEM.DEAD.LETTER.QUEUE", "SYSTEM.ADMIN.PERFM.EVENT", "SYSTEM.MQSC.REPLY.QUEUE",
        "SYSTEM.DURABLE.MODEL.QUEUE", "SYSTEM.NDURABLE.MODEL.QUEUE", "DEV.QUEUE.1", "DEV.QUEUE.2",
        "DEV.QUEUE.3", "DEV.DEAD.LETTER.QUEUE", "DEV.APP.MODEL.QUEUE"}) {
    CHECK_MESSAGE(qm.target.catalogue().find(ObjectFamily::kQueue, name), name);
  }
  CHECK(qm.target.catalogue().find(ObjectFamily::kTopic, "SYSTEM.BASE.TOPIC"));
  objects::TopicAttributes dev = objects::read_topic_attributes(
      *qm.target.catalogue().find(ObjectFamily::kTopic, "DEV.BASE.TOPIC"));
  CHECK(dev.topic_string == "dev/");
  CHECK(qm.target.catalogue().find(ObjectFamily::kChannel, "DEV.APP.SVRCONN"));
  CHECK(qm.target.catalogue().find(ObjectFamily::kClientChannel, "SYSTEM.DEF.CLNTCONN"));
  CHECK(qm.target.catalogue().find(ObjectFamily::kAuthinfo, "DEV.AUTHINFO"));
  objects::QueueManagerAttributes manager =
      objects::read_qmgr_attributes(*qm.target.catalogue().find(ObjectFamily::kQmgr, "QM1"));
  CHECK(manager.dead_letter_queue == "DEV.DEAD.LETTER.QUEUE");
  CHECK(manager.message_bytes_max == 4'194'304);
  CHECK(manager.uncommitted_max == 10'000);
}

TEST_CASE("an export recreates the queue manager, and is stable") {
  NewManager qm;
  CHECK(export_script(qm.target, {}) == "* Definitions of queue manager QM1.\n");
  ScriptOutcome made = run_all(qm.target, R"(
ALTER QLOCAL(SYSTEM.DEFAULT.LOCAL.QUEUE) MAXDEPTH(77)
DEFINE QLOCAL(APP.IN) MAXDEPTH(5) DESCR('it''s + quoted') TRIGGER NOSHARE
DEFINE QLOCAL(APP.DEFAULTS)
DEFINE QALIAS('app.alias') TARGET('APP.IN')
DEFINE QREMOTE(APP.R) RNAME('x.y') RQMNAME(QM2) XMITQ(QM2)
DEFINE NAMELIST(NL) NAMES('a','b')
DEFINE TOPIC(T) TOPICSTR('sport/''x''') PUB(DISABLED)
DEFINE SUB('my sub') TOPICSTR('sport/#') DEST(APP.IN) SELECTOR('a = ''b''')
DEFINE PROCESS(P) APPLTYPE(JAVA)
DEFINE CHANNEL(APP.SVRCONN) CHLTYPE(SVRCONN) MCAUSER('app')
DEFINE CHANNEL(APP.SVRCONN) CHLTYPE(CLNTCONN) CONNAME('h(1414)')
DEFINE AUTHINFO(LDAP) AUTHTYPE(CRLLDAP) CONNAME('l') LDAPPWD('secret')
DELETE QLOCAL(DEV.QUEUE.3)
ALTER QMGR DEADQ(' ') MAXMSGL(1000000)
SET AUTHREC PROFILE('APP.**') GROUP('g') OBJTYPE(QUEUE) AUTHADD(GET,PUT)
SET AUTHREC PROFILE('DEV.**') PRINCIPAL('app') OBJTYPE(QUEUE) AUTHRMV(PUT)
DELETE AUTHREC PROFILE('DEV.**') PRINCIPAL('app') OBJTYPE(TOPIC)
SET CHLAUTH(APP.SVRCONN) TYPE(BLOCKUSER) USERLIST('nobody','x')
SET CHLAUTH(DEV.ADMIN.SVRCONN) TYPE(BLOCKUSER) ACTION(REMOVE)
)");
  INFO(made.text);
  REQUIRE(made.result.exit_code() == 0);
  std::string script = export_script(qm.target, {});
  CHECK(script == export_script(qm.target, {}));
  CHECK(script.find("secret") == std::string::npos);
  CHECK(script.find("LIKE") == std::string::npos);
  CHECK(script.find("* LDAPPWD of LDAP is not exported.") != std::string::npos);
  NewManager copy;
  ScriptOutcome remade = run_all(copy.target, script);
  INFO(remade.text);
  REQUIRE(remade.result.exit_code() == 0);
  // All but the password.
  run_all(copy.target, "ALTER AUTHINFO(LDAP) AUTHTYPE(CRLLDAP) LDAPPWD('secret')\n");
  std::string difference;
  CHECK_MESSAGE(same_definitions(qm.target, copy.target, difference), difference);
  CHECK(export_script(copy.target, {}) == script);
  // With everything it runs too, on a manager that has nothing.
  base::VirtualClock clock;
  objects::MemoryTarget bare("QM1", clock);
  std::string all = export_script(qm.target, {.all_attributes = true, .all_objects = true});
  ScriptOutcome whole = run_all(bare, all);
  INFO(whole.text.substr(0, 4000));
  CHECK(whole.result.syntax_errors == 0);
  run_all(bare, "ALTER AUTHINFO(LDAP) AUTHTYPE(CRLLDAP) LDAPPWD('secret')\n");
  run_all(bare, "ALTER QMGR CONNAUTH(DEV.AUTHINFO)\n");
  CHECK_MESSAGE(same_definitions(qm.target, bare, difference), difference);
}

TEST_CASE("a script is applied once per content") {
  NewManager qm;
  std::string script = "DEFINE QLOCAL(APP.A) MAXDEPTH(5)\nDEFINE QLOCAL(DEV.QUEUE.1) MAXDEPTH(9)\n";
  AppliedScript first, again, changed, wrong;
  apply_script(qm.target, "app.mqsc", script, [&](AppliedScript a) { first = std::move(a); });
  CHECK_FALSE(first.was_known);
  CHECK(first.result.exit_code() == 0);
  std::string text;
  for (const std::string& line : first.lines) text += line + "\n";
  CHECK(text.find("MAXDEPTH(9) instead of MAXDEPTH(5000)") != std::string::npos);
  apply_script(qm.target, "app.mqsc", script, [&](AppliedScript a) { again = std::move(a); });
  CHECK(again.was_known);
  script += "DEFINE QLOCAL(APP.B)\n";
  apply_script(qm.target, "app.mqsc", script, [&](AppliedScript a) { changed = std::move(a); });
  CHECK_FALSE(changed.was_known);
  CHECK(qm.target.catalogue().find(objects::ObjectFamily::kQueue, "APP.B"));
  // What failed is tried again.
  for (int i = 0; i < 2; ++i) {
    apply_script(qm.target, "bad.mqsc", "DEFINE NOTHING(A)\n",
                 [&](AppliedScript a) { wrong = std::move(a); });
    CHECK_FALSE(wrong.was_known);
    CHECK(wrong.result.syntax_errors == 1);
  }
  CHECK(script_hash("a") != script_hash("b"));
  CHECK(script_hash("ab") != script_hash("ba"));
}

TEST_CASE("what DEFINE alone sets is not changed by applying again") {
  NewManager qm;
  run_all(qm.target, "DEFINE TOPIC(T) TOPICSTR('a')\n");
  AppliedScript applied;
  apply_script(qm.target, "t.mqsc", "DEFINE TOPIC(T) TOPICSTR('b')\n",
               [&](AppliedScript a) { applied = std::move(a); });
  CHECK(applied.result.failures == 1);
  CHECK(qm.target.catalogue()
            .find(objects::ObjectFamily::kTopic, "T")
            ->text(objects::Attr::kTopicstr) == "a");
}

TEST_CASE("runCommand answers text") {
  NewManager qm;
  json::Value made =
      ask(qm.target,
          R"j({"type":"runCommand","parameters":{"command":"DEFINE QLOCAL(A) MAXDEPTH(3)"}})j");
  CHECK(made.get("overallCompletionCode").as_integer() == 0);
  CHECK(made.get("commandResponse").items()[0].get("text").items()[0].as_string() ==
        "AMQ8006I: Queue created.");
  json::Value shown =
      ask(qm.target, R"j({"type":"runCommand","parameters":{"command":"DIS Q(A) MAXDEPTH"}})j");
  CHECK(shown.get("commandResponse").items()[0].get("text").items()[0].as_string() ==
        "AMQ8409I: Display Queue details.   QUEUE(A)                                TYPE(QLOCAL)"
        "   MAXDEPTH(3)");
  json::Value missing =
      ask(qm.target, R"j({"type":"runCommand","parameters":{"command":"DISPLAY QLOCAL(NONE*)"}})j");
  CHECK(missing.get("overallCompletionCode").as_integer() == 2);
  CHECK(missing.get("overallReasonCode").as_integer() == 3008);
  CHECK(missing.get("commandResponse").items()[0].get("reasonCode").as_integer() == 2085);
}

TEST_CASE("runCommandJSON takes and gives parameters") {
  NewManager qm;
  json::Value made = ask(qm.target, R"j({"type":"runCommandJSON","command":"define",
      "qualifier":"qlocal","name":"my.queue","parameters":{"maxdepth":12,"descr":"It's (new)",
      "share":"no","trigger":true,"defpsist":"yes","usage":"normal"}})j");
  CHECK(made.get("overallCompletionCode").as_integer() == 0);
  json::Value shown = ask(qm.target, R"j({"type":"runCommandJSON","command":"display",
      "qualifier":"qlocal","name":"my.queue","responseParameters":["maxdepth","descr","share",
      "trigger","defpsist","curdepth"]})j");
  const json::Value& p = shown.get("commandResponse").items()[0].get("parameters");
  CHECK(p.get("queue").as_string() == "my.queue");
  CHECK(p.get("type").as_string() == "QLOCAL");
  CHECK(p.get("maxdepth").as_integer() == 12);
  CHECK(p.get("descr").as_string() == "It's (new)");
  CHECK(p.get("share").as_string() == "NO");
  CHECK(p.get("trigger").as_string() == "YES");
  CHECK(p.get("defpsist").as_string() == "YES");
  CHECK(p.get("curdepth").is_integer());
  json::Value channel = ask(qm.target, R"j({"type":"runCommandJSON","command":"define",
      "qualifier":"channel","name":"NEW","parameters":{"chltype":"svrconn","replace":"yes"}})j");
  CHECK(channel.get("overallCompletionCode").as_integer() == 0);
  json::Value list = ask(qm.target, R"j({"type":"runCommandJSON","command":"define",
      "qualifier":"namelist","name":"NL","parameters":{"names":["A","b"]}})j");
  CHECK(list.get("overallCompletionCode").as_integer() == 0);
  json::Value all = ask(qm.target, R"j({"type":"runCommandJSON","command":"DISPLAY",
      "qualifier":"NAMELIST","name":"*","parameters":{"where":"NAMCOUNT EQ 2"},
      "responseParameters":["all"]})j");
  CHECK(all.get("commandResponse").items()[0].get("parameters").get("names").size() == 2);
  json::Value qmgr = ask(qm.target, R"j({"type":"runCommandJSON","command":"display",
      "qualifier":"qmgr","responseParameters":["DEADQ"]})j");
  CHECK(qmgr.get("commandResponse").items()[0].get("parameters").get("deadq").as_string() ==
        "DEV.DEAD.LETTER.QUEUE");
  json::Value failed = ask(qm.target, R"j({"type":"runCommandJSON","command":"delete",
      "qualifier":"qlocal","name":"NOWHERE"})j");
  CHECK(failed.get("commandResponse").items()[0].get("reasonCode").as_integer() == 2085);
  CHECK(failed.get("commandResponse").items()[0].get("message").size() == 1);
  json::Value unknown = ask(qm.target, R"j({"type":"runCommandJSON","command":"display",
      "qualifier":"qlocal","name":"*","responseParameters":["nosuch"]})j");
  CHECK(unknown.get("overallCompletionCode").as_integer() == 2);
}

TEST_CASE("handles are nested in JSON") {
  NewManager qm;
  objects::ConnectionStatus connection;
  connection.id = "ABCDEFGHIJKLMNOP12345678";
  connection.application = "app";
  connection.handles.push_back({.object = "Q1", .is_output = true});
  connection.handles.push_back({.object = "Q2", .is_browse = true});
  qm.target.set_connections({connection});
  json::Value out = ask(qm.target, R"j({"type":"runCommandJSON","command":"display",
      "qualifier":"conn","name":"*","parameters":{"type":"handle"},"responseParameters":["all"]})j");
  REQUIRE(out.get("commandResponse").size() == 1);
  const json::Value& p = out.get("commandResponse").items()[0].get("parameters");
  CHECK(p.get("conn").as_string() == "3132333435363738");
  REQUIRE(p.get("objects").size() == 2);
  CHECK(p.get("objects").items()[1].get("objname").as_string() == "Q2");
  ScriptOutcome text = run_all(qm.target, "DIS CONN(*) TYPE(ALL)\nDIS QS(*) TYPE(HANDLE)\n");
  CHECK(text.result.exit_code() == 0);
  CHECK(text.text.find("OBJNAME(Q1)") != std::string::npos);
}

TEST_CASE("JSON requests that are none") {
  NewManager qm;
  CHECK(problem_of(qm.target, R"j({"type":"other"})j") != "none");
  CHECK(problem_of(qm.target, R"j({"type":"runCommand"})j") != "none");
  CHECK(problem_of(qm.target, R"j({"type":"runCommandJSON","command":"fly"})j") != "none");
  CHECK(problem_of(qm.target,
                   R"j({"type":"runCommandJSON","command":"define","qualifier":"x"})j") != "none");
  CHECK(problem_of(qm.target, R"j({"type":"runCommandJSON","command":"define",
      "qualifier":"qlocal","name":"A","parameters":{"descr) X(":"y"}})j") != "none");
  CHECK(problem_of(qm.target, R"j({"type":"runCommandJSON","command":"define",
      "qualifier":"qlocal","name":"A","parameters":{"trigger":"perhaps"}})j") != "none");
  CHECK(problem_of(qm.target, R"j({"type":"runCommandJSON","command":"define",
      "qualifier":"qlocal","name":"A","parameters":{"descr":{"a":1}}})j") != "none");
}

TEST_CASE("limits of the reader") {
  NewManager qm;
  std::string long_command = "DEFINE QLOCAL(A) DESCR('" + std::string(kCommandBytesMax, 'x') + "')";
  ScriptOutcome out = run_all(qm.target, long_command + "\nPING QMGR\n");
  CHECK(out.result.commands == 2);
  CHECK(out.result.syntax_errors == 1);
  std::string many = "DISPLAY QMGR";
  for (size_t i = 0; i < kClausesMax + 1; ++i) many += " A";
  CHECK(run_all(qm.target, many).result.syntax_errors == 1);
  std::string values = "DEFINE NAMELIST(A) NAMES(";
  for (int i = 0; i < 257; ++i) values += "A,";
  CHECK(run_all(qm.target, values + "A)").result.syntax_errors == 1);
  std::string endless;
  for (int i = 0; i < 3000; ++i) endless += "DESCR('aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa +\n";
  CHECK(run_all(qm.target, endless).result.syntax_errors >= 1);
}

TEST_CASE("lines without an end and with carriage returns") {
  NewManager qm;
  CHECK(run_all(qm.target, "PING QMGR").result.commands == 1);
  CHECK(run_all(qm.target, "PING +\r\nQMGR\r\n").result.exit_code() == 0);
  CHECK(run_all(qm.target, "PING QMGR +").result.exit_code() == 0);
}

// A target that answers on another thread's turn: later, when it is told to.
namespace {
struct LaterTarget : objects::MemoryTarget {
  using MemoryTarget::MemoryTarget;
  std::vector<std::function<void()>> waiting;
  void define(objects::Definition d, bool is_replace, objects::AdminDone done) override {
    waiting.push_back([this, d, is_replace, done] { MemoryTarget::define(d, is_replace, done); });
  }
};
}  // namespace

TEST_CASE("commands wait for each other when the target answers later") {
  base::VirtualClock clock;
  LaterTarget target("QM1", clock);
  bool is_done = false;
  std::string text;
  run_script(
      target, "DEFINE QLOCAL(A)\nDEFINE QLOCAL(B)\nDISPLAY QLOCAL(*)\n", {},
      [&](std::string_view line) { text += std::string(line) + "\n"; },
      [&](const ScriptResult&) { is_done = true; });
  int steps = 0;
  while (!target.waiting.empty()) {
    CHECK(target.waiting.size() == 1);
    auto step = std::move(target.waiting.front());
    target.waiting.clear();
    step();
    ++steps;
  }
  CHECK(steps == 2);
  CHECK(is_done);
  CHECK(text.find("QUEUE(B)") != std::string::npos);
}

TEST_CASE("an alter that somebody overtakes begins again") {
  struct BusyTarget : objects::MemoryTarget {
    using MemoryTarget::MemoryTarget;
    int busy = 3;
    void alter(objects::DefinitionPtr seen, objects::Definition changed, bool is_force,
               objects::AdminDone done) override {
      if (busy-- > 0) return done(objects::AdminResult::failed(2041));
      MemoryTarget::alter(seen, std::move(changed), is_force, std::move(done));
    }
  };
  base::VirtualClock clock;
  BusyTarget target("QM1", clock);
  CHECK(run_all(target, "DEFINE QLOCAL(A)\nALTER QLOCAL(A) MAXDEPTH(3)\n").result.exit_code() == 0);
  target.busy = 1'000'000;
  CHECK(run_all(target, "ALTER QLOCAL(A) MAXDEPTH(4)\n").result.failures == 1);
}

}  // namespace millstream::queue::mqsc
