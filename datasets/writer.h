// Writes data sets as XMC text. One writer belongs to one thread; append_xmc_row is safe from any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "datasets/dataset.h"

namespace slide {

// Appends one line, `l1,l2 f:v f:v`, to `text`. Values are written so that they read back to the same float.
void append_xmc_row(std::string& text, std::span<const std::uint32_t> labels, const SparseRow& features);

// Writes a file under a temporary name beside `path` and gives it its name in finish(), so that `path` never
// holds half a file. A writer destroyed before finish() removes what it wrote. Throws Error when the folder
// cannot be written or the disk is full.
class XmcWriter {
 public:
  XmcWriter(std::string path, std::uint64_t samples, std::uint32_t feature_count, std::uint32_t label_count);
  ~XmcWriter();
  XmcWriter(const XmcWriter&) = delete;
  XmcWriter& operator=(const XmcWriter&) = delete;

  // Writes whole lines made by append_xmc_row.
  void write(std::string_view lines);
  void finish();

 private:
  [[noreturn]] void fail(const char* what, int reason) const;

  std::string path_;
  std::string temporary_;
  int descriptor_ = -1;
};

// Writes all samples to `path`, replacing what is there.
void write_xmc(const Dataset& data, const std::string& path);

}  // namespace slide
