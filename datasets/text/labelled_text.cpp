#include "datasets/text/labelled_text.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "datasets/rows/labelled_line.h"
#include "datasets/rows/row_parser.h"
#include "datasets/rows/unknown_labels.h"
#include "datasets/text/labelled_chunks.h"
#include "datasets/text/tokenizer.h"
#include "engine/base/error.h"
#include "engine/base/parallel.h"

namespace slide {

namespace {

constexpr std::size_t kPlainChunkBytes = std::size_t{1} << 14;  // small, for parallelism on small texts

// The rows of a chunk.
struct ChunkRows {
  std::vector<std::uint64_t> feature_ends, label_ends;  // relative to the start of the chunk
  std::vector<std::uint32_t> feature_ids, label_ids;
  std::vector<float> feature_values;
  std::vector<float> weights;  // empty where all weights are equal
  std::vector<float> dense;    // rows of dense columns, one after the other
  std::uint64_t unknown_features = 0, unknown_labels = 0;

  // Removes all rows and keeps the memory.
  void clear() {
    feature_ends.clear(), label_ends.clear(), feature_ids.clear(), label_ids.clear();
    feature_values.clear(), weights.clear(), dense.clear();
    unknown_features = unknown_labels = 0;
  }
};

// How rows are made of text.
struct TextRules {
  bool normalize = true;
  int threads = 0;
  UnknownLabels* unknown_labels = nullptr;  // see ReadOptions
};

struct Reading {
  explicit Reading(const TextOptions& options) : tokenizer(options) {}
  Tokenizer tokenizer;
  LabelledLine parts;
  Row row;
  ChunkRows rows;
  UnknownLabels names;  // of unknown labels, where these are numbered: ids after the model's, by chunk
};

void append(const Row& row, ChunkRows& rows) {
  const auto count = static_cast<std::ptrdiff_t>(row.feature_count);
  rows.feature_ids.insert(rows.feature_ids.end(), row.ids.begin(), row.ids.begin() + count);
  rows.feature_values.insert(rows.feature_values.end(), row.values.begin(), row.values.begin() + count);
  rows.label_ids.insert(rows.label_ids.end(), row.labels.begin(), row.labels.end());
  rows.feature_ends.push_back(rows.feature_ids.size());
  rows.label_ends.push_back(rows.label_ids.size());
}

// Returns how many labels the model does not know; `unknown`, where there is one, numbers them.
std::uint64_t find_labels(const LabelledLine& parts, const TextModel& model, UnknownLabels* unknown_names,
                          std::vector<std::uint32_t>& ids) {
  ids.clear();
  for (const std::string_view name : parts.labels) {
    if (const auto id = model.label_id(name))
      ids.push_back(*id);
    else if (unknown_names != nullptr)
      ids.push_back(model.label_count() + unknown_names->number(name));
  }
  const std::uint64_t unknown = parts.labels.size() - ids.size();
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
  return unknown;
}

// Reads a chunk into reading.rows.
template <class Chunks>
void read_chunk(Chunks& chunks, std::size_t chunk, const TextModel& model, const TextRules& rules,
                Reading& reading) {
  ChunkRows& rows = reading.rows;
  rows.clear();
  reading.names = {};
  UnknownLabels* const names = rules.unknown_labels != nullptr ? &reading.names : nullptr;
  chunks.for_each_line(chunk, reading.parts, [&](const LabelledLine& parts) {
    rows.unknown_labels += find_labels(parts, model, names, reading.row.labels);
    model.features_of(parts.text, rules.normalize, reading.tokenizer, reading.row);
    rows.unknown_features += reading.row.unknown;
    append(reading.row, rows);
    if (chunks.has_weights()) rows.weights.push_back(parts.weight);
    rows.dense.insert(rows.dense.end(), parts.dense.begin(), parts.dense.end());
    rows.dense.resize(rows.feature_ends.size() * chunks.dense_columns());  // zeros where there is no text
  });
}

// `numbers`: of the unknown labels of the chunk, among all; they are after `known` labels.
void store(const ChunkRows& rows, std::uint32_t known, const std::vector<std::uint32_t>& numbers,
           const CsrCounts& before, const CsrRoom& room) {
  std::copy(rows.feature_ids.begin(), rows.feature_ids.end(), room.feature_ids);
  std::copy(rows.feature_values.begin(), rows.feature_values.end(), room.feature_values);
  std::copy(rows.label_ids.begin(), rows.label_ids.end(), room.label_ids);
  std::copy(rows.weights.begin(), rows.weights.end(), room.weights);
  if (room.dense != nullptr) std::copy(rows.dense.begin(), rows.dense.end(), room.dense);
  for (std::size_t i = 0; i < rows.feature_ends.size(); ++i) {
    room.feature_ends[i] = before.features + rows.feature_ends[i];
    room.label_ends[i] = before.labels + rows.label_ends[i];
  }
  if (numbers.empty()) return;
  for (std::size_t i = 0, first = 0; i < rows.label_ends.size(); first = rows.label_ends[i++]) {
    for (std::size_t l = first; l < rows.label_ends[i]; ++l) {
      if (room.label_ids[l] >= known) room.label_ids[l] = known + numbers[room.label_ids[l] - known];
    }
    std::sort(room.label_ids + first, room.label_ids + rows.label_ends[i]);
  }
}

// Numbers the unknown labels of all chunks as if these were one.
std::vector<std::vector<std::uint32_t>> numbers_of(const std::vector<UnknownLabels>& names,
                                                   UnknownLabels* all) {
  std::vector<std::vector<std::uint32_t>> numbers(names.size());
  for (std::size_t c = 0; all != nullptr && c < names.size(); ++c) {
    for (std::size_t n = 0; n < names[c].size(); ++n) numbers[c].push_back(all->number(names[c][n]));
  }
  return numbers;
}

// Reads all samples into `sink`, fills in `report`, and returns the number of samples.
template <class Chunks>
std::uint64_t read_samples(Chunks& chunks, const TextModel& model, const TextRules& rules, CsrSink& sink,
                           ReadReport& report) {
  const auto threads = static_cast<int>(std::min(static_cast<std::size_t>(resolve_threads(rules.threads)),
                                                 std::max<std::size_t>(chunks.size(), 1)));
  std::vector<Reading> readings;
  for (int thread = 0; thread < threads; ++thread) readings.emplace_back(model.options());
  const bool twice = sink.saves_memory();  // else rows of the first pass are kept
  std::vector<ChunkRows> waiting(twice ? 0 : chunks.size());
  std::vector<CsrCounts> counts(chunks.size());
  std::vector<std::pair<std::uint64_t, std::uint64_t>> unknown(chunks.size());  // features and labels
  std::vector<UnknownLabels> names(chunks.size());
  const auto read = [&](std::size_t index, int thread) -> Reading& {
    Reading& mine = readings[static_cast<std::size_t>(thread)];
    read_chunk(chunks, index, model, rules, mine);
    const ChunkRows& rows = mine.rows;
    counts[index] = {rows.feature_ends.size(), rows.feature_ids.size(), rows.label_ids.size(),
                     rows.weights.size(), rows.dense.size()};
    unknown[index] = {rows.unknown_features, rows.unknown_labels};
    return mine;
  };
  parallel_for(chunks.size(), threads, [&](std::size_t index, int thread) {
    Reading& mine = read(index, thread);
    names[index] = std::move(mine.names);
    if (!twice) waiting[index] = mine.rows;
  });
  chunks.check_faults();
  chunks.report_faults(report);
  for (const auto& [features, labels] : unknown) {
    report.unknown_features += features;
    report.unknown_labels += rules.unknown_labels != nullptr ? 0 : labels;
  }
  const auto numbers = numbers_of(names, rules.unknown_labels);
  std::vector<CsrCounts> bases(chunks.size() + 1);
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    bases[i + 1] = bases[i];
    bases[i + 1] += counts[i];
  }
  sink.start(bases.back(), threads);
  parallel_for(chunks.size(), threads, [&](std::size_t index, int thread) {
    if (twice) read(index, thread);
    const CsrRoom room = sink.open(bases[index], counts[index], thread);
    store(twice ? readings[static_cast<std::size_t>(thread)].rows : waiting[index], model.label_count(),
          numbers[index], bases[index], room);
    sink.close(thread);
    if (!twice) waiting[index] = {};
  });
  return bases.back().rows;
}

}  // namespace

