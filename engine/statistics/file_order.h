// Whether the samples of a data set stand in an order that matters: sorted by time, by source, or in runs of
// near duplicates, rather than shuffled. Pure, safe from any thread.
#pragma once

#include <cstdint>

#include "datasets/rows/dataset.h"

namespace slide {

// Result of the test: whether labels or features change along the file.
struct FileOrder {
  bool labels = false;
  bool features = false;
  bool matters() const { return labels || features; }
};

// Permutation tests (Good, "Permutation, parametric and bootstrap tests of hypotheses", 2005, chapter 3), one
// of the labels and one of the sparse features of the samples with labels. The file is cut into 16 blocks of
// neighbouring samples. The statistic is the sum over the labels l of (1 / N_l) times the sum over the blocks
// of the squared number of samples with l: Pearson's chi-square statistic of independence of label and block,
// up to constants. A test rejects where the file has a larger one than each of 399 random permutations of
// its samples. So a shuffled file, whose order is one permutation as likely as any, is called ordered with a
// probability of at most 2 / 400.
//
// False for both where fewer than 64 samples have labels. Looks at every n-th sample where labels or features
// have more than 2^19 entries. At most 400 passes over the entries; a few for a shuffled file, whose first
// permutations decide. The result depends on data and seed alone. Throws Interrupted as parallel_for().
FileOrder order_of_file(const Dataset& data, std::uint64_t seed, int threads);

}  // namespace slide
