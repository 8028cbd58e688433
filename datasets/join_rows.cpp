#include "datasets/join_rows.h"

#include <sys/stat.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "datasets/formats/dense_data.h"
#include "datasets/formats/detect.h"
#include "datasets/formats/npz.h"
#include "datasets/formats/text_pair.h"
#include "datasets/rows/data_parts.h"
#include "datasets/text/table.h"
#include "engine/base/error.h"
#include "engine/base/parallel.h"

namespace slide {

namespace {

constexpr std::size_t kRunRows = std::size_t{1} << 14;  // rows copied per task

// kAuto where the content shows no format.
DataFormat format_of_part(const std::string& part, const TableColumns& columns) {
  if (is_npz_pair(part)) return DataFormat::kNpz;
  if (text_pair(part)) return DataFormat::kXmc;
  const std::string head = head_of_file(part);
  if (const std::optional<DataFormat> table = detect_table(head, columns)) return *table;
  return detect_format(head).value_or(DataFormat::kAuto);
}

// Throws unless the part is a file, or a list of files, with sparse features.
void check_part(const std::string& part) {
  if (dense_paths(part)) {
    fail_input("{}: dense features cannot be one of several files; put them into one .npy file", part);
  }
  if (is_file_list(part)) return;
  struct stat status {};
  if (stat(part.c_str(), &status) != 0) {
    fail_input("{}: no such file{}; check the path of the data", part,
               is_pattern(part) ? ", and the pattern matches none" : "");
  }
  if (S_ISDIR(status.st_mode)) fail_input("{}: is a folder; name the data files inside it", part);
  if (!S_ISREG(status.st_mode))
    fail_input("{}: a pipe cannot be one of several files; write it to a file first", part);
}

// Sizes before a row of a data set, whose first offset may be nonzero.
CsrCounts before_row(const DatasetView& view, std::size_t row) {
  return {row, view.feature_offsets[row] - view.feature_offsets[0],
          view.label_offsets[row] - view.label_offsets[0], view.weights.empty() ? 0 : row,
          view.dense.columns() * row};
}

CsrCounts counts_of(const Dataset& data) {
  return data.size() == 0 ? CsrCounts() : before_row(data.view(), data.size());
}

CsrCounts difference(const CsrCounts& a, const CsrCounts& b) {
  return {a.rows - b.rows, a.features - b.features, a.labels - b.labels, a.weights - b.weights,
          a.dense - b.dense};
}

// Copies rows [first, end) of a part that begins after `base`.
void copy_run(const DatasetView& view, std::size_t first, std::size_t end, const CsrCounts& base,
              const CsrRoom& room) {
  const std::uint64_t feature = view.feature_offsets[first], label = view.label_offsets[first];
  const std::uint64_t features = view.feature_offsets[end] - feature,
                      labels = view.label_offsets[end] - label;
  std::copy_n(view.feature_ids.data() + feature, features, room.feature_ids);
  std::copy_n(view.feature_values.data() + feature, features, room.feature_values);
  std::copy_n(view.label_ids.data() + label, labels, room.label_ids);
  if (!view.weights.empty()) std::copy_n(view.weights.data() + first, end - first, room.weights);
  for (std::size_t row = first; row < end; ++row) {
    const CsrCounts here = before_row(view, row + 1);
    room.feature_ends[row - first] = base.features + here.features;
    room.label_ends[row - first] = base.labels + here.labels;
    if (room.dense != nullptr) view.dense.copy_row(row, room.dense + (row - first) * view.dense.columns());
  }
}

}  // namespace

// The common format of the parts; a part of unclear format is no contradiction.
DataFormat format_of_parts(const std::vector<std::string>& parts, const ReadOptions& options) {
  for (const std::string& part : parts) check_part(part);
  if (options.format != DataFormat::kAuto) return options.format;
  const DataFormat format = format_of_part(parts.front(), options.columns);
  for (const std::string& part : parts) {
    const DataFormat other = format_of_part(part, options.columns);
    if (format == DataFormat::kAuto || other == DataFormat::kAuto || other == format) continue;
    fail_input("{}: this is {}, but {} is {}; several files must be of one format", part, name_of(other),
               parts.front(), name_of(format));
  }
  return format;
}

// Copies the parts one after another into the sink, runs of rows in parallel, and releases each part once
// copied. bases[i]: rows and entries of the parts before part i.
void join_rows(std::vector<Dataset> parts, CsrSink& sink, int threads) {
  threads = resolve_threads(threads);
  std::vector<CsrCounts> bases(1);
  for (const Dataset& part : parts) {
    bases.push_back(bases.back());
    bases.back() += counts_of(part);
  }
  sink.start(bases.back(), threads);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Dataset part = std::exchange(parts[i], {});
    const DatasetView view = part.view();
    parallel_for((part.size() + kRunRows - 1) / kRunRows, threads, [&](std::size_t run, int thread) {
      const std::size_t first = run * kRunRows, end = std::min(part.size(), first + kRunRows);
      CsrCounts before = before_row(view, first);
      const CsrCounts count = difference(before_row(view, end), before);
      before += bases[i];
      copy_run(view, first, end, bases[i], sink.open(before, count, thread));
      sink.close(thread);
    });
  }
}

Dataset joined_rows(std::vector<Dataset> parts, int threads) {
  CsrSizes sizes;
  for (const Dataset& part : parts) {
    sizes.feature_count = std::max<std::uint64_t>(sizes.feature_count, part.feature_count());
    sizes.label_count = std::max<std::uint64_t>(sizes.label_count, part.label_count());
  }
  MemorySink sink;
  join_rows(std::move(parts), sink, threads);
  return sink.take(sizes, {});
}

}  // namespace slide
