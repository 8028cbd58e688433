// Metrics of predictions, also of external ones. Functions are safe from any thread.
#pragma once

#include <slide/data.h>
#include <slide/export.h>

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace slide::api {

// Means over all samples by name, in [0, 1]: p_at_K, ndcg_at_K, psp_at_K, psndcg_at_K, recall_at_K, as
// printed by `slide test`. evaluate_scores(), and evaluate() of a model with `reliability`, add coverage_at_K
// and catalogue_at_K, shares of labels; the latter of interactions also novelty_at_K, in bits.
using Measures = std::map<std::string, double>;

// Whether scores are probabilities, as `slide evaluate` reports: scores from 0 to 1 in 15 intervals of equal
// width, without the empty ones. The errors are expected calibration errors: |mean score - true share|, a
// mean over the predictions.
struct Reliability {
  struct Bin {
    std::uint64_t predictions = 0;
    double mean_score = 0, true_share = 0;
  };
  double error = 0;  // of all predictions
  std::vector<Bin> bins = {};
  double top_error = 0;  // of the best label of each sample
  std::vector<Bin> top_bins = {};
};

struct ScoreOptions {
  std::vector<std::uint32_t> ks = {1, 3, 5};
  // Training labels of the model that made the scores. They enable psp_at_K and psndcg_at_K, weighted by
  // inverse propensities (Jain, Prabhu, Varma 2016, section 4), and metrics by label frequency (head, middle,
  // tail: each about a third of the training label entries): p_at_K_head etc., the contributions to p_at_K;
  // recall_at_K_head etc., the recall within the group.
  CsrMatrix training_labels = {};
  double propensity_a = 0.55, propensity_b = 1.5;
  // If set: also precision_micro, recall_micro, f1_micro and so on, of the labels with this score or more.
  std::optional<float> threshold = std::nullopt;
};

// Metrics of `scores`, one row per sample and one column per label, against `labels` of the same samples.
// Entries of a row are ranked by descending score, ties by column; labels without an entry are not predicted.
// Besides the metrics above: precision, recall and F1 of the best K, over all pairs (f1_micro_at_K), as means
// over the labels that occur or are predicted (f1_macro_at_K) and over the samples (f1_samples_at_K), as
// `slide evaluate` prints them. Throws InputError for invalid matrices, a score that is not finite, a
// threshold that is no number, or a rank below 1. `reliability`: is set to the reliability of all scores; to
// nullopt where a score is no probability.
SLIDE_API Measures evaluate_scores(const CsrMatrix& scores, const CsrMatrix& labels,
                                   const ScoreOptions& options = {},
                                   std::optional<Reliability>* reliability = nullptr);

// The threshold of best micro F1 for such scores and labels, and its F1. A label is predicted where its score
// reaches the threshold. The threshold lies halfway between the lowest predicted score and the next lower
// one; of equal F1, the highest threshold counts. Without scores the threshold is infinite. Throws as
// evaluate_scores().
struct BestThreshold {
  float threshold = 0;
  double f1_micro = 0;
};
SLIDE_API BestThreshold best_threshold(const CsrMatrix& scores, const CsrMatrix& labels);

}  // namespace slide::api
