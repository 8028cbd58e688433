// Labels in a file separate from the features. Functions are safe from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace slide {

struct LabelLists {
  std::vector<std::uint64_t> offsets{0};  // samples + 1
  std::vector<std::uint32_t> ids;         // ascending and distinct within a sample
  std::uint32_t count = 0;                // all ids are below
};

// Reads the labels of `samples` samples. .npz: SciPy CSR matrix, nonzero entries are labels. .npy: integers,
// one per sample or one row per sample, negative ones ignored. Else text, one line per sample, ids from 0
// separated by commas or blanks, `id` or `id:value` (value 0: no label), optionally after a line `samples
// labels`. Without a stated number of labels: the largest id + 1. `limit`: see ReadOptions::label_limit.
// `owner`: the features file, for messages. Throws InputError with the position of the first error.
LabelLists read_labels(const std::string& path, std::size_t samples, std::uint32_t limit,
                       const std::string& owner);

}  // namespace slide
