// SciPy sparse matrix in an .npz archive (scipy.sparse.save_npz). Functions are safe from any thread, for
// different files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "datasets/rows/file_bytes.h"
#include "engine/base/atomic_file.h"

namespace slide {

// Compressed sparse rows.
struct NpzMatrix {
  std::uint64_t rows = 0, columns = 0;
  std::vector<std::uint64_t> ends;  // rows + 1, from 0
  std::vector<std::uint64_t> ids;   // below columns
  std::vector<float> values;        // finite
};

// Reads an archive; columns of each row ascend, duplicate entries are summed as SciPy defines. Throws
// InputError where it is damaged or not a CSR matrix.
NpzMatrix read_npz_matrix(const NamedBytes& file);

// Reads a matrix of labels, a column for each label. Also throws InputError for values other than 0 and 1.
NpzMatrix read_npz_labels(const NamedBytes& file);

// A matrix of scores with the names beside it, each empty where the archive has none.
struct NpzScores {
  NpzMatrix matrix;
  std::vector<std::uint64_t> ranks;  // of each entry in its row, where equal scores have an order
  std::vector<std::string> users;    // of the rows
  std::vector<std::string> labels;   // of the columns
};

// Reads what write_npz_matrix() writes, or NumPy: names are text, bytes or whole numbers. Throws InputError
// as read_npz_matrix(), and for duplicate entries and names that do not fit the matrix.
NpzScores read_npz_scores(const NamedBytes& file);

// A matrix to write.
struct NpzEntries {
  std::vector<std::uint64_t> ends{0};
  std::vector<std::uint32_t> ids;
  std::vector<float> values;
  // Members beside the matrix, each left out where it is empty.
  std::vector<std::uint32_t> ranks{};  // of each entry in its row
  std::vector<std::string> users{};    // whose rows they are: text of NumPy
  std::vector<std::string> labels{};   // names of the columns, unless these take more than 256 MiB
};

// Writes an archive atomically; or into a file opened for any order, without finishing it. Throws Error where
// it cannot be written.
void write_npz_matrix(const std::string& path, NpzEntries entries, std::uint32_t columns);
void write_npz_matrix(AtomicFile& file, NpzEntries entries, std::uint32_t columns);

}  // namespace slide
