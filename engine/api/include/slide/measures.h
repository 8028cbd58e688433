// Measures of predictions, whoever made them.
#pragma once

#include <slide/data.h>
#include <slide/export.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace slide::api {

// Means over all samples by name, in [0, 1]: p_at_K, ndcg_at_K, psp_at_K, psndcg_at_K, recall_at_K, as
// `slide test` prints them.
using Measures = std::map<std::string, double>;

struct ScoreOptions {
  std::vector<std::uint32_t> ks = {1, 3, 5};
  // Labels of the samples that the scores were learnt from. With them there are psp_at_K and psndcg_at_K,
  // weighted by inverse propensities (Jain, Prabhu, Varma 2016, section 4), and p_at_K and recall_at_K of the
  // labels by how frequent they are there, about a third of all entries each: p_at_K_head, p_at_K_middle,
  // p_at_K_tail: what they add to p_at_K; recall_at_K_head ..: which share of them is found.
  CsrMatrix training_labels = {};
  double propensity_a = 0.55, propensity_b = 1.5;
};

// How good `scores` are, a row a sample and a column a label, by `labels`, those of the same samples. The
// entries of a row are ranked by falling value, equal ones by column; what has no entry is not predicted.
// Throws InputError for matrices at fault, a value that is not finite, ranks below 1.
SLIDE_API Measures evaluate_scores(const CsrMatrix& scores, const CsrMatrix& labels,
                                   const ScoreOptions& options = {});

}  // namespace slide::api
