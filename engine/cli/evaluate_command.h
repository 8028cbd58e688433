// The arguments of `slide evaluate`, and the data that it reads. One thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "datasets/sidecar/label_pairs.h"
#include "engine/cli/evaluation.h"
#include "engine/inference/curve.h"
#include "engine/inference/ranking.h"
#include "engine/run/score_files.h"

namespace slide::cli {

struct EvaluateCommand {
  std::vector<std::string> files;       // one or more files of scores, then the data
  std::vector<double> weights;          // of the score files; empty: equal
  std::string labels;                   // names file of labels, or empty
  std::string train;                    // file with training labels, or empty
  std::string known;                    // interactions: log of what users have, or empty: `train`
  std::string compare;                  // another file of scores, or empty
  std::vector<std::string> validation;  // comma-separated score files and their data, or empty
  std::string threshold;                // a number or a file of thresholds, or empty
  ThresholdGoal goal;                   // of the best thresholds
  std::string save_thresholds;          // files to write, or empty
  std::string curve;
  std::string report;
  std::string model;  // read the data as its training data were; or empty
  MeasureOptions measures;
  std::optional<DataFormat> format;
  std::vector<std::string> set;  // "data.KEY=VALUE": how to read the data
  int threads = 0;
  bool strict = false;
};

// Whether the command finds the best thresholds on the evaluated samples themselves.
inline bool finds_thresholds_here(const EvaluateCommand& command) {
  const bool wanted =
      !command.save_thresholds.empty() || command.goal.precision || command.goal.label_samples > 0;
  return command.validation.empty() && wanted;
}

// Data and parameters of the evaluation.
struct Evaluation {
  LabelIndex index;      // names of labels, where they have some
  TruthOptions reading;  // how to read the data
  ReadReport report;     // warnings of all files
  Dataset truth;         // a row for each sample: its true labels
  ScoredRows rows;       // the samples that scores must be of
  Dataset scores;        // a row for each sample: features are labels, values their scores
  // For each entry of `scores`, in order of rows: its place among the equal scores of its row
  // (read_scores()). Empty: ties are ordered by label.
  std::vector<std::uint32_t> order;
  LabelPairs pairs;                          // pairs to leave out, of --filter
  std::vector<std::uint32_t> ks;             // distinct, at least one
  std::vector<std::uint32_t> label_samples;  // training samples by label; empty without --train
  std::size_t training_samples = 0;
  bool has_training = false;             // --train is given
  std::optional<Metrics> empty_metrics;  // of no sample yet, with `ks`, propensities and label groups
  std::optional<Thresholds> thresholds;
  std::optional<Decisions> validation;  // at the thresholds, on the validation samples
};

// Number of labels: the maximum of the numbers that the scores, the truth, the names and the label limit
// give.
std::size_t labels_of(const Evaluation& evaluation);
// The largest k of the metrics.
std::size_t max_k(const Evaluation& evaluation);
// Removes these pairs of sample and label from `scores`, and their positions from `order`.
void leave_out(const LabelPairs& pairs, Dataset& scores, std::vector<std::uint32_t>& order);
// Throws InputError where an output would replace an input or another output.
void check_evaluate_outputs(const EvaluateCommand& command);
// Reads all files that the command names into `evaluation`, and finds thresholds. Throws InputError.
void read_all(const EvaluateCommand& command, Evaluation& evaluation);

}  // namespace slide::cli
