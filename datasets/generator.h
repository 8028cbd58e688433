// Generator of synthetic data sets of any size with learnable structure.
//
// Each label has a few prototype features. A sample draws its labels from a power law, most features from the
// prototypes of its labels, and the rest (noise) from a power law over all features. Everything is a function
// of (seed, sample) and (seed, label): memory is constant and the files do not depend on the number of
// threads. Dense features are a random projection of the sparse ones: each feature adds its value with a
// random sign per column, which nearly preserves angles (Achlioptas, "Database-friendly random projections",
// 2003, section 1.1).
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace slide {

struct GeneratorOptions {
  std::uint64_t samples = 10000;
  std::optional<std::uint64_t> test_samples;  // additional samples in the test file; default: samples / 10
  std::uint32_t features = 10000;
  std::uint32_t labels = 1000;
  std::uint32_t features_per_sample = 50;  // mean of the draws; duplicates are merged
  std::uint32_t labels_per_sample = 3;     // mean of the draws
  std::uint32_t dense = 0;                 // number of dense columns in place of sparse features; 0: sparse
  std::uint64_t seed = 1;
  int threads = 0;  // 0 = all cores
};

// Writes `directory`/train.txt and test.txt as XMC text, or with dense columns X.train.npy, X.test.npy and
// labels in Y.train.txt, Y.test.txt; creates the folder; each file appears when complete. Throws InputError
// for invalid options, Error where the folder is not writable or the disk is full.
void generate_dataset(const GeneratorOptions& options, const std::string& directory);

}  // namespace slide
