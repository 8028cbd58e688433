#include "engine/model/packed_sections.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "engine/base/aligned.h"
#include "engine/base/error.h"
#include "engine/kernels/bf16.h"
#include "engine/model/int8_rows.h"
#include "engine/model/model_sections.h"
#include "engine/model/packed_lists.h"

namespace slide {

using kernels::from_bf16, kernels::to_bf16;

namespace {

constexpr const char* kBeyond = "rows beyond its length";

// Sparse rows.
struct Rows {
  IdLists lists;
  std::vector<float> values;
  std::span<float> row(std::size_t i) {
    return std::span(values).subspan(lists.offsets[i], lists.offsets[i + 1] - lists.offsets[i]);
  }
};

// Rounds a row as the form does.
void round_row(std::span<float> row, ModelForm form) {
  if (form == ModelForm::kBf16) {
    std::ranges::transform(row, row.begin(), kernels::nearest_bf16);
    return;
  }
  std::vector<std::int8_t> q(row.size());
  const int exponent = int8_exponent(row);
  to_int8(row, exponent, q.data());
  from_int8(q.data(), exponent, row);
}

// Rows of `ids` with the values value_of(row, i), rounded as the form does, without zeros.
template <class ValueOf>
Rows rounded(std::span<const std::uint64_t> offsets, std::span<const std::uint32_t> ids,
             const ValueOf& value_of, ModelForm form) {
  Rows rows;
  rows.lists.offsets.reserve(offsets.size());
  rows.lists.ids.reserve(ids.size());
  rows.values.reserve(ids.size());
  std::vector<float> row;
  for (std::size_t i = 0; i + 1 < offsets.size(); ++i) {
    row.clear();
    for (std::uint64_t at = offsets[i]; at < offsets[i + 1]; ++at) row.push_back(value_of(i, at));
    round_row(row, form);
    for (std::size_t c = 0; c < row.size(); ++c) {
      if (row[c] == 0.0f) continue;
      rows.lists.ids.push_back(ids[offsets[i] + c]);
      rows.values.push_back(row[c]);
    }
    rows.lists.offsets.push_back(rows.lists.ids.size());
  }
  return rows;
}

// Writes the lists of ids, then their values: bfloat16, or int8 with one exponent per row.
void put_rows(ByteWriter& out, Rows& rows, ModelForm form) {
  put_lists(out, rows.lists.offsets, rows.lists.ids);
  if (form == ModelForm::kBf16) {
    std::vector<std::uint16_t> halves(rows.values.size());
    std::ranges::transform(rows.values, halves.begin(), to_bf16);
    return out.put_values(halves);
  }
  const std::size_t count = rows.lists.offsets.size() - 1;
  std::vector<std::int8_t> exponents(count), q(rows.values.size());
  for (std::size_t i = 0; i < count; ++i) {
    const int exponent = int8_exponent(rows.row(i));
    exponents[i] = static_cast<std::int8_t>(exponent);
    to_int8(rows.row(i), exponent, q.data() + rows.lists.offsets[i]);
  }
  out.put_values(exponents);
  out.put_values(q);
}

// Reads the values of all lists and keeps the values of the rows `own`. Row i has values [offsets[i],
// offsets[i + 1]).
SmallValues get_values(ByteReader& in, std::span<const std::uint64_t> offsets, Slice own, ModelForm form) {
  const std::uint64_t begin = offsets[own.first], end = offsets[own.end()], all = offsets.back();
  const std::size_t rows = offsets.size() - 1;
  SmallValues values;
  const auto get_own = [&](auto& of, std::uint64_t from, std::uint64_t to, std::uint64_t count) {
    in.skip(from * sizeof(of[0]));
    in.get_vector(of, to - from);
    in.skip((count - to) * sizeof(of[0]));
  };
  if (form == ModelForm::kInt8) {
    get_own(values.exponents, own.first, own.end(), rows);
    if (!are_int8_exponents(values.exponents)) in.refuse("steps of rows that cannot be");
    get_own(values.q, begin, end, all);
  } else {
    get_own(values.halves, begin, end, all);
  }
  return values;
}

// Writes an exponent and one byte per number for each row.
void put_int8_rows(ByteWriter& out, const DenseSamples& rows) {
  std::vector<float> row(rows.columns());
  std::vector<std::int8_t> q(rows.columns());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows.get_row(i, row.data());
    const int exponent = int8_exponent(row);
    to_int8(row, exponent, q.data());
    out.put(static_cast<std::int8_t>(exponent));
    out.put_values(q);
  }
}

// Reads what put_int8_rows() writes; none for models with sparse features.
DenseSamples get_int8_rows(ByteReader& in, std::size_t samples, const DataShape& shape) {
  if (shape.dense == 0 || shape.dense < shape.features) return {};
  if (samples > in.left() / (shape.dense + 1)) in.refuse(kBeyond);
  DenseSamples rows(shape.dense, samples);
  std::vector<float> row(shape.dense);
  std::vector<std::int8_t> q(shape.dense);
  for (std::size_t i = 0; i < samples; ++i) {
    const auto exponent = in.get<std::int8_t>();
    in.get_values(q);
    if (!are_int8_exponents({&exponent, 1})) in.refuse("steps of rows that cannot be");
    from_int8(q.data(), exponent, row);
    if (!are_dense_values(row)) in.refuse("impossible neighbours");
    rows.set_row(i, row.data());
  }
  return rows;
}

bool are_neighbour_values(const Neighbours::Storage& kept) {
  for (std::size_t i = 0; i < kept.samples(); ++i) {
    for (std::uint64_t at = kept.feature_offsets[i]; at < kept.feature_offsets[i + 1]; ++at)
      if (!is_neighbour_value(to_bf16(kept.value(i, at)))) return false;
  }
  return true;
}

}  // namespace

