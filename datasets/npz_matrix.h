// SciPy sparse matrix in an .npz archive (scipy.sparse.save_npz). Functions are safe from any thread, for
// different files.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "datasets/file_bytes.h"
#include "engine/base/atomic_file.h"

namespace slide {

// Compressed sparse rows.
struct NpzMatrix {
  std::uint64_t rows = 0, columns = 0;
  std::vector<std::uint64_t> ends;  // rows + 1, from 0
  std::vector<std::uint64_t> ids;   // below columns
  std::vector<float> values;        // finite
};

// Duplicate entries: summed as SciPy defines, or an error.
enum class Repeated { kSum, kRefuse };

// Reads an archive; columns of each row ascend. Throws InputError where it is damaged or not a CSR matrix.
NpzMatrix read_npz_matrix(const NamedBytes& file, Repeated repeated = Repeated::kSum);

// A matrix to write.
struct NpzEntries {
  std::vector<std::uint64_t> ends{0};
  std::vector<std::uint32_t> ids;
  std::vector<float> values;
  std::vector<std::string> users{};  // whose rows they are, or empty: the member "users", text of NumPy
};

// Writes an archive atomically; or into a file opened for any order, without finishing it. Throws Error where
// it cannot be written.
void write_npz_matrix(const std::string& path, NpzEntries entries, std::uint32_t columns);
void write_npz_matrix(AtomicFile& file, NpzEntries entries, std::uint32_t columns);

}  // namespace slide
