// Scores of all samples, for a file of `slide predict --out`.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "datasets/formats/npz_matrix.h"
#include "engine/run/label_names.h"

namespace slide::cli {

struct KeptScore {
  std::uint32_t label;
  float score;
  std::uint32_t rank;  // in its sample
};

// Collects the scores of all samples for a file. One thread.
class ScoreTable {
 public:
  void add_user(std::string_view user) { entries_.users.emplace_back(user); }
  // Appends the scores of a sample as a CSR row: `row` is in the order of the ranking and becomes sorted by
  // label. Equal scores that do not rank by label set has_ties_: only then does write() need the ranks.
  void add_row(std::span<KeptScore> row) {
    for (std::size_t i = 1; i < row.size(); ++i)
      has_ties_ |= row[i].score == row[i - 1].score && row[i].label < row[i - 1].label;
    std::ranges::sort(row, {}, &KeptScore::label);
    for (const KeptScore& kept : row) {
      entries_.ids.push_back(kept.label);
      entries_.values.push_back(kept.score);
      entries_.ranks.push_back(kept.rank);
    }
    entries_.ends.push_back(entries_.ids.size());
  }
  void write(const std::string& path, std::size_t labels, const LabelNames& names) {
    if (!has_ties_) entries_.ranks.clear();
    for (std::uint32_t label = 0; names.known() && label < labels; ++label)
      entries_.labels.emplace_back(names[label]);
    write_npz_matrix(path, std::move(entries_), static_cast<std::uint32_t>(labels));
  }

 private:
  NpzEntries entries_;
  bool has_ties_ = false;  // equal scores of a sample that are not by label
};

}  // namespace slide::cli
