// What labels are said to be: a title, a description, a name; as text, or as features that samples have, too.
// Training takes each as a sample of its label alone, so that a label with few samples, or none, is found by
// it. Functions are safe to call from any thread.
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

// Texts of labels that have names. Immutable, safe from any thread; not copyable.
class LabelTexts {
 public:
  static constexpr std::string_view kNames = "names";  // in place of a file: labels are what they are called

  // Of a file, plain or packed: lines of name, TAB and text; a label may have several. Throws InputError with
  // the file and line where that is not so.
  explicit LabelTexts(const std::string& path);

  // Calls use(label, text) for each text, of `labels` or of the file.
  template <class Names, class Use>
  void for_each(const Names& labels, const Use& use) const {
    for (const Line& line : lines_) use(line.label, line.text);
    if (!are_names()) return;
    for (std::size_t label = 0; label < labels.size(); ++label) use(labels[label], labels[label]);
  }
  bool are_names() const { return file_ == nullptr; }
  struct Line {
    std::string_view label, text;
  };
  std::span<const Line> lines() const { return lines_; }  // of the file

 private:
  std::unique_ptr<const FileBytes> file_;
  std::vector<Line> lines_;
};

// Rows of such texts, in the order of their labels, and those that are none.
struct LabelTextRows {
  Dataset rows;             // of one label each
  std::size_t unknown = 0;  // texts of what is no label
  std::size_t empty = 0;    // texts without a known word, or rows without features
};

// As `names` reads texts, whose words and labels it knows.
LabelTextRows label_text_rows(const LabelTexts& texts, const TextModel& names, bool normalize);

// Those of a file with the features of a label in each row, label 0 first: XMC text or libsvm without labels,
// or `samples features` in place of the header, or an .npz matrix; read by `options`. It has a row for each
// of `labels` labels of `data`, which names them in messages, and may have more, of labels without samples.
// Throws InputError where that is not so.
LabelTextRows read_label_features(const std::string& path, const ReadOptions& options, std::size_t labels,
                                  const std::string& data);

// `train`, and behind its samples the rows as texts of labels, each of this weight where the samples weigh 1
// in the mean: of as many features and labels as both have. Throws Error where there are dense columns.
Dataset with_label_texts(const Dataset& train, const Dataset& texts, float weight, int threads);

}  // namespace slide
