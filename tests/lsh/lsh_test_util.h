// Vectors and layouts for the tests of the hash tables.
#pragma once

#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/base/aligned.h"
#include "engine/base/rng.h"
#include "lsh/hash_functions.h"

namespace slide::lsh::test {

inline std::vector<float> normal_vector(std::size_t dim, std::uint64_t item) {
  Rng rng(1, Purpose::kTest, dim, item);
  std::vector<float> x(dim);
  for (float& value : x) value = static_cast<float>(rng.normal());
  return x;
}

// A vector at exactly `angle` to x (up to rounding), in a random direction, of the same norm.
inline std::vector<float> at_angle(const std::vector<float>& x, double angle, std::uint64_t item) {
  std::vector<float> y = normal_vector(x.size(), item + 1'000'000);
  double xx = 0, xy = 0, yy = 0;
  for (std::size_t k = 0; k < x.size(); ++k) xx += double(x[k]) * x[k], xy += double(x[k]) * y[k];
  for (std::size_t k = 0; k < x.size(); ++k) {
    y[k] -= static_cast<float>(xy / xx * x[k]);
    yy += double(y[k]) * y[k];
  }
  const double side = std::sin(angle) * std::sqrt(xx / yy);
  for (std::size_t k = 0; k < x.size(); ++k) y[k] = static_cast<float>(std::cos(angle) * x[k] + side * y[k]);
  return y;
}

// Sets all but about a share `keep` of the values to zero.
inline void sparsify(std::vector<float>& x, double keep, std::uint64_t item) {
  Rng rng(2, Purpose::kTest, x.size(), item);
  for (float& value : x) value = rng.uniform() < keep ? value : 0.0F;
}

// Unit-major block of the vectors, lanes rounded up to 16 (1 for a single vector).
struct Block {
  explicit Block(const std::vector<std::vector<float>>& vectors)
      : lanes(vectors.size() == 1 ? 1 : round_up(vectors.size(), 16)),
        samples(vectors.size()),
        dim(vectors[0].size()),
        xt(dim * lanes) {
    for (std::size_t b = 0; b < samples; ++b) {
      for (std::size_t k = 0; k < dim; ++k) xt[k * lanes + b] = vectors[b][k];
    }
  }
  QueryBlock query() const { return {xt.data(), dim, lanes, samples}; }

  std::size_t lanes, samples, dim;
  AlignedArray<float> xt;
};

struct Sparse {
  explicit Sparse(const std::vector<float>& x) {
    for (std::size_t k = 0; k < x.size(); ++k) {
      if (x[k] == 0.0F) continue;
      ids.push_back(static_cast<std::uint32_t>(k));
      values.push_back(x[k]);
    }
  }
  std::vector<std::uint32_t> ids;
  std::vector<float> values;
};

// Weight rows with an aligned stride.
struct Matrix {
  Matrix(std::size_t row_count, std::size_t dim)
      : rows(row_count), columns(dim), ldw(round_up(dim, 16)), w(row_count * ldw) {}
  void set(std::size_t i, const std::vector<float>& x) { std::copy(x.begin(), x.end(), w.data() + i * ldw); }
  static Matrix normal(std::size_t rows, std::size_t dim, std::uint64_t item = 0) {
    Matrix m(rows, dim);
    for (std::size_t i = 0; i < rows; ++i) m.set(i, normal_vector(dim, item + i));
    return m;
  }
  std::vector<float> row(std::size_t i) const { return {w.data() + i * ldw, w.data() + i * ldw + columns}; }

  std::size_t rows, columns, ldw;
  AlignedArray<float> w;
};

inline std::vector<std::uint32_t> all_tables(const HashFunctions& functions) {
  std::vector<std::uint32_t> tables(functions.tables());
  for (std::uint32_t t = 0; t < tables.size(); ++t) tables[t] = t;
  return tables;
}

// Fingerprints [table][lane] of a block, and [table] of a sparse vector.
inline std::vector<std::uint32_t> hash(const HashFunctions& functions, const Block& block) {
  HashScratch scratch;
  functions.prepare(scratch, block.lanes);
  std::vector<std::uint32_t> prints(functions.tables() * block.lanes);
  functions.hash_block(block.query(), all_tables(functions), scratch, prints.data());
  return prints;
}
inline std::vector<std::uint32_t> hash(const HashFunctions& functions, const Sparse& x) {
  HashScratch scratch;
  functions.prepare(scratch, 1);
  std::vector<std::uint32_t> prints(functions.tables());
  functions.hash_sparse(x.ids, x.values, all_tables(functions), scratch, prints.data());
  return prints;
}
inline std::vector<std::uint32_t> hash(const HashFunctions& functions, const std::vector<float>& x) {
  return hash(functions, Block({x}));
}

// Share of tables in which two vectors have equal fingerprints.
inline double agreement(const HashFunctions& functions, const std::vector<float>& x,
                        const std::vector<float>& y) {
  const auto a = hash(functions, x);
  const auto b = hash(functions, y);
  std::size_t same = 0;
  for (std::size_t t = 0; t < a.size(); ++t) same += a[t] == b[t] ? 1 : 0;
  return double(same) / double(a.size());
}

}  // namespace slide::lsh::test
