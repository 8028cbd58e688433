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
  const FileBytes* file = nullptr;  // owner of the text, for release_pages(); nullptr: nothing to release

  // FileBytes::release_pages() for the text [begin, end).
  void release_pages(const char* begin, const char* end) const {
    if (file != nullptr) file->release_pages({begin, end});
  }
};

}  // namespace slide