void put_packed_wide(ByteWriter& out, const LinearTerm& wide, ModelForm form) {
  const LinearTerm::Storage& kept = wide.storage();
  Rows rows = rounded(
      kept.offsets, {kept.features.data(), kept.features.size()},
      [&](std::size_t n, std::uint64_t at) { return kept.weight(n, at); }, form);
  put_rows(out, rows, form);
}

// Reads the lists of all neurons and keeps those of the own ones, with offsets from 0.
std::unique_ptr<LinearTerm> get_packed_wide(ByteReader& in, const Network& network, ModelForm form) {
  auto wide = std::make_unique<LinearTerm>(network.output().config());
  const Slice own = network.parts().own_neurons();
  const IdLists lists = get_lists(in, network.labels(), network.sample_features(), "wide weights");
  const std::vector<std::uint64_t>& offsets = lists.offsets;
  const std::uint64_t begin = offsets[own.first], end = offsets[own.end()];
  LinearTerm::Storage& kept = wide->storage();
  kept.small = get_values(in, offsets, own, form);
  if (!std::ranges::all_of(kept.small.halves, [](std::uint16_t x) { return std::isfinite(from_bf16(x)); }))
    in.refuse("wide weights: no finite number");
  kept.offsets.assign(offsets.begin() + static_cast<std::ptrdiff_t>(own.first),
                      offsets.begin() + static_cast<std::ptrdiff_t>(own.end() + 1));
  for (std::uint64_t& offset : kept.offsets) offset -= begin;
  kept.features = AlignedArray<std::uint32_t>(end - begin);
  std::copy_n(lists.ids.data() + begin, end - begin, kept.features.data());
  return wide;
}

void put_packed_neighbours(ByteWriter& out, const Neighbours& neighbours, ModelForm form) {
  const Neighbours::Storage& kept = neighbours.storage();
  Rows rows = rounded(
      kept.feature_offsets, kept.features, [&](std::size_t i, std::uint64_t at) { return kept.value(i, at); },
      form);
  out.put<std::uint64_t>(kept.samples());
  put_rows(out, rows, form);
  put_lists(out, kept.label_offsets, kept.labels);
  form == ModelForm::kBf16 ? put_dense_rows(out, kept.dense) : put_int8_rows(out, kept.dense);
}

// The kNN index with compressed lists of features and labels, then dense rows.
Neighbours get_packed_neighbours(ByteReader& in, const NeighbourConfig& config, const DataShape& shape,
                                 ModelForm form) {
  const auto samples = in.get<std::uint64_t>();
  if (samples > UINT32_MAX) in.refuse(kBeyond);
  IdLists lists = get_lists(in, samples, shape.features, "neighbours");
  SmallValues values = get_values(in, lists.offsets, {0, samples}, form);
  IdLists labels = get_lists(in, samples, shape.labels, "labels of neighbours");
  Neighbours::Storage kept;
  kept.values = std::move(values.halves);
  kept.small = std::move(values);
  kept.feature_offsets = std::move(lists.offsets);
  kept.features = std::move(lists.ids);
  if (!are_neighbour_values(kept)) in.refuse("impossible neighbours");
  kept.label_offsets = std::move(labels.offsets);
  kept.labels = std::move(labels.ids);
  kept.dense =
      form == ModelForm::kBf16 ? get_dense_rows(in, samples, shape) : get_int8_rows(in, samples, shape);
  return Neighbours(config, std::move(kept), shape.features);
}

}  // namespace slide
