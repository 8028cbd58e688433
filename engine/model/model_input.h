// Opening of model files and their header (model_file.h). Functions are safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "engine/base/descriptor.h"
#include "engine/base/summed_file.h"

namespace slide {

inline constexpr std::string_view kModelMagic = "SLIDEMDL";
inline constexpr std::uint32_t kModelVersion = 12;  // newest readable version

inline constexpr std::size_t kModelFlagsAt = 8 + 4;                      // after magic and version
inline constexpr std::size_t kModelHeaderBytes = kModelFlagsAt + 4 + 8;  // plus flags and length

// A regular file, positioned at its start.
struct ModelInput {
  Descriptor file;
  std::uint64_t bytes;
};

// Opens the file; content of a pipe or compressed file is first copied to memory. Throws InputError where it
// is missing, unreadable or a device, Error where memory for a pipe's content is exhausted.
ModelInput open_model_input(const std::string& path);

// Throws InputError where `path` exists and is no regular file: a pipe or a device can be endless, and cannot
// be read a second time.
void require_regular_model(const std::string& path);

// For a model that is read more than once: where `path` is a pipe, copies its content to memory and changes
// `path` to the copy, which lasts as long as the result. Throws as open_model_input().
Descriptor hold_stream(std::string& path);

// Whether the file starts with the magic of a model. False for unreadable files and for pipes, whose data
// would be lost.
bool looks_like_model(const std::string& path);

// Throws InputError where a model file of `file_bytes` bytes cannot fit into free memory, before it takes
// any. A stored optimizer state is not always read: it has up to 12 bytes for each 2 bytes of weights, so
// only an eighth of the file is required.
void require_model_room(std::uint64_t file_bytes, bool state_stored, const std::string& path);

// Checks magic, version and length of a file of `bytes` bytes that begins with `header`; returns the version.
// Throws InputError where it is not a model, truncated, or of an unknown version.
std::uint32_t check_model_header(std::string_view header, std::uint64_t bytes, const std::string& path);

// A file whose magic and version have been read.
struct OpenedModel {
  std::unique_ptr<SummedReader> in;
  std::uint64_t bytes = 0;
  std::uint32_t version = 0;
};

// Reads the header. Throws as check_model_header(), and InputError where the file does not end as a model
// does.
OpenedModel open_model(ModelInput input, const std::string& path);

}  // namespace slide
