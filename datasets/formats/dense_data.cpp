#include "datasets/formats/dense_data.h"

#include <array>
#include <bit>
#include <filesystem>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>

#include "datasets/formats/idx.h"
#include "datasets/formats/label_lists.h"
#include "datasets/formats/npy.h"
#include "datasets/formats/npz.h"
#include "datasets/formats/text_pair.h"
#include "datasets/rows/data_parts.h"
#include "datasets/rows/file_bytes.h"
#include "datasets/rows/row_parser.h"
#include "engine/base/atomic_file.h"
#include "engine/base/error.h"
#include "engine/base/parallel.h"

namespace slide {

namespace {

constexpr std::array<std::string_view, 3> kRowsEnds = {".npy", ".npy.gz", ".npy.zst"};
constexpr std::array<std::string_view, 3> kLabelsEnds = {".npz", ".npy", ".txt"};
constexpr const char* kMatrixAdvice = "save a matrix of float32 or float16, a row a sample, with numpy.save";

// Length of the name of the rows file at the start of `path`; 0 where there is none.
std::size_t rows_end(const std::string& path) {
  for (const std::string_view end : kRowsEnds) {
    for (const char joint : {',', '+'}) {
      const std::size_t at = path.find(std::string(end) + joint);
      if (at != std::string::npos) return at + end.size();
    }
    if (path.ends_with(end)) return path.size();
  }
  return 0;
}

// Position of the file name after the folders.
std::size_t name_begin(const std::string& path) {
  return path.rfind('/') == std::string::npos ? 0 : path.rfind('/') + 1;
}

// Labels file beside a lone rows file; empty where there is none.
std::string find_labels_beside(const std::string& rows) {
  const std::size_t name = name_begin(rows);
  if (name >= rows.size() || rows[name] != 'X') return {};
  std::string stem = rows.substr(0, rows.rfind(".npy"));
  stem[name] = 'Y';
  std::error_code ignored;
  for (const std::string_view end : kLabelsEnds) {
    if (std::filesystem::exists(stem + std::string(end), ignored)) return stem + std::string(end);
  }
  return {};
}

std::string labels_beside(const std::string& rows) {
  if (std::string labels = find_labels_beside(rows); !labels.empty()) return labels;
  fail_input("{}: its labels are a second file; call them X....npy and Y....npz, or name both: {},LABELS",
             rows, rows);
}

DenseType type_of(const NpyHeader& header, const NpyName& name) {
  if (header.type == "f4") return DenseType::kFloat32;
  if (header.type == "f2") return DenseType::kFloat16;
  name.fail(fmt::format("the array has the type '{}'", header.type));
}

void check_shape(const NpyHeader& header, const NpyName& name) {
  if (header.shape.size() != 2) name.fail(fmt::format("the array has {} dimensions", header.shape.size()));
  if (header.shape[0] == 0 || header.shape[1] == 0) name.fail("the matrix is empty");
  if (header.shape[0] >= kIdLimit || header.shape[1] >= kIdLimit) name.fail("the matrix is too large");
  if (header.by_column && header.shape[0] > 1 && header.shape[1] > 1)
    name.fail("the matrix lies column by column (Fortran's order): use numpy.ascontiguousarray");
}

}  // namespace

std::optional<DensePaths> dense_paths(const std::string& path) {
  const std::size_t end = names_parts(path) ? 0 : rows_end(path);
  if (end == 0) return std::nullopt;
  if (end == path.size()) return DensePaths{path, "", false};
  return DensePaths{path.substr(0, end), path.substr(end + 1), path[end] == '+'};
}

bool is_file_list(const std::string& path) {
  if (names_parts(path)) return true;
  const std::optional<DensePaths> dense = dense_paths(path);
  return dense ? !dense->beside.empty() : is_npz_pair(path) || named_text_pair(path).has_value();
}

std::string labels_file_of(const std::string& file) {
  if (dense_paths(file)) return find_labels_beside(file);
  if (file.find("images-idx3") != std::string::npos) return idx_labels_path(file);
  if (file.ends_with(".npz"))
    return file.substr(name_begin(file)).starts_with('X') ? npz_paths(file).labels : "";
  const std::optional<TextPair> text = text_pair(file);
  return text ? text->labels : "";
}

bool is_stream(const std::string& path) {
  return !is_file_list(path) && is_pipe_or_device(path);
}

// Calls use(file) for each file that `path` names. use() may change the file's path; `path` is rebuilt from
// the results.
void for_each_file(std::string& path, const std::function<void(std::string&)>& use) {
  if (std::vector<std::string> parts = parts_of(path); parts.front() != path) {
    for (std::string& part : parts) for_each_file(part, use);
    path = path_of_parts(parts);
    return;
  }
  if (std::optional<DensePaths> dense = dense_paths(path); dense && !dense->beside.empty()) {
    use(dense->rows);
    for_each_file(dense->beside, use);
    path = dense->rows + (dense->samples ? '+' : ',') + dense->beside;
  } else if (!dense && is_npz_pair(path)) {
    NpzPaths pair = npz_paths(path);
    use(pair.features);
    use(pair.labels);
    path = pair.features + "," + pair.labels;
  } else if (std::optional<TextPair> text = named_text_pair(path); !dense && text) {
    use(text->features);
    use(text->labels);
    path = text->features + "," + text->labels;
  } else {
    use(path);
  }
}

std::string text_path(const std::string& path) {
  const std::optional<DensePaths> dense = dense_paths(path);
  if (!dense) return path;
  return dense->samples ? dense->beside : "";
}

// Opens a .npy matrix [samples x columns]. Its numbers stay as stored; DenseRows converts them when rows are
// read.
DenseRows read_dense_rows(const std::string& path, const ReadOptions& options) {
  static_assert(std::endian::native == std::endian::little);
  const auto file = std::make_shared<const FileBytes>(path, FileBytes::kMapped);
  const NpyName name{path, "the file", kMatrixAdvice};
  const NpyHeader header = read_npy_header(file->text(), name);
  const DenseType type = type_of(header, name);
  check_shape(header, name);
  const DenseMatrix matrix{file->text().substr(header.begin), type, header.shape[0], header.shape[1]};
  if (options.dense_columns && *options.dense_columns != matrix.columns) {
    fail_input("{}: {} columns, but {} are known; use features of the same kind", path, matrix.columns,
               *options.dense_columns);
  }
  return {file, matrix, options.normalize, resolve_threads(options.threads), path};
}

namespace {

[[noreturn]] void fail_without_sparse(const std::string& path, std::size_t features) {
  fail_input(
      "{}: it has dense columns alone, but {} sparse features are needed, too; name both, as {}+SAMPLES",
      path, features, path);
}

// For dense columns alone.
void require_no_sparse(const std::string& path, const ReadOptions& options) {
  if (options.dense_columns && options.feature_limit != 0) fail_without_sparse(path, options.feature_limit);
}

}  // namespace

void require_sparse(const Dataset& data, const std::string& path, std::size_t features) {
  if (features > 0 && data.dense_count() > 0 && data.sparse_count() == 0) fail_without_sparse(path, features);
}

Dataset read_dense_features(const std::string& path, const ReadOptions& options) {
  require_no_sparse(path, options);
  DenseRows rows = read_dense_rows(path, options);
  DatasetArrays arrays;
  arrays.feature_offsets.resize(rows.size() + 1);
  arrays.label_offsets.resize(rows.size() + 1);
  return Dataset(std::move(arrays), options.feature_limit, options.label_limit).with_dense(std::move(rows));
}

// Adds the matrix [samples x columns] to the samples of a second file, or to labels alone.
Dataset read_dense_data(const DensePaths& paths, const ReadOptions& options,
                        const ReadSamples& read_samples) {
  DenseRows rows = read_dense_rows(paths.rows, options);
  if (!paths.samples) {
    require_no_sparse(paths.rows, options);
    LabelLists labels = read_labels(paths.beside.empty() ? labels_beside(paths.rows) : paths.beside,
                                    rows.size(), options.label_limit, paths.rows);
    DatasetArrays arrays;
    arrays.feature_offsets.resize(rows.size() + 1);
    arrays.label_offsets = std::move(labels.offsets);
    arrays.label_ids = std::move(labels.ids);
    return Dataset(std::move(arrays), options.feature_limit, labels.count).with_dense(std::move(rows));
  }
  ReadOptions of_samples = options;
  of_samples.dense_columns.reset();
  of_samples.columns.dense.clear();
  const Dataset samples = read_samples(paths.beside, of_samples);
  if (samples.dense_count() > 0)
    fail_input("{}: it has dense columns of its own; put those of both into one file", paths.beside);
  if (samples.size() != rows.size()) {
    fail_input("{}: {} rows, but {} has {} samples; they must be of the same samples", paths.rows,
               rows.size(), paths.beside, samples.size());
  }
  return samples.with_dense(std::move(rows));
}

void require_no_dense(const std::string& path, const ReadOptions& options) {
  if (options.dense_columns.value_or(0) == 0) return;
  if (!options.columns.dense.empty())
    fail_input(
        "{}: it has no dense features, but {} columns are needed; write JSON lines with the column '{}'",
        path, *options.dense_columns, options.columns.dense);
  fail_input(
      "{}: it has no dense features, but {} columns are needed; name them, as X.npy+{} or X.npy,LABELS", path,
      *options.dense_columns, path);
}

}  // namespace slide
