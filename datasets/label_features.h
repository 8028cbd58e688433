// Label texts as features (label_texts.h): reads them from a file, and appends label texts to training
// samples. Functions are safe from any thread.
#pragma once

#include <cstddef>
#include <string>

#include "datasets/rows/dataset.h"
#include "datasets/rows/read_options.h"
#include "datasets/sidecar/label_texts.h"

namespace slide {

// Reads label features from a file, one row per label, label 0 first: XMC or libsvm text without labels,
// optionally after a line `samples features`, or an .npz matrix; `options` as for samples. The file has at
// least `labels` rows (the labels of `data`, named in messages); further rows are labels without samples.
// Throws InputError otherwise.
LabelTextRows read_label_features(const std::string& path, const ReadOptions& options, std::size_t labels,
                                  const std::string& data);

// Appends `texts` to the samples of `train` as label texts of the given weight, relative to the mean sample
// weight 1; feature and label counts are the maxima. Throws Error where there are dense columns.
Dataset with_label_texts(const Dataset& train, const Dataset& texts, float weight, int threads);

}  // namespace slide
