#include "engine/report/evaluation.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace slide::report {

namespace {

constexpr std::size_t kDrawnPoints = 250;  // by recall, and as many by predictions

// The indices of points to draw, ascending: the ends, the point of the highest F1, and those where the recall
// or the position reaches the next of kDrawnPoints equal steps.
std::vector<std::size_t> drawn_points(std::span<const CurvePoint> curve) {
  std::vector<std::size_t> drawn;
  const auto step_of = [](std::uint64_t part, std::uint64_t whole) {
    return whole == 0 ? 0 : part * kDrawnPoints / whole;
  };
  std::size_t best = 0;
  for (std::size_t i = 0; i < curve.size(); ++i) {
    if (curve[i].counts.rates().f1 > curve[best].counts.rates().f1) best = i;
    const bool ends = i == 0 || i + 1 == curve.size();
    const std::uint64_t max_hits = curve.back().counts.hits;
    const bool next_recall =
        !ends && step_of(curve[i].counts.hits, max_hits) != step_of(curve[i - 1].counts.hits, max_hits);
    const bool next_position = !ends && step_of(i, curve.size()) != step_of(i - 1, curve.size());
    if (ends || next_recall || next_position) drawn.push_back(i);
  }
  if (!curve.empty()) drawn.push_back(best);
  std::ranges::sort(drawn);
  drawn.erase(std::unique(drawn.begin(), drawn.end()), drawn.end());
  return drawn;
}

}  // namespace

nlohmann::ordered_json evaluation_data(const std::string& name, const nlohmann::ordered_json& results,
                                       std::span<const CurvePoint> curve) {
  nlohmann::ordered_json data = {{"version", SLIDE_VERSION},
                                 {"name", name},
                                 {"results", results},
                                 {"points", nlohmann::ordered_json::array()}};
  for (const std::size_t i : drawn_points(curve)) {
    const Rates rates = curve[i].counts.rates();
    data["points"].push_back({{"threshold", decimal_of(curve[i].threshold)},
                              {"precision", rates.precision},
                              {"recall", rates.recall},
                              {"f1", rates.f1}});
  }
  return data;
}

}  // namespace slide::report
