// Dense features in NumPy's .npy files: float32 or float16 matrices, one row per sample, with labels or
// further samples. Plain files are mapped, gzip and Zstandard files are decompressed in memory. Functions are
// safe from any thread, for different files.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "datasets/rows/dataset.h"
#include "datasets/rows/dense_rows.h"
#include "datasets/rows/read_options.h"

namespace slide {

// Files of a data set with dense features.
struct DensePaths {
  std::string rows;      // X.npy
  std::string beside;    // labels file, or file of samples; empty: not named
  bool samples = false;  // whether `beside` holds samples
};

// Parses `X.npy,LABELS`, `X.npy+SAMPLES` or `X.npy`; also .npy.gz and .npy.zst. nullopt for other paths.
std::optional<DensePaths> dense_paths(const std::string& path);

// Whether `path` names several files: an .npz or text pair, dense features with a second file, or parts of a
// data set (data_parts.h).
bool is_file_list(const std::string& path);
// Whether `path` is a pipe or device, which can be read only once.
bool is_stream(const std::string& path);
// File with the labels of `file`, which is named alone, beside it; empty where `file` contains its labels.
std::string labels_file_of(const std::string& file);
// Calls use(file) for each file of `path`, which may change the name. Patterns are expanded.
void for_each_file(std::string& path, const std::function<void(std::string&)>& use);
// The part of `path` that can hold text: all of it, or the samples beside dense features; empty for labels.
std::string text_path(const std::string& path);

// Reader of the other samples: read_dataset().
using ReadSamples = std::function<Dataset(const std::string& path, const ReadOptions& options)>;

// Reads a data set with dense features. LABELS: see read_labels(); for a lone file X*, labels are searched in
// Y*.npz, Y*.npy or Y*.txt beside it. SAMPLES: any other data set, which gets the dense columns; options
// except dense_columns apply to it. Throws InputError where a file is unreadable or damaged, numbers are not
// finite, or the numbers of samples differ; and for X.npy without SAMPLES where options.feature_limit says
// that the model has sparse features besides.
Dataset read_dense_data(const DensePaths& paths, const ReadOptions& options, const ReadSamples& read_samples);

// Reads the rows without labels, for prediction. Throws as read_dense_data().
Dataset read_dense_features(const std::string& path, const ReadOptions& options);

// Reads the rows of one file.
DenseRows read_dense_rows(const std::string& path, const ReadOptions& options);

// Throws InputError where options require dense columns and the data set `path` has none.
void require_no_dense(const std::string& path, const ReadOptions& options);

// Throws InputError where `features` sparse features are known and the data set `path` has dense columns
// alone.
void require_sparse(const Dataset& data, const std::string& path, std::size_t features);

}  // namespace slide
