// Counts of the samples that a command has read, and the warnings about them. One thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "datasets/rows/row_part.h"
#include "engine/cli/warnings.h"
#include "engine/model/model.h"
#include "engine/run/unknown.h"

namespace slide::cli {

class RowsRead {
 public:
  void add(const RowPart& part) {
    rows_ += part.rows.size();
    unknown_.features += part.unknown_features;
    unknown_.all_features += part.unknown_features + part.rows.feature_entries();
    texts_ += part.texts;
    words_.empty_rows += part.wordless;
  }

  // `data`: the path of the samples, "-" for standard input, which may be empty.
  void warn_if_empty(const std::string& data, bool of_users, Warnings& warnings) const;
  // Warns of features, items and words that `model` does not know.
  void warn_of_unknown(const std::string& data, const Model& model, Warnings& warnings) const;

 private:
  std::size_t rows_ = 0;
  Unknown unknown_;
  Unknown words_;  // of texts
  std::uint64_t texts_ = 0;
};

}  // namespace slide::cli
