// Runs `slide predict` and `slide recommend`: prints the top labels of each sample or user.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/cluster/cluster.h"
#include "engine/inference/thresholds.h"
#include "engine/run/model_use.h"

namespace slide::cli {

struct PredictCommand {
  static constexpr std::uint32_t kDefaultK = 5;

  std::string model;
  std::string data;  // "-": standard input
  std::optional<std::uint32_t> k;
  std::string scores = "probability";  // printed score: this or "logit"
  std::optional<double> threshold;     // labels with lower scores are omitted
  std::string labels;                  // names file of labels, or empty: the model's names
  std::string titles;                  // file of titles of labels to print beside them, or empty
  std::string out;                     // .npz file for the scores, in place of printing, or empty
  std::string text_out;                // file for what would be printed, or empty
  ModelUse use;
  bool json = false;          // prints a JSON object per sample
  std::uint32_t explain = 0;  // of JSON: so many features that speak for each label
  bool tsv = false;           // prints a line per label: user, label, score; of interactions
  bool of_users = false;      // requires a model of interactions; without data, of all users of its log
  bool skip_bad = false;
  bool strict = false;
  bool pin = false;
  std::uint32_t wanted() const { return k.value_or(kDefaultK); }
  bool logits() const { return scores == "logit"; }
  // Labels with scores below these are omitted: the threshold of --threshold; else the thresholds of the
  // model, only without --k and for probabilities; else nullopt.
  std::optional<Thresholds> thresholds(const Model& of) const;
};

// Predicts the samples of the command and prints a line for each, in order. Collective.
void run_predict(const PredictCommand& command, Cluster& cluster);

}  // namespace slide::cli
