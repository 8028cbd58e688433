// Common parts of tests over all instruction sets of the machine: fixture, lengths and shapes, bounds from
// double sums.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <string>

#include "engine/kernels/kernels.h"
#include "tests/kernels/guarded.h"

namespace slide::kernels::test {

inline constexpr std::size_t kLengths = 68;  // 0..67
inline constexpr std::size_t kRows = 21;     // 0..20
inline constexpr std::size_t kMatrixRows = 160;
inline constexpr std::size_t kLanes[] = {1, 16, 32, 48, 64};

class OfEverySet : public testing::TestWithParam<const KernelSet*> {
 protected:
  const KernelSet& set() const { return *GetParam(); }
};

inline std::string set_name(const testing::TestParamInfo<const KernelSet*>& set) {
  return set.param->name;
}

// A sum and the sum of its terms' magnitudes, in double.
struct Sum {
  double value = 0.0, magnitude = 0.0;
  void add(double term) { value += term, magnitude += std::fabs(term); }
};

// Whether `got` equals `want` up to the rounding of `terms` float additions.
inline bool agrees(float got, const Sum& want, std::size_t terms) {
  return std::fabs(got - want.value) <= rounding_bound(terms, want.magnitude);
}

}  // namespace slide::kernels::test
