// Assembles the kernel set of an instruction set from the templates of simd_*.h and their specialisations
// for `Arch`, an architecture of xsimd.
#pragma once

#include "engine/kernels/simd_activations.h"
#include "engine/kernels/simd_backward.h"
#include "engine/kernels/simd_bf16_forward.h"
#include "engine/kernels/simd_bf16_rows.h"
#include "engine/kernels/simd_forward.h"
#include "engine/kernels/simd_gather.h"
#include "engine/kernels/simd_int8.h"
#include "engine/kernels/simd_optimizers.h"
#include "engine/kernels/simd_patterns.h"
#include "engine/kernels/simd_selection.h"
#include "engine/kernels/simd_vectors.h"

namespace slide::kernels {
namespace {

template <class Arch>
constexpr KernelSet make_kernel_set(const char* name) {
  return {.name = name,
          .fast_bf16 = false,
          .fast_int8 = kFastInt8<Arch>,
          .rows_forward = rows_forward<Arch>,
          .rows_forward_bf16 = rows_forward_bf16<Arch>,
          .rows_forward_int8 = rows_forward_int8<Arch>,
          .rows_backward_input = rows_backward_input<Arch>,
          .rows_gradient = rows_gradient<Arch>,
          .gather_rows = gather_rows<Arch>,
          .scatter_rows = scatter_rows<Arch>,
          .gather_rows_bf16 = gather_rows_bf16<Arch>,
          .dot = dot<Arch>,
          .gather_dot = gather_dot<Arch>,
          .sum = sum<Arch>,
          .axpy = axpy<Arch>,
          .transpose = transpose,
          .select_above = select_above<Arch>,
          .behind_best = behind_best<Arch>,
          .pack_signs = pack_signs<Arch>,
          .sparsify = sparsify<Arch>,
          .find_present = find_present<Arch>,
          .part_kinds = part_kinds<Arch>,
          .join_kinds = join_kinds<Arch>,
          .softmax_lanes = softmax_lanes<Arch>,
          .logistic_loss = logistic_loss<Arch>,
          .exp = exp_doubles<Arch>,
          .relu = relu,
          .sigmoid = sigmoid<Arch>,
          .tanh = tanh<Arch>,
          .relu_backward = relu_backward,
          .sigmoid_backward = sigmoid_backward,
          .tanh_backward = tanh_backward,
          .sgd_row = sgd_row<Arch>,
          .momentum_row = momentum_row<Arch>,
          .adagrad_row = adagrad_row<Arch>,
          .sgd_row_bf16 = sgd_row_bf16<Arch>,
          .widen = widen<Arch>,
          .widen_int8 = widen_int8<Arch>,
          .pair_int8 = pair_int8<Arch>,
          .gather_rows_int8 = gather_rows_int8<Arch>,
          .add_dots_int8 = add_dots_int8<Arch>,
          .narrow_int8 = narrow_int8<Arch>,
          .narrow = narrow<Arch>,
          .narrow_nearest = narrow_nearest<Arch>,
          .adagrad_masked = adagrad_masked<Arch>,
          .adam_row = adam_row<Arch>};
}

}  // namespace
}  // namespace slide::kernels
