// Reports of the training loop to its observers. Plain data.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "engine/base/phases.h"
#include "engine/cluster/cluster.h"
#include "engine/network/active_set.h"
#include "lsh/neuron_index.h"

namespace slide {

// Quality of the hash tables of the output layer.
struct TableHealth {
  std::optional<double>
      recall;            // share of the neurons with the largest logits that a query returns (table_recall.h)
  double in_full = 0.0;  // share of the neurons in full buckets
  double largest = 0.0;  // and in the largest bucket of a table
};

// After each epoch.
struct EpochReport {
  std::uint32_t epoch = 0;               // from 1
  std::uint64_t step = 0;                // steps so far
  double loss = 0.0;                     // mean over the epoch's samples
  double train_seconds = 0.0;            // so far: everything but reading data and evaluation
  PhaseSeconds phases;                   // the parts of train_seconds
  double active_mean = 0.0;              // active neurons of the output layer, mean over the epoch's samples
  double active_fraction = 0.0;          // of the output layer's neurons
  std::optional<ActiveSources> sources;  // of a sampled output layer: active neurons by source, mean
  std::optional<TableHealth> tables;     // of an output layer with hash tables
  double samples_per_second = 0.0;       // over the epoch
  std::uint64_t samples = 0;             // trained on so far, in all epochs
  int ranks = 1;                         // processes of the run
  Cluster::Traffic traffic;              // of this process with the others so far
};

// The hash tables of one layer, after each epoch.
struct TablesReport {
  std::uint32_t epoch = 0;
  std::uint64_t samples = 0;  // trained on so far, in all epochs
  std::size_t layer = 0;      // index in the configuration
  lsh::Occupancy occupancy;
};

// After each step.
struct StepReport {
  std::uint32_t epoch = 0;        // from 1
  std::uint64_t step = 0;         // steps so far
  std::uint64_t total_steps = 0;  // of the whole run
  std::size_t samples = 0;        // of this epoch so far
  double loss = 0.0;              // mean over `samples`
  double active_mean = 0.0;       // active output neurons, mean
  double seconds = 0.0;           // in this epoch so far
  bool stop_agreed = false;       // a process asked to stop at the last step, and all stop at this one
};

// Callbacks of the loop; any may be empty.
struct LoopObserver {
  std::function<bool(const StepReport&)> step;  // false: stop here
  std::function<void(const EpochReport&)> epoch;
  std::function<void(const TablesReport&)> tables;
};

}  // namespace slide
