#include "lsh/fetch_row.h"

#include "engine/kernels/kernels.h"

namespace slide::lsh {

const float* fetch_row(const WeightRows& rows, std::size_t dim, std::size_t id, float* buffer) {
  if (rows.fp32 != nullptr) return rows.fp32 + id * rows.stride;
  if (rows.int8.q != nullptr) {
    kernels::active().widen_int8(rows.int8, id, dim, buffer);
    return buffer;
  }
  kernels::active().widen(rows.pairs + id * rows.stride, dim, buffer);
  return buffer;
}

}  // namespace slide::lsh
