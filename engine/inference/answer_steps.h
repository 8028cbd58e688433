// The steps from the retrieved labels of a sample to its answer, in this order: label co-occurrence, ranking
// of rare labels, calibration, removal of the items that the sample has.
//
// Immutable, safe from any thread with one Scratch each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/inference/calibration.h"
#include "engine/inference/cooccurrence.h"
#include "engine/inference/rare_ranking.h"
#include "engine/inference/top_k.h"

namespace slide {

class AnswerSteps {
 public:
  struct Scratch {
    RareRanking::Scratch rare;
    std::vector<Prediction> unknown;  // the best items that the sample does not have
  };

  // `cooccurrence_knn`: nullptr for no label propagation. `first_label`: what to add to a retrieved label for
  // its id.
  AnswerSteps(LossKind loss, const Neighbours* cooccurrence_knn,
              const std::optional<Calibration>& calibration, std::uint32_t first_label)
      : loss_(loss),
        cooccurrence_knn_(cooccurrence_knn),
        calibration_(calibration),
        first_label_(first_label) {}

  // Number of labels to retrieve for an answer of k, of a sample that has `known` items at most. `rare`:
  // nullptr for answers by score.
  std::size_t kept_for(std::size_t k, std::size_t known, const RareRanking* rare) const;

  // The best k labels that are not in `known` (ids, ascending). `best`: the retrieved labels, best first,
  // with finite scores; changed. Valid until the next call with this scratch.
  std::span<const Prediction> answer(std::span<Prediction> best, std::span<const std::uint32_t> known,
                                     std::size_t k, const RareRanking* rare, Scratch& scratch) const;

 private:
  std::span<const Prediction> without_known(std::span<const Prediction> best,
                                            std::span<const std::uint32_t> known, std::size_t k,
                                            std::vector<Prediction>& unknown) const;

  LossKind loss_;
  const Neighbours* cooccurrence_knn_;
  std::optional<Calibration> calibration_;
  std::uint32_t first_label_;
};

}  // namespace slide
