// Pairs of SciPy CSR matrices, as written by scipy.sparse.save_npz and used by PECOS: features in X.npz,
// labels in Y.npz, one row per sample; nonzero entries of Y are labels. Functions are safe from any thread,
// for different files.
#pragma once

#include <string>
#include <string_view>

#include "datasets/rows/csr_sink.h"
#include "datasets/rows/dataset.h"
#include "datasets/rows/file_bytes.h"
#include "datasets/rows/read_options.h"

namespace slide {

// Whether the bytes begin like a zip archive, the container of .npz.
bool is_npz(std::string_view bytes);

// The two files of a pair.
struct NpzPaths {
  std::string features;
  std::string labels;
};

// `X.trn.npz` belongs to `Y.trn.npz` in the same folder; `a.npz,b.npz` names both. Throws InputError for
// other names.
NpzPaths npz_paths(const std::string& path);
bool is_npz_pair(const std::string& path);  // whether `path` names two files

// Writes the rows to `sink`; without a labels path there are no labels. Entries may be unordered; duplicates
// are summed. Throws InputError where an archive is damaged, is not a CSR matrix, or the numbers of rows
// differ.
CsrSizes parse_npz(const NamedBytes& features, const NamedBytes& labels, const ReadOptions& options,
                   CsrSink& sink);

// Writes values as 32-bit floats, labels as 1; both files appear when both are complete. Throws Error where
// they cannot be written.
void write_npz(const Dataset& data, const NpzPaths& paths);

}  // namespace slide
