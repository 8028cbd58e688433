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

#include "datasets/rows/dataset.h"
#include "datasets/rows/file_bytes.h"

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
  // A warning where the file is not UTF-8; else empty.
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

// Appends a row with the single label `label` to `arrays`.
void append_label_row(std::uint32_t label, std::span<const std::uint32_t> ids, std::span<const float> values,
                      DatasetArrays& arrays);
// Throws InputError where the text at the start of the file `path` is of a foreign kind (detect.h); `wanted`:
// what label texts are read from.
void refuse_foreign_label_texts(std::string_view text, const std::string& path, const char* wanted);

}  // namespace slide
