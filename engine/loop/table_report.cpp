#include "engine/loop/table_report.h"

#include <algorithm>

#include "engine/network/network.h"

namespace slide {

lsh::Occupancy occupancy_of(const Layer& layer) {
  lsh::Occupancy sum = layer.index()->occupancy();
  for (std::size_t part = 1; part < layer.parts(); ++part) sum.add(layer.index(part)->occupancy());
  return sum;
}

std::optional<TableHealth> table_health(const Network& network, std::optional<double> recall) {
  const Layer& output = network.output();
  if (output.index() == nullptr) return std::nullopt;
  const lsh::Occupancy filled = occupancy_of(output);
  return TableHealth{recall, double(filled.filed_in_full) / double(std::max<std::size_t>(filled.filed, 1)),
                     double(filled.largest_bucket) / double(output.neurons(0).count)};
}

}  // namespace slide
