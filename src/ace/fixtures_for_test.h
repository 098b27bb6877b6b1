// What the tests of this folder share: temporary project trees and the text of flow files.
// Thread: one.
#pragma once
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostics.h"

namespace millstream::ace {

// A folder that is gone at the end of the test.
class TempTree {
 public:
  TempTree() {
    std::string pattern = (std::filesystem::temp_directory_path() / "ms_ace_XXXXXX").string();
    path_ = mkdtemp(pattern.data());
  }
  ~TempTree() { std::filesystem::remove_all(path_); }
  TempTree(const TempTree&) = delete;
  TempTree& operator=(const TempTree&) = delete;

  const std::string& path() const { return path_; }
  std::string operator/(std::string_view name) const { return path_ + "/" + std::string(name); }
  // Writes a file, with its folders; returns its path.
  std::string write(std::string_view name, std::string_view content) const {
    const std::string file = *this / name;
    std::filesystem::create_directories(std::filesystem::path(file).parent_path());
    std::ofstream(file, std::ios::binary) << content;
    return file;
  }

 private:
  std::string path_;
};

// A flow file. `types` are namespace URIs: "ComIbmCompute.msgnode", "com/acme/Log.subflow".
struct FlowText {
  std::vector<std::string> types;
  std::string nodes;      // <nodes> and <connections>
  std::string features;   // <eStructuralFeatures>
  std::string organizer;  // <propertyDescriptor> chain
  std::string links;      // <attributeLinks>
  std::string str() const {
    std::string out =
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<ecore:EPackage xmi:version=\"2.0\" xmlns:xmi=\"http://www.omg.org/XMI\" "
        "xmlns:ecore=\"http://www.eclipse.org/emf/2002/Ecore\" "
        "xmlns:eflow=\"http://www.ibm.com/wbi/2005/eflow\" "
        "xmlns:utility=\"http://www.ibm.com/wbi/2005/eflow_utility\"";
    for (const std::string& uri : types) out += " xmlns:" + prefix_of(uri) + "=\"" + uri + "\"";
    out += ">\n<eClassifiers xmi:type=\"eflow:FCMComposite\" name=\"FCMComposite_1\">\n";
    out += features;
    out += "<composition>\n" + nodes + "</composition>\n";
    if (!organizer.empty()) out += "<propertyOrganizer>" + organizer + "</propertyOrganizer>\n";
    return out + links + "</eClassifiers>\n</ecore:EPackage>\n";
  }
  static std::string prefix_of(std::string uri) {
    for (char& c : uri) c = c == '/' ? '_' : c;
    return uri;
  }
};

// One line a node: `type` is the namespace URI, or "eflow" with the local name in `id`'s kind.
inline std::string node_text(const std::string& type, const std::string& id,
                             const std::string& label, const std::string& attributes = "",
                             const std::string& children = "") {
  return "<nodes xmi:type=\"" + FlowText::prefix_of(type) + ":FCMComposite_1\" xmi:id=\"" + id +
         "\" location=\"1,2\" " + attributes +
         "><translation xmi:type=\"utility:ConstantString\" " + "string=\"" + label + "\"/>" +
         children + "</nodes>\n";
}
inline std::string source_text(const std::string& id, const std::string& key) {
  return "<nodes xmi:type=\"eflow:FCMSource\" xmi:id=\"" + id +
         "\"><translation xmi:type=\"utility:TranslatableString\" key=\"" + key + "\"/></nodes>\n";
}
inline std::string sink_text(const std::string& id, const std::string& key) {
  return "<nodes xmi:type=\"eflow:FCMSink\" xmi:id=\"" + id +
         "\"><translation xmi:type=\"utility:TranslatableString\" key=\"" + key + "\"/></nodes>\n";
}
inline std::string wire_text(const std::string& source, const std::string& out,
                             const std::string& target, const std::string& in) {
  return "<connections xmi:type=\"eflow:FCMConnection\" xmi:id=\"c\" sourceNode=\"" + source +
         "\" sourceTerminalName=\"" + out + "\" targetNode=\"" + target +
         "\" targetTerminalName=\"" + in + "\"/>\n";
}
inline std::string feature_text(const std::string& name, const std::string& rest = "") {
  return "<eStructuralFeatures xmi:type=\"ecore:EAttribute\" xmi:id=\"Property." + name +
         "\" name=\"" + name + "\" " + rest + "/>\n";
}
inline std::string link_text(const std::string& promoted, const std::string& nodes,
                             const std::string& property) {
  return "<attributeLinks promotedAttribute=\"Property." + promoted + "\" overriddenNodes=\"" +
         nodes + "\"><overriddenAttribute href=\"x#Property." + property +
         "\"/></attributeLinks>\n";
}
inline std::string user_defined_text(const std::string& name) {
  return "<propertyDescriptor userDefined=\"true\" describedAttribute=\"Property." + name + "\"/>";
}

inline std::string project_text(const std::string& name, const std::string& natures,
                                const std::string& projects = "") {
  return "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<projectDescription><name>" + name +
         "</name><projects>" + projects + "</projects><natures>" + natures +
         "</natures></projectDescription>";
}
inline std::string nature_text(const std::string& tail) {
  return "<nature>com.ibm.etools.msgbroker.tooling." + tail + "</nature>";
}
inline std::string descriptor_text(const std::string& root, const std::string& libraries = "") {
  return "<ns2:" + root + " xmlns=\"http://com.ibm.etools.mft.descriptor.base\" " +
         "xmlns:ns2=\"http://com.ibm.etools.mft.descriptor.x\"><references>\n" + libraries +
         "</references></ns2:" + root + ">";
}
inline std::string library_reference_text(const std::string& name) {
  return "<sharedLibraryReference><libraryName>" + name +
         "</libraryName></sharedLibraryReference>\n";
}

// Everything that was said, a line each.
inline std::string said(const base::Diagnostics& diagnostics) {
  std::string out;
  for (const base::Diagnostic& d : diagnostics.all()) out += d.format() + "\n";
  return out;
}
inline bool has_said(const base::Diagnostics& diagnostics, std::string_view part) {
  return said(diagnostics).find(part) != std::string::npos;
}

}  // namespace millstream::ace
