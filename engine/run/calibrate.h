// Calibration of a trained model on samples that training has not seen (calibration.h). Safe from any thread,
// for different models.
#pragma once

#include <cstddef>

#include "engine/inference/calibration.h"
#include "engine/model/model.h"

namespace slide {

// Expected calibration errors (reliability.h) of the Calibration::kMassLabels best labels of the samples.
struct CalibrationErrors {
  double all = 0, best = 0;  // of all of them; of the best label alone
};

struct CalibrationResult {
  Calibration calibration;
  std::size_t samples = 0;
  CalibrationErrors before, after;  // on the samples of the fit
};

// Fits a calibration of `model`, which replaces any it has, to labelled samples as read_test_data() reads
// them; at most 100,000 of them, evenly spaced. Throws InputError for softmax, whose scores are no log-odds
// of single labels, and where the fit fails (CalibrationFit::fit()).
CalibrationResult fit_calibration(const Model& model, const Dataset& samples, int threads);

}  // namespace slide
