// What the nodes of one application share: its names, the values of user
// variables, and where paths of other systems lie on this one. Reached through flow::Services.
// Lifetime: the application's. Thread: read only once the flows are built.
#pragma once
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace millstream::nodes::common {

// "C:\logs\x.txt" -> "<folder for drive C>/logs/x.txt". Without a mapping for the drive the file
// would land nowhere sensible, so the default is a folder drives/c below the work directory.
struct DriveMapping {
  std::map<char, std::string> folders;  // lower-case letter -> folder
  std::string default_root = "drives";  // drive c -> <default_root>/c
};
// A path as flows write it, for this system: back-slashes become '/', drives are mapped.
std::string map_path(std::string_view path, const DriveMapping& mapping);

struct Application {
  std::string name;
  std::string server_name;
  std::string work_path;
  std::vector<std::string> library_names;                          // [n - 1] is unit n
  std::map<std::string, std::string, std::less<>> user_variables;  // server.conf.yaml
  DriveMapping drives;
};

}  // namespace millstream::nodes::common
