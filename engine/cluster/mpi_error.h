// Conversion of MPI failures to Error. Part of the plug-in.
#pragma once

#include <mpi.h>

#include <string>

#include "engine/base/error.h"

namespace slide {

// MPI's description of an error code.
inline std::string mpi_text(int code) {
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  if (MPI_Error_string(code, text, &length) != MPI_SUCCESS) return fmt::format("error {}", code);
  return {text, static_cast<std::size_t>(length)};
}

// Throws Error "MPI cannot WHAT: ..." unless `code` is success.
inline void check(int code, const char* what) {
  if (code != MPI_SUCCESS) fail_run("MPI cannot {}: {}", what, mpi_text(code));
}

}  // namespace slide
