// open_cluster() for statically linked programs, in place of open_cluster.cpp: they cannot load a plug-in and
// always run as a single process.
#include "engine/base/error.h"
#include "engine/cluster/alone.h"
#include "engine/cluster/cluster.h"
#include "engine/cluster/launch.h"

namespace slide {

std::unique_ptr<Cluster> open_cluster(std::size_t) {
  if (launched_processes() != 1) {
    fail_input(
        "this process was started by a launcher of MPI, but this slide is linked statically and takes no "
        "MPI; "
        "install the Debian package, or build it from source");
  }
  return std::make_unique<Alone>();
}

}  // namespace slide
