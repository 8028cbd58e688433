// Reads external scores, and the true labels to evaluate them, from files. Functions are safe from any
// thread, with different LabelIndex objects.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "datasets/dataset.h"
#include "datasets/read_options.h"
#include "datasets/read_report.h"

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
  // The same of a label that samples carry: an unknown name gets a number behind those of the file.
  std::uint32_t find_carried(std::string_view name);

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

// How data are read for their labels.
struct TruthOptions {
  std::optional<DataFormat> format = {};  // none: from the content
  TableColumns columns = {};
  int threads = 0;
  ReadReport* report = nullptr;  // becomes what was warned of, beside what is there
};

// The samples that scores are of.
struct ScoredRows {
  std::size_t samples = 0;
  std::vector<std::uint64_t> blank = {};  // places of blank lines, among all lines (blank_rows.h)
};

// The labels of a data file, in any format that can be read, or labels alone: a matrix of SciPy in an
// .npz, or what read_labels() of label_lists.h takes in an .npy, whose name does not begin with X. Labels
// beyond those that are named or that have scores are kept: they count as missed. The first file that is read
// with an index says whether labels have names; data with a header, and matrices, how many labels there are.
// The result has no features. Throws InputError.
Dataset read_labels(const std::string& path, const TruthOptions& options, LabelIndex& index);

// What scores of the data that were read so may be of.
ScoredRows scored_rows(const std::string& path, const TruthOptions& options, std::size_t samples);

// Scores as features (ranking.h), a row a sample, from a matrix of SciPy in .npz or text with a sample a
// line, as `slide predict` prints it: `label:score` separated by blanks, or where labels have names
// `name:score` separated by tabs, or objects of JSON.
// "-" is standard input. Rows of blank lines are left out where there are such. Throws InputError for another
// number of rows than samples, with or without those, and with line and column for anything else at fault: a
// label twice, unknown or out of range, a score that is not finite. `order`, unless nullptr, gets for each
// entry which of its line it is, in text; of a matrix it stays empty.
Dataset read_scores(const std::string& path, const ScoredRows& rows, LabelIndex& index,
                    std::vector<std::uint32_t>* order = nullptr);

}  // namespace slide
