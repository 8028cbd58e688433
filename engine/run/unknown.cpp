#include "engine/run/unknown.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "datasets/rows/data_parts.h"

namespace slide {

// Adds to the reader's counts: rows without features, and label ids from `labels` on, which the model lacks.
Unknown count_unknown(const Dataset& rows, const ReadReport& report, std::uint64_t labels) {
  Unknown unknown{0, report.unknown_features, report.unknown_labels,
                  rows.feature_entries() + report.unknown_features,
                  rows.label_entries() + report.unknown_labels};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto ids = rows.labels(i);
    unknown.empty_rows += rows.features(i).ids.empty() && rows.dense_count() == 0 ? 1 : 0;
    unknown.labels +=
        static_cast<std::uint64_t>(ids.end() - std::lower_bound(ids.begin(), ids.end(), labels));
  }
  return unknown;
}

FeatureKind feature_kind(const TextModel* text, std::optional<DataFormat> format) {
  const bool numbers = format == DataFormat::kXmc || format == DataFormat::kLibsvm ||
                       format == DataFormat::kIdx || format == DataFormat::kNpz;
  if (text == nullptr || (numbers && !has_items(text->form()))) return FeatureKind::kNumbers;
  if (has_items(text->form())) return FeatureKind::kItems;
  return text->options().word_ngrams > 0 ? FeatureKind::kWords : FeatureKind::kCharacters;
}

std::string describe_unknown(const Unknown& unknown, const std::string& path, std::uint64_t rows,
                             FeatureKind kind) {
  const bool items = kind == FeatureKind::kItems;
  std::vector<std::string> kinds, facts;
  const char* const features = items                              ? "items"
                               : kind == FeatureKind::kWords      ? "words"
                               : kind == FeatureKind::kCharacters ? "character n-grams"
                                                                  : "features";
  if (unknown.features > 0) kinds.push_back(fmt::format("{} {}", unknown.features, features));
  if (unknown.labels > 0)
    kinds.push_back(fmt::format("{} {}", unknown.labels, items ? "items to predict" : "labels"));
  if (unknown.empty_rows > 0) {
    facts.push_back(fmt::format("{} of {} {} have no {} that the model knows", unknown.empty_rows, rows,
                                items ? "users" : "samples", items ? "item" : "feature"));
  }
  if (!kinds.empty())
    facts.push_back(fmt::format("unknown are {}, as often as they occur", fmt::join(kinds, " and ")));
  return facts.empty() ? "" : fmt::format("{}: {}", shown_path(path), fmt::join(facts, "; "));
}

std::string foreign_warning(const Unknown& unknown, const std::string& path, std::uint64_t rows,
                            FeatureKind kind) {
  const bool text = kind == FeatureKind::kWords || kind == FeatureKind::kCharacters;
  if (text && 2 * unknown.empty_rows > rows)
    return describe_unknown(unknown, path, rows, kind) +
           "; check that the data are those that the model is for";
  const bool features = 2 * unknown.features > unknown.all_features;
  const bool labels = unknown.labels < unknown.all_labels && 2 * unknown.labels > unknown.all_labels;
  if (kind != FeatureKind::kNumbers || !(features || labels)) return {};
  return fmt::format("{}, which is most of the {}; check that the data are those that the model is for",
                     describe_unknown(unknown, path, rows, kind), features ? "features" : "labels");
}

}  // namespace slide
