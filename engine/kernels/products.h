// Arguments of the two quantized products of KernelSet in one struct, to pass them to the functions for
// tiles. The members are named as in kernels.h. Plain data: files for any instruction set may include it.
#pragma once

#include "engine/kernels/kernels.h"

namespace slide::kernels {

// Parameters of rows_forward_bf16.
struct Bf16Product {
  const uint32_t* w;
  size_t ldw;
  const uint32_t* ids;
  size_t rows;
  const float* shift;
  size_t lanes;
  float* z;
};

// Parameters of rows_forward_int8.
struct Int8Product {
  const Int8Rows& w;
  size_t rows;
  const std::int32_t* start;
  const float* shift;
  const ByteSamples& x;
  float* z;
};

}  // namespace slide::kernels
