#include "engine/network/optimizer.h"

#include <cmath>
#include <numbers>

#include "engine/base/rng.h"
#include "engine/kernels/bf16.h"
#include "engine/kernels/kernels.h"

namespace slide {

void PackedRow::reserve(std::size_t columns) {
  weights.resize(columns);
  first.resize(columns);
  second.resize(columns);
}

// `done`: share of the steps after the warm-up.
double Optimizer::rate_at(std::uint64_t step, std::uint64_t total) const {
  const double rate = config_.learning_rate;
  if (step < config_.warmup_steps) return rate * double(step + 1) / double(config_.warmup_steps);
  const double span = double(std::max<std::uint64_t>(total, config_.warmup_steps + 1) - config_.warmup_steps);
  const double done = std::min(1.0, double(step - config_.warmup_steps) / span);
  switch (config_.schedule) {
    case RateSchedule::kConstant:
      return rate;
    case RateSchedule::kLinear:
      return rate * (1.0 - done);
    case RateSchedule::kCosine:
      return rate * 0.5 * (1.0 + std::cos(std::numbers::pi * done));
  }
  return rate;
}

// Adam: the bias corrections c1 and c2 go into learning rate, decay and epsilon of the kernel.
void Optimizer::apply(float* w, float* first, float* second, std::uint32_t* steps, const float* g,
                      std::size_t n, float decay) const {
  const auto& k = kernels::active();
  const auto epsilon = static_cast<float>(config_.epsilon);
  switch (config_.kind) {
    case OptimizerKind::kSgd:
      k.sgd_row(w, g, n, rate_, decay);
      break;
    case OptimizerKind::kMomentum:
      k.momentum_row(w, first, g, n, rate_, decay, static_cast<float>(config_.momentum));
      break;
    case OptimizerKind::kAdagrad:
      k.adagrad_row(w, first, g, n, rate_, decay, epsilon);
      break;
    case OptimizerKind::kAdam: {
      const double t = ++*steps;
      const double correction =
          std::sqrt(1.0 - std::pow(config_.beta2, t)) / (1.0 - std::pow(config_.beta1, t));
      // m / c1 / (sqrt(v / c2) + e) = m * (sqrt(c2) / c1) / (sqrt(v) + e * sqrt(c2))
      const double root = std::sqrt(1.0 - std::pow(config_.beta2, t));
      k.adam_row(w, first, second, g, n, static_cast<float>(rate_ * correction),
                 static_cast<float>(decay / correction), static_cast<float>(config_.beta1),
                 static_cast<float>(config_.beta2), static_cast<float>(epsilon * root));
      break;
    }
  }
}

std::uint32_t Optimizer::noise(std::size_t r) const {
  return static_cast<std::uint32_t>(Rng(noise_seed_, Purpose::kRounding, noise_step_, r).next());
}

// SGD and Adagrad with one sum per row update the bfloat16 row in place. Rules with a state for each weight
// update an fp32 copy, which is then rounded at random.
void Optimizer::update_bf16(TrainedMatrix matrix, std::size_t r, const float* g, float decay,
                            PackedRow& packed) const {
  const auto& k = kernels::active();
  Parameters& p = matrix.values;
  MatrixState& state = matrix.state;
  if (config_.kind == OptimizerKind::kSgd) {
    k.sgd_row_bf16(p.pair_row(r), g, p.columns, rate_, decay, noise(p.first + r));
    return;
  }
  if (config_.kind == OptimizerKind::kAdagrad) {
    float& sum = state.first[r];
    sum += k.dot(g, g, p.columns) / static_cast<float>(p.columns);
    const float scale = 1.0f / (std::sqrt(sum) + static_cast<float>(config_.epsilon));
    k.sgd_row_bf16(p.pair_row(r), g, p.columns, rate_ * scale, decay / scale, noise(p.first + r));
    return;
  }
  p.load_row(r, packed.weights.data());
  apply(packed.weights.data(), state.first.data() + r * state.first_stride,
        state.second.empty() ? nullptr : state.second.data() + r * p.stride,
        state.steps.empty() ? nullptr : state.steps.data() + r, g, p.columns, decay);
  k.narrow(packed.weights.data(), p.columns, noise(p.first + r), p.pair_row(r));
}

void Optimizer::update(TrainedMatrix matrix, std::size_t r, const float* g, bool decayed,
                       PackedRow& packed) const {
  const float decay = decayed ? static_cast<float>(config_.weight_decay) : 0.0f;
  if (matrix.values.is_bf16()) return update_bf16(matrix, r, g, decay, packed);
  Parameters& p = matrix.values;
  MatrixState& state = matrix.state;
  float* first = state.first.empty() ? nullptr : state.first.data() + r * state.first_stride;
  float* second = state.second.empty() ? nullptr : state.second.data() + r * p.stride;
  std::uint32_t* steps = state.steps.empty() ? nullptr : state.steps.data() + r;
  apply(p.row(r), first, second, steps, g, p.columns, decay);
}

// Copies weights and state at `columns` to a packed row, updates it as one row, and writes it back.
void Optimizer::update_columns(TrainedMatrix matrix, std::size_t r, std::span<const std::uint32_t> columns,
                               const float* g, PackedRow& packed) const {
  Parameters& p = matrix.values;
  MatrixState& state = matrix.state;
  const bool full_first = !state.first.empty() && config_.kind != OptimizerKind::kAdagrad;
  const bool full_second = !state.second.empty();
  float* w = p.is_bf16() ? nullptr : p.row(r);
  const std::uint32_t* pairs = p.is_bf16() ? p.pair_row(r) : nullptr;
  float* first = full_first ? state.first.data() + r * p.stride : nullptr;
  float* second = full_second ? state.second.data() + r * p.stride : nullptr;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    packed.weights[i] = pairs != nullptr ? kernels::pair_value(pairs, columns[i]) : w[columns[i]];
    if (full_first) packed.first[i] = first[columns[i]];
    if (full_second) packed.second[i] = second[columns[i]];
  }
  float* one = full_first ? packed.first.data() : state.first.empty() ? nullptr : state.first.data() + r;
  apply(packed.weights.data(), one, packed.second.data(),
        state.steps.empty() ? nullptr : state.steps.data() + r, g, columns.size(),
        static_cast<float>(config_.weight_decay));
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (w != nullptr) w[columns[i]] = packed.weights[i];
    if (full_first) first[columns[i]] = packed.first[i];
    if (full_second) second[columns[i]] = packed.second[i];
  }
  if (w != nullptr) return;
  const std::uint32_t bits = noise(p.first + r);
  for (std::size_t i = 0; i < columns.size(); ++i) {
    kernels::set_pair_value(p.pair_row(r), columns[i], packed.weights[i], bits);
  }
}

}  // namespace slide
