// Label texts: descriptions of labels (titles, names), as text or as features of the same space as the
// samples'. Training takes each as an additional sample of its label, so that labels with few or no samples
// can be predicted. Functions are safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/dataset.h"
#include "datasets/file_bytes.h"
#include "datasets/read_options.h"

namespace slide {

class TextModel;

// Texts of named labels. Immutable, safe from any thread; not copyable.
class LabelTexts {
 public:
  static constexpr std::string_view kNames = "names";  // in place of a file: the label's name is its text

  // Reads a file, plain or compressed, of lines "name TAB text"; a label may have several. Throws InputError
  // with file and line for malformed lines.
  explicit LabelTexts(const std::string& path);

  // Calls use(label, text) for each text: of the file, or the names of `labels`.
  template <class Names, class Use>
  void for_each(const Names& labels, const Use& use) const {
    for (const Line& line : lines_) use(line.label, line.text);
    if (!are_names()) return;
    for (std::size_t label = 0; label < labels.size(); ++label) use(labels[label], labels[label]);
  }
  bool are_names() const { return file_ == nullptr; }
  // That the file is not UTF-8; else empty.
  const std::string& warning() const { return warning_; }
  struct Line {
    std::string_view label, text;
  };
  std::span<const Line> lines() const { return lines_; }  // of the file

 private:
  std::unique_ptr<const FileBytes> file_;
  std::vector<Line> lines_;
  std::string warning_;
};

// Rows of label texts, in label order, and counts of unusable ones.
struct LabelTextRows {
  Dataset rows;             // one label each
  std::size_t unknown = 0;  // texts of unknown labels
  std::size_t empty = 0;    // texts without a known word, or rows without features
};

// Converts texts with the vocabulary and labels of `names`.
LabelTextRows label_text_rows(const LabelTexts& texts, const TextModel& names, bool normalize);

// Reads label features from a file, one row per label, label 0 first: XMC or libsvm text without labels,
// optionally after a line `samples features`, or an .npz matrix; `options` as for samples. The file has at
// least `labels` rows (the labels of `data`, named in messages); further rows are labels without samples.
// Throws InputError otherwise.
LabelTextRows read_label_features(const std::string& path, const ReadOptions& options, std::size_t labels,
                                  const std::string& data);

// Appends `texts` to the samples of `train` as label texts of the given weight, relative to the mean sample
// weight 1; feature and label counts are the maxima. Throws Error where there are dense columns.
Dataset with_label_texts(const Dataset& train, const Dataset& texts, float weight, int threads);

}  // namespace slide
