#include "engine/inference/popular_items.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

#include "engine/inference/probability.h"
#include "engine/network/network.h"

namespace slide {

bool PopularItems::are_given(const TrainedNetwork& trained) {
  return trained.network.config().data.kind == DataKind::kInteractions && !trained.label_frequencies.empty();
}

// Ranks the own labels by their share of the users, or of all entries under softmax.
PopularItems::PopularItems(const TrainedNetwork& trained) {
  if (!are_given(trained)) return;
  const Config& config = trained.network.config();
  const auto frequencies = trained.label_frequencies;
  const bool softmax = is_normalised(config.loss.kind);
  const double entries = std::accumulate(frequencies.begin(), frequencies.end(), 0.0);
  const double all = softmax ? entries : double(std::max<std::size_t>(trained.samples, 1));
  const auto own = trained.network.parts().own_neurons();
  double sum = 0;
  for (std::size_t label = own.first; label < std::min(own.end(), frequencies.size()); ++label) {
    if (frequencies[label] == 0) continue;
    const double share = frequencies[label] / all;
    ranked_.push_back({static_cast<std::uint32_t>(label - own.first),
                       static_cast<float>(score_of(config.loss.kind, share))});
    sum += share;
  }
  if (softmax && sum > 0) log_norm_ = std::log(std::min(sum, 1.0));
  std::ranges::sort(ranked_, ranks_before);
}

}  // namespace slide
