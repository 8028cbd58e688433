// Makes synthetic data sets of any shape with a structure that a network can learn.
//
// Every label has a few prototype features. A sample draws its labels from a power law, most of its features
// from the prototypes of its labels, and the rest, noise, from a power law over all features. Everything is a
// function of (seed, sample) and (seed, label), so memory does not grow with the data and the files do not
// depend on the number of threads. Dense features are made of these sparse ones: each feature adds its value,
// with a sign of its own for each column, so that angles between samples stay nearly as they are (Achlioptas,
// "Database-friendly random projections", 2003, section 1.1).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace slide {

struct GeneratorOptions {
  std::uint64_t samples = 10000;
  std::optional<std::uint64_t> test_samples;  // more of the same in the test file; none given: samples / 10
  std::uint32_t features = 10000;
  std::uint32_t labels = 1000;
  std::uint32_t features_per_sample = 50;  // mean of the draws; a feature drawn twice is counted once
  std::uint32_t labels_per_sample = 3;     // mean of the draws
  std::uint32_t dense = 0;                 // columns of dense features in place of sparse ones; 0: sparse
  std::uint64_t seed = 1;
  int threads = 0;  // 0 = all cores
};

// Writes `directory`/train.txt and test.txt as XMC text, or with dense columns X.train.npy, X.test.npy and
// labels in Y.train.txt, Y.test.txt, creating the folder where it is missing; each file gets its name only
// when it is whole. Throws InputError on options that make no data set, Error when the folder cannot be
// written or the disk is full.
void generate_dataset(const GeneratorOptions& options, const std::string& directory);

}  // namespace slide
