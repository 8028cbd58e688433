#include "engine/inference/rows_by_length.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "engine/base/parallel.h"
#include "engine/kernels/kernels.h"

namespace slide {

namespace {

// Rows are sorted by some leading bits of their squared lengths, which tell differences of 2 % apart.
constexpr int kDropped = 18;
// RowsByLength::long_rows: rows whose squared length is at least kLong2 times that of the kRank-th longest.
constexpr std::size_t kRank = 64;
constexpr float kLong2 = 0.4F * 0.4F;

// By row, the upper bits of its squared length: the bits of floats that are not negative are in their order.
std::vector<std::uint32_t> sort_keys(const Layer& layer, int threads) {
  const std::size_t rows = layer.size(), columns = layer.inputs();
  const auto parts = static_cast<std::size_t>(threads);
  std::vector<std::uint32_t> keys(rows);
  parallel_for(parts, threads, [&](std::size_t part, int) {
    std::vector<float> row(columns);
    for (std::size_t r = rows * part / parts; r < rows * (part + 1) / parts; ++r) {
      layer.weights().load_row(r, row.data());
      const float length2 = kernels::active().dot(row.data(), row.data(), columns);
      keys[r] = std::bit_cast<std::uint32_t>(length2) >> kDropped;
    }
  });
  return keys;
}

}  // namespace

// A counting sort by falling keys.
RowsByLength rows_by_length(const Layer& layer, int threads) {
  const std::vector<std::uint32_t> keys = sort_keys(layer, threads);
  std::vector<std::size_t> places((std::size_t{1} << (32 - kDropped)) + 1);
  for (const std::uint32_t key : keys) ++places[key];
  std::size_t next = 0;
  for (auto place = places.rbegin(); place != places.rend(); ++place) next += std::exchange(*place, next);
  RowsByLength order;
  order.ids.resize(keys.size());
  for (std::uint32_t r = 0; r < keys.size(); ++r) order.ids[places[keys[r]]++] = r;
  const std::uint32_t ranked = keys[order.ids[std::min(kRank, keys.size()) - 1]];
  const float least = kLong2 * std::bit_cast<float>(ranked << kDropped);
  // places[key] is now the number of rows of this key or larger ones.
  order.long_rows = places[std::bit_cast<std::uint32_t>(least) >> kDropped];
  return order;
}

}  // namespace slide
