// Reads data files into a Dataset. The format is found from the content unless named.
#pragma once

#include <cstdint>
#include <string>

#include "datasets/dataset.h"

namespace slide {

enum class DataFormat { kAuto, kXmc, kLibsvm, kIdx };

struct ReadOptions {
  DataFormat format = DataFormat::kAuto;
  bool one_based = false;   // libsvm: feature ids start at 1
  bool normalize = true;    // scale each sample to unit Euclidean length (a zero sample stays zero)
  std::uint32_t feature_limit = 0;  // ids at or above are an error; 0 = what the header says, or no limit
  std::uint32_t label_limit = 0;
  int threads = 0;          // 0 = all cores
};

// Reads `path`. XMC text: header `N D L`, then `l1,l2 f:v f:v`. libsvm: `l1,l2 f:v`, no header, sizes from the
// data. IDX: `path` is the images file (plain or gzip), the labels file is found beside it by replacing
// `images-idx3` with `labels-idx1`. Throws InputError naming file, line and column of the first fault.
Dataset read_dataset(const std::string& path, const ReadOptions& options = {});

// Reads samples from text already in memory (`origin` stands for the file name in messages).
Dataset parse_dataset(std::string_view text, const std::string& origin, const ReadOptions& options = {});

}  // namespace slide
