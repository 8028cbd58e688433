// Text samples in memory, with the interface of text files for learning and reading.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "datasets/rows/labelled_line.h"
#include "datasets/rows/read_report.h"

namespace slide {

// Texts and their labels: text i has the labels label_names[label_ids[j]] for j in [label_offsets[i],
// label_offsets[i + 1]). Without offsets there are no labels. Views; the content must outlive them.
struct TextSamples {
  std::span<const std::string_view> texts;
  std::span<const std::uint64_t> label_offsets;  // texts + 1
  std::span<const std::uint32_t> label_ids;
  std::span<const std::string_view> label_names;
};

// The same in chunks for independent tasks, like LabelledChunks. `form`: of the model's labelled text; words
// that are labels there (split_unlabelled) are left out.
class TextSampleChunks {
 public:
  TextSampleChunks(const TextSamples& samples, TextForm form) : samples_(samples), form_(form) {}

  std::size_t size() const { return (samples_.texts.size() + kSamples - 1) / kSamples; }
  template <class Use>
  void for_each_line(std::size_t chunk, LabelledLine& parts, const Use& use) const {
    const std::size_t end = std::min(samples_.texts.size(), (chunk + 1) * kSamples);
    for (std::size_t i = chunk * kSamples; i < end; ++i) {
      split_unlabelled(samples_.texts[i], form_, parts);
      if (!samples_.label_offsets.empty()) {
        for (std::uint64_t j = samples_.label_offsets[i]; j < samples_.label_offsets[i + 1]; ++j)
          parts.labels.push_back(samples_.label_names[samples_.label_ids[j]]);
      }
      use(parts);
    }
  }
  // Texts in memory are never malformed.
  void check_faults() const {}
  void report_faults(ReadReport&) const {}
  bool has_weights() const { return false; }
  std::size_t dense_columns() const { return 0; }

 private:
  static constexpr std::size_t kSamples = 256;  // per chunk

  TextSamples samples_;
  TextForm form_;
};

}  // namespace slide
