// Writer of XMC text. One thread per writer; append_xmc_row() is safe from any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "datasets/rows/dataset.h"
#include "engine/base/atomic_file.h"

namespace slide {

// Appends one line, `l1,l2 f:v f:v`, to `text`. Values are printed such that they parse to the same float.
void append_xmc_row(std::string& text, std::span<const std::uint32_t> labels, const SparseRow& features);

// Writes a file that appears in finish() (atomic_file.h). Throws Error where the folder is not writable or
// the disk is full.
class XmcWriter {
 public:
  XmcWriter(const std::string& path, std::uint64_t samples, std::uint32_t feature_count,
            std::uint32_t label_count);

  // Writes complete lines from append_xmc_row().
  void write(std::string_view lines) { file_.write(lines); }
  void finish() { file_.finish(); }

 private:
  AtomicFile file_;
};

// Writes all samples to `path`, replacing an existing file.
void write_xmc(const Dataset& data, const std::string& path);

}  // namespace slide
