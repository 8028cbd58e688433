// Tests of the linear term: patterns, forward, gradient, postings and inference.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <numeric>
#include <set>

#include "engine/inference/inference.h"
#include "engine/network/loss.h"
#include "engine/training/trainer.h"
#include "engine/wide/linear_term.h"
#include "engine/wide/wide_postings.h"
#include "tests/wide/wide_test_util.h"

namespace slide::wide_test {
namespace {

std::vector<SparseRow> rows_of(const Dataset& data, std::size_t count) {
  std::vector<SparseRow> rows;
  for (std::size_t i = 0; i < count; ++i) rows.push_back(data.features(i));
  return rows;
}

// Sum over shared features, in double.
double naive_score(const LinearTerm& wide, std::uint32_t neuron, const SparseRow& row) {
  double sum = 0.0;
  const auto& s = wide.storage();
  for (std::uint64_t i = s.offsets[neuron]; i < s.offsets[neuron + 1]; ++i) {
    for (std::size_t k = 0; k < row.ids.size(); ++k) {
      if (row.ids[k] == s.features[i]) sum += double(s.weights[i]) * row.values[k];
    }
  }
  return sum;
}

TEST(LinearTerm, StartsAtTheNormalisedSumOfALabelsSamples) {
  const Dataset data = random_data(50);
  const LinearTerm wide(wide_config(1000), wide_config(1000).wide_scale, data, kLabels, 2);
  const auto& s = wide.storage();
  for (std::uint32_t label = 0; label < kLabels; ++label) {
    std::vector<double> sum(kFeatures, 0.0);
    double square = 0.0;
    for (std::size_t i = 0; i < data.size(); ++i) {
      const auto labels = data.labels(i);
      if (std::find(labels.begin(), labels.end(), label) == labels.end()) continue;
      for (std::size_t k = 0; k < 6; ++k) sum[data.features(i).ids[k]] += data.features(i).values[k];
    }
    for (const double v : sum) square += v * v;
    std::size_t present = 0;
    for (std::uint64_t i = s.offsets[label]; i < s.offsets[label + 1]; ++i) {
      EXPECT_NEAR(s.weights[i], 3.0 * sum[s.features[i]] / std::sqrt(square), 1e-5);
      if (i > s.offsets[label]) {
        EXPECT_LT(s.features[i - 1], s.features[i]);
      }
    }
    for (const double v : sum) present += v != 0.0 ? 1 : 0;
    EXPECT_EQ(s.offsets[label + 1] - s.offsets[label], present);
  }
}

TEST(LinearTerm, KeepsTheStrongestFeaturesWhateverTheThreadCount) {
  const Dataset data = random_data(50);
  const LinearTerm all(wide_config(1000), wide_config(1000).wide_scale, data, kLabels, 1),
      few(wide_config(5), wide_config(5).wide_scale, data, kLabels, 3);
  for (std::uint32_t label = 0; label < kLabels; ++label) {
    const auto& a = all.storage();
    const auto& f = few.storage();
    std::vector<float> weights(a.weights.begin() + std::ptrdiff_t(a.offsets[label]),
                               a.weights.begin() + std::ptrdiff_t(a.offsets[label + 1]));
    std::sort(weights.rbegin(), weights.rend());
    ASSERT_EQ(f.offsets[label + 1] - f.offsets[label], std::min<std::size_t>(5, weights.size()));
    for (std::uint64_t i = f.offsets[label]; i < f.offsets[label + 1]; ++i)
      EXPECT_GE(f.weights[i], weights[4]);
  }
}

class WideBlock : public testing::TestWithParam<std::size_t> {
 protected:
  WideBlock() : wide_(wide_config(7), wide_config(7).wide_scale, data_, kLabels, 1) {
    const std::size_t samples = GetParam() == 1 ? 1 : GetParam() - 3;  // a partial block
    rows_ = rows_of(data_, samples);
    features_.reserve(kFeatures, 6 * samples, GetParam());
    features_.build(rows_of(data_, samples), GetParam());  // a second build replaces the first
    features_.build(rows_, GetParam());
  }

