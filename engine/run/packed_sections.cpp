#include "engine/run/packed_sections.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "engine/base/aligned.h"
#include "engine/base/error.h"
#include "engine/kernels/bf16.h"
#include "engine/run/int8_rows.h"
#include "engine/run/model_sections.h"
#include "engine/run/packed_lists.h"

namespace slide {

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

// The row as the form holds it.
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

// Rows of these ids and values, value_of(i), as the form holds them, without what is 0.
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
    for (std::uint64_t at = offsets[i]; at < offsets[i + 1]; ++at) row.push_back(value_of(at));
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

void put_rows(ByteWriter& out, Rows& rows, ModelForm form) {
  put_lists(out, rows.lists.offsets, rows.lists.ids);
  if (form == ModelForm::kBf16) {
    std::vector<std::uint16_t> halves(rows.values.size());
    std::ranges::transform(rows.values, halves.begin(), kernels::to_bf16);
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

// Values of the rows' ids.
void get_int8_values(ByteReader& in, Rows& rows) {
  std::vector<std::int8_t> exponents, q;
  in.get_vector(exponents, rows.lists.offsets.size() - 1);
  in.get_vector(q, rows.lists.ids.size());
  if (!are_int8_exponents(exponents)) in.refuse("steps of rows that cannot be");
  rows.values.resize(q.size());
  for (std::size_t i = 0; i < exponents.size(); ++i)
    from_int8(q.data() + rows.lists.offsets[i], exponents[i], rows.row(i));
}

// So many rows of ids below `bound`. Values may be no number.
Rows get_rows(ByteReader& in, std::size_t count, std::size_t bound, ModelForm form, const char* what) {
  Rows rows;
  rows.lists = get_lists(in, count, bound, what);
  if (form == ModelForm::kInt8) {
    get_int8_values(in, rows);
    return rows;
  }
  std::vector<std::uint16_t> halves;
  in.get_vector(halves, rows.lists.ids.size());
  rows.values.resize(halves.size());
  std::ranges::transform(halves, rows.values.begin(), kernels::from_bf16);
  return rows;
}

// An exponent and numbers of a byte for each row.
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

}  // namespace

void put_packed_wide(ByteWriter& out, const WidePath& wide, ModelForm form) {
  const WidePath::Storage& kept = wide.storage();
  for (std::size_t n = 0; n + 1 < kept.offsets.size(); ++n) {
    const auto own = std::span(kept.features.data(), kept.features.size())
                         .subspan(kept.offsets[n], kept.offsets[n + 1] - kept.offsets[n]);
    if (std::ranges::adjacent_find(own, std::ranges::greater_equal()) != own.end())
      fail_input("wide weights of neuron {} do not ascend by feature; train again", n);
  }
  Rows rows = rounded(
      kept.offsets, {kept.features.data(), kept.features.size()},
      [&](std::uint64_t at) { return kept.weights.data()[at]; }, form);
  put_rows(out, rows, form);
}

std::unique_ptr<WidePath> get_packed_wide(ByteReader& in, const Network& network, ModelForm form) {
  auto wide = std::make_unique<WidePath>(network.output().config());
  const Slice own = network.parts().own_neurons();
  const Rows rows = get_rows(in, network.labels(), network.features(), form, "wide weights");
  if (!std::ranges::all_of(rows.values, [](float x) { return std::isfinite(x); }))
    in.refuse("wide weights: no finite number");
  const std::vector<std::uint64_t>& offsets = rows.lists.offsets;
  const std::uint64_t begin = offsets[own.first], end = offsets[own.end()];
  WidePath::Storage& kept = wide->storage();
  kept.offsets.assign(offsets.begin() + static_cast<std::ptrdiff_t>(own.first),
                      offsets.begin() + static_cast<std::ptrdiff_t>(own.end() + 1));
  for (std::uint64_t& offset : kept.offsets) offset -= begin;
  kept.features = AlignedArray<std::uint32_t>(end - begin);
  kept.weights = AlignedArray<float>(end - begin);
  std::copy_n(rows.lists.ids.data() + begin, end - begin, kept.features.data());
  std::copy_n(rows.values.data() + begin, end - begin, kept.weights.data());
  return wide;
}

void put_packed_neighbours(ByteWriter& out, const Neighbours& neighbours, ModelForm form) {
  const Neighbours::Storage& kept = neighbours.storage();
  Rows rows = rounded(
      kept.feature_offsets, kept.features,
      [&](std::uint64_t at) { return kernels::from_bf16(kept.values[at]); }, form);
  out.put<std::uint64_t>(kept.samples());
  put_rows(out, rows, form);
  put_lists(out, kept.label_offsets, kept.labels);
  form == ModelForm::kBf16 ? put_dense_rows(out, kept.dense) : put_int8_rows(out, kept.dense);
}

Neighbours get_packed_neighbours(ByteReader& in, const NeighbourConfig& config, const DataShape& shape,
                                 ModelForm form) {
  const auto samples = in.get<std::uint64_t>();
  if (samples > UINT32_MAX) in.refuse(kBeyond);
  Rows rows = get_rows(in, samples, shape.features, form, "neighbours");
  IdLists labels = get_lists(in, samples, shape.labels, "labels of neighbours");
  Neighbours::Storage kept;
  kept.values.resize(rows.values.size());
  std::ranges::transform(rows.values, kept.values.begin(), kernels::to_bf16);
  if (!std::ranges::all_of(kept.values, is_neighbour_value)) in.refuse("impossible neighbours");
  kept.feature_offsets = std::move(rows.lists.offsets);
  kept.features = std::move(rows.lists.ids);
  kept.label_offsets = std::move(labels.offsets);
  kept.labels = std::move(labels.ids);
  kept.dense =
      form == ModelForm::kBf16 ? get_dense_rows(in, samples, shape) : get_int8_rows(in, samples, shape);
  return Neighbours(config, std::move(kept), shape.features);
}

}  // namespace slide
