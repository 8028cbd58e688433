#include "engine/run/unknown.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "datasets/data_parts.h"

namespace slide {

Unknown count_unknown(const Dataset& rows, const ReadReport& report, std::uint64_t labels) {
  Unknown unknown{0, report.unknown_features, report.unknown_labels};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto ids = rows.labels(i);
    unknown.empty_rows += rows.features(i).ids.empty() && rows.dense_count() == 0 ? 1 : 0;
    unknown.labels +=
        static_cast<std::uint64_t>(ids.end() - std::lower_bound(ids.begin(), ids.end(), labels));
  }
  return unknown;
}

std::string told(const Unknown& unknown, const std::string& path, std::uint64_t rows, bool text) {
  std::vector<std::string> kinds, facts;
  if (unknown.features > 0)
    kinds.push_back(fmt::format("{} {}", unknown.features, text ? "words and n-grams" : "features"));
  if (unknown.labels > 0) kinds.push_back(fmt::format("{} labels", unknown.labels));
  if (unknown.empty_rows > 0) {
    facts.push_back(
        fmt::format("{} of {} samples have no feature that the model knows", unknown.empty_rows, rows));
  }
  if (!kinds.empty())
    facts.push_back(fmt::format("unknown are {}, as often as they occur", fmt::join(kinds, " and ")));
  return facts.empty() ? "" : fmt::format("{}: {}", shown_path(path), fmt::join(facts, "; "));
}

}  // namespace slide