  std::vector<float> scores() {
    AlignedArray<float> z(ids_.size() * GetParam());
    wide_.forward(features_, ids_, GetParam(), z.data(), hits_, working_);
    return {z.begin(), z.end()};
  }

  const Dataset data_ = random_data(130);
  LinearTerm wide_;
  std::vector<SparseRow> rows_;
  BlockFeatures features_;
  TermHits hits_;
  TermScratch working_;
  const std::vector<std::uint32_t> ids_ = {3, 0, 11, 7, 5};
};

TEST_P(WideBlock, PartsOfTheFeaturesMakeTheSameScores) {
  const std::vector<float> whole = scores();
  const std::size_t size = features_.size();
  for (int round = 0; round < 2; ++round) {
    features_.clear();
    features_.build(rows_, GetParam(), {32, UINT32_MAX}, 1);  // in any order
    features_.build(rows_, GetParam(), {0, 32}, 0);
    EXPECT_EQ(scores(), whole);
    EXPECT_EQ(features_.size(), size);
    if (round == 0) continue;
    features_.build(rows_of(data_, 1), GetParam());  // nothing of the parts remains
    features_.build(rows_, GetParam());
    EXPECT_EQ(scores(), whole);
  }
}

// Each feature of a block is a dense column or a list of exactly its entries, depending on the number of its
// samples.
TEST_P(WideBlock, FeaturesOfFewSamplesAreLists) {
  const std::size_t lanes = GetParam(), most = BlockFeatures::sparse_entries(lanes);
  std::vector<std::vector<float>> of(kFeatures, std::vector<float>(lanes, 0.0f));
  for (std::size_t s = 0; s < rows_.size(); ++s) {
    for (std::size_t i = 0; i < rows_[s].ids.size(); ++i) of[rows_[s].ids[i]][s] = rows_[s].values[i];
  }
  std::set<std::size_t> kinds;
  for (std::uint32_t f = 0, at = 0; f < kFeatures; ++f) {
    const auto samples =
        std::size_t(std::count_if(of[f].begin(), of[f].end(), [](float x) { return x != 0.0f; }));
    if (samples == 0) continue;
    if (f % 32 == 0 || (features_.present()[f / 32] & ((1u << (f % 32)) - 1)) == 0)
      at = features_.first()[f / 32];
    const std::uint32_t kind = features_.places()[at] % kernels::kKinds,
                        place = features_.places()[at] / kernels::kKinds;
    ++at;
    kinds.insert(kind);
    EXPECT_EQ(kind == 0, samples > most);
    std::vector<float> got(lanes, 0.0f);
    if (kind == 0) {
      std::copy_n(features_.columns() + place * lanes, lanes, got.begin());
    } else {
      EXPECT_LE(samples, 1u << kind);
      for (std::size_t e = 0; e < 1u << kind; ++e)
        got[features_.samples()[place + e]] += features_.values()[place + e];
    }
    EXPECT_EQ(got, of[f]) << f;
  }
  EXPECT_EQ(kinds.size(), lanes < 64 ? 1u : lanes == 64 ? 3u : 4u);
}

TEST_P(WideBlock, ForwardIsTheSparseProduct) {
  const auto z = scores();
  for (std::size_t a = 0; a < ids_.size(); ++a) {
    for (std::size_t s = 0; s < rows_.size(); ++s) {
      EXPECT_NEAR(z[a * GetParam() + s], naive_score(wide_, ids_[a], rows_[s]), 1e-5);
    }
  }
}

// d loss / d weight by central differences of a softmax loss in double; the first Adagrad step stores the
// squared gradient of the samples' sum in the accumulator and moves the weight against it.
TEST_P(WideBlock, GradientMatchesCentralDifferences) {
  const std::size_t lanes = GetParam();
  const auto loss = [&] {
    double total = 0.0;
    for (const SparseRow& row : rows_) {
      double sum = 0.0;
      for (const std::uint32_t id : ids_) sum += std::exp(naive_score(wide_, id, row));
      total += std::log(sum) - naive_score(wide_, ids_[1], row);
    }
    return total;
  };
  std::vector<std::vector<std::uint32_t>> labels(rows_.size(), {ids_[1]});
  ActiveSet set;
  set.label_offsets.push_back(0);
  for (std::size_t s = 0; s < rows_.size(); ++s) {
    set.label_positions.push_back(1);
    set.label_offsets.push_back(static_cast<std::uint32_t>(s + 1));
  }
  AlignedArray<float> z(ids_.size() * lanes);
  std::vector<float> norm(lanes), scratch;
  std::vector<double> losses(lanes);
  wide_.forward(features_, ids_, lanes, z.data(), hits_, working_);
  const float samples = 50.0f;  // of a batch with this block
  softmax_loss({&set, ids_.size(), rows_.size(), lanes}, {0, lanes}, 1.0f / samples, z.data(), norm.data(),
               losses.data());

  auto& s = wide_.storage();
  const std::vector<float> before(s.weights.begin(), s.weights.end());
  std::vector<double> expected(before.size(), 0.0);
  std::vector<float> squares(before.size(), 0.0f);
  for (std::size_t i = 0; i < before.size(); ++i) {
    const float step = 1e-3f;
    s.weights[i] = before[i] + step;
    const double up = loss(), high = s.weights[i];
    s.weights[i] = before[i] - step;
    expected[i] = (up - loss()) / (high - s.weights[i]);
    s.weights[i] = before[i];
  }
  for (std::size_t a = 0; a < ids_.size(); ++a) {
    wide_.update(ids_[a], {features_, hits_, a, lanes}, {z.data() + a * lanes, {}}, {0.5f, samples}, squares,
                 scratch);
  }
  for (std::size_t i = 0; i < before.size(); ++i) {
    const double tolerance = 1e-3 * (1.0 + std::fabs(expected[i])), g = expected[i];
    EXPECT_NEAR(squares[i], g * g, 2.0 * tolerance * (1.0 + std::fabs(g))) << i;
    const double moved = 0.5 * wide_config(7).wide_rate * g / std::sqrt(1.0 + g * g);
    EXPECT_NEAR(before[i] - s.weights[i], moved, tolerance) << i;
  }
}

// A copy with equal learning behaviour.
LinearTerm copy_of(const LinearTerm& wide) {
  LinearTerm copy(wide_config(7));
  const LinearTerm::Storage& from = wide.storage();
  LinearTerm::Storage& to = copy.storage();
  to.offsets = from.offsets;
  to.features = AlignedArray<std::uint32_t>(from.features.size());
  to.weights = AlignedArray<float>(from.weights.size());
  std::ranges::copy(from.features, to.features.begin());
  std::ranges::copy(from.weights, to.weights.begin());
  return copy;
}

// Gradients of a few samples: all of them, or listed.
TEST_P(WideBlock, ListedDeltasMoveWhatAllDeltasMove) {
  const std::size_t lanes = GetParam();
  scores();
  std::vector<float> squares(wide_.weights(), 0.0f);
  for (const std::size_t few : {1, 3, 5, 9}) {
    std::vector<float> d(lanes, 0.0f);
    std::vector<std::uint32_t> listed;
    for (std::size_t i = 0; i < std::min(few, rows_.size()); ++i) {
      listed.push_back(static_cast<std::uint32_t>(i * rows_.size() / few));
      d[listed.back()] = 0.01f * static_cast<float>(i + 1);
    }
    LinearTerm whole = copy_of(wide_);
    std::vector<float> whole_squares = squares;
    std::vector<float> scratch;
    for (std::size_t a = 0; a < ids_.size(); ++a) {
      const LinearTerm::BlockMatch at{features_, hits_, a, lanes};
      whole.update(ids_[a], at, {d.data(), {}}, {0.5f, 50.0f}, whole_squares, scratch);
      wide_.update(ids_[a], at, {d.data(), listed}, {0.5f, 50.0f}, squares, scratch);
    }
    for (std::size_t i = 0; i < whole.storage().weights.size(); ++i) {
      const float weight = whole.storage().weights[i], square = whole_squares[i];
      EXPECT_NEAR(wide_.storage().weights[i], weight, 2e-6 * (1 + std::fabs(weight))) << few;
      EXPECT_NEAR(squares[i], square, 2e-6 * (1 + square)) << few;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Lanes, WideBlock, testing::Values(1, 16, 32, 48, 64, 128));

std::vector<std::uint32_t> first_ids(std::size_t count) {
  std::vector<std::uint32_t> ids(count);
  std::iota(ids.begin(), ids.end(), 0U);
  return ids;
}

TEST(WidePostings, AddScoresAllNeuronsRangeByRange) {
  const Dataset data = random_data(130);
  const LinearTerm wide(wide_config(7), wide_config(7).wide_scale, data, kLabels, 1);
  const WidePostings postings(wide, first_ids(kLabels), kFeatures, 2);
  for (const std::size_t lanes : {1, 16, 32, 64, 128}) {
    std::vector<SparseRow> rows;
    for (std::size_t i = 0; i < (lanes == 1 ? 1 : lanes - 3); ++i) rows.push_back(data.features(i));
    BlockFeatures features;
    features.reserve(kFeatures, bounds_of(data, lanes).feature_entries, lanes);
    WidePostings::Walk walk;
    for (std::size_t turn = 0; turn < 2; ++turn) {  // the walk starts again
      features.build(rows, lanes);
      postings.start(features, walk);
      for (std::size_t first = 0; first < kLabels; first += 3) {
        const std::size_t end = std::min<std::size_t>(kLabels, first + 3);
        std::vector<float> z((end - first) * lanes, 0.5f);
        postings.add(features, first, end, lanes, z.data(), walk);
        for (std::size_t n = first; n < end; ++n) {
          for (std::size_t s = 0; s < rows.size(); ++s) {
            EXPECT_NEAR(z[(n - first) * lanes + s],
                        0.5 + naive_score(wide, static_cast<std::uint32_t>(n), rows[s]), 1e-5);
          }
        }
      }
    }
  }
}

// With many labels, some neurons are scored for all samples together, with separate postings.
TEST(WideInference, CandidatesAreScoredAsInTheFullRanking) {
  for (const std::uint32_t labels : {kLabels, 5000U}) {
    const Dataset data = random_data(labels == kLabels ? 300 : 1500, labels);
    const Config config = parse_config(
        "[train]\nepochs = 3\nbatch_size = 32\nblock_size = 16\n[optimizer]\nlearning_rate = 0.05\n"
        "[loss]\nkind = \"softmax\"\ngradient_threshold = 0\n[neighbours]\nshare = 0\n[[layer]]\nsize = 16\n"
        "[[layer]]\nkind = \"sampled\"\nlsh = 4\nuniform = 4\nlogq_correction = true\nwide = true\n"
        "wide_features = 128\nwide_negatives = 3\nwide_rate = 0.1\nwide_scale = 1\nwide_fit = 0\n"
        "[layer.hash]\nrange_pow = 9\nrehash_steps = 100\n",
        "test");
    Trainer trainer(fresh_job(config, data));
    trainer.run({});
    const Dataset some = data.slice(0, 200);
    InferenceOptions options;
    options.k = labels;
    std::vector<std::vector<float>> full(some.size(), std::vector<float>(labels));
    Predictor(trainer.trained(), options).predict(some, [&](std::size_t i, std::span<const Prediction> best) {
      for (const Prediction& p : best) full[i][p.label] = p.score;
    });
    options.mode = Inference::kLsh;
    options.candidates = labels == kLabels ? 5 : 300;
    std::atomic<std::size_t> answers = 0;
    Predictor(trainer.trained(), options).predict(some, [&](std::size_t i, std::span<const Prediction> best) {
      std::set<std::uint32_t> seen;
      answers += best.size();
      for (const Prediction& p : best) {
        EXPECT_TRUE(seen.insert(p.label).second) << "label " << p.label << " twice";
        EXPECT_NEAR(p.score, full[i][p.label], 1e-4);
      }
    });
    EXPECT_GT(answers, some.size() * (labels == kLabels ? 3 : 5000 / 48));
  }
}

}  // namespace
}  // namespace slide::wide_test
