#include "datasets/formats/text_pair.h"

#include <algorithm>
#include <filesystem>
#include <span>
#include <string_view>
#include <system_error>

#include "datasets/formats/detect.h"
#include "datasets/formats/label_lists.h"
#include "datasets/rows/file_bytes.h"
#include "datasets/rows/labelled_line.h"
#include "datasets/rows/text_parser.h"
#include "datasets/rows/xmc_header.h"
#include "engine/base/error.h"
#include "engine/base/parallel.h"

namespace slide {

namespace {

constexpr std::string_view kFeaturesMark = "_Xf.";
constexpr std::string_view kLabelsMark = "_Y.";
constexpr std::size_t kPairRowsAtOnce = 4096;  // rows per task

bool is_file(const std::string& path) {
  std::error_code ignored;
  return !path.empty() && std::filesystem::is_regular_file(path, ignored);
}

// Reads the features, without labels.
Dataset read_pair_features(const TextPair& pair, const ReadOptions& options, std::size_t chunk_bytes) {
  const FileBytes bytes(pair.features);
  const std::string_view text = without_byte_order_mark(bytes.text());
  ReadOptions of_features = options;
  of_features.skip_bad = false;
  if (options.format == DataFormat::kAuto)
    of_features.format = detect_format(text).value_or(DataFormat::kLibsvm);
  if (of_features.format != DataFormat::kXmc && of_features.format != DataFormat::kLibsvm) {
    fail_input("{}: the features beside {} are lines of id:value, with a first line 'samples features'",
               pair.features, pair.labels);
  }
  MemorySink sink;
  const CsrSizes sizes = parse_text(TextSource{text, pair.features}, of_features, sink, chunk_bytes);
  Dataset features = sink.take(sizes, of_features);
  if (!features.view().label_ids.empty()) {
    fail_input("{}: it has labels, and so has {}; name one file only, or take the labels out of it",
               pair.features, pair.labels);
  }
  return features;
}

// Stores the rows [first, last) of both files.
void store_pair(const DatasetView& x, const LabelLists& y, std::size_t first, std::size_t last, CsrSink& sink,
                int thread) {
  const CsrCounts before = {first, x.feature_offsets[first], y.offsets[first]};
  const CsrCounts count = {last - first, x.feature_offsets[last] - before.features,
                           y.offsets[last] - before.labels};
  const CsrRoom room = sink.open(before, count, thread);
  std::copy_n(x.feature_ids.data() + before.features, count.features, room.feature_ids);
  std::copy_n(x.feature_values.data() + before.features, count.features, room.feature_values);
  std::copy_n(x.feature_offsets.data() + first + 1, count.rows, room.feature_ends);
  std::copy_n(y.ids.data() + before.labels, count.labels, room.label_ids);
  std::copy_n(y.offsets.data() + first + 1, count.rows, room.label_ends);
  sink.close(thread);
}

std::uint64_t bound_of_ids(std::span<const std::uint32_t> ids) {
  return ids.empty() ? 0 : std::uint64_t{*std::max_element(ids.begin(), ids.end())} + 1;
}

}  // namespace

// Tries each comma as the divider, since the paths themselves may contain commas.
std::optional<TextPair> named_text_pair(const std::string& path) {
  if (path.find(',') == std::string::npos || is_file(path)) return std::nullopt;
  for (std::size_t comma = path.find(','); comma != std::string::npos; comma = path.find(',', comma + 1)) {
    TextPair pair{path.substr(0, comma), path.substr(comma + 1)};
    if (pair.features.ends_with(".npz") || !is_file(pair.features)) continue;
    if (pair.labels.empty()) return std::nullopt;
    return pair;
  }
  return std::nullopt;
}

std::optional<TextPair> text_pair(const std::string& path) {
  if (auto named = named_text_pair(path)) return named;
  const std::size_t mark = path.rfind(kFeaturesMark);
  if (mark == std::string::npos || path.find('/', mark) != std::string::npos) return std::nullopt;
  std::string labels = path;
  labels.replace(mark, kFeaturesMark.size(), kLabelsMark);
  if (!is_file(path) || !is_file(labels) || !has_features_header(head_of_file(path))) return std::nullopt;
  return TextPair{path, std::move(labels)};
}

// Reads the two files, then stores rows of both.
CsrSizes read_text_pair(const TextPair& pair, const ReadOptions& options, CsrSink& sink,
                        std::size_t chunk_bytes) {
  const Dataset features = read_pair_features(pair, options, chunk_bytes);
  const LabelLists labels = read_labels(pair.labels, features.size(), options.label_limit, pair.features);
  const DatasetView x = features.view();
  const int threads = resolve_threads(options.threads);
  const std::size_t rows = features.size();
  sink.start({rows, x.feature_ids.size(), labels.ids.size()}, threads);
  parallel_for((rows + kPairRowsAtOnce - 1) / kPairRowsAtOnce, threads, [&](std::size_t task, int thread) {
    const std::size_t first = task * kPairRowsAtOnce;
    store_pair(x, labels, first, std::min(first + kPairRowsAtOnce, rows), sink, thread);
  });
  return {features.feature_count(), labels.count, bound_of_ids(x.feature_ids), bound_of_ids(labels.ids)};
}

}  // namespace slide
