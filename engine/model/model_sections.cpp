#include "engine/model/model_sections.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "engine/kernels/bf16.h"
#include "engine/model/model_checks.h"

namespace slide {

namespace {

// Whether the offsets divide the ids into lists, each ascending and below `bound`.
bool good_lists(std::span<const std::uint64_t> offsets, std::span<const std::uint32_t> ids,
                std::size_t bound) {
  if (offsets.front() != 0 || offsets.back() != ids.size() || !std::ranges::is_sorted(offsets)) return false;
  for (std::size_t i = 0; i + 1 < offsets.size(); ++i) {
    const auto own = ids.subspan(offsets[i], offsets[i + 1] - offsets[i]);
    if (std::ranges::adjacent_find(own, std::ranges::greater_equal()) != own.end() ||
        (!own.empty() && own.back() >= bound))
      return false;
  }
  return true;
}

}  // namespace

bool is_neighbour_value(std::uint16_t bf16) {
  const float size = std::fabs(kernels::from_bf16(bf16));
  return size >= 0.5f * Neighbours::kMinValue && size < 2.0f;
}

void put_wide(ByteWriter& out, const LinearTerm& wide, const OptimizerState* state) {
  if (!wide.storage().small.empty()) return put_wide(out, wide.widened(), state);
  out.put(out.shares_of(wide.weights()).all);
  put_shared_offsets(wide.storage().offsets, out);
  out.put_share(wide.storage().features);
  out.put_share(wide.storage().weights);
  if (state != nullptr) out.put_share(state->wide);
}

// Reads the lists of the own neurons from those of all: offsets, features, weights, each with `before`
// entries of earlier shards to skip.
std::unique_ptr<LinearTerm> get_wide(ByteReader& in, const Network& network, StoredState stored,
                                     OptimizerState& state) {
  constexpr const char* kImpossible = "impossible wide weights";
  auto wide = std::make_unique<LinearTerm>(network.output().config());
  LinearTerm::Storage& kept = wide->storage();
  const Slice own = network.parts().own_neurons();
  const std::uint64_t count = in.get_count(sizeof(float) + sizeof(std::uint32_t), kImpossible);
  kept.offsets.resize(own.count + 1);
  in.get_share(std::span(kept.offsets), own.first, network.labels() + 1);
  const std::uint64_t before = kept.offsets.front(), end = kept.offsets.back();
  if (before > end || end > count) in.refuse(kImpossible);
  for (std::uint64_t& offset : kept.offsets) offset -= before;
  kept.features = AlignedArray<std::uint32_t>(end - before);
  in.get_share(kept.features.span(), before, count);
  if (count > in.left() / sizeof(float)) in.refuse(kImpossible);
  kept.weights = AlignedArray<float>(end - before);
  in.skip(before * sizeof(float));
  wide->get_weights(in, network.sample_features());
  in.skip((count - end) * sizeof(float));
  if (stored == StoredState::kRead) {
    if (count > in.left() / sizeof(float)) in.refuse(kImpossible);
    state.wide = AlignedArray<float>(count);
    get_finite_rows(in, "optimizer state of the wide weights", 0, 1, state.wide.span());
    check_sums(state.wide.span(), in);
  }
  if (stored == StoredState::kSkip) in.skip(count * sizeof(float));
  return wide;
}

void put_crosses(ByteWriter& out, const FeatureCrosses& crosses) {
  if (!crosses.active()) return;
  out.put<std::uint64_t>(crosses.size());
  for (const FeatureCross& cross : crosses.crosses()) {
    out.put(cross.first);
    out.put(cross.second);
  }
}

FeatureCrosses get_crosses(ByteReader& in, std::size_t features) {
  std::vector<FeatureCross> crosses(
      in.get_count(2 * sizeof(std::uint32_t), "feature crosses beyond its length"));
  for (FeatureCross& cross : crosses) {
    cross.first = in.get<std::uint32_t>();
    cross.second = in.get<std::uint32_t>();
  }
  if (crosses.empty() || !FeatureCrosses::are_valid(crosses, features))
    in.refuse("impossible feature crosses");
  return FeatureCrosses(std::move(crosses), features);
}

void put_factors(ByteWriter& out, const FeatureScale& scale) {
  out.put_values(scale.factors());
}

FeatureScale get_factors(ByteReader& in, const DataConfig& config, std::size_t features) {
  if (features > in.left() / sizeof(float)) in.refuse("factors of features beyond its length");
  std::vector<float> factors;
  in.get_vector(factors, features);
  if (!FeatureScale::are_valid(factors)) in.refuse("impossible factors of features");
  return FeatureScale(std::move(factors), config.normalize);
}

// The kNN index as CSR arrays, with values in bfloat16; int8 values are widened.
void put_neighbours(ByteWriter& out, const Neighbours& neighbours) {
  const Neighbours::Storage& kept = neighbours.storage();
  out.put<std::uint64_t>(kept.samples());
  out.put<std::uint64_t>(kept.features.size());
  out.put<std::uint64_t>(kept.labels.size());
  out.put_values(kept.feature_offsets);
  out.put_values(kept.label_offsets);
  out.put_values(kept.features);
  out.put_values(kept.labels);
  if (kept.small.in_bytes()) {
    Neighbours::Storage wide = kept;
    wide.widen();
    out.put_values(wide.values);
  } else {
    out.put_values(kept.values);
  }
  put_dense_rows(out, kept.dense);
}

void put_dense_rows(ByteWriter& out, const DenseSamples& rows) {
  std::vector<float> row(rows.columns());
  std::vector<std::uint16_t> halves(rows.columns());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows.get_row(i, row.data());
    std::ranges::transform(row, halves.begin(), kernels::to_bf16);
    out.put_values(halves);
  }
}

