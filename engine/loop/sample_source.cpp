#include "engine/loop/sample_source.h"

#include <utility>

#include "engine/base/error.h"

namespace slide {

namespace {

// The rows with a label and a weight above 0; throws InputError if there is none.
std::vector<std::uint32_t> labelled_rows(const Dataset& rows, const std::string& origin) {
  std::vector<std::uint32_t> samples;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!rows.weights().empty() && rows.weights()[i] == 0) continue;  // a label text without weight
    if (!rows.labels(i).empty()) samples.push_back(static_cast<std::uint32_t>(i));
  }
  if (samples.empty()) {
    fail_input(
        "{}: no training sample has a label; give data with labels, which stand first in a line of text",
        origin);
  }
  return samples;
}

}  // namespace

RowSource::RowSource(Dataset rows, const std::string& origin)
    : SampleSource(labelled_rows(rows, origin)), rows_(std::move(rows)) {}

void RowSource::fill(const Network& network, std::span<const std::uint32_t> some, std::uint64_t /*epoch*/,
                     Block& block) {
  block.clear_samples();
  for (const std::uint32_t sample : some) {
    network.add_crossed_sample(rows_, sample, block);
    block.labels.push_back(rows_.labels(sample));
    if (!rows_.weights().empty()) block.weights.push_back(rows_.weights()[sample]);
  }
}

}  // namespace slide
