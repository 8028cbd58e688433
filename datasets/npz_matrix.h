// A sparse matrix of SciPy in an .npz archive, as scipy.sparse.save_npz writes it. Functions are safe to call
// from any thread, on different files.
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

// What is made of a place that has several entries: SciPy's own meaning is their sum.
enum class Repeated { kSum, kRefuse };

// Reads an archive; the columns of each row ascend. Throws InputError when it is damaged or holds no CSR
// matrix.
NpzMatrix read_npz_matrix(const NamedBytes& file, Repeated repeated = Repeated::kSum);

// A matrix to write.
struct NpzEntries {
  std::vector<std::uint64_t> ends{0};
  std::vector<std::uint32_t> ids;
  std::vector<float> values;
  std::vector<std::string> users{};  // whose rows they are, or empty: the member "users", text of NumPy
};

// Writes an archive that gets its name when it is whole, or into a file for any order, which is left to be
// finished. Throws Error when it cannot be written.
void write_npz_matrix(const std::string& path, NpzEntries entries, std::uint32_t columns);
void write_npz_matrix(AtomicFile& file, NpzEntries entries, std::uint32_t columns);

}  // namespace slide
