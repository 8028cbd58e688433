// Samples of text that are in memory already, for learning and reading as those of a file.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "datasets/labelled_line.h"
#include "datasets/read_report.h"

namespace slide {

// Texts and the labels of each: those of text i are label_names[label_ids[j]] for j from label_offsets[i] up
// to label_offsets[i + 1]. Without offsets there are none. Views of what outlives them.
struct TextSamples {
  std::span<const std::string_view> texts;
  std::span<const std::uint64_t> label_offsets;  // texts + 1
  std::span<const std::uint32_t> label_ids;
  std::span<const std::string_view> label_names;
};

// The same in chunks that threads go through on their own, as LabelledChunks has the lines of a text.
class TextSampleChunks {
 public:
  explicit TextSampleChunks(const TextSamples& samples) : samples_(samples) {}

  std::size_t size() const { return (samples_.texts.size() + kSamples - 1) / kSamples; }
  template <class Use>
  void for_each_line(std::size_t chunk, LabelledLine& parts, const Use& use) const {
    const std::size_t end = std::min(samples_.texts.size(), (chunk + 1) * kSamples);
    for (std::size_t i = chunk * kSamples; i < end; ++i) {
      parts.text = samples_.texts[i];
      parts.labels.clear();
      if (!samples_.label_offsets.empty()) {
        for (std::uint64_t j = samples_.label_offsets[i]; j < samples_.label_offsets[i + 1]; ++j)
          parts.labels.push_back(samples_.label_names[samples_.label_ids[j]]);
      }
      use(parts);
    }
  }
  // There are none: any text is one.
  void check_faults() const {}
  void report_faults(ReadReport&) const {}
  bool has_weights() const { return false; }

 private:
  static constexpr std::size_t kSamples = 256;  // of a chunk

  TextSamples samples_;
};

}  // namespace slide
