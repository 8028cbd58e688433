// Detects how this process was launched, and loads the plug-in where it is one of several.
#include <dlfcn.h>

#include <cstdlib>
#include <filesystem>
#include <vector>

#include "engine/base/error.h"
#include "engine/cluster/alone.h"
#include "engine/cluster/cluster.h"
#include "engine/cluster/launch.h"
#include "engine/cluster/plugin.h"

namespace slide {

namespace {

namespace fs = std::filesystem;

// Candidate paths of the plug-in. SLIDE_PLUGIN_FOLDER is the path from the program's folder to the installed
// plug-in.
std::vector<fs::path> plugin_paths() {
  if (const char* named = std::getenv("SLIDE_MPI_PLUGIN")) return {named};
  std::error_code ignored;
  const fs::path folder = fs::read_symlink("/proc/self/exe", ignored).parent_path();
  return {folder / kPluginFile, folder / SLIDE_PLUGIN_FOLDER / kPluginFile,
          folder / "../lib/slide" / kPluginFile};
}

std::string started_as(int launched) {
  if (launched == 0) return "this process was started by a launcher of MPI";
  return fmt::format("this process was started as one of {}", launched);
}

fs::path find_plugin(int launched) {
  const std::vector<fs::path> paths = plugin_paths();
  std::error_code ignored;
  for (const fs::path& path : paths) {
    if (fs::exists(path, ignored)) return path;
  }
  fail_input("{}, but there is no {}; install libopenmpi-dev and build again", started_as(launched),
             paths.front().lexically_normal().string());
}

// Never unloaded: the cluster's code is in it, and libmpi has threads and handlers. RTLD_GLOBAL, since the
// components that Open MPI loads resolve symbols in it.
OpenMpi* load_plugin(int launched) {
  const std::string path = find_plugin(launched).string();
  void* library = dlopen(path.c_str(), RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) {
    fail_input("{}, but the plug-in cannot be loaded ({}); install libopenmpi-dev and build again",
               started_as(launched), dlerror());
  }
  void* function = dlsym(library, kPluginFunction);
  if (function == nullptr) fail_input("{} is no plug-in of slide; build again", path);
  return reinterpret_cast<OpenMpi*>(function);
}

}  // namespace

std::unique_ptr<Cluster> open_cluster(std::size_t longest_message) {
  const int launched = launched_processes();
  if (launched == 1) return std::make_unique<Alone>();
  std::unique_ptr<Cluster> cluster(load_plugin(launched)(SLIDE_VERSION, longest_message));
  if (launched != 0 && cluster->size() != launched) {
    fail_input("{}, but MPI knows of {}; use the launcher of the MPI that slide was built with",
               started_as(launched), cluster->size());
  }
  return cluster;
}

}  // namespace slide
