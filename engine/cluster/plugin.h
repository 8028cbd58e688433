// The one function through which the program gets its cluster from the plug-in slide_mpi.so. It takes leave
// of MPI in the destructor of what it returns; the plug-in itself stays loaded.
#pragma once

#include <cstddef>

#include "engine/cluster/cluster.h"

namespace slide {

inline constexpr const char* kPluginFile = "slide_mpi.so";
inline constexpr const char* kPluginFunction = "slide_open_mpi";

// Throws InputError if `version`, the program's, is not the plug-in's: the two share classes.
using OpenMpi = Cluster*(const char* version, std::size_t longest_message);

}  // namespace slide
