// Choice of the vocabulary of a text model by document frequency: features with their own id, and their
// weights. Functions are safe from any thread.
#pragma once

#include <vector>

#include "datasets/rows/text_options.h"
#include "datasets/text/feature_counter.h"
#include "datasets/text/text_model.h"

namespace slide {

// Appends to `parts` the features that are frequent enough, the most frequent first, and the buckets.
// `counts`: of disjoint features; parts.samples is set. O(n log n) for n features.
void choose_features(const TextOptions& options, const std::vector<FeatureCounter>& counts,
                     TextModelParts& parts);

// Appends the features of `before`, reweighted by all samples so far, and new ones.
void add_features(const TextModel& before, const TextOptions& options,
                  const std::vector<FeatureCounter>& counts, TextModelParts& parts);

}  // namespace slide
