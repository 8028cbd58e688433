// Features and labels of data that a model does not know. Pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "datasets/rows/dataset.h"
#include "datasets/rows/read_options.h"
#include "datasets/rows/read_report.h"
#include "datasets/text/text_model.h"

namespace slide {

// Counts of features and labels that a model of `labels` labels does not know.
struct Unknown {
  std::uint64_t empty_rows = 0;  // without a known feature
  std::uint64_t features = 0;    // left out; of text words, or character n-grams of a model of them alone
  std::uint64_t labels = 0;
  std::uint64_t all_features = 0, all_labels = 0;  // of the data, known ones included
};
Unknown count_unknown(const Dataset& rows, const ReadReport& report, std::uint64_t labels);
// Meaning of the features of a model.
enum class FeatureKind { kNumbers, kWords, kCharacters, kItems };
// `text`: the model's vocabulary, or nullptr. `format`: of the data, if known: a model of texts reads files
// of features, too, by their numbers.
FeatureKind feature_kind(const TextModel* text, std::optional<DataFormat> format = {});
std::string describe_unknown(const Unknown& unknown, const std::string& path, std::uint64_t rows,
                             FeatureKind kind);
// describe_unknown() as a warning, where the data are probably of another set: more than half of the features
// (numbers) are unknown, or of the labels, if some are known; or more than half of the texts have no known
// word. Else empty.
std::string foreign_warning(const Unknown& unknown, const std::string& path, std::uint64_t rows,
                            FeatureKind kind);

}  // namespace slide
