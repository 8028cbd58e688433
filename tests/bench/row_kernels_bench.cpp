// Kernels that read and write a few arrays once, against the rate at which one core reads its first-level
// cache. A unit of work is a byte read or written; what computes much for each number, as an exponential,
// stays far below the probe. Rows have 128 columns as in a training step, and `kRows` of them stay in the
// first-level cache.
#include <cmath>
#include <functional>
#include <numeric>
#include <string>

#include "engine/kernels/bf16.h"
#include "engine/kernels/kernels.h"
#include "tests/bench/kernel_shares.h"
#include "tests/bench/probes.h"

namespace slide::bench {
namespace {

constexpr std::size_t kRows = 8, kColumns = 128, kAll = kRows * kColumns, kLanes = 32;

using kernels::active;

// Registers a benchmark of what `make` returns: a call that reads and writes `bytes` bytes of its own data.
template <class Make>
void add(const std::string& name, std::size_t bytes, Make make) {
  benchmark::RegisterBenchmark(("BM_" + name).c_str(),
                               [=](benchmark::State& state) {
                                 auto call = make();
                                 measure_share(state, peak_near_bytes, double(bytes), call);
                               })
      ->UseManualTime()
      ->Iterations(1000);
}

AlignedArray<std::uint32_t> pairs_of(std::size_t rows) {
  AlignedArray<std::uint32_t> w(rows * kColumns / 2);
  for (std::size_t r = 0; r < rows; ++r)
    active().narrow_nearest(filled(kColumns).data(), kColumns, w.data() + r * kColumns / 2);
  return w;
}

std::vector<std::uint32_t> numbers(std::size_t count) {
  std::vector<std::uint32_t> ids(count);
  std::iota(ids.begin(), ids.end(), 0U);
  return ids;
}

// `update(row)` for each of kRows rows of up to four arrays: weights, two states and a gradient.
template <class Update>
void add_update(const std::string& name, std::size_t arrays, Update update) {
  add(name, arrays * kAll * sizeof(float), [=] {
    return
        [=, w = filled(kAll), m = filled(kAll), v = AlignedArray<float>(kAll), g = filled(kAll)]() mutable {
          for (std::size_t r = 0; r < kAll; r += kColumns)
            update(w.data() + r, m.data() + r, v.data() + r, g.data() + r);
        };
  });
}

void add_optimizers() {
  add_update("sgd_row", 3,
             [](float* w, float*, float*, const float* g) { active().sgd_row(w, g, kColumns, 1e-6f, 0); });
  add_update("momentum_row", 5, [](float* w, float* m, float*, const float* g) {
    active().momentum_row(w, m, g, kColumns, 1e-6f, 0, 0.9f);
  });
  add_update("adagrad_row", 4, [](float* w, float*, float* v, const float* g) {
    active().adagrad_row(w, v, g, kColumns, 1e-6f, 0, 1e-8f);
  });
  add_update("adam_row", 7, [](float* w, float* m, float* v, const float* g) {
    active().adam_row(w, m, v, g, kColumns, 1e-6f, 0, 0.9f, 0.999f, 1e-8f);
  });
  add("sgd_row_bf16", kAll * (2 + 2 + 4), [] {
    return [w = pairs_of(kRows), g = filled(kColumns)]() mutable {
      for (std::size_t r = 0; r < kRows; ++r)
        active().sgd_row_bf16(w.data() + r * kColumns / 2, g.data(), kColumns, 1e-6f, 0,
                              static_cast<std::uint32_t>(r));
    };
  });
  add("adagrad_masked", kAll * (4 * 4 + 4), [] {
    return [w = filled(kAll), sums = AlignedArray<float>(kAll), g = filled(kAll),
            masks = std::vector<std::uint16_t>(kAll / 16, 0xffff)]() mutable {
      active().adagrad_masked(w.data(), sums.data(), masks.data(), kAll, g.data(), 1.0f, 1e-6f);
    };
  });
}

// `compute(x, y)` of two arrays of kAll floats, of which it reads or writes `arrays` in all.
template <class Compute>
void add_arrays(const std::string& name, std::size_t arrays, Compute compute) {
  add(name, arrays * kAll * sizeof(float),
      [=] { return [=, x = filled(kAll), y = filled(kAll)]() mutable { compute(x.data(), y.data()); }; });
}

void add_elementwise() {
  add_arrays("dot", 2, [](float* x, float* y) {
    for (std::size_t r = 0; r < kAll; r += kColumns)
      benchmark::DoNotOptimize(active().dot(x + r, y + r, kColumns));
  });
  add_arrays("axpy", 3, [](float* x, float* y) {
    for (std::size_t r = 0; r < kAll; r += kColumns) active().axpy(1e-6f, x + r, kColumns, y + r);
  });
  add_arrays("sum", 1, [](float* x, float*) { benchmark::DoNotOptimize(active().sum(x, kAll)); });
  add_arrays("relu", 2, [](float* x, float*) { active().relu(x, kAll); });
  add_arrays("relu_backward", 3, [](float* x, float* y) { active().relu_backward(x, kAll, y); });
  add_arrays("sigmoid", 2, [](float* x, float*) { active().sigmoid(x, kAll); });
  add_arrays("sigmoid_backward", 3, [](float* x, float* y) { active().sigmoid_backward(x, kAll, y); });
  add_arrays("tanh", 2, [](float* x, float*) { active().tanh(x, kAll); });
  add_arrays("tanh_backward", 3, [](float* x, float* y) { active().tanh_backward(x, kAll, y); });
  add_arrays("logistic_loss", 2,
             [](float* x, float*) { benchmark::DoNotOptimize(active().logistic_loss(x, kAll, 0.5f)); });
  add_arrays("transpose", 2, [](float* x, float* y) {
    active().transpose(x, kLanes, kAll / kLanes, kLanes, kAll / kLanes, y);
  });
  add_arrays("softmax_lanes", 2,
             [](float* x, float* y) { active().softmax_lanes(x, kLanes, kAll / kLanes, kLanes, 1.0f, y); });
  add_arrays("behind_best", 2,
             [](float* x, float* y) { active().behind_best(x, kAll / kLanes, kLanes, kLanes, y); });
  add("exp", 3 * kAll * sizeof(double), [] {  // and a fill
    return [x = std::vector<double>(kAll, 0.0)]() mutable {
      active().exp(x.data(), kAll);
      for (double& value : x) value = 0.5;
    };
  });
}

void add_conversions() {
  add("widen", kAll * (2 + 4), [] {
    return [w = pairs_of(kRows), x = filled(kAll)]() mutable { active().widen(w.data(), kAll, x.data()); };
  });
  add("narrow", kAll * (4 + 2), [] {
    return
        [x = filled(kAll), w = pairs_of(kRows)]() mutable { active().narrow(x.data(), kAll, 1, w.data()); };
  });
  add("narrow_nearest", kAll * (4 + 2), [] {
    return [x = filled(kAll), w = pairs_of(kRows)]() mutable {
      active().narrow_nearest(x.data(), kAll, w.data());
    };
  });
  add("narrow_int8", kAll * (2 * 4 + 1), [] {  // twice through the row: the largest value, the numbers
    return [x = filled(kColumns), q = std::vector<std::int8_t>(kColumns)]() mutable {
      for (std::size_t r = 0; r < kRows; ++r)
        benchmark::DoNotOptimize(active().narrow_int8(x.data(), kColumns, q.data()));
    };
  });
  add("widen_int8", kAll * (1 + 4), [] {
    return [w = ByteRows(kRows, kColumns), x = filled(kColumns)]() mutable {
      for (std::size_t r = 0; r < kRows; ++r) active().widen_int8(w.rows(), r, kColumns, x.data());
    };
  });
  add("pair_int8", kAll * (1 + 2), [] {
    return [w = ByteRows(kRows, kColumns), pairs = pairs_of(1)]() mutable {
      for (std::size_t r = 0; r < kRows; ++r) active().pair_int8(w.rows(), r, kColumns, pairs.data());
    };
  });
  add("add_dots_int8", kAll * (1 + 4), [] {
    return [w = ByteRows(kRows, kColumns), ids = numbers(kRows), x = filled(kColumns),
            z = filled(kRows)]() mutable {
      active().add_dots_int8(w.rows(), ids.data(), kRows, x.data(), kColumns, z.data());
    };
  });
}

void add_selections() {
  add("select_above", kAll * 4, [] {  // a hundredth is above
    return [z = filled(kAll), least = std::vector<float>(kLanes, 0.49f), hits = numbers(kAll + 1)]() mutable {
      benchmark::DoNotOptimize(
          active().select_above(z.data(), kAll / kLanes, kLanes, least.data(), hits.data()));
    };
  });
  add("pack_signs", kAll * 4, [] {
    return [z = filled(kAll), prints = numbers(kLanes), nearest = numbers(kLanes)]() mutable {
      active().pack_signs(z.data(), nullptr, nullptr, kAll / kLanes, kLanes, prints.data(), nearest.data());
    };
  });
  add("sparsify", 4 * kAll * 4, [] {  // and a copy of gradients below the threshold, of which few stay
    return [small = filled(kAll), d = filled(kAll), places = numbers(kAll + 1),
            values = filled(kAll + 1)]() mutable {
      for (std::size_t i = 0; i < kAll; ++i) d[i] = 0.01f * small[i];
      benchmark::DoNotOptimize(active().sparsify(d.data(), kAll, 0.1f, 7, places.data(), values.data()));
    };
  });
}

// A neuron's pattern of kAll features, of which a block has every fourth.
struct Pattern {
  std::vector<std::uint32_t> ids = numbers(kAll), bits = std::vector<std::uint32_t>(kAll / 32, 0x11111111U),
                             first = std::vector<std::uint32_t>(kAll / 32);
  std::vector<std::uint16_t> masks = std::vector<std::uint16_t>(kAll / 16 * kernels::kKinds);
  std::vector<std::uint32_t> columns = numbers(kAll + 16), kinds = numbers(kAll),
                             parted = numbers(kernels::kKinds * (kAll + 16));
  AlignedArray<float> w = filled(kAll + 16), values = filled(kAll + 16),
                      weights = filled(kernels::kKinds * (kAll + 16));
  kernels::Parts parts{};

