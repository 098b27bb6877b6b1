#include "server/survey.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <filesystem>

#include "io/file.h"
#include "nodes/http/listener.h"

namespace millstream::server {
namespace {

constexpr const char* kSurveyModule =
    "CREATE COMPUTE MODULE M\nCREATE FUNCTION Main() RETURNS BOOLEAN BEGIN %s RETURN TRUE; END;\n"
    "END MODULE;\n";

struct SurveyTree {
  SurveyTree() {
    char name[] = "/tmp/survey_test_XXXXXX";
    root = mkdtemp(name);
  }
  ~SurveyTree() { std::filesystem::remove_all(root); }
  void write(const std::string& path, const std::string& text) {
    std::filesystem::create_directories(std::filesystem::path(root + "/" + path).parent_path());
    REQUIRE(io::write_file(root + "/" + path, text).ok());
  }
  void application(const std::string& folder, const std::string& statement,
                   const std::string& type = "ComIbmCompute") {
    write(folder + "/application.descriptor",
          "<ns2:appDescriptor xmlns:ns2=\"http://com.ibm.etools.mft.descriptor.app\"/>");
    write(folder + "/.project", "<projectDescription><name>" + std::string(io::file_name(folder)) +
                                    "</name></projectDescription>");
    std::string text = kSurveyModule;
    text.replace(text.find("%s"), 2, statement);
    write(folder + "/F.esql", text);
    write(folder + "/F.msgflow", flow(type));
  }
  static std::string flow(const std::string& type) {
    return "<?xml version=\"1.0\"?>\n<ecore:EPackage xmi:version=\"2.0\" "
           "xmlns:xmi=\"http://www.omg.org/XMI\" xmlns:ComIbmWSInput.msgnode="
           "\"ComIbmWSInput.msgnode\" xmlns:" +
           type + ".msgnode=\"" + type +
           ".msgnode\" "
           "xmlns:ecore=\"http://www.eclipse.org/emf/2002/Ecore\" xmlns:eflow="
           "\"http://www.ibm.com/wbi/2005/eflow\" xmlns:utility="
           "\"http://www.ibm.com/wbi/2005/eflow_utility\" nsURI=\"F.msgflow\" "
           "nsPrefix=\"F.msgflow\">\n"
           "<eClassifiers xmi:type=\"eflow:FCMComposite\" name=\"FCMComposite_1\">\n<composition>\n"
           "<nodes xmi:type=\"ComIbmWSInput.msgnode:FCMComposite_1\" xmi:id=\"FCMComposite_1_1\" "
           "URLSpecifier=\"/f\"><translation xmi:type=\"utility:ConstantString\" string=\"In\"/>"
           "</nodes>\n<nodes xmi:type=\"" +
           type +
           ".msgnode:FCMComposite_1\" "
           "xmi:id=\"FCMComposite_1_2\" computeExpression=\"esql://routine/#M.Main\">"
           "<translation xmi:type=\"utility:ConstantString\" string=\"Do\"/></nodes>\n"
           "</composition>\n</eClassifiers>\n</ecore:EPackage>\n";
  }
  Survey survey() {
    Survey out;
    nodes::http::HttpListener listener;
    flow::Services services;
    services.set(&listener);
    base::Diagnostics diagnostics;
    for (const SurveyPlace& place : find_places(root, diagnostics)) {
      survey_place(place, services, out);
    }
    CHECK_FALSE(diagnostics.has_errors());
    return out;
  }
  std::string root;
};

TEST_CASE("survey: projects of one name in unrelated places do not meet") {
  SurveyTree t;
  t.application("a/App", "");
  t.application("b/c/App", "SET x = 1;");
  t.application("b/c/.hidden/App", "");
  Survey s = t.survey();
  CHECK(s.workspaces == 2);
  CHECK(s.projects == 2);
  CHECK(s.flows.total == 2);
  CHECK(s.flows.complete == 1);
  CHECK(s.modules.total == 2);
  CHECK(s.modules.complete == 1);
  REQUIRE(s.ranked().size() == 1);
  CHECK(s.ranked()[0]->kind == "ESQL");
  CHECK(s.ranked()[0]->first.file == t.root + "/b/c/App/F.esql");
  CHECK(s.ranked()[0]->first.line == 2);
}

TEST_CASE("survey: what does not run is ranked by how often it was met") {
  SurveyTree t;
  t.application("a/One", "", "ComIbmMQOutput");
  t.application("a/Two", "", "ComIbmMQOutput");
  t.application("b/Three", "SET OutputRoot.MRM.x = InputRoot.DFDL.x; -- InputRoot.MRM",
                "ComAcmeSpecial");
  t.write("b/Three/m.map", "<map/>");
  Survey s = t.survey();
  CHECK(s.flows.total == 3);
  CHECK(s.flows.complete == 0);
  CHECK(s.maps.total == 1);
  CHECK(s.maps.complete == 0);
  const auto gaps = s.ranked();
  REQUIRE(gaps.size() >= 5);
  CHECK(gaps[0]->kind == "node");
  CHECK(gaps[0]->name == "MQOutput");
  CHECK(gaps[0]->detail == "needs queues");
  CHECK(gaps[0]->count == 2);
  CHECK(gaps[0]->files.size() == 2);
  CHECK(gaps[0]->first.file == t.root + "/a/One/F.msgflow");
  CHECK(gaps[0]->first.line == 6);
  REQUIRE(s.gaps.count("node\nComAcmeSpecial") == 1);
  CHECK(s.gaps.at("node\nComAcmeSpecial").detail == "user-defined");
  REQUIRE(s.gaps.count("domain\nMRM") == 1);
  CHECK(s.gaps.at("domain\nMRM").count == 1);
  REQUIRE(s.gaps.count("domain\nDFDL") == 1);
  CHECK(s.gaps.at("domain\nDFDL").first.line == 2);
  CHECK(s.gaps.count("artifact\ngraphical data map (.map)") == 1);
}

TEST_CASE("survey: a flow is as complete as its module and its subflows") {
  SurveyTree t;
  t.application("App", "");
  t.write("App/Other.esql",
          "CREATE COMPUTE MODULE Other\nCREATE FUNCTION Main() RETURNS BOOLEAN "
          "BEGIN SET x = 1; RETURN TRUE; END;\nEND MODULE;\n");
  std::string other = SurveyTree::flow("ComIbmCompute");
  other.replace(other.find("#M.Main"), 7, "#Other.Main");
  other.replace(other.find("\"/f\""), 4, "\"/o\"");
  t.write("App/Other.msgflow", other);
  Survey s = t.survey();
  CHECK(s.flows.total == 2);
  CHECK(s.flows.complete == 1);
  CHECK(s.modules.complete == 1);
  CHECK(s.modules.total == 2);
}

TEST_CASE("survey: loose artifacts, policies and broken files") {
  SurveyTree t;
  t.write("snippets/deep/M.esql",
          std::string(kSurveyModule).replace(std::string(kSurveyModule).find("%s"), 2, ""));
  t.write("snippets/M.esql", "CREATE COMPUTE MODULE (((");
  t.write("Pol/policy.descriptor", "<policyProjectDescriptor/>");
  t.write("Pol/.project", "<projectDescription><name>Pol</name></projectDescription>");
  t.write("Pol/a.policyxml",
          "<policies><policy policyType=\"JDBCProviders\" policyName=\"D\"/>"
          "<policy policyType=\"Acme\" policyName=\"E\"/></policies>");
  t.write("Pol/b.policyxml", "<policies");
  t.write("Broken/application.descriptor", "<a");
  t.write("Broken/F.msgflow", "not XML");
  t.write("x.bar", "no archive");
  Survey out;
  base::Diagnostics diagnostics;
  nodes::http::HttpListener listener;
  flow::Services services;
  services.set(&listener);
  for (const SurveyPlace& place : find_places(t.root, diagnostics)) {
    survey_place(place, services, out);
  }
  CHECK(out.modules.complete == 1);
  CHECK(out.modules.total == 2);
  CHECK(out.policies.total == 3);
  CHECK(out.policies.complete == 1);
  CHECK(out.gaps.count("artifact\npolicy of type Acme") == 1);
  CHECK(out.flows.complete == 0);
}

}  // namespace
}  // namespace millstream::server
