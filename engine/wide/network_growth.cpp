#include "engine/wide/network_growth.h"

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "engine/base/parallel.h"
#include "engine/crosses/feature_transform.h"
#include "engine/kernels/kernels.h"
#include "engine/wide/linear_term.h"
#include "engine/wide/network_start.h"

namespace slide {

namespace {

template <class T>
AlignedArray<T> copy_of(const AlignedArray<T>& array) {
  AlignedArray<T> copy(array.size());
  std::ranges::copy(array, copy.begin());
  return copy;
}

// Old ids of a matrix's rows and columns, by new id.
struct MatrixGrowth {
  IdGrowth rows, columns;
  bool stays() const { return rows.stays() && columns.stays(); }
};

// Adds `pairs` feature crosses; their ids follow the ids of the features, before and after the growth.
IdGrowth with_pairs(IdGrowth features, std::size_t pairs) {
  for (std::size_t p = 0; p < pairs; ++p)
    features.was.push_back(static_cast<std::uint32_t>(features.before + p));
  features.before += pairs;
  return features;
}

// Growth of each matrix, in the order of Network::matrices().
std::vector<MatrixGrowth> growth_of(const Network& from, const Growth& growth) {
  const IdGrowth inputs = with_pairs(growth.features, crosses_of(from).size());
  const auto same = [](std::size_t count) { return IdGrowth::behind(count, count); };
  std::vector<MatrixGrowth> all;
  if (from.input()) {
    all.push_back({inputs, same(from.input()->size())});
    all.push_back({same(1), same(from.input()->size())});
  }
  for (std::size_t l = 0; l < from.layers().size(); ++l) {
    const Layer& layer = from.layers()[l];
    const IdGrowth rows = layer.output() ? growth.labels : same(layer.size());
    all.push_back({rows, l == 0 && !from.input() ? inputs : same(layer.inputs())});
    all.push_back({rows, same(1)});
  }
  return all;
}

// to[new id] = from[old id]; new columns are unchanged.
void copy_columns(const IdGrowth& columns, const float* from, float* to) {
  for (std::size_t c = 0; c < columns.size(); ++c) {
    if (columns.was[c] != kNewId) to[c] = from[columns.was[c]];
  }
}

// Rows of new ids keep their initial values.
void copy_rows(const Parameters& from, const MatrixGrowth& growth, int threads, Parameters& to) {
  parallel_for(to.rows, threads, [&](std::size_t r, int) {
    const std::uint32_t was = growth.rows.was[r];
    if (was == kNewId) return;
    if (!to.is_bf16()) return copy_columns(growth.columns, from.row(was), to.row(r));
    std::vector<float> before(from.columns), now(to.columns);
    from.load_row(was, before.data());
    to.load_row(r, now.data());
    copy_columns(growth.columns, before.data(), now.data());
    to.store_row(r, now.data());  // exact: all values are bfloat16
  });
}

// A larger optimizer array. `stride`: 1 for one number per row, else floats per row; 0: the array is unused.
AlignedArray<float> grown_state(const AlignedArray<float>& from, std::size_t stride_before,
                                std::size_t stride, const MatrixGrowth& growth) {
  AlignedArray<float> to(growth.rows.size() * stride);
  for (std::size_t r = 0; r < growth.rows.size() && stride > 0; ++r) {
    const std::uint32_t was = growth.rows.was[r];
    if (was == kNewId) continue;
    if (stride == 1) {
      to[r] = from[was];
    } else {
      copy_columns(growth.columns, from.data() + was * stride_before, to.data() + r * stride);
    }
  }
  return to;
}

MatrixState grown_state(const MatrixState& from, const Parameters& matrix, const MatrixGrowth& growth,
                        OptimizerKind kind) {
  MatrixState to(matrix, kind);
  to.first = grown_state(from.first, from.first_stride, to.first_stride, growth);
  to.second = grown_state(from.second, from.second_stride, to.second_stride, growth);
  for (std::size_t r = 0; r < to.steps.size(); ++r) {
    if (growth.rows.was[r] != kNewId) to.steps[r] = from.steps[growth.rows.was[r]];
  }
  return to;
}

// Sets the initial biases of new neurons from the new samples. Replaces the linear term by a larger one,
// with its Adagrad accumulators in `state`.
void grow_output(const Network& from, const GrownShape& to, int threads, OptimizerState* state,
                 Network& network) {
  const OutputSamples by =
      output_samples(network.config(), scale_of(network), to.more.raw, to.shape.labels, threads);
  const ItemWeights* const items = by.items ? &*by.items : nullptr;
  const DataShape more = shape_of(by.samples);
  const OutputInit init = output_init(network.config(), scale_of(network), by.samples, more, threads, items);
  const std::vector<std::uint32_t>& was = to.growth.labels.was;
  if (starts_at_frequencies(network.config().loss.kind)) {
    for (std::size_t i = 0; i < std::min(was.size(), to.shape.labels); ++i) {
      if (was[i] != kNewId) continue;
      const std::uint32_t with = i < more.labels ? more.label_frequencies[i] : 0;
      *network.output().bias().row(i) =
          static_cast<float>(init.offset + init.prior * log_odds(with, more.samples));
    }
  }
  if (!network.wide()) return;
  AlignedArray<float> sums;
  if (state != nullptr) sums = std::move(state->wide);
  const LinearTerm::More added{by.samples, scale_of(network), init.scale, to.shape.label_frequencies, items};
  network.output().set_term(std::make_unique<LinearTerm>(LinearTerm::grown(
      *linear_term_of(from.output()), network.output().config(), to.growth, added, threads, sums)));
  const std::size_t weights = network.output().term()->weights();
  if (state != nullptr) state->wide = sums.size() == weights ? std::move(sums) : AlignedArray<float>(weights);
}

}  // namespace

// Initialises the larger network as for a start, then copies the rows and columns of known features and
// labels over it, matrix by matrix; its optimizer state likewise.
Network grown(const Network& from, const Config& config, const GrownShape& to, int threads,
              OptimizerState* state) {
  const std::vector<MatrixGrowth> growth = growth_of(from, to.growth);
  Network network(config, to.shape, parts_for(config, to.more.crossed, to.growth.labels.size(), 0, 1));
  const auto before = from.matrices();
  const auto now = network.matrices();
  if (!std::ranges::all_of(growth, &MatrixGrowth::stays)) network.initialise(threads);
  OptimizerState remembered;
  for (std::size_t m = 0; m < now.size(); ++m) {
    copy_rows(*before[m], growth[m], threads, *now[m]);
    if (state != nullptr) {
      remembered.matrices.push_back(
          grown_state(state->matrices[m], *now[m], growth[m], config.optimizer.kind));
    }
  }
  if (state != nullptr) state->matrices = std::move(remembered.matrices);
  set_crosses(network, to.more.crosses);
  set_scale(network,
            scale_of(from).grown(to.growth.features, to.more.raw,
                                 to.shape.samples + to.more.raw.label_texts(), config.data.idf_power));
  grow_output(from, to, threads, state, network);
  return network;
}

OptimizerState copy_of(const OptimizerState& state) {
  OptimizerState copy;
  for (const MatrixState& from : state.matrices) {
    MatrixState to;
    to.first_stride = from.first_stride;
    to.second_stride = from.second_stride;
    to.counts_steps = from.counts_steps;
    to.first = copy_of(from.first);
    to.second = copy_of(from.second);
    to.steps = copy_of(from.steps);
    copy.matrices.push_back(std::move(to));
  }
  copy.wide = copy_of(state.wide);
  return copy;
}

}  // namespace slide
