#include "datasets/formats/npz.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "datasets/formats/npz_matrix.h"
#include "datasets/rows/read_report.h"
#include "datasets/rows/row_parser.h"
#include "engine/base/error.h"
#include "engine/base/parallel.h"

namespace slide {

namespace {

constexpr std::size_t kRowsAtOnce = 4096;  // rows per task

// Keeps the entries (column id, value) for which keeps(id, value); returns the number of removed entries.
template <class Keeps>
std::uint64_t keep_entries(NpzMatrix& matrix, const Keeps& keeps) {
  std::size_t kept = 0, begin = 0;
  for (std::size_t row = 0; row < matrix.rows; ++row) {
    const std::size_t end = matrix.ends[row + 1];
    for (std::size_t i = begin; i < end; ++i) {
      if (!keeps(matrix.ids[i], matrix.values[i])) continue;
      matrix.ids[kept] = matrix.ids[i];
      matrix.values[kept++] = matrix.values[i];
    }
    begin = end;
    matrix.ends[row + 1] = kept;
  }
  const std::uint64_t removed = matrix.ids.size() - kept;
  matrix.ids.resize(kept);
  matrix.values.resize(kept);
  return removed;
}

void check_limit(const NamedBytes& file, const NpzMatrix& matrix, std::uint32_t limit, const char* what) {
  const auto largest = std::ranges::max_element(matrix.ids);
  if (limit == 0 || largest == matrix.ids.end() || *largest < limit) return;
  fail_input("{}: {} {} is out of range; ids must be below {}: correct the id or the number of {}s",
             file.path, what, *largest, limit, what);
}

// The rows [first, last) of a pair of matrices.
struct RowRange {
  std::size_t first = 0, last = 0;
};

// Copies `rows` of the CSR matrices x (features) and y (labels) into the sink, features in unit length if
// `normalize`. One call per task.
void store_rows(const NpzMatrix& x, const NpzMatrix& y, const RowRange& rows, bool normalize, CsrSink& sink,
                int thread) {
  const CsrCounts before = {rows.first, x.ends[rows.first], y.ends[rows.first]};
  const CsrCounts count = {rows.last - rows.first, x.ends[rows.last] - before.features,
                           y.ends[rows.last] - before.labels};
  const CsrRoom room = sink.open(before, count, thread);
  for (std::size_t i = 0; i < count.features; ++i) {
    room.feature_ids[i] = static_cast<std::uint32_t>(x.ids[before.features + i]);
    room.feature_values[i] = x.values[before.features + i];
  }
  for (std::size_t i = 0; i < count.labels; ++i) {
    room.label_ids[i] = static_cast<std::uint32_t>(y.ids[before.labels + i]);
  }
  for (std::size_t row = rows.first; row < rows.last; ++row) {
    room.feature_ends[row - rows.first] = x.ends[row + 1];
    room.label_ends[row - rows.first] = y.ends[row + 1];
    if (!normalize) continue;
    scale_to_unit_length(room.feature_values + (x.ends[row] - before.features),
                         x.ends[row + 1] - x.ends[row]);
  }
  sink.close(thread);
}

std::uint64_t bound_of(const NpzMatrix& matrix) {
  return matrix.ids.empty() ? 0 : std::ranges::max(matrix.ids) + 1;
}

}  // namespace

bool is_npz(std::string_view bytes) {
  return bytes.starts_with("PK\x03\x04");
}

bool is_npz_pair(const std::string& path) {
  const std::size_t comma = path.find(".npz,");
  return comma != std::string::npos && path.ends_with(".npz");
}

NpzPaths npz_paths(const std::string& path) {
  if (is_npz_pair(path)) {
    const std::size_t comma = path.find(',', path.find(".npz,"));
    return {path.substr(0, comma), path.substr(comma + 1)};
  }
  const std::size_t name = path.rfind('/') == std::string::npos ? 0 : path.rfind('/') + 1;
  if (name >= path.size() || path[name] != 'X') {
    fail_input(
        "{}: features and labels are two files; call them X....npz and Y....npz, or name both: "
        "FEATURES.npz,LABELS.npz",
        path);
  }
  std::string labels = path;
  labels[name] = 'Y';
  return {path, labels};
}

// Stores the rows of two CSR matrices: x [samples x features], y [samples x labels].
CsrSizes parse_npz(const NamedBytes& features, const NamedBytes& labels, const ReadOptions& options,
                   CsrSink& sink) {
  NpzMatrix x = read_npz_matrix(features);
  NpzMatrix y = labels.path.empty() ? NpzMatrix{x.rows, 0, std::vector<std::uint64_t>(x.rows + 1), {}, {}}
                                    : read_npz_labels(labels);
  if (x.rows != y.rows) {
    fail_input("{}: {} rows of labels, but {} has {} rows of features; they must be of the same samples",
               labels.path, y.rows, features.path, x.rows);
  }
  if (x.rows == 0) fail_input("{}: the matrix has no rows; check the path of the data", features.path);
  keep_entries(y, [](std::uint64_t, float value) { return value != 0; });
  if (options.leave_out_features && options.feature_limit != 0 && x.columns > options.feature_limit) {
    const auto is_known = [&](std::uint64_t feature, float) { return feature < options.feature_limit; };
    const std::uint64_t left_out = keep_entries(x, is_known);
    x.columns = options.feature_limit;
    if (options.report != nullptr) options.report->unknown_features = left_out;
  }
  check_limit(features, x, options.feature_limit, "feature");
  check_limit(labels, y, options.label_limit, "label");
  const int threads = resolve_threads(options.threads);
  sink.start({x.rows, x.ids.size(), y.ids.size()}, threads);
  parallel_for((x.rows + kRowsAtOnce - 1) / kRowsAtOnce, threads, [&](std::size_t task, int thread) {
    const std::size_t first = task * kRowsAtOnce;
    store_rows(x, y, {first, std::min<std::size_t>(first + kRowsAtOnce, x.rows)}, options.normalize, sink,
               thread);
  });
  return {x.columns, y.columns, bound_of(x), bound_of(y)};
}

// Writes X, then reuses the arrays for Y with values 1. Both files get their names together.
void write_npz(const Dataset& data, const NpzPaths& paths) {
  AtomicFile features(paths.features, FileUse::kAnyOrder), labels(paths.labels, FileUse::kAnyOrder);
  NpzEntries entries;
  entries.ids.reserve(data.feature_entries());
  entries.values.reserve(data.feature_entries());
  for (std::size_t i = 0; i < data.size(); ++i) {
    const SparseRow row = data.features(i);
    entries.ids.insert(entries.ids.end(), row.ids.begin(), row.ids.end());
    entries.values.insert(entries.values.end(), row.values.begin(), row.values.end());
    entries.ends.push_back(entries.ids.size());
  }
  write_npz_matrix(features, std::move(entries), data.feature_count());
  entries = {};
  for (std::size_t i = 0; i < data.size(); ++i) {
    const auto row = data.labels(i);
    entries.ids.insert(entries.ids.end(), row.begin(), row.end());
    entries.ends.push_back(entries.ids.size());
  }
  entries.values.assign(entries.ids.size(), 1.0F);
  write_npz_matrix(labels, std::move(entries), data.label_count());
  AtomicFile::finish(features, labels);
}

}  // namespace slide
