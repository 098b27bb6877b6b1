#include "ace/flow_file.h"

#include <doctest/doctest.h>

#include "ace/fixtures_for_test.h"

namespace millstream::ace {
namespace {

FlowFile parsed(const FlowText& text, const std::string& path = "com/acme/Flow.msgflow") {
  Result<FlowFile> file = parse_flow_file(text.str(), path, "P/" + path);
  REQUIRE(file.ok());
  return std::move(file).value();
}

TEST_CASE("name and broker schema come from the path") {
  FlowFile deep = parsed({});
  CHECK(deep.name == "Flow");
  CHECK(deep.schema == "com.acme");
  CHECK(deep.qualified_name() == "com.acme.Flow");
  CHECK(parsed({}, "Top.msgflow").qualified_name() == "Top");
  CHECK(parsed({}, "a.b.msgflow").name == "a.b");
}

TEST_CASE("the type of a node is what its prefix is bound to, not the prefix") {
  std::string text =
      "<e:EPackage xmlns:e=\"http://www.eclipse.org/emf/2002/Ecore\" "
      "xmlns:xmi=\"http://www.omg.org/XMI\" xmlns:f=\"http://www.ibm.com/wbi/2005/eflow\" "
      "xmlns:odd=\"ComIbmCompute.msgnode\" xmlns:s=\"com/acme/L\xc3\xb3g.subflow\" "
      "xmlns:k=\"com/ibm/connector/kafka/ComIbmOutput.msgnode\" xmlns:m=\"old/Sub.msgflow\">"
      "<eClassifiers xmi:type=\"f:FCMComposite\"><composition>"
      "<nodes xmi:type=\"odd:FCMComposite_1\" xmi:id=\"1\"/>"
      "<nodes xmi:type=\"s:FCMComposite_1\" xmi:id=\"2\"/>"
      "<nodes xmi:type=\"k:FCMComposite_1\" xmi:id=\"3\"/>"
      "<nodes xmi:type=\"m:FCMComposite_1\" xmi:id=\"4\"/>"
      "<nodes xmi:type=\"f:FCMSource\" xmi:id=\"InTerminal.In\"/>"
      "</composition></eClassifiers></e:EPackage>";
  Result<FlowFile> file = parse_flow_file(text, "F.msgflow", "F.msgflow");
  REQUIRE(file.ok());
  const auto& nodes = file.value().nodes;
  REQUIRE(nodes.size() == 5);
  CHECK(nodes[0].type == "ComIbmCompute");
  CHECK(nodes[1].subflow == "com/acme/L\xc3\xb3g.subflow");
  CHECK(nodes[1].type == "");
  CHECK(nodes[2].type == "com_ibm_connector_kafka_ComIbmOutput");
  CHECK(nodes[3].subflow == "old/Sub.msgflow");
  CHECK(nodes[4].type == "eflow:FCMSource");
  CHECK(nodes[4].label == "In");  // no translation: the id without its prefix
}

TEST_CASE("labels: constant strings, translation keys") {
  FlowText text{{"ComIbmCompute.msgnode"}};
  text.nodes = node_text("ComIbmCompute.msgnode", "1", " Is it (a/b)? ") +
               source_text("InTerminal.Input_1", "Input");
  FlowFile file = parsed(text);
  CHECK(file.nodes[0].label == " Is it (a/b)? ");
  CHECK(file.nodes[1].label == "Input");
}

TEST_CASE("properties are all attributes but those of the picture; an empty one counts") {
  FlowText text{{"ComIbmTrace.msgnode"}};
  text.nodes = node_text("ComIbmTrace.msgnode", "1", "T",
                         "rotation=\"x\" pattern=\"a&#xD;&#xA;b\" filePath=\"\"");
  FlowFile file = parsed(text);
  const flow::PropertySet& p = file.nodes[0].properties;
  CHECK(p.values().size() == 2);
  CHECK(p.find("pattern")->value == "a\r\nb");
  REQUIRE(p.find("filePath"));
  CHECK(p.find("filePath")->value == "");
  CHECK(p.find("pattern")->position.line == 5);
  CHECK(p.find("pattern")->position.file == "P/com/acme/Flow.msgflow");
}

TEST_CASE("tables and dynamic terminals are children; business events are none of the flow's") {
  FlowText text{{"ComIbmRoute.msgnode"}};
  text.nodes = node_text("ComIbmRoute.msgnode", "1", "R", "",
                         "<outTerminals terminalNodeID=\"Match\" dynamic=\"true\" label=\"Match\"/>"
                         "<outTerminals terminalNodeID=\"Two\" dynamic=\"true\" label=\"Two\"/>"
                         "<inTerminals terminalNodeID=\"In1\" dynamic=\"true\"/>"
                         "<filterTable filterPattern=\"$Root/A\" routingOutputTerminal=\"Match\"/>"
                         "<filterTable filterPattern=\"$Root/B\" routingOutputTerminal=\"Two\"/>"
                         "<nsMappingTable nsPrefix=\"p\" namespace=\"urn:p\"/>"
                         "<monitorEvents eventSourceName=\"x\"><eventXMLDoc/></monitorEvents>");
  const FlowFile file = parsed(text);
  const FlowFileNode& node = file.nodes[0];
  CHECK(node.dynamic_outputs == std::vector<std::string>{"Match", "Two"});
  CHECK(node.dynamic_inputs == std::vector<std::string>{"In1"});
  REQUIRE(node.properties.rows("filterTable").size() == 2);
  CHECK(node.properties.rows("filterTable")[1].get("filterPattern") == "$Root/B");
  CHECK(node.properties.rows("nsMappingTable")[0].get("namespace") == "urn:p");
  CHECK(node.properties.rows("monitorEvents").empty());
}

TEST_CASE("a connection without its nodes is a leftover of the Toolkit and skipped") {
  FlowText text{{"ComIbmCompute.msgnode"}};
  text.nodes = node_text("ComIbmCompute.msgnode", "1", "A") +
               wire_text("1", "OutTerminal.out", "1", "InTerminal.in") +
               "<connections xmi:type=\"eflow:FCMConnection\" xmi:id=\"d\"/>\n";
  FlowFile file = parsed(text);
  REQUIRE(file.connections.size() == 1);
  CHECK(file.connections[0].source_terminal == "OutTerminal.out");
}

TEST_CASE("declared properties: defaults, user-defined ones by the chain of descriptors, links") {
  FlowText text;
  text.features = feature_text("plain") + feature_text("queue", "defaultValueLiteral=\"Q\"") +
                  feature_text("udp1", "defaultValueLiteral=\"\"") + feature_text("udp2");
  text.organizer =
      "<propertyDescriptor describedAttribute=\"Property.queue\">"
      "<propertyDescriptor userDefined=\"true\" describedAttribute=\"Property.udp1\">"
      "<propertyDescriptor userDefined=\"true\" describedAttribute=\"Property.udp2\"/>"
      "</propertyDescriptor></propertyDescriptor>";
  text.links = link_text("queue", "FCMComposite_1_1 FCMComposite_1_2", "queueName");
  FlowFile file = parsed(text);
  REQUIRE(file.properties.size() == 4);
  CHECK_FALSE(file.properties[0].has_default);
  CHECK(file.properties[1].default_value == "Q");
  CHECK_FALSE(file.properties[1].is_user_defined);
  CHECK(file.properties[2].has_default);
  CHECK(file.properties[2].is_user_defined);
  CHECK(file.properties[3].is_user_defined);
  REQUIRE(file.links.size() == 1);
  CHECK(file.links[0].nodes == std::vector<std::string>{"FCMComposite_1_1", "FCMComposite_1_2"});
  CHECK(file.links[0].property == "queueName");
}

TEST_CASE("what is no flow is refused with its place") {
  for (const char* text : {"<a/>", "<EPackage/>", "<EPackage><eClassifiers/></EPackage>"}) {
    Result<FlowFile> file = parse_flow_file(text, "F.msgflow", "P/F.msgflow");
    REQUIRE_FALSE(file.ok());
    CHECK(file.error().code->number == 1901);
    CHECK(file.error().position.file == "P/F.msgflow");
  }
  FlowText text;
  text.nodes = "<nodes xmi:id=\"1\"/>";
  CHECK_FALSE(parse_flow_file(text.str(), "F.msgflow", "F").ok());
}

}  // namespace
}  // namespace millstream::ace