// Converts lines, or records of a table, to rows by the vocabulary of `model`.
CsrSizes parse_labelled_text(const TextSource& source, const TextModel& model, const ReadOptions& options,
                             CsrSink& sink, std::size_t chunk_bytes) {
  std::optional<Table> table;
  if (is_table(options.format))
    table.emplace(source.text, source.origin, options.format, options.columns, Labels::kRequired,
                  options.dense_columns);
  const TextSource rest = table ? without_header(source, *table) : source;
  LineRules rules = {find_text_form(source.text).value_or(model.form()), false, options.skip_bad};
  if (table) rules.table = &*table, rules.lines_before = table->header_lines();
  rules.separator = options.columns.label_separator;
  LabelledChunks chunks(rest, rules, chunk_bytes);
  ReadReport report;
  const TextRules how{options.normalize, options.threads, options.unknown_labels};
  const std::uint64_t rows = read_samples(chunks, model, how, sink, report);
  if (rows == 0 && report.bad_rows > 0)
    fail_input("{}; no row of the file can be read", report.first.front());
  if (rows == 0)
    fail_input("{}:1:1: the file is empty; write {} for each sample", source.origin,
               table ? "a record" : "a line of labels and text");
  if (options.report != nullptr) *options.report = std::move(report);
  const std::size_t more = options.unknown_labels != nullptr ? options.unknown_labels->size() : 0;
  const auto labels = model.label_count() + static_cast<std::uint32_t>(more);
  return {model.feature_count(), labels, model.feature_count(), labels, chunks.dense_columns()};
}

