#include "ace/known_nodes.h"

namespace millstream::ace {
namespace {

constexpr KnownNode kKnownNodes[] = {
    {"ComIbmMQInput", "MQInput", "queues", true},
    {"ComIbmMQOutput", "MQOutput", "queues", false},
    {"ComIbmMQReply", "MQReply", "queues", false},
    {"ComIbmMQGet", "MQGet", "queues", false},
    {"ComIbmMQHeader", "MQHeader", "queues", false},
    {"ComIbmPublication", "Publication", "queues", false},
    {"ComIbmFileInput", "FileInput", "files", true},
    {"ComIbmFileOutput", "FileOutput", "files", false},
    {"ComIbmFileRead", "FileRead", "files", false},
    {"ComIbmFileExists", "FileExists", "files", false},
    {"ComIbmFileIterator", "FileIterator", "files", false},
    {"ComIbmMSLMapping", "Mapping", "a graphical data map", false},
    {"ComIbmSOAPInput", "SOAPInput", "SOAP and WSDL", true},
    {"ComIbmSOAPReply", "SOAPReply", "SOAP and WSDL", false},
    {"ComIbmSOAPRequest", "SOAPRequest", "SOAP and WSDL", false},
    {"ComIbmSOAPExtract", "SOAPExtract", "SOAP and WSDL", false},
    {"ComIbmSOAPEnvelope", "SOAPEnvelope", "SOAP and WSDL", false},
    {"ComIbmSOAPAsyncRequest", "SOAPAsyncRequest", "SOAP and WSDL", false},
    {"ComIbmSOAPAsyncResponse", "SOAPAsyncResponse", "SOAP and WSDL", true},
    {"ComIbmJavaCompute", "JavaCompute", "Java", false},
    {"ComIbmDotNetCompute", ".NETCompute", ".NET", false},
    {"ComIbmDotNetInput", ".NETInput", ".NET", true},
    {"ComIbmAggregateControl", "AggregateControl", "aggregation", false},
    {"ComIbmAggregateRequest", "AggregateRequest", "aggregation", false},
    {"ComIbmAggregateReply", "AggregateReply", "aggregation", false},
    {"ComIbmGroupScatter", "GroupScatter", "message groups", false},
    {"ComIbmGroupGather", "GroupGather", "message groups", false},
    {"ComIbmGroupComplete", "GroupComplete", "message groups", true},
    {"ComIbmCollector", "Collector", "message groups", false},
    {"ComIbmSequence", "Sequence", "message groups", false},
    {"ComIbmReSequence", "Resequence", "message groups", false},
    {"ComIbmDatabaseInput", "DatabaseInput", "databases", true},
    {"ComIbmTCPIPServerInput", "TCPIPServerInput", "TCP/IP", true},
    {"ComIbmTCPIPServerOutput", "TCPIPServerOutput", "TCP/IP", false},
    {"ComIbmTCPIPServerReceive", "TCPIPServerReceive", "TCP/IP", false},
    {"ComIbmTCPIPClientInput", "TCPIPClientInput", "TCP/IP", true},
    {"ComIbmTCPIPClientOutput", "TCPIPClientOutput", "TCP/IP", false},
    {"ComIbmTCPIPClientReceive", "TCPIPClientReceive", "TCP/IP", false},
    {"ComIbmJMSClientInput", "JMSInput", "JMS", true},
    {"ComIbmJMSClientOutput", "JMSOutput", "JMS", false},
    {"ComIbmJMSClientReply", "JMSReply", "JMS", false},
    {"ComIbmJMSClientReceive", "JMSReceive", "JMS", false},
    {"ComIbmJMSHeader", "JMSHeader", "JMS", false},
    {"ComIbmJMSMQTransform", "JMSMQTransform", "JMS", false},
    {"ComIbmMQJMSTransform", "MQJMSTransform", "JMS", false},
    {"ComIbmValidate", "Validate", "message models", false},
    {"ComIbmXslMqsi", "XSLTransform", "XSLT", false},
    {"ComIbmEmailOutput", "EmailOutput", "e-mail", false},
    {"ComIbmEmailInput", "EmailInput", "e-mail", true},
    {"ComIbmLog", "Log", "the activity log", false},
    {"ComIbmFTEInput", "FTEInput", "FTE/MFT", true},
    {"ComIbmFTEOutput", "FTEOutput", "FTE/MFT", false},
    {"ComIbmCICSIPICRequest", "CICSRequest", "CICS", false},
    {"com_ibm_connector_kafka_ComIbmEventInput", "KafkaConsumer", "Kafka", true},
    {"com_ibm_connector_kafka_ComIbmOutput", "KafkaProducer", "Kafka", false},
    {"com_ibm_connector_kafka_ComIbmRequest", "KafkaRead", "Kafka", false},
    {"com_ibm_connector_mqtt_ComIbmEventInput", "MQTTSubscribe", "MQTT", true},
    {"com_ibm_connector_mqtt_ComIbmOutput", "MQTTPublish", "MQTT", false},
    {"com_ibm_connector_loopback_ComIbmRequest", "LoopbackRequest", "a LoopBack connector", false},
    {"com_ibm_connector_salesforce_ComIbmRequest", "SalesforceRequest", "Salesforce", false},
    {"com_ibm_connector_salesforce_ComIbmEventInput", "SalesforceInput", "Salesforce", true},
};

}  // namespace

const KnownNode* find_known_node(std::string_view type) {
  for (const KnownNode& n : kKnownNodes) {
    if (n.type == type) return &n;
  }
  return nullptr;
}

std::string_view advice_for(const KnownNode& node) {
  if (node.needs == "Java" || node.needs == ".NET") {
    return "write what it does in ESQL and use a Compute node";
  }
  return "take the flow out of the project, or replace the node by Compute and HTTP nodes";
}

}  // namespace millstream::ace
