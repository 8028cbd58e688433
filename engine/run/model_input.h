// Where a model file comes from, and what it begins with (model_file.h). Functions may be called from any
// thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "engine/base/descriptor.h"

namespace slide {

inline constexpr std::string_view kModelMagic = "SLIDEMDL";
inline constexpr std::uint32_t kModelVersion = 10;  // the newest that is read

inline constexpr std::size_t kModelFlagsAt = 8 + 4;                      // behind magic and version
inline constexpr std::size_t kModelHeaderBytes = kModelFlagsAt + 4 + 8;  // and flags and length

// A regular file, from its begin.
struct ModelInput {
  Descriptor file;
  std::uint64_t bytes;
};

// The file, or what a pipe or a packed file holds. Throws InputError when there is none or it cannot be read,
// Error when there is no room for what a pipe holds.
ModelInput open_model_input(const std::string& path);

// Whether the file starts like a model. False also when it cannot be read, and for pipes, whose beginning
// would be lost.
bool looks_like_model(const std::string& path);

// Magic, version and length of a file of so many bytes that begins with `header`: throws InputError when it
// is no model, or not a whole one, or of a version that is not read. Returns the version.
std::uint32_t check_model_header(std::string_view header, std::uint64_t bytes, const std::string& path);

}  // namespace slide