namespace {

template <class Chunks>
Dataset read_to_memory(Chunks& chunks, const TextModel& model, bool normalize, int threads,
                       ReadReport& report) {
  MemorySink sink;
  read_samples(chunks, model, {normalize, threads}, sink, report);
  const CsrSizes sizes = {model.feature_count(), model.label_count(), 0, 0, chunks.dense_columns()};
  ReadOptions how;
  how.normalize = normalize;
  how.threads = threads;
  return sink.take(sizes, how);
}

}  // namespace

Dataset parse_texts(const TextSamples& samples, const TextModel& model, bool normalize, int threads,
                    ReadReport* report) {
  TextSampleChunks chunks(samples, model.form());
  ReadReport unused;
  return read_to_memory(chunks, model, normalize, threads, report == nullptr ? unused : *report);
}

Dataset parse_plain_text(std::string_view text, const TextModel& model, bool normalize, int threads) {
  const TextSource source = {text, "text"};
  LabelledChunks chunks(source, {model.form(), true}, kPlainChunkBytes);
  ReadReport report;
  return read_to_memory(chunks, model, normalize, threads, report);
}

// Records to predict for: no labels are needed, and a malformed record becomes an empty row.
RowPart parse_plain_records(const TextSource& records, const Table& table, std::uint64_t lines_before,
                            const ReadOptions& options, std::uint64_t* lines) {
  LineRules rules = {TextForm::kFastText, true};
  rules.keep_bad = true;
  rules.table = &table;
  rules.lines_before = lines_before;
  LabelledChunks chunks(records, rules, kPlainChunkBytes);
  ReadReport report;
  RowPart part;
  part.rows = read_to_memory(chunks, *options.text, options.normalize, options.threads, report);
  part.bad = chunks.emptied();
  part.faults = std::move(report.first);
  *lines = chunks.lines();
  return part;
}

}  // namespace slide
