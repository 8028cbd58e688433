// Pairs of SciPy matrices in compressed sparse rows, as scipy.sparse.save_npz writes them and PECOS uses
// them: features in X.npz, labels in Y.npz, a row a sample. A Y entry other than 0 is a label. Functions are
// safe to call from any thread, on different files.
#pragma once

#include <string>
#include <string_view>

#include "datasets/csr_sink.h"
#include "datasets/dataset.h"
#include "datasets/file_bytes.h"
#include "datasets/read_options.h"

namespace slide {

// Whether the bytes start like a zip archive, which is what an .npz file is.
bool is_npz(std::string_view bytes);

// The two files of a pair.
struct NpzPaths {
  std::string features;
  std::string labels;
};

// `X.trn.npz` goes with `Y.trn.npz` in the same folder; `a.npz,b.npz` names both. Throws InputError for other
// names.
NpzPaths npz_paths(const std::string& path);
bool is_npz_pair(const std::string& path);  // whether `path` names two files

// Puts the rows into `sink`; `labels` without a path are none. Entries may come in any order, and entries of
// the same place are summed. Throws InputError when an archive is damaged, holds no CSR matrix, or the two
// have different numbers of rows.
CsrSizes parse_npz(const NamedBytes& features, const NamedBytes& labels, const ReadOptions& options,
                   CsrSink& sink);

// Writes values as 32-bit floats, labels as 1. The files get their names when both are whole. Throws Error
// when they cannot be written.
void write_npz(const Dataset& data, const NpzPaths& paths);

}  // namespace slide
