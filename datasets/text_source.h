// A text that a reader goes through.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "datasets/file_bytes.h"

namespace slide {

inline constexpr std::size_t kDefaultChunkBytes = std::size_t{1} << 20;

// A text to parse; it must outlive this view.
struct TextSource {
  std::string_view text;
  std::string origin;               // stands for the file name in messages
  const FileBytes* file = nullptr;  // set: lets go of parts of the text once they are read

  void let_go(const char* begin, const char* end) const {
    if (file != nullptr) file->let_go({begin, end});
  }
};

}  // namespace slide
