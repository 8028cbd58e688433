// Entry point of the plug-in slide_mpi.so. The returned cluster finalises MPI in its destructor; the plug-in
// stays loaded.
#pragma once

#include <cstddef>

#include "engine/cluster/cluster.h"

namespace slide {

inline constexpr const char* kPluginFile = "slide_mpi.so";
inline constexpr const char* kPluginFunction = "slide_open_mpi";

// Throws InputError unless `version`, the program's, equals the plug-in's: the two share classes.
using OpenMpi = Cluster*(const char* version, std::size_t longest_message);

}  // namespace slide
