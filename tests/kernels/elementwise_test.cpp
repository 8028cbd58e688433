// Tests of softmax, logistic loss, activations and optimizer rows: every instruction set against double
// arithmetic and against the scalar set, at every length 0..67, between canaries.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <vector>

#include "engine/kernels/kernels.h"
#include "tests/kernels/guarded.h"
#include "tests/kernels/kernel_sets.h"

namespace slide::kernels {
namespace {

using test::Floats;
using test::kLanes;
using test::kLengths;
using test::normal_floats;

// Elementary functions in float are accurate to a few units in the last place, sums of up to 67 of them to
// ten more.
constexpr double kTolerance = 4e-6;

class Elementwise : public test::OfEverySet {};
INSTANTIATE_TEST_SUITE_P(Sets, Elementwise, testing::ValuesIn(available()), test::set_name);

void expect_close(double got, double want, double tolerance, std::size_t n, std::size_t at) {
  ASSERT_NEAR(got, want, tolerance * std::max(1.0, std::fabs(want))) << "length " << n << " at " << at;
}

// One distribution: logits z[0], z[lanes], ... in double.
struct Distribution {
  std::vector<double> p;
  double log_norm;
};
Distribution softmax(const Floats& z, std::size_t rows, std::size_t lanes, std::size_t lane) {
  double largest = -1e300, sum = 0.0;
  for (std::size_t a = 0; a < rows; ++a) largest = std::max(largest, double(z[a * lanes + lane]));
  Distribution d;
  for (std::size_t a = 0; a < rows; ++a) sum += d.p.emplace_back(std::exp(z[a * lanes + lane] - largest));
  for (double& p : d.p) p /= sum;
  d.log_norm = largest + std::log(sum);
  return d;
}

void expect_softmax(const KernelSet& set, const Floats& logits, std::size_t rows, std::size_t lanes,
                    float scale) {
  Floats z(rows * lanes), scalar(rows * lanes), log_norm(lanes, 1), scalar_norm(lanes);
  std::copy_n(logits.data(), rows * lanes, z.data());
  std::copy_n(logits.data(), rows * lanes, scalar.data());
  set.softmax_lanes(z.data(), lanes, rows, lanes, scale, log_norm.data());
  find("scalar")->softmax_lanes(scalar.data(), lanes, rows, lanes, scale, scalar_norm.data());
  ASSERT_TRUE(z.intact() && log_norm.intact()) << rows << " x " << lanes;
  for (std::size_t b = 0; b < lanes; ++b) {
    const Distribution want = softmax(logits, rows, lanes, b);
    expect_close(log_norm[b], want.log_norm, kTolerance, rows, b);
    for (std::size_t a = 0; a < rows; ++a) {
      ASSERT_TRUE(std::isfinite(z[a * lanes + b]));
      ASSERT_NEAR(z[a * lanes + b], scale * want.p[a], kTolerance * scale) << rows << " x " << lanes;
      ASSERT_NEAR(z[a * lanes + b], scalar[a * lanes + b], 2 * kTolerance * scale) << rows << " x " << lanes;
    }
  }
}

// Some of the lanes; adjacent lanes stay unchanged.
TEST_P(Elementwise, SoftmaxOfALaneDoesNotDependOnThoseBeside) {
  constexpr std::size_t kRows = 19, kAll = 64;
  const Floats logits = normal_floats(kRows * kAll, 5);
  Floats all(kRows * kAll), part(kRows * kAll), all_norm(kAll), part_norm(kAll);
  std::copy_n(logits.data(), kRows * kAll, all.data());
  std::copy_n(logits.data(), kRows * kAll, part.data());
  set().softmax_lanes(all.data(), kAll, kRows, kAll, 0.5f, all_norm.data());
  set().softmax_lanes(part.data() + 16, kAll, kRows, 32, 0.5f, part_norm.data() + 16);
  for (std::size_t i = 0; i < kRows * kAll; ++i) {
    const bool inside = i % kAll >= 16 && i % kAll < 48;
    ASSERT_EQ(part[i], inside ? all[i] : logits[i]) << i;
    if (inside) {
      ASSERT_EQ(part_norm[i % kAll], all_norm[i % kAll]);
    }
  }
}

TEST_P(Elementwise, SoftmaxOfEveryNumberOfRows) {
  for (const std::size_t lanes : kLanes) {
    for (std::size_t rows = 1; rows < kLengths; ++rows) {
      expect_softmax(set(), normal_floats(rows * lanes, rows), rows, lanes, rows % 2 == 0 ? 1.0f : 1.0f / 64);
    }
  }
}

TEST_P(Elementwise, SoftmaxOfHugeAndFarApartLogitsIsFinite) {
  for (const std::size_t lanes : kLanes) {
    for (const float reach : {90.0f, 1e4f, 1e30f}) {
      for (const std::size_t rows : {1, 2, 17, 40}) {
        Floats z = normal_floats(rows * lanes, rows);
        for (std::size_t i = 0; i < rows * lanes; ++i) z[i] *= reach;
        expect_softmax(set(), z, rows, lanes, 0.5f);
        for (std::size_t i = 0; i < rows * lanes; ++i) z[i] = reach;
        expect_softmax(set(), z, rows, lanes, 0.5f);
      }
    }
  }
}

TEST_P(Elementwise, LogisticLossAtEveryLength) {
  for (std::size_t n = 0; n < kLengths; ++n) {
    for (const float reach : {1.0f, 30.0f, 1e4f}) {
      const float weight = 0.25f * static_cast<float>(1 + n % 7);
      Floats logits = normal_floats(n, n), z(n, n % 4), scalar(n);
      for (std::size_t i = 0; i < n; ++i) z[i] = scalar[i] = logits[i] *= reach;
      const float loss = set().logistic_loss(z.data(), n, weight);
      const float scalar_loss = find("scalar")->logistic_loss(scalar.data(), n, weight);
      ASSERT_TRUE(z.intact()) << n;
      double want = 0.0;
      for (std::size_t i = 0; i < n; ++i) {
        const double x = logits[i];
        want += weight * (std::max(x, 0.0) + std::log1p(std::exp(-std::fabs(x))));
        expect_close(z[i], weight / (1.0 + std::exp(-x)), kTolerance, n, i);
        expect_close(z[i], scalar[i], 2 * kTolerance, n, i);
      }
      expect_close(loss, want, kTolerance, n, 0);
      expect_close(loss, scalar_loss, 2 * kTolerance, n, 0);
    }
  }
}

using InPlace = void (*KernelSet::*)(float*, std::size_t);

void expect_activation(const KernelSet& set, InPlace kernel, double (*f)(double)) {
  for (std::size_t n = 0; n < kLengths; ++n) {
    Floats in = normal_floats(n, n);
    const float special[] = {0.0f, -0.0f, 88.0f, -88.0f, 1e4f, -1e4f, 1e-6f, -1e-6f};
    for (std::size_t i = 0; i < n; ++i) in[i] = i % 3 == 1 ? special[i / 3 % 8] : 3.0f * in[i];
    Floats z(n, n % 5), scalar(n);
    std::copy_n(in.data(), n, z.data());
    std::copy_n(in.data(), n, scalar.data());
    (set.*kernel)(z.data(), n);
    (find("scalar")->*kernel)(scalar.data(), n);
    ASSERT_TRUE(z.intact()) << n;
    for (std::size_t i = 0; i < n; ++i) {
      expect_close(z[i], f(in[i]), kTolerance, n, i);
      expect_close(z[i], scalar[i], 2 * kTolerance, n, i);
    }
  }
}

TEST_P(Elementwise, ActivationsAtEveryLength) {
  expect_activation(set(), &KernelSet::relu, [](double x) { return std::max(x, 0.0); });
  expect_activation(set(), &KernelSet::sigmoid, [](double x) { return 1.0 / (1.0 + std::exp(-x)); });
  expect_activation(set(), &KernelSet::tanh, [](double x) { return std::tanh(x); });
}

TEST_P(Elementwise, ExponentialsOfDoublesAtEveryLength) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const double special[] = {0.0, -0.0, 709.0, -700.0, 711.0, -1000.0, kInfinity, -kInfinity, 1e-9, -1e-9};
  for (std::size_t n = 0; n < kLengths; ++n) {
    const Floats values = normal_floats(n, n);
    std::vector<double> in(n), x(n + 1, -3.0);  // one more, which must stay unchanged
    for (std::size_t i = 0; i < n; ++i) in[i] = i % 3 == 1 ? special[i / 3 % 10] : 20.0 * values[i];
    std::copy(in.begin(), in.end(), x.begin());
    set().exp(x.data(), n);
    EXPECT_EQ(x[n], -3.0) << n;
    for (std::size_t i = 0; i < n; ++i) {
      const double want = std::exp(in[i]);
      if (std::isinf(want)) {
        EXPECT_EQ(x[i], want) << in[i];
      } else {
        EXPECT_LE(std::fabs(x[i] - want), 4 * std::numeric_limits<double>::epsilon() * want) << in[i];
      }
    }
  }
}

using Backward = void (*KernelSet::*)(const float*, std::size_t, float*);

void expect_backward(const KernelSet& set, Backward kernel, double (*slope)(double)) {
  for (std::size_t n = 0; n < kLengths; ++n) {
    Floats y = normal_floats(n, n);
    const Floats before = normal_floats(n, n + 1);
    for (std::size_t i = 0; i < n; i += 4) y[i] = 0.0f;  // relu has no slope at 0
    Floats d(n, n % 5);
    std::copy_n(before.data(), n, d.data());
    (set.*kernel)(y.data(), n, d.data());
    ASSERT_TRUE(d.intact()) << n;
    for (std::size_t i = 0; i < n; ++i) expect_close(d[i], before[i] * slope(y[i]), kTolerance, n, i);
  }
}

TEST_P(Elementwise, BackwardFormsAtEveryLength) {
  expect_backward(set(), &KernelSet::relu_backward, [](double y) { return y > 0.0 ? 1.0 : 0.0; });
  expect_backward(set(), &KernelSet::sigmoid_backward, [](double y) { return y * (1.0 - y); });
  expect_backward(set(), &KernelSet::tanh_backward, [](double y) { return 1.0 - y * y; });
}

// A row of n weights with optimizer state, copied for each call of a kernel.
struct Row {
  explicit Row(std::size_t n) : w(n, n % 3), first(n, n % 5), second(n, n % 7) {
    const Floats a = normal_floats(n, 1), b = normal_floats(n, 2), c = normal_floats(n, 3);
    for (std::size_t k = 0; k < n; ++k) w[k] = a[k], first[k] = b[k], second[k] = c[k] * c[k];
  }
  Floats w, first, second;
  bool intact() const { return w.intact() && first.intact() && second.intact(); }
};

using RowUpdate = std::function<void(const KernelSet&, Row&, const float* g, std::size_t n)>;
using Reference = std::function<void(double g, double& w, double& first, double& second)>;

constexpr float kRate = 0.125f, kDecay = 0.3f, kEpsilon = 1e-3f;

void expect_row_update(const KernelSet& set, const RowUpdate& update, const Reference& reference) {
  for (std::size_t n = 0; n < kLengths; ++n) {
    const Floats g = normal_floats(n, 4, n % 2);
    Row row(n), scalar(n);
    const Row before(n);
    update(set, row, g.data(), n);
    update(*find("scalar"), scalar, g.data(), n);
    ASSERT_TRUE(row.intact()) << n;
    for (std::size_t k = 0; k < n; ++k) {
      double w = before.w[k], first = before.first[k], second = before.second[k];
      reference(g[k], w, first, second);
      expect_close(row.w[k], w, kTolerance, n, k);
      expect_close(row.first[k], first, kTolerance, n, k);
      expect_close(row.second[k], second, kTolerance, n, k);
      expect_close(row.w[k], scalar.w[k], 2 * kTolerance, n, k);
    }
  }
}

TEST_P(Elementwise, SgdAtEveryLength) {
  expect_row_update(
      set(),
      [](const KernelSet& k, Row& r, const float* g, std::size_t n) {
        k.sgd_row(r.w.data(), g, n, kRate, kDecay);
      },
      [](double g, double& w, double&, double&) { w = w - double(kRate) * kDecay * w - kRate * g; });
}

TEST_P(Elementwise, MomentumAtEveryLength) {
  expect_row_update(
      set(),
      [](const KernelSet& k, Row& r, const float* g, std::size_t n) {
        k.momentum_row(r.w.data(), r.first.data(), g, n, kRate, kDecay, 0.9f);
      },
      [](double g, double& w, double& velocity, double&) {
        velocity = double(0.9f) * velocity + g;
        w = w - double(kRate) * kDecay * w - kRate * velocity;
      });
}

TEST_P(Elementwise, AdamAtEveryLength) {
  expect_row_update(
      set(),
      [](const KernelSet& k, Row& r, const float* g, std::size_t n) {
        k.adam_row(r.w.data(), r.first.data(), r.second.data(), g, n, kRate, kDecay, 0.9f, 0.999f, kEpsilon);
      },
      [](double g, double& w, double& m, double& v) {
        m = double(0.9f) * m + (1.0 - double(0.9f)) * g;
        v = double(0.999f) * v + (1.0 - double(0.999f)) * g * g;
        w = w - double(kRate) * kDecay * w - kRate * m / (std::sqrt(v) + kEpsilon);
      });
}

TEST_P(Elementwise, AdagradHasOneAccumulatorARowAtEveryLength) {
  for (std::size_t n = 1; n < kLengths; ++n) {
    const Floats g = normal_floats(n, 4, n % 2);
    Row row(n);
    const Row before(n);
    Floats accumulator(1);
    accumulator[0] = 0.75f;
    set().adagrad_row(row.w.data(), accumulator.data(), g.data(), n, kRate, kDecay, kEpsilon);
    ASSERT_TRUE(row.intact() && accumulator.intact()) << n;
    double want = 0.0;
    for (std::size_t k = 0; k < n; ++k) want += double(g[k]) * g[k];
    want = 0.75 + want / double(n);
    expect_close(accumulator[0], want, kTolerance, n, 0);
    for (std::size_t k = 0; k < n; ++k) {
      const double w =
          (1.0 - double(kRate) * kDecay) * before.w[k] - kRate * g[k] / (std::sqrt(want) + kEpsilon);
      expect_close(row.w[k], w, kTolerance, n, k);
    }
  }
}

}  // namespace
}  // namespace slide::kernels
