// A text to parse, with its origin.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "datasets/rows/file_bytes.h"

namespace slide {

inline constexpr std::size_t kDefaultChunkBytes = std::size_t{1} << 20;

// View of a text, which must outlive it.
struct TextSource {
  std::string_view text;
  std::string origin;               // replaces the file name in messages
  const FileBytes* file = nullptr;  // if set: releases memory of parsed parts

  // Releases the memory of the text [begin, end); it stays readable, from the file.
  void let_go(const char* begin, const char* end) const {
    if (file != nullptr) file->let_go({begin, end});
  }
};

}  // namespace slide
