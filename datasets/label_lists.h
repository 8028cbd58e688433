// Labels of samples whose features lie elsewhere. Functions are safe to call from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace slide {

struct LabelLists {
  std::vector<std::uint64_t> offsets{0};  // samples + 1
  std::vector<std::uint32_t> ids;         // ascending and distinct within a sample
  std::uint32_t count = 0;                // labels there are: all ids lie below
};

// Reads the labels of `samples` samples. In .npz, a SciPy matrix in compressed sparse rows whose entries
// other than 0 are labels; in .npy, whole numbers: one for each sample, or a row for each, of which negative
// ones are none. Else text, a line a sample, ids from 0 with commas or blanks between them, as `id` or
// `id:value`, where a value of 0 is no label; a line of its own in front may say `samples labels`, and then
// the last sample, where it has no labels, may lack the end of its empty line. Of files that do not tell how
// many labels there are, as many as the largest id asks for.
//
// Rows of 0 and 1 alone, with one of them twice in a row, are no lists of ids but an indicator matrix, a
// column a label; so is a matrix of truth values, or of real numbers that are 0 or 1. Throws InputError where
// rows can be both, as all `0,1` and `1,0` can, and where the first line can be both header and labels.
//
// `limit`: see ReadOptions::label_limit. `owner`: the file of the features, for messages. Throws InputError
// with the place of the first fault.
LabelLists read_labels(const std::string& path, std::size_t samples, std::uint32_t limit,
                       const std::string& owner);

}  // namespace slide