  Pattern() {
    for (std::size_t word = 1; word < first.size(); ++word) first[word] = first[word - 1] + 8;
    for (std::size_t kind = 0; kind < kernels::kKinds; ++kind) {
      parts.places[kind] = parted.data() + kind * (kAll + 16);
      parts.weights[kind] = weights.data() + kind * (kAll + 16);
    }
  }
};

void add_sparse() {
  add("gather_dot", kAll * 12, [] {
    return [x = filled(136'000), ids = scattered(kAll), values = filled(kAll)]() mutable {
      benchmark::DoNotOptimize(active().gather_dot(x.data(), ids.data(), values.data(), kAll));
    };
  });
  add("scatter_rows", kAll * 8, [] {
    return [h = filled(kRows * 10 * kColumns), ids = scattered(kRows), values = filled(kRows),
            x = filled(kColumns)]() mutable {
      active().scatter_rows(ids.data(), values.data(), kRows, ~0U, x.data(), kColumns, h.data(), kColumns);
    };
  });
  add("find_present", kAll * 8 + kAll / 4 * 8, [] {
    return [p = std::make_shared<Pattern>()] {
      benchmark::DoNotOptimize(active().find_present(p->ids.data(), p->w.data(), kAll, p->bits.data(),
                                                     p->first.data(), p->masks.data(), p->columns.data(),
                                                     p->values.data()));
    };
  });
  add("part_kinds", kAll * (4 + 4 + 4 + 8), [] {
    return [p = std::make_shared<Pattern>()] {
      active().part_kinds(p->ids.data(), p->w.data(), kAll, p->kinds.data(), p->masks.data(), p->parts);
    };
  });
  add("join_kinds", kAll * 8, [] {
    const auto p = std::make_shared<Pattern>();
    active().part_kinds(p->ids.data(), p->w.data(), kAll, p->kinds.data(), p->masks.data(), p->parts);
    return [p, g = filled(kAll + 16)]() mutable {
      active().join_kinds(p->masks.data(), kAll, p->parts.weights, g.data());
    };
  });
}

[[maybe_unused]] const bool added = [] {
  add_optimizers();
  add_elementwise();
  add_conversions();
  add_selections();
  add_sparse();
  return true;
}();

}  // namespace
}  // namespace slide::bench
