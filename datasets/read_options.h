// How a data file is read. Plain values.
#pragma once

#include <cstdint>
#include <memory>

namespace slide {

class TextModel;
struct ReadReport;

enum class DataFormat { kAuto, kXmc, kLibsvm, kIdx, kText, kNpz };

struct ReadOptions {
  DataFormat format = DataFormat::kAuto;
  bool one_based = false;  // libsvm: feature ids start at 1
  bool normalize = true;   // scale each sample to unit Euclidean length (a zero sample stays zero)
  // Ids at or above are an error; 0 = what the header says, or no limit. A limit given here is also the
  // feature_count() or label_count() of the data set, so that a test set has the shape of its training set.
  std::uint32_t feature_limit = 0;
  std::uint32_t label_limit = 0;
  int threads = 0;  // 0 = all cores
  // What text is read with; without, labelled text is an error.
  std::shared_ptr<const TextModel> text = nullptr;
  // Lines of text with faults are left out; else the first one is an error.
  bool skip_bad = false;
  // Where a reading tells of itself, in place of what is there.
  ReadReport* report = nullptr;
};

}  // namespace slide
