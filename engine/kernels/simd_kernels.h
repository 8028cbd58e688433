// The kernels written once over xsimd, one set of them for each instruction set.
#pragma once

#include "engine/kernels/simd_activations.h"
#include "engine/kernels/simd_backward.h"
#include "engine/kernels/simd_bf16_forward.h"
#include "engine/kernels/simd_bf16_rows.h"
#include "engine/kernels/simd_forward.h"
#include "engine/kernels/simd_gather.h"
#include "engine/kernels/simd_optimizers.h"
#include "engine/kernels/simd_patterns.h"
#include "engine/kernels/simd_selection.h"
#include "engine/kernels/simd_vectors.h"

namespace slide::kernels {
namespace {

template <class Arch>
constexpr KernelSet make_kernel_set(const char* name) {
  return {name,
          false,
          rows_forward<Arch>,
          rows_forward_bf16<Arch>,
          rows_backward_input<Arch>,
          rows_gradient<Arch>,
          gather_rows<Arch>,
          scatter_rows<Arch>,
          gather_rows_bf16<Arch>,
          dot<Arch>,
          sum<Arch>,
          axpy<Arch>,
          transpose,
          select_above<Arch>,
          pack_signs<Arch>,
          round_small<Arch>,
          meet<Arch>,
          part_kinds<Arch>,
          join_kinds<Arch>,
          softmax_lanes<Arch>,
          logistic_loss<Arch>,
          relu,
          sigmoid<Arch>,
          tanh<Arch>,
          relu_backward,
          sigmoid_backward,
          tanh_backward,
          sgd_row<Arch>,
          momentum_row<Arch>,
          adagrad_row<Arch>,
          sgd_row_bf16<Arch>,
          widen<Arch>,
          add_dots_bf16<Arch>,
          narrow<Arch>,
          narrow_nearest<Arch>,
          adagrad_masked<Arch>,
          adam_row<Arch>};
}

}  // namespace
}  // namespace slide::kernels
