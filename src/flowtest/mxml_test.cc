#include "flowtest/mxml.h"

#include <doctest/doctest.h>

namespace millstream::flowtest {
namespace {

constexpr const char* kRecording = R"(<?xml version="1.0"?><MessageAssembly>
  <version xmlns:iib="http://com.ibm.iib/lt/1.0" iib:valueType="INTEGER">1</version>
  <checkpoint>
    <source><name>In</name><terminal>out</terminal>
      <nodePath><messageFlow>Orders</messageFlow></nodePath></source>
    <target><name>Pay</name><terminal>in</terminal></target>
  </checkpoint>
  <environment xmlns:iib="http://com.ibm.iib/lt/1.0">
    <seen iib:valueType="BOOLEAN">TRUE</seen>
  </environment>
  <localEnvironment/>
  <exceptionList/>
  <message xmlns:iib="http://com.ibm.iib/lt/1.0" iib:parser="WSRoot">
    <Properties iib:parser="WSPROPERTYPARSER">
      <Topic iib:elementType="0x03000000"/>
      <MessageSet iib:elementType="0x03000000" iib:valueType="CHARACTER"/>
      <Created iib:valueType="GMTTIMESTAMP">2024-02-29 12:34:56.789012</Created>
    </Properties>
    <XMLNSC iib:parser="xmlnsc">
      <o:order xmlns:o="urn:o" iib:valueType="CHARACTER" iib:value="mixed">
        <id iib:elementType="0x03000100" iib:valueType="CHARACTER">it's</id>
        <total iib:valueType="DECIMAL">12.50</total>
        <raw iib:valueType="BLOB">00ff</raw>
        <none/>
      </o:order>
    </XMLNSC>
    <JSON><Data><list iib:elementType="0x01001000"><Item iib:valueType="INTEGER">1</Item></list></Data></JSON>
  </message>
</MessageAssembly>)";

TEST_CASE("mxml: types, marks and values of the recorded trees") {
  Result<RecordedAssembly> r = read_mxml(kRecording, "a.mxml");
  REQUIRE_MESSAGE(r.ok(), r.error().describe());
  CHECK(print_forest(r.value().message) ==
        "Properties{\n"
        "  Topic=NULL\n"
        "  MessageSet=''\n"
        "  Created=GMTTIMESTAMP '2024-02-29 12:34:56.789012'\n"
        "}\n"
        "XMLNSC{\n"
        "  {urn:o}order='mixed'{\n"
        "    @id='it''s'\n"
        "    total=DECIMAL '12.50'\n"
        "    raw=X'00ff'\n"
        "    none{}\n"
        "  }\n"
        "}\n"
        "JSON{\n"
        "  Data{\n"
        "    []list{\n"
        "      Item=1\n"
        "    }\n"
        "  }\n"
        "}");
  CHECK(print_forest(r.value().environment) == "seen=TRUE");
  CHECK(r.value().local_environment.empty());
  CHECK(r.value().source_node == "In");
  CHECK(r.value().target_node == "Pay");
  CHECK(r.value().flow == "Orders");
}

TEST_CASE("mxml: what is no recording is refused") {
  CHECK_FALSE(read_mxml("<other/>", "x").ok());
  CHECK_FALSE(read_mxml("<MessageAssembly>", "x").ok());
  CHECK_FALSE(read_mxml("", "x").ok());
  CHECK_FALSE(read_mxml_file("no such.mxml", "/tmp").ok());
}

}  // namespace
}  // namespace millstream::flowtest
