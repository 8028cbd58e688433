#include "datasets/text_learner.h"

#include <sys/stat.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "datasets/formats/detect.h"
#include "datasets/formats/interactions.h"
#include "datasets/join_rows.h"
#include "datasets/rows/data_parts.h"
#include "datasets/rows/file_bytes.h"
#include "datasets/rows/labelled_line.h"
#include "datasets/text/feature_counter.h"
#include "datasets/text/labelled_chunks.h"
#include "datasets/text/tokenizer.h"
#include "datasets/text/vocabulary_choice.h"
#include "engine/base/error.h"
#include "engine/base/parallel.h"

namespace slide {

namespace {

constexpr unsigned kShardBits = 5;  // leading hash bits that select a shard of the counters
constexpr std::size_t kShards = std::size_t{1} << kShardBits;

// Parameters for building a model from counts.
struct LearnOptions {
  const TextOptions& text;
  int threads;
  const LabelTexts* label_texts = nullptr;
};

std::span<const LabelTexts::Line> lines_of(const LabelTexts* texts) {
  return texts != nullptr ? texts->lines() : std::span<const LabelTexts::Line>();
}

using LabelCounts = std::unordered_map<std::string, std::uint32_t>;

// Counts of one thread.
struct Seen {
  explicit Seen(const TextOptions& options) : tokenizer(options), features(kShards) {}
  Tokenizer tokenizer;
  LabelledLine parts;
  std::vector<FeatureCounter> features;  // by shard
  LabelCounts labels;
  std::uint32_t samples = 0;
  std::vector<std::string_view> distinct;  // scratch
};

// Counts a sample: once for each of its distinct labels and features.
void count_line(const LabelledLine& parts, Seen& seen) {
  ++seen.samples;
  seen.distinct.assign(parts.labels.begin(), parts.labels.end());
  std::sort(seen.distinct.begin(), seen.distinct.end());
  seen.distinct.erase(std::unique(seen.distinct.begin(), seen.distinct.end()), seen.distinct.end());
  for (const std::string_view label : seen.distinct) ++seen.labels[std::string(label)];
  seen.tokenizer.run(parts.text);
  const auto hashes = seen.tokenizer.features();
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    FeatureCounter& shard = seen.features[hashes[i] >> (64 - kShardBits)];
    shard.add(hashes[i], seen.samples, [&] { return seen.tokenizer.name(i); });
  }
}

// Sums the counters over threads, one per shard; releases the threads' memory.
std::vector<FeatureCounter> merge_features(std::vector<Seen>& seen, int threads) {
  std::vector<FeatureCounter> merged(kShards);
  parallel_for(kShards, threads, [&](std::size_t shard, int) {
    merged[shard] = std::move(seen.front().features[shard]);
    for (std::size_t t = 1; t < seen.size(); ++t) {
      const FeatureCounter part = std::move(seen[t].features[shard]);
      part.for_each([&](const FeatureCount& entry, const char* name) {
        merged[shard].add_count(entry.hash, entry.samples, name);
      });
    }
  });
  return merged;
}

// Appends to the names in `parts` the labels that are frequent enough or have a text, by decreasing
// frequency, without the labels of `before` (if any).
void append_labels(const TextOptions& options, const TextModel* before, const LabelTexts* texts,
                   std::vector<Seen>& seen, TextModelParts& parts) {
  LabelCounts counts = std::move(seen.front().labels);
  for (std::size_t t = 1; t < seen.size(); ++t) {
    for (const auto& [name, count] : seen[t].labels) counts[name] += count;
  }
  std::unordered_set<std::string_view> with_text;
  for (const LabelTexts::Line& line : lines_of(texts)) {
    counts.try_emplace(std::string(line.label), 0);
    with_text.insert(line.label);
  }
  std::vector<std::pair<std::string, std::uint32_t>> chosen;
  for (const auto& label : counts) {
    if (before != nullptr && before->label_id(label.first)) continue;
    if (label.second >= options.min_label_count || with_text.contains(label.first))
      chosen.emplace_back(label);
  }
  std::sort(chosen.begin(), chosen.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  for (const auto& label : chosen) parts.label_names.add(label.first);
}

// Counts the words of the chosen labels' texts, as additional samples.
void count_label_texts(const LabelTexts* texts, const NameList& labels, Seen& seen) {
  if (texts == nullptr) return;
  LabelledLine parts;
  texts->for_each(labels, [&](std::string_view, std::string_view text) {
    parts.text = text;
    count_line(parts, seen);
  });
}

// Empty counts for each thread.
std::vector<Seen> nothing_seen(const TextOptions& options, int threads) {
  return std::vector<Seen>(static_cast<std::size_t>(threads), Seen(options));
}

// Counts all samples; each thread has its own counts.
template <class Chunks>
void count_all(Chunks& chunks, std::vector<Seen>& seen) {
  parallel_for(chunks.size(), static_cast<int>(seen.size()), [&](std::size_t chunk, int thread) {
    Seen& mine = seen[static_cast<std::size_t>(thread)];
    chunks.for_each_line(chunk, mine.parts, [&](const LabelledLine& parts) { count_line(parts, mine); });
  });
}

// Builds a model from the counts; labels are already chosen, except with LabelIds::kAsGiven.
std::shared_ptr<const TextModel> model_of(TextModelParts parts, std::vector<Seen> seen,
                                          const LearnOptions& how, const std::string& origin) {
  const TextOptions& options = how.text;
  if (parts.label_names.size() == 0) append_labels(options, nullptr, how.label_texts, seen, parts);
  if (parts.label_names.size() == 0) {
    fail_input("{}: no label occurs in {} samples or more; lower text.min_label_count or check the data",
               origin, options.min_label_count);
  }
  count_label_texts(how.label_texts, parts.label_names, seen.front());
  for (const Seen& mine : seen) parts.samples += mine.samples;
  choose_features(options, merge_features(seen, how.threads), parts);
  if (parts.weights.empty()) {
    fail_input("{}: no word occurs in {} samples or more; lower text.min_count or check the data", origin,
               options.min_count);
  }
  return std::make_shared<const TextModel>(options, std::move(parts));
}

// Counts the samples of a text; returns its form.
TextForm count_text(const TextSource& source, std::size_t chunk_bytes, const LearnRules& how,
                    std::vector<Seen>& seen) {
  const Table* const table = how.table;
  const TextForm form =
      table != nullptr ? TextForm::kFastText : require_text_form(source.text, source.origin);
  LineRules rules = {form, false, how.skip_bad};
  rules.separator = how.label_separator;
  const TextSource rest = table != nullptr ? without_header(source, *table) : source;
  if (table != nullptr) rules.table = table, rules.lines_before = table->header_lines();
  LabelledChunks chunks(rest, rules, chunk_bytes);
  count_all(chunks, seen);
  chunks.check_faults();
  return form;
}

std::shared_ptr<const TextModel> larger_model_of(const TextModel& before, std::vector<Seen> seen,
                                                 const LearnOptions& how) {
  TextModelParts parts;
  parts.form = before.form();
  parts.samples = before.samples();
  parts.label_names = before.parts().label_names;
  append_labels(how.text, &before, how.label_texts, seen, parts);
  count_label_texts(how.label_texts, parts.label_names, seen.front());
  for (const Seen& mine : seen) parts.samples += mine.samples;
  add_features(before, how.text, merge_features(seen, how.threads), parts);
  return std::make_shared<const TextModel>(how.text, std::move(parts));
}

}  // namespace

std::shared_ptr<const TextModel> learn_text(const TextSource& source, const TextOptions& options, int threads,
                                            std::size_t chunk_bytes, const LearnRules& rules) {
  threads = resolve_threads(threads);
  std::vector<Seen> seen = nothing_seen(options, threads);
  TextModelParts parts;
  parts.form = count_text(source, chunk_bytes, rules, seen);
  return model_of(std::move(parts), std::move(seen), {options, threads}, source.origin);
}

std::shared_ptr<const TextModel> without_labels(const TextModel& before, const std::vector<bool>& dropped) {
  TextModelParts parts = before.parts();
  parts.label_names = {};
  for (std::uint32_t label = 0; label < before.label_count(); ++label) {
    if (!dropped[label]) parts.label_names.add(before.label_name(label));
  }
  return std::make_shared<const TextModel>(before.options(), std::move(parts));
}

std::shared_ptr<const TextModel> learn_texts(const TextSamples& samples, LabelIds label_ids,
                                             const TextOptions& options, int threads) {
  threads = resolve_threads(threads);
  TextModelParts parts;
  TextSampleChunks chunks(samples, parts.form);
  if (label_ids == LabelIds::kAsGiven) {
    for (const std::string_view name : samples.label_names) parts.label_names.add(name);
  }
  std::vector<Seen> seen = nothing_seen(options, threads);
  count_all(chunks, seen);
  return model_of(std::move(parts), std::move(seen), {options, threads}, "texts");
}

// Adds new features and labels to the vocabulary of `before`; known labels keep their ids.
std::shared_ptr<const TextModel> learn_more_texts(const TextSamples& samples, const TextModel& before,
                                                  int threads) {
  threads = resolve_threads(threads);
  const std::size_t known = before.label_count();
  bool same = samples.label_names.size() >= known;
  for (std::uint32_t label = 0; same && label < known; ++label)
    same = samples.label_names[label] == before.label_name(label);
  if (!same) fail_input("labels: the first {} names must be those of the model, in its order", known);
  TextSampleChunks chunks(samples, before.form());
  std::vector<Seen> seen = nothing_seen(before.options(), threads);
  count_all(chunks, seen);
  TextModelParts parts;
  parts.form = before.form();
  parts.samples = before.samples();
  for (const std::string_view name : samples.label_names) parts.label_names.add(name);
  for (const Seen& mine : seen) parts.samples += mine.samples;
  add_features(before, before.options(), merge_features(seen, threads), parts);
  return std::make_shared<const TextModel>(before.options(), std::move(parts));
}

namespace {

// Whether files of this format require learning (a vocabulary or items) before reading.
bool is_learnt(DataFormat format) {
  return format == DataFormat::kText || format == DataFormat::kInteractions || is_table(format);
}

// Format of a text to learn from, common to all parts; kAuto: not a text.
DataFormat format_to_learn(const std::vector<std::string>& parts, const ReadOptions& read) {
  if (parts.size() > 1) format_of_parts(parts, read);
  const std::string& path = parts.front();
  if (read.format != DataFormat::kAuto) {
    return is_learnt(read.format) ? read.format : DataFormat::kAuto;
  }
  const std::string head = head_of_file(path);
  if (head.empty()) return DataFormat::kAuto;
  if (const std::optional<DataFormat> table = detect_table(head, read.columns)) return *table;
  if (!read.columns.text.empty()) {
    if (const auto kind = foreign_kind(head)) fail_input("{}:1:1: this is {}", path, *kind);
    const std::string shown = column_list(head);
    const bool semicolons = head.substr(0, head.find('\n')).find(';') != std::string::npos;
    fail_input("{}:1:1: no table with the columns '{}', which data.text names; {}{}", path, read.columns.text,
               !shown.empty() ? "its columns are "
               : semicolons   ? "its columns look separated by ';': separate them by commas or TABs"
                              : "want JSON lines, CSV or TSV",
               shown);
  }
  const DataFormat found = detect_format(head).value_or(DataFormat::kAuto);
  return is_learnt(found) ? found : DataFormat::kAuto;
}

bool is_regular_file(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) != 0 || S_ISREG(status.st_mode);
}

// Counts all parts of a text; returns the form of the first.
TextForm count_parts(const std::vector<std::string>& parts, const ReadOptions& read, DataFormat format,
                     bool spill, std::vector<Seen>& seen) {
  std::optional<TextForm> form;
  for (const std::string& part : parts) {
    const FileBytes bytes(part, spill);
    const TextSource source{bytes.text(), part, spill ? &bytes : nullptr};
    std::optional<Table> table;
    if (is_table(format)) table.emplace(source.text, part, format, read.columns, Labels::kRequired);
    const TextForm of_part =
        count_text(source, kDefaultChunkBytes,
                   {read.skip_bad, table ? &*table : nullptr, read.columns.label_separator}, seen);
    if (!form) form = of_part;
  }
  return *form;
}

}  // namespace

