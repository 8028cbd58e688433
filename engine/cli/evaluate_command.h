// What `slide evaluate` is asked for, and what it reads for that. One thread.
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
  std::string model;  // the data are read as its training data were; or empty
  MeasureOptions measures;
  std::optional<DataFormat> format;
  std::vector<std::string> set;  // keys that say how the data are read
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
  LabelIndex index;
  TruthOptions reading;
  ReadReport report;
  Dataset truth;
  ScoredRows rows;  // of all scores
  Dataset scores;
  std::vector<std::uint32_t> order;  // of each score in its line of text; empty: none, or not known
  LabelPairs pairs;
  std::vector<std::uint32_t> ks;
  std::vector<std::uint32_t> training;  // samples of each label; empty without --train
  std::size_t training_samples = 0;
  bool trained = false;  // whether there is --train
  std::optional<Metrics> none;
  std::optional<Thresholds> thresholds;
  std::optional<Decisions> validation;  // at the thresholds, on the validation samples
};

// Number of labels that scores, samples or names have.
std::size_t labels_of(const Evaluation& evaluation);
// The largest rank of the metrics.
std::size_t max_k(const Evaluation& evaluation);
// Leaves these pairs out of scores and their order.
void leave_out(const LabelPairs& pairs, Dataset& scores, std::vector<std::uint32_t>& order);
// Throws InputError where an output would replace an input or another output.
void check_evaluate_outputs(const EvaluateCommand& command);
// Reads all that the command names. Throws InputError.
void read_all(const EvaluateCommand& command, Evaluation& evaluation);

}  // namespace slide::cli
