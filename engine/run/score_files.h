// Reads external scores, and the true labels to evaluate them, from files. Functions are safe from any
// thread, with different LabelIndex objects.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "datasets/dataset.h"
#include "datasets/read_options.h"

namespace slide {

// Maps labels in files to ids: the number in the file, or the id of the name where the file has names. One
// thread.
class LabelIndex {
 public:
  LabelIndex() = default;
  // Names from a file, one per line, label 0 first; other names are errors. Throws InputError for a duplicate
  // name.
  explicit LabelIndex(const std::string& names_file);
  LabelIndex(const LabelIndex&) = delete;  // ids_ refers to names_
  LabelIndex& operator=(const LabelIndex&) = delete;
  LabelIndex(LabelIndex&&) = default;
  LabelIndex& operator=(LabelIndex&&) = default;

  // Whether labels have names.
  bool named() const { return named_; }
  // Whether unknown names are added: names come from data, not from a names file.
  bool grows() const { return named_ && !fixed_; }
  // Upper bound of all labels; 0: unknown.
  std::uint32_t limit() const { return limit_; }
  std::string_view name(std::uint32_t label) const { return names_[label]; }
  std::size_t names() const { return names_.size(); }
  // nullopt for an unknown name, unless the index grows, which adds it.
  std::optional<std::uint32_t> find(std::string_view name);

  // Whether data with numeric labels were read.
  bool knows_numbers() const { return numbered_; }
  void name_by_data() { named_ = true; }
  void number_by_data() { numbered_ = true; }
  void limit_to(std::uint32_t labels) { limit_ = labels > limit_ ? labels : limit_; }

 private:
  std::uint32_t add(std::string_view name);

  bool named_ = false, fixed_ = false, numbered_ = false;
  std::uint32_t limit_ = 0;
  std::deque<std::string> names_;  // stable addresses
  std::unordered_map<std::string_view, std::uint32_t> ids_;
};

// Reads the labels of a data file in any readable format, or of a SciPy matrix of labels only (an .npz whose
// name does not begin with X). The first file read with an index determines whether labels have names; data
// with a header, and matrices, determine the number of labels. The result has no features. Throws InputError.
Dataset read_labels(const std::string& path, std::optional<DataFormat> format, int threads,
                    LabelIndex& index);

// Reads scores as features (ranking.h), one row per sample: a SciPy matrix in .npz, or text with one sample
// per line as `slide predict` prints it: `label:score` separated by blanks, or with names `name:score`
// separated by tabs. "-" is standard input. Throws InputError where the number of rows is not `samples`, and
// with line and column for a label that is duplicate, unknown or out of range, and a score that is not
// finite.
Dataset read_scores(const std::string& path, std::size_t samples, LabelIndex& index);

}  // namespace slide
