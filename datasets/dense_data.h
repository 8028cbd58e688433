// Dense features in NumPy's .npy files: matrices of float32 or float16, a row a sample, and what goes with
// them. A file is mapped, one that is packed with gzip or Zstandard is unpacked in memory. Functions are safe
// to call from any thread, on different files.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "datasets/dataset.h"
#include "datasets/dense_rows.h"
#include "datasets/read_options.h"

namespace slide {

// The files of a data set with dense features.
struct DensePaths {
  std::string rows;      // X.npy
  std::string beside;    // labels of the same samples, or the samples themselves; empty: nothing was named
  bool samples = false;  // which of the two
};

// `X.npy,LABELS`, `X.npy+SAMPLES`, or `X.npy` alone; .npy.gz and .npy.zst likewise. Nothing for other paths.
std::optional<DensePaths> dense_paths(const std::string& path);

// Whether `path` names several files: an .npz or text pair, or dense features and what goes with them, or the
// parts of a data set (data_parts.h).
bool is_file_list(const std::string& path);
// Whether `path` is a pipe or a device, which can be read only once: nobody may look into it before.
bool is_stream(const std::string& path);
// The file that the labels of `file`, one that is named alone, lie in beside it; empty where it has its own.
std::string labels_file_of(const std::string& file);
// Calls use(file) for each file of `path`, which may change its name. Patterns become the files they match.
void for_each_file(std::string& path, const std::function<void(std::string&)>& use);
// The part of `path` that can hold text: all of it, or the samples beside dense features; empty for labels.
std::string text_path(const std::string& path);

// How other data than dense ones are read: read_dataset().
using ReadSamples = std::function<Dataset(const std::string& path, const ReadOptions& options)>;

// Reads such a data set. LABELS: see read_labels(); of a file whose name begins with X, they may lie beside
// it under a name that begins with Y and ends in .npz, .npy or .txt. SAMPLES: any other data, whose samples
// have these columns besides; options but dense_columns are for them. Throws InputError when a file cannot be
// read or is damaged, numbers are not finite, or the files are not of the same number of samples.
Dataset read_dense_data(const DensePaths& paths, const ReadOptions& options, const ReadSamples& read_samples);

// The rows alone, without labels: to predict these.
Dataset read_dense_features(const std::string& path, const ReadOptions& options);

// The rows of one file.
DenseRows read_dense_rows(const std::string& path, const ReadOptions& options);

// Throws InputError where options ask for dense columns, and `path` is a data set that has none.
void require_no_dense(const std::string& path, const ReadOptions& options);

}  // namespace slide