// Rows [samples x dense] in bfloat16; only models without sparse features have them.
DenseSamples get_dense_rows(ByteReader& in, std::size_t samples, const DataShape& shape) {
  if (shape.dense == 0 || shape.dense < shape.features) return {};
  if (samples > in.left() / (shape.dense * sizeof(std::uint16_t))) in.refuse("neighbours beyond its length");
  DenseSamples rows(shape.dense, samples);
  std::vector<float> row(shape.dense);
  std::vector<std::uint16_t> halves(shape.dense);
  for (std::size_t i = 0; i < samples; ++i) {
    in.get_values(halves);
    std::ranges::transform(halves, row.begin(), kernels::from_bf16);
    if (!are_dense_values(row)) in.refuse("impossible neighbours");
    rows.set_row(i, row.data());
  }
  return rows;
}

bool are_dense_values(std::span<const float> row) {
  return std::ranges::all_of(row, [](float x) { return std::fabs(x) < 2.0F; });
}

// Reads what put_neighbours() writes; checks counts before memory is allocated, and all numbers before use.
Neighbours get_neighbours(ByteReader& in, const NeighbourConfig& config, const DataShape& shape) {
  constexpr const char* kBeyond = "neighbours beyond its length";
  const auto samples = in.get_count(2 * sizeof(std::uint64_t), kBeyond);
  const auto features = in.get_count(sizeof(std::uint32_t) + sizeof(std::uint16_t), kBeyond);
  const auto labels = in.get_count(sizeof(std::uint32_t), kBeyond);
  if (samples > UINT32_MAX) in.refuse(kBeyond);
  Neighbours::Storage kept;
  in.get_vector(kept.feature_offsets, samples + 1);
  in.get_vector(kept.label_offsets, samples + 1);
  in.get_vector(kept.features, features);
  in.get_vector(kept.labels, labels);
  in.get_vector(kept.values, features);
  if (!good_lists(kept.feature_offsets, kept.features, shape.features) ||
      !good_lists(kept.label_offsets, kept.labels, shape.labels) ||
      !std::ranges::all_of(kept.values, is_neighbour_value)) {
    in.refuse("impossible neighbours");
  }
  kept.dense = get_dense_rows(in, samples, shape);
  return Neighbours(config, std::move(kept), shape.features);
}

std::vector<std::uint16_t> get_feature_weights(ByteReader& in, const DataShape& shape) {
  if (shape.features > in.left() / sizeof(std::uint16_t))
    in.refuse("weights of features for neighbours beyond its length");
  std::vector<std::uint16_t> weights;
  in.get_vector(weights, shape.features);
  // Training keeps weights near 1; these bounds only refuse what damage makes of them.
  constexpr float kMinWeight = 0x1p-20F, kMaxWeight = 0x1p20F;
  const auto is_possible = [](std::uint16_t bf16) {
    return kernels::from_bf16(bf16) >= kMinWeight && kernels::from_bf16(bf16) <= kMaxWeight;
  };
  if (!std::ranges::all_of(weights, is_possible)) in.refuse("impossible weights of features for neighbours");
  return weights;
}

void put_thresholds(ByteWriter& out, const Thresholds& thresholds) {
  out.put(thresholds.all());
  out.put<std::uint64_t>(thresholds.own().size());
  for (const LabelThreshold& one : thresholds.own()) out.put(one.label);
  for (const LabelThreshold& one : thresholds.own()) out.put(one.threshold);
}

// The threshold of all labels, the labels with their own, ascending, then their thresholds.
Thresholds get_thresholds(ByteReader& in, std::uint64_t labels) {
  const auto possible = [](double threshold) {
    return threshold >= 0 && threshold <= std::numeric_limits<float>::max();
  };
  const auto all = in.get<double>();
  std::vector<LabelThreshold> own(
      in.get_count(sizeof(std::uint32_t) + sizeof(double), "thresholds beyond its length"));
  std::uint64_t next = 0;  // ascending
  for (LabelThreshold& one : own) {
    one.label = in.get<std::uint32_t>();
    if (one.label < next || one.label >= labels) in.refuse("thresholds of labels out of order");
    next = std::uint64_t{one.label} + 1;
  }
  for (LabelThreshold& one : own) one.threshold = in.get<double>();
  if (!possible(all) || !std::ranges::all_of(own, possible, &LabelThreshold::threshold))
    in.refuse("thresholds that are no probabilities");
  return Thresholds(all, std::move(own));
}

void put_calibration(ByteWriter& out, const Calibration& calibration) {
  for (const float term : {calibration.slope, calibration.offset, calibration.mass}) out.put(term);
}

Calibration get_calibration(ByteReader& in) {
  Calibration calibration;
  for (float* const term : {&calibration.slope, &calibration.offset, &calibration.mass}) {
    *term = in.get<float>();
    if (!std::isfinite(*term)) in.refuse("a calibration that is not finite");
  }
  if (!(calibration.slope > 0)) in.refuse("a calibration that turns the order of labels around");
  return calibration;
}

}  // namespace slide