bool holds_text(const std::string& path, const ReadOptions& read) {
  return is_regular_file(path) && format_to_learn(parts_of(path), read) != DataFormat::kAuto;
}

// nullptr for what is no text file. Counts features and labels over all files, then chooses the vocabulary.
std::shared_ptr<const TextModel> learn_text_file(const std::string& path, const ReadOptions& read,
                                                 const TextOptions& options, bool spill,
                                                 const LabelTexts* label_texts) {
  if (!is_regular_file(path)) return nullptr;
  const std::vector<std::string> files = parts_of(path);
  const DataFormat format = format_to_learn(files, read);
  if (format == DataFormat::kAuto) return nullptr;
  if (format == DataFormat::kInteractions) return learn_items_of(files, read, options, spill);
  const int threads = resolve_threads(read.threads);
  std::vector<Seen> seen = nothing_seen(options, threads);
  TextModelParts parts;
  parts.form = count_parts(files, read, format, spill, seen);
  return model_of(std::move(parts), std::move(seen), {options, threads, label_texts}, shown_path(path));
}

std::shared_ptr<const TextModel> learn_more_text_file(const std::string& path, const ReadOptions& read,
                                                      const TextModel& before, const TextOptions& options,
                                                      bool spill, const LabelTexts* label_texts) {
  const int threads = resolve_threads(read.threads);
  const std::vector<std::string> files = parts_of(path);
  const DataFormat format = format_to_learn(files, read);
  if (format == DataFormat::kInteractions) return learn_items_of(files, read, options, spill, &before);
  std::vector<Seen> seen = nothing_seen(options, threads);
  count_parts(files, read, format, spill, seen);
  return larger_model_of(before, std::move(seen), {options, threads, label_texts});
}

}  // namespace slide
