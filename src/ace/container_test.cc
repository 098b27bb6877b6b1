#include "ace/container.h"

#include <doctest/doctest.h>

#include "ace/fixtures_for_test.h"
#include "ace/workspace.h"
#include "io/zip_writer_for_test.h"

namespace millstream::ace {
namespace {

using io::make_test_zip;

const std::string kFlow = FlowText{}.str();

// "name:kind[resources]{nested}" of everything, in order.
std::string outline(const Container& c) {
  std::string out = c.name + ":" + std::string(container_kind_name(c.kind)) + "[";
  for (const Resource& r : c.resources) out += (out.back() == '[' ? "" : " ") + r.path();
  out += "]";
  for (const auto& n : c.nested) out += "{" + outline(*n) + "}";
  return out;
}
std::string outline(const Workspace& workspace) {
  std::string out;
  for (const auto& c : workspace.containers) out += outline(*c) + "\n";
  return out;
}

Workspace loaded(const std::vector<std::string>& paths, base::Diagnostics& diagnostics) {
  Workspace workspace;
  for (const std::string& p : paths) add_path(workspace, p, diagnostics);
  find_references(workspace, diagnostics);
  return workspace;
}

std::string names_of_libraries(const Workspace& workspace, std::string_view name,
                               base::Diagnostics& diagnostics) {
  std::string out;
  for (const Container* c : libraries_of(workspace, *workspace.find(name), diagnostics)) {
    out += (out.empty() ? "" : " ") + c->name;
  }
  return out;
}

TEST_CASE("project kinds by nature") {
  const std::string base = nature_text("messageBrokerProjectNature");
  struct Case {
    std::string natures, kind;
  };
  for (const Case& c : std::vector<Case>{
           {base + nature_text("applicationNature"), "application"},
           {base + nature_text("applicationNature") +
                "<nature>com.ibm.etools.mft.restapi.ui.Nature</nature>",
            "REST API"},
           {base + nature_text("applicationNature") + nature_text("serviceApplicationNature"),
            "integration service"},
           {base + nature_text("libraryNature"), "static library"},
           {base + nature_text("libraryNature") + nature_text("sharedLibraryNature"),
            "shared library"},
           {base + "<nature>com.ibm.etools.mft.policy.ui.Nature</nature>", "policy project"},
           {base, "independent resources"}}) {
    TempTree tree;
    tree.write("folder/.project", project_text("The Name", c.natures));
    tree.write("folder/a/F.msgflow", kFlow);
    tree.write("folder/.git/x.msgflow", kFlow);
    base::Diagnostics diagnostics;
    Workspace workspace = loaded({tree / "folder"}, diagnostics);
    CHECK(outline(workspace) == "The Name:" + c.kind + "[.project a/F.msgflow]\n");
    CHECK_FALSE(diagnostics.has_errors());
  }
}

TEST_CASE("kinds by descriptor, for unpacked containers without .project") {
  struct Case {
    std::string file, text, kind;
  };
  for (const Case& c : std::vector<Case>{
           {"application.descriptor", descriptor_text("appDescriptor"), "application"},
           {"restapi.descriptor", "<restapiDescriptor definitionFile=\"a.json\"/>", "REST API"},
           {"service.descriptor", "<service/>", "integration service"},
           {"library.descriptor", "<libDescriptor/>", "static library"},
           {"library.descriptor",
            "<libDescriptor type=\"com.ibm.etools.msgbroker.tooling.sharedLibraryNature\"/>",
            "shared library"},
           {"policy.descriptor", "<policyProjectDescriptor/>", "policy project"}}) {
    TempTree tree;
    tree.write("Thing/" + c.file, c.text);
    base::Diagnostics diagnostics;
    Workspace workspace = loaded({tree / "Thing"}, diagnostics);
    CHECK(outline(workspace) == "Thing:" + c.kind + "[" + c.file + "]\n");
  }
}

TEST_CASE("a REST API has both descriptors; the narrower one says what it is") {
  TempTree tree;
  tree.write("Api/application.descriptor",
             descriptor_text("appDescriptor", library_reference_text("L1")));
  tree.write("Api/restapi.descriptor", "<restapiDescriptor/>");
  base::Diagnostics diagnostics;
  Workspace workspace = loaded({tree / "Api"}, diagnostics);
  REQUIRE(workspace.containers.size() == 1);
  CHECK(workspace.containers[0]->kind == ContainerKind::kRestApi);
  CHECK(workspace.containers[0]->shared_libraries == std::vector<std::string>{"L1"});
}

TEST_CASE("a broken descriptor is an error with its place") {
  TempTree tree;
  tree.write("A/application.descriptor", "<a>\n<b>\n</a>");
  base::Diagnostics diagnostics;
  loaded({tree / "A"}, diagnostics);
  CHECK(has_said(diagnostics, "A/application.descriptor:3:"));
}

TEST_CASE("a workspace: projects at any depth, Java and test projects passed over, loose flows") {
  TempTree tree;
  const std::string app = nature_text("applicationNature");
  tree.write("w/.project", "<projectDescription><name>root</name></projectDescription>");
  tree.write("w/A/.project", project_text("A", app));
  tree.write("w/deep/er/B/.project", project_text("B", app));
  tree.write("w/Java/.project", project_text("Java",
                                             "<nature>org.eclipse.jdt.core.javanature"
                                             "</nature>"));
  tree.write("w/Test/testproject.descriptor", "<testprojectDescriptor/>");
  tree.write("w/Test/F.msgflow", kFlow);
  tree.write("w/loose/F.msgflow", kFlow);
  tree.write("w/loose/sub/G.subflow", kFlow);
  tree.write("w/.metadata/C/.project", project_text("C", app));
  base::Diagnostics diagnostics;
  Workspace workspace = loaded({tree / "w/"}, diagnostics);
  CHECK(outline(workspace) ==
        "A:application[.project]\nB:application[.project]\n"
        "loose:independent resources[F.msgflow sub/G.subflow]\n");
  CHECK(said(diagnostics) == "");
  CHECK(workspace.knows("Java"));
  CHECK_FALSE(workspace.knows("C"));
}

TEST_CASE("the current folder: its real name, plain paths, libraries beside it") {
  TempTree tree;
  tree.write("App/application.descriptor",
             descriptor_text("appDescriptor", library_reference_text("Lib")));
  tree.write("App/Hello.esql", "");
  tree.write("Lib/library.descriptor", "<libDescriptor type=\"x.sharedLibraryNature\"/>");
  const std::filesystem::path before = std::filesystem::current_path();
  for (const char* given : {".", "./", "././.", "../App", ".."}) {
    CAPTURE(given);
    std::filesystem::create_directories(tree / "App/sub");
    std::filesystem::current_path(tree / (std::string_view(given) == ".." ? "App/sub" : "App"));
    base::Diagnostics diagnostics;
    Workspace workspace = loaded({given}, diagnostics);
    REQUIRE(workspace.find("App"));
    CHECK(workspace.find("Lib"));
    const Resource* esql = workspace.find("App")->find("Hello.esql");
    REQUIRE(esql);
    const bool is_inside = std::string_view(given).find("..") == std::string_view::npos;
    CHECK(esql->file() == (is_inside ? "Hello.esql" : std::string(given) + "/Hello.esql"));
    CHECK(said(diagnostics) == "");
  }
  std::filesystem::current_path(before);
}

TEST_CASE("what holds nothing: an error for a folder, a warning for a Java project") {
  TempTree tree;
  tree.write("empty/readme.txt", "x");
  tree.write("Java/.project", project_text("Java", ""));
  base::Diagnostics diagnostics;
  loaded({tree / "empty", tree / "missing", tree / "empty/readme.txt"}, diagnostics);
  CHECK(diagnostics.error_count() == 3);
  CHECK(has_said(diagnostics, "empty: error: MS1906"));
  CHECK(has_said(diagnostics, "missing: error: MS1919"));
  base::Diagnostics bar;
  loaded({tree / "nothere.bar"}, bar);
  CHECK(has_said(bar, "nothere.bar' does not exist."));
  CHECK(bar.error_count() == 1);
  base::Diagnostics softer;
  loaded({tree / "Java"}, softer);
  CHECK_FALSE(softer.has_errors());
  CHECK(has_said(softer, "warning: MS1918"));
}

TEST_CASE("two projects of one name are refused; the same folder twice is not") {
  TempTree tree;
  tree.write("x/A/application.descriptor", descriptor_text("appDescriptor"));
  tree.write("y/A/application.descriptor", descriptor_text("appDescriptor"));
  base::Diagnostics same;
  CHECK(loaded({tree / "x/A", tree / "x", tree / "x/A/"}, same).containers.size() == 1);
  CHECK(said(same) == "");
  base::Diagnostics two;
  CHECK(loaded({tree.path()}, two).containers.size() == 1);
  CHECK(has_said(two, "MS1908"));
  CHECK(has_said(two, tree / "x/A"));
}

TEST_CASE("loose resources that share a name with something are no conflict") {
  TempTree tree;
  tree.write("A/application.descriptor", descriptor_text("appDescriptor"));
  tree.write("x/A/F.msgflow", kFlow);
  tree.write("y/A/G.msgflow", kFlow);
  base::Diagnostics diagnostics;
  Workspace workspace = loaded({tree.path()}, diagnostics);
  CHECK(said(diagnostics) == "");
  CHECK(workspace.containers.size() == 3);
  CHECK(workspace.find(tree / "y/A"));
}

TEST_CASE("libraries: static by .project, shared by descriptor, found beside, in search order") {
  TempTree tree;
  const std::string broker = nature_text("messageBrokerProjectNature");
  tree.write("App/.project", project_text("App", nature_text("applicationNature"),
                                          "<project>Static</project><project>Other</project>"));
  tree.write("App/application.descriptor",
             descriptor_text("appDescriptor", library_reference_text("Shared")));
  tree.write("Static/.project",
             project_text("Static", nature_text("libraryNature"), "<project>Deeper</project>"));
  // The folder's name is not the project's.
  tree.write("folder of deeper/.project", project_text("Deeper", nature_text("libraryNature")));
  tree.write("Shared/library.descriptor",
             "<libDescriptor type=\"com.ibm.etools.msgbroker.tooling.sharedLibraryNature\">"
             "<references><sharedLibraryReference><libraryName>Static</libraryName>"
             "</sharedLibraryReference></references></libDescriptor>");
  tree.write("Other/application.descriptor", descriptor_text("appDescriptor"));
  base::Diagnostics diagnostics;
  Workspace workspace = loaded({tree / "App"}, diagnostics);
  CHECK(names_of_libraries(workspace, "App", diagnostics) == "Static Deeper Shared");
  CHECK(said(diagnostics) == "");
  // Another application is no library and is not run because somebody refers to it.
  CHECK_FALSE(workspace.find("Other"));
  CHECK(workspace.knows("Other"));
}

TEST_CASE("a missing shared library is an error at its reference") {
  TempTree tree;
  tree.write("App/application.descriptor",
             descriptor_text("appDescriptor", "\n" + library_reference_text("Gone")));
  base::Diagnostics diagnostics;
  Workspace workspace = loaded({tree / "App"}, diagnostics);
  CHECK(names_of_libraries(workspace, "App", diagnostics) == "");
  CHECK(has_said(diagnostics, "App/application.descriptor:3:"));
  CHECK(has_said(diagnostics, "error: MS1907: 'App' refers to the library 'Gone'"));
}

TEST_CASE("libraries that refer to each other end") {
  TempTree tree;
  for (const char* name : {"L1", "L2"}) {
    const std::string other = name == std::string("L1") ? "L2" : "L1";
    tree.write(std::string(name) + "/.project", project_text(name, nature_text("libraryNature"),
                                                             "<project>" + other + "</project>"));
  }
  base::Diagnostics diagnostics;
  Workspace workspace = loaded({tree / "L1"}, diagnostics);
  CHECK(names_of_libraries(workspace, "L1", diagnostics) == "L2");
}

std::string broker_xml(const std::string& uri, const std::string& value) {
  return "<Broker><CompiledMessageFlow><ConfigurableProperty uri=\"" + uri + "\" override=\"" +
         value + "\"/></CompiledMessageFlow></Broker>";
}

std::string override_in(const Container& c, const std::string& flow, const std::string& node,
                        const std::string& property) {
  Overrides overrides = c.bar_overrides;
  flow::PropertySet set;
  overrides.apply({{{flow}, node}}, set);
  return set.find(property) ? set.find(property)->value : "(none)";
}

TEST_CASE("BAR: applications, nested static libraries, Windows names, broker.xml at both levels") {
  const std::string lib =
      make_test_zip({{"library.descriptor", "<libDescriptor/>"}, {"util\\Log.subflow", kFlow}});
  const std::string app = make_test_zip(
      {{"application.descriptor", descriptor_text("appDescriptor", library_reference_text("Sh"))},
       {"com\\acme\\F.msgflow", kFlow},
       {"META-INF\\broker.xml", broker_xml("com.acme.F#N.p", "inner")},
       {"Lib.libzip", lib}});
  const std::string shared = make_test_zip({{"library.descriptor", "<libDescriptor/>"}});
  TempTree tree;
  tree.write("Orders.bar", make_test_zip({{"META-INF/manifest.mf", "-o x"},
                                          {"META-INF/broker.xml", broker_xml("Loose#N.p", "outer")},
                                          {"App.appzip", app},
                                          {"Sh.shlibzip", shared},
                                          {"Pol/policy.descriptor", "<policyProjectDescriptor/>"},
                                          {"Pol/a.policyxml", "<policies/>"},
                                          {"Loose.msgflow", kFlow}}));
  base::Diagnostics diagnostics;
  Workspace workspace = loaded({tree / "Orders.bar"}, diagnostics);
  CHECK(said(diagnostics) == "");
  CHECK(outline(workspace) ==
        "App:application[application.descriptor com/acme/F.msgflow META-INF/broker.xml]"
        "{Lib:static library[library.descriptor util/Log.subflow]}\n"
        "Sh:shared library[library.descriptor]\n"
        "Pol:policy project[Pol/policy.descriptor Pol/a.policyxml]\n"
        "Orders:independent resources[META-INF/manifest.mf META-INF/broker.xml Loose.msgflow]\n");
  CHECK(names_of_libraries(workspace, "App", diagnostics) == "Lib Sh");
  CHECK(override_in(*workspace.find("App"), "com.acme.F", "N", "p") == "inner");
  CHECK(override_in(*workspace.find("Orders"), "Loose", "N", "p") == "outer");
  CHECK(workspace.find("App")->resources[1].file() ==
        tree / "Orders.bar" + "!/App.appzip!/com/acme/F.msgflow");
}

TEST_CASE("BAR: compiled flows are refused by name, what is no archive too") {
  TempTree tree;
  tree.write("Old.bar", make_test_zip({{"Flow.cmf", "<x/>"}}));
  tree.write("Bad.bar", "not a zip");
  tree.write("Inner.bar", make_test_zip({{"App.appzip", "not a zip"}}));
  tree.write("Resources.bar", make_test_zip({{"lib/x.jar", "x"}}));
  base::Diagnostics diagnostics;
  loaded({tree / "Old.bar", tree / "Bad.bar", tree / "Inner.bar"}, diagnostics);
  CHECK(diagnostics.error_count() == 3);
  CHECK(has_said(diagnostics, "Old.bar!/Flow.cmf: error: MS1912"));
  CHECK(has_said(diagnostics, "Bad.bar: error: MS1060"));
  CHECK(has_said(diagnostics, "Inner.bar!/App.appzip"));
  base::Diagnostics softer;
  loaded({tree / "Resources.bar"}, softer);
  CHECK(has_said(softer, "warning: MS1918"));
}

TEST_CASE("BAR: archives in archives end at a limit") {
  std::string inner = make_test_zip({{"library.descriptor", "<libDescriptor/>"}});
  for (int i = 0; i < 8; ++i) inner = make_test_zip({{"L.libzip", inner}});
  TempTree tree;
  tree.write("Deep.bar", inner);
  base::Diagnostics diagnostics;
  loaded({tree / "Deep.bar"}, diagnostics);
  CHECK(has_said(diagnostics, "nested too deeply"));
}

TEST_CASE("an .appzip alone is an application") {
  TempTree tree;
  tree.write("App.appzip",
             make_test_zip({{"application.descriptor", descriptor_text("appDescriptor")}}));
  base::Diagnostics diagnostics;
  CHECK(outline(loaded({tree / "App.appzip"}, diagnostics)) ==
        "App:application[application.descriptor]\n");
}

TEST_CASE("a work directory: what run/ holds, with its libraries and overrides inside") {
  TempTree tree;
  tree.write("w/server.conf.yaml", "---\n");
  tree.write("w/log/x.txt", "");
  tree.write("w/run/App/application.descriptor", descriptor_text("appDescriptor"));
  tree.write("w/run/App/F.msgflow", kFlow);
  tree.write("w/run/App/META-INF/broker.xml", broker_xml("F#N.p", "deployed"));
  tree.write("w/run/App/Lib/library.descriptor", "<libDescriptor/>");
  tree.write("w/run/App/Lib/util/Log.subflow", kFlow);
  tree.write("w/run/Pol/policy.descriptor", "<policyProjectDescriptor/>");
  base::Diagnostics diagnostics;
  Workspace workspace = loaded({tree / "w"}, diagnostics);
  CHECK(said(diagnostics) == "");
  CHECK(outline(workspace) ==
        "App:application[F.msgflow META-INF/broker.xml application.descriptor]"
        "{Lib:static library[library.descriptor util/Log.subflow]}\n"
        "Pol:policy project[policy.descriptor]\n");
  CHECK(override_in(*workspace.find("App"), "F", "N", "p") == "deployed");
}

}  // namespace
}  // namespace millstream::ace
