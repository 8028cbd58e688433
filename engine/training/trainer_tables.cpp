// Trainer: reports of the sources of active neurons and of the hash tables.
#include <algorithm>

#include "engine/training/trainer.h"

namespace slide {

void Trainer::report_tables(const TrainObserver& observer) const {
  if (!observer.tables) return;
  for (std::size_t l = 0; l < network_.layers().size(); ++l) {
    const lsh::NeuronIndex* index = network_.layers()[l].index();
    if (index == nullptr) continue;
    observer.tables({progress_.epoch, progress_.epoch * order_.size(), network_.number_in_config(l),
                     occupancy(network_.layers()[l])});
  }
}

lsh::Occupancy Trainer::occupancy(const Layer& layer) {
  lsh::Occupancy sum = layer.index()->occupancy();
  for (std::size_t part = 1; part < layer.parts(); ++part) sum.add(layer.index(part)->occupancy());
  return sum;
}

std::optional<TableHealth> Trainer::table_health() const {
  const Layer& output = network_.output();
  if (output.index() == nullptr) return std::nullopt;
  const lsh::Occupancy filled = occupancy(output);
  return TableHealth{training_.table_recall(network_),
                     double(filled.filed_in_full) / double(std::max<std::size_t>(filled.filed, 1)),
                     double(filled.largest_bucket) / double(output.neurons(0).count)};
}

// Active neurons of a sample by source, mean over the epoch; nullopt unless the output layer is sampled.
std::optional<ActiveSources> Trainer::sources_of_epoch() const {
  if (!network_.output().sampled()) return std::nullopt;
  ActiveSources mean;
  mean.add(progress_.sources, 1.0 / double(order_.size()));
  return mean;
}

}  // namespace slide
