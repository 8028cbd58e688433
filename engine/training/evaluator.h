// Evaluation of a network after an epoch. Immutable once built; one evaluation at a time.
#pragma once

#include <cstdint>
#include <functional>

#include "datasets/rows/dataset.h"
#include "engine/cluster/cluster.h"
#include "engine/config/config.h"
#include "engine/inference/inference.h"
#include "engine/inference/metrics.h"
#include "engine/network/network.h"

namespace slide {

struct EvalReport {
  std::uint32_t epoch = 0;
  double train_seconds = 0.0;
  double eval_seconds = 0.0;
  std::uint64_t samples = 0;  // trained on so far, in all epochs
  Metrics metrics;
  bool validation = false;  // on the validation samples, else on the test samples
  bool best = false;        // validation: the best so far
};

class Evaluator {
 public:
  // `shape`: of the training data, whose label frequencies define propensities and label groups.
  Evaluator(const EvalConfig& config, const DataShape& shape, int threads);

  // Metrics on `data`. `cluster`: the processes that share the network, all of which call it; or nullptr.
  // `progress` (may be empty) gets the samples done and all, from any thread. The caller fills in epoch,
  // train_seconds and samples of the report.
  EvalReport evaluate(const TrainedNetwork& trained, const Dataset& data, Cluster* cluster,
                      const std::function<void(std::size_t, std::size_t)>& progress) const;
  // Mean of P@k over eval.k: the score of a validation.
  double score(const Metrics& metrics) const;
  const LabelGroups& label_groups() const { return *groups_; }

 private:
  EvalConfig config_;
  int threads_;
  Metrics::Propensities inverse_propensities_;
  Metrics::Groups groups_;
  std::shared_ptr<const RareRanking> rare_;
};

}  // namespace slide
