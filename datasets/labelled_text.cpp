#include "datasets/labelled_text.h"

#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <optional>
#include <unordered_map>
#include <utility>

#include "datasets/detect.h"
#include "datasets/file_bytes.h"
#include "datasets/line_chunks.h"
#include "datasets/row_parser.h"
#include "datasets/tokenizer.h"
#include "engine/base/error.h"
#include "engine/base/parallel.h"

namespace slide {

namespace {

constexpr std::size_t kPlainChunkBytes = std::size_t{1} << 14;  // small, to use all threads on little text
constexpr std::size_t kShards = 32;  // of the counts, by the first bits of the hash

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

std::string_view without_return(std::string_view line) {
  while (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return line;
}

bool is_blank_line(std::string_view line) {
  return line.find_first_not_of(" \t\r") == std::string_view::npos;
}

// A piece of a text and what one pass found in it.
struct Chunk {
  std::string_view text;
  std::uint64_t lines = 0;
  CsrCounts counts;
  std::optional<RowFault> fault;
  std::uint64_t fault_line = 0;  // from 1 in the chunk
};

std::vector<Chunk> cut(const TextSource& source, std::size_t chunk_bytes) {
  std::vector<Chunk> chunks;
  const auto let_go = [&](const char* begin, const char* end) { source.let_go(begin, end); };
  for (const std::string_view text : cut_lines(without_byte_order_mark(source.text), chunk_bytes, let_go)) {
    chunks.emplace_back().text = text;
  }
  return chunks;
}

// What the lines of a text are.
struct LineRules {
  TextForm form = TextForm::kFastText;
  bool plain = false;  // every line is a sample, and need not have labels
};

void split(std::string_view line, const LineRules& rules, LabelledLine& parts) {
  const bool has_prefix = rules.plain && trimmed(line).starts_with(kLabelPrefix);
  const TextForm form = has_prefix ? TextForm::kFastText : rules.form;
  split_labelled(line, form, rules.plain ? Labels::kOptional : Labels::kRequired, parts);
}

// Calls use(parts of the line) for each sample of the chunk; a fault ends it.
template <class Use>
void for_each_line(Chunk& chunk, const TextSource& source, const LineRules& rules, LabelledLine& parts,
                   const Use& use) {
  chunk.lines = 0;
  try {
    for (std::string_view rest = chunk.text; !rest.empty();) {
      const std::size_t end = std::min(rest.find('\n'), rest.size());
      const std::string_view line = without_return(rest.substr(0, end));
      rest.remove_prefix(std::min(end + 1, rest.size()));
      ++chunk.lines;
      if (!rules.plain && is_blank_line(line)) continue;
      split(line, rules, parts);
      use(parts);
    }
  } catch (RowFault& fault) {
    chunk.fault_line = chunk.lines;
    chunk.fault = std::move(fault);
  }
  source.let_go(chunk.text.data(), chunk.text.data() + chunk.text.size());
}

// Throws the fault that comes first in the text.
void check_faults(const std::vector<Chunk>& chunks, const TextSource& source) {
  std::uint64_t before = 0;
  for (const Chunk& chunk : chunks) {
    if (chunk.fault) {
      fail_input("{}:{}:{}: {}", source.origin, before + chunk.fault_line, chunk.fault->column,
                 chunk.fault->message);
    }
    before += chunk.lines;
  }
}

// ---- learning ----

struct FeatureCount {
  std::uint64_t hash = 0;  // 0: free
  std::uint64_t name = 0;  // where its name begins
  std::uint32_t samples = 0;
  std::uint32_t last = 0;  // the sample that counted it last
};

// How many samples hold each feature, with their names: an open table.
class FeatureCounter {
 public:
  // The name is asked for once a feature. `sample`: from 1, another one for each sample of this counter.
  template <class Name>
  void add(std::uint64_t hash, std::uint32_t sample, const Name& name) {
    if (2 * (used_ + 1) > table_.size()) grow();
    FeatureCount& entry = find(hash);
    if (entry.hash == 0) {
      entry = {hash, names_.size(), 0, 0};
      names_.append(name()).push_back('\0');  // tokens hold no zero byte
      ++used_;
    }
    if (entry.last == sample) return;
    entry.last = sample;
    ++entry.samples;
  }
  void add_count(std::uint64_t hash, std::uint32_t samples, const char* name) {
    if (2 * (used_ + 1) > table_.size()) grow();
    FeatureCount& entry = find(hash);
    if (entry.hash == 0) {
      entry = {hash, names_.size(), 0, 0};
      names_.append(name).push_back('\0');
      ++used_;
    }
    entry.samples += samples;
  }
  template <class Use>
  void for_each(const Use& use) const {
    for (const FeatureCount& entry : table_) {
      if (entry.hash != 0) use(entry, names_.c_str() + entry.name);
    }
  }
  std::size_t used() const { return used_; }

 private:
  FeatureCount& find(std::uint64_t hash) {
    std::size_t at = hash & (table_.size() - 1);
    while (table_[at].hash != 0 && table_[at].hash != hash) at = (at + 1) & (table_.size() - 1);
    return table_[at];
  }
  void grow() {
    std::vector<FeatureCount> old(std::max<std::size_t>(1024, 2 * table_.size()));
    old.swap(table_);
    for (const FeatureCount& entry : old) {
      if (entry.hash != 0) find(entry.hash) = entry;
    }
  }

  std::vector<FeatureCount> table_;
  std::size_t used_ = 0;
  std::string names_;
};

using LabelCounts = std::unordered_map<std::string, std::uint32_t>;

// What one thread has seen.
struct Seen {
  explicit Seen(const TextOptions& options) : tokenizer(options), features(kShards) {}
  Tokenizer tokenizer;
  LabelledLine parts;
  std::vector<FeatureCounter> features;  // by shard
  LabelCounts labels;
  std::uint32_t samples = 0;
  std::vector<std::string_view> distinct;  // scratch
};

void count_line(const LabelledLine& parts, Seen& seen) {
  ++seen.samples;
  seen.distinct.assign(parts.labels.begin(), parts.labels.end());
  std::sort(seen.distinct.begin(), seen.distinct.end());
  seen.distinct.erase(std::unique(seen.distinct.begin(), seen.distinct.end()), seen.distinct.end());
  for (const std::string_view label : seen.distinct) ++seen.labels[std::string(label)];
  seen.tokenizer.run(parts.text);
  const auto hashes = seen.tokenizer.features();
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    seen.features[hashes[i] >> 59].add(hashes[i], seen.samples, [&] { return seen.tokenizer.name(i); });
  }
}

struct Candidate {
  std::uint64_t hash;
  std::uint32_t samples;
  const char* name;
};

// The sums over threads, one counter a shard; takes the threads' memory back.
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

float weight_of(const TextOptions& options, std::uint64_t samples, std::uint64_t with_feature) {
  if (options.weighting == Weighting::kCounts) return 1.0F;
  const std::uint64_t found = std::min(samples, with_feature);  // buckets: features may share samples
  return static_cast<float>(1 + std::log(double(1 + samples) / double(1 + found)));
}

void choose_features(const TextOptions& options, const std::vector<FeatureCounter>& counts,
                     TextModelParts& parts) {
  std::vector<Candidate> chosen;
  std::vector<std::uint64_t> buckets(options.hash_buckets);
  const auto to_bucket = [&](std::uint64_t hash, std::uint32_t samples) {
    if (!buckets.empty()) buckets[hash % buckets.size()] += samples;
  };
  for (const FeatureCounter& counter : counts) {
    counter.for_each([&](const FeatureCount& entry, const char* name) {
      if (entry.samples >= options.min_count) {
        chosen.push_back({entry.hash, entry.samples, name});
      } else {
        to_bucket(entry.hash, entry.samples);
      }
    });
  }
  std::sort(chosen.begin(), chosen.end(), [](const Candidate& a, const Candidate& b) {
    return a.samples != b.samples ? a.samples > b.samples : a.hash < b.hash;
  });
  const std::size_t most = options.max_features == 0 ? kIdLimit - 1 - buckets.size() : options.max_features;
  for (std::size_t i = most; i < chosen.size(); ++i) to_bucket(chosen[i].hash, chosen[i].samples);
  if (chosen.size() > most) chosen.resize(most);
  for (const Candidate& feature : chosen) {
    parts.hashes.push_back(feature.hash);
    parts.weights.push_back(weight_of(options, parts.samples, feature.samples));
    parts.feature_names.add(feature.name);
  }
  for (const std::uint64_t samples : buckets) {
    parts.weights.push_back(weight_of(options, parts.samples, samples));
  }
}

void choose_labels(const TextOptions& options, std::vector<Seen>& seen, TextModelParts& parts) {
  LabelCounts counts = std::move(seen.front().labels);
  for (std::size_t t = 1; t < seen.size(); ++t) {
    for (const auto& [name, count] : seen[t].labels) counts[name] += count;
  }
  std::vector<std::pair<std::string, std::uint32_t>> chosen;
  for (const auto& label : counts) {
    if (label.second >= options.min_label_count) chosen.emplace_back(label);
  }
  std::sort(chosen.begin(), chosen.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  for (const auto& label : chosen) parts.label_names.add(label.first);
}

// ---- reading ----

// The rows of a chunk.
struct ChunkRows {
  std::vector<std::uint64_t> feature_ends, label_ends;  // from the start of the chunk
  std::vector<std::uint32_t> feature_ids, label_ids;
  std::vector<float> feature_values;
};

struct Reading {
  explicit Reading(const TextOptions& options) : tokenizer(options) {}
  Tokenizer tokenizer;
  LabelledLine parts;
  Row row;
  ChunkRows rows;
};

void append(const Row& row, ChunkRows& rows) {
  const auto count = static_cast<std::ptrdiff_t>(row.feature_count);
  rows.feature_ids.insert(rows.feature_ids.end(), row.ids.begin(), row.ids.begin() + count);
  rows.feature_values.insert(rows.feature_values.end(), row.values.begin(), row.values.begin() + count);
  rows.label_ids.insert(rows.label_ids.end(), row.labels.begin(), row.labels.end());
  rows.feature_ends.push_back(rows.feature_ids.size());
  rows.label_ends.push_back(rows.label_ids.size());
}

void find_labels(const LabelledLine& parts, const TextModel& model, std::vector<std::uint32_t>& ids) {
  ids.clear();
  for (const std::string_view name : parts.labels) {
    if (const auto id = model.label_id(name)) ids.push_back(*id);
  }
  std::sort(ids.begin(), ids.end());
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
}

struct ReadRules {
  LineRules lines;
  bool normalize = true;
};

void read_chunk(Chunk& chunk, const TextSource& source, const TextModel& model, const ReadRules& rules,
                Reading& reading, ChunkRows& rows) {
  rows = {};
  for_each_line(chunk, source, rules.lines, reading.parts, [&](const LabelledLine& parts) {
    find_labels(parts, model, reading.row.labels);
    model.features_of(parts.text, rules.normalize, reading.tokenizer, reading.row);
    append(reading.row, rows);
  });
  chunk.counts = {rows.feature_ends.size(), rows.feature_ids.size(), rows.label_ids.size()};
}

void store(const ChunkRows& rows, const CsrCounts& before, const CsrRoom& room) {
  std::copy(rows.feature_ids.begin(), rows.feature_ids.end(), room.feature_ids);
  std::copy(rows.feature_values.begin(), rows.feature_values.end(), room.feature_values);
  std::copy(rows.label_ids.begin(), rows.label_ids.end(), room.label_ids);
  for (std::size_t i = 0; i < rows.feature_ends.size(); ++i) {
    room.feature_ends[i] = before.features + rows.feature_ends[i];
    room.label_ends[i] = before.labels + rows.label_ends[i];
  }
}

// Reads all lines into `sink` and returns how many samples there were.
std::uint64_t read_lines(const TextSource& source, const TextModel& model, const ReadRules& rules,
                         int threads, CsrSink& sink, std::size_t chunk_bytes) {
  std::vector<Chunk> chunks = cut(source, chunk_bytes);
  std::vector<Reading> readings(static_cast<std::size_t>(threads), Reading(model.options()));
  const bool twice = sink.saves_memory();  // else the rows of the first pass wait for their places
  std::vector<ChunkRows> waiting(twice ? 0 : chunks.size());
  const auto read = [&](std::size_t index, int thread) -> const ChunkRows& {
    Reading& mine = readings[static_cast<std::size_t>(thread)];
    ChunkRows& rows = twice ? mine.rows : waiting[index];
    read_chunk(chunks[index], source, model, rules, mine, rows);
    return rows;
  };
  parallel_for(chunks.size(), threads, read);
  check_faults(chunks, source);
  std::vector<CsrCounts> bases(chunks.size() + 1);
  for (std::size_t i = 0; i < chunks.size(); ++i) {
    bases[i + 1] = bases[i];
    bases[i + 1] += chunks[i].counts;
  }
  sink.start(bases.back(), threads);
  parallel_for(chunks.size(), threads, [&](std::size_t index, int thread) {
    if (twice) read(index, thread);
    const CsrRoom room = sink.open(bases[index], chunks[index].counts, thread);
    store(twice ? readings[static_cast<std::size_t>(thread)].rows : waiting[index], bases[index], room);
    sink.close(thread);
    if (!twice) waiting[index] = {};
  });
  return bases.back().rows;
}

}  // namespace

std::string_view without_byte_order_mark(std::string_view text) {
  constexpr std::string_view kMark = "\xef\xbb\xbf";
  return text.starts_with(kMark) ? text.substr(kMark.size()) : text;
}

std::optional<TextForm> find_text_form(std::string_view text) {
  text = without_byte_order_mark(text);
  std::string_view line;
  while (!text.empty() && is_blank_line(line)) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    line = without_return(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (trimmed(line).starts_with(kLabelPrefix)) return TextForm::kFastText;
  if (line.find('\0') != std::string_view::npos) return std::nullopt;
  const std::size_t tab = line.find('\t');
  if (tab == std::string_view::npos || looks_like_features(line)) return std::nullopt;
  return TextForm::kTabs;
}

void split_labelled(std::string_view line, TextForm form, Labels labels, LabelledLine& result) {
  result.labels.clear();
  result.text = line;
  const auto column = [&](const char* at) { return static_cast<std::size_t>(at - line.data()) + 1; };
  if (form == TextForm::kTabs) {
    const std::size_t tab = line.find('\t');
    if (tab == std::string_view::npos) {
      if (labels == Labels::kOptional) return;
      throw RowFault{line.size() + 1, "no TAB between labels and text; write LABEL,LABEL<TAB>TEXT"};
    }
    std::string_view names = line.substr(0, tab);
    result.text = line.substr(tab + 1);
    if (trimmed(names).empty()) return;
    while (true) {
      const std::size_t comma = std::min(names.find(','), names.size());
      const std::string_view name = trimmed(names.substr(0, comma));
      if (name.empty()) {
        throw RowFault{column(names.data()), "a label without a name; write LABEL,LABEL<TAB>TEXT"};
      }
      result.labels.push_back(name);
      if (comma == names.size()) return;
      names.remove_prefix(comma + 1);
    }
  }
  // What is neither label nor before the first text stays where it is, so most lines need no copy.
  bool copied = false;
  for (std::size_t at = line.find(kLabelPrefix); at != std::string_view::npos;
       at = line.find(kLabelPrefix, at + 1)) {
    if (at > 0 && !is_blank(line[at - 1])) continue;
    const std::size_t end = std::min(line.find_first_of(" \t", at), line.size());
    const std::string_view name = line.substr(at + kLabelPrefix.size(), end - at - kLabelPrefix.size());
    if (name.empty()) {
      throw RowFault{at + 1, fmt::format("a label without a name; write {}NAME", kLabelPrefix)};
    }
    result.labels.push_back(name);
    if (!copied &&
        trimmed(result.text.substr(0, static_cast<std::size_t>(line.data() + at - result.text.data())))
            .empty()) {
      result.text = line.substr(end);
      continue;
    }
    if (!copied) result.scratch.assign(line);
    copied = true;
    std::fill_n(result.scratch.begin() + static_cast<std::ptrdiff_t>(at), end - at, ' ');
  }
  if (copied) {
    result.text =
        std::string_view(result.scratch).substr(static_cast<std::size_t>(result.text.data() - line.data()));
  }
}

std::shared_ptr<const TextModel> learn_text(const TextSource& source, const TextOptions& options, int threads,
                                            std::size_t chunk_bytes) {
  const std::optional<TextForm> form = find_text_form(source.text);
  if (!form) {
    fail_input("{}:1:1: no labelled text; write '{}NAME words ...' or 'NAME,NAME<TAB>words ...'",
               source.origin, kLabelPrefix);
  }
  threads = resolve_threads(threads);
  std::vector<Chunk> chunks = cut(source, chunk_bytes);
  std::vector<Seen> seen(static_cast<std::size_t>(threads), Seen(options));
  parallel_for(chunks.size(), threads, [&](std::size_t index, int thread) {
    Seen& mine = seen[static_cast<std::size_t>(thread)];
    for_each_line(chunks[index], source, {*form}, mine.parts,
                  [&](const LabelledLine& parts) { count_line(parts, mine); });
  });
  check_faults(chunks, source);
  TextModelParts parts;
  parts.form = *form;
  for (const Seen& mine : seen) parts.samples += mine.samples;
  choose_labels(options, seen, parts);
  if (parts.label_names.size() == 0) {
    fail_input("{}: no label occurs in {} samples or more; lower text.min_label_count or check the data",
               source.origin, options.min_label_count);
  }
  choose_features(options, merge_features(seen, threads), parts);
  if (parts.weights.empty()) {
    fail_input("{}: no word occurs in {} samples or more; lower text.min_count or check the data",
               source.origin, options.min_count);
  }
  return std::make_shared<const TextModel>(options, std::move(parts));
}

std::shared_ptr<const TextModel> learn_text_file(const std::string& path, DataFormat format,
                                                 const TextOptions& options, int threads, bool spill) {
  struct stat status {};
  if (stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode)) return nullptr;
  if (format != DataFormat::kText &&
      (format != DataFormat::kAuto || detect_file(path) != DataFormat::kText)) {
    return nullptr;
  }
  const FileBytes bytes(path, spill);
  return learn_text(TextSource{bytes.text(), path, spill ? &bytes : nullptr}, options, threads);
}

CsrSizes parse_labelled_text(const TextSource& source, const TextModel& model, const ReadOptions& options,
                             CsrSink& sink, std::size_t chunk_bytes) {
  const ReadRules rules = {{find_text_form(source.text).value_or(model.form()), false}, options.normalize};
  if (read_lines(source, model, rules, resolve_threads(options.threads), sink, chunk_bytes) == 0) {
    fail_input("{}:1:1: the file is empty; write a line of labels and text for each sample", source.origin);
  }
  return {model.feature_count(), model.label_count(), model.feature_count(), model.label_count()};
}

Dataset parse_plain_text(std::string_view text, const TextModel& model, bool normalize, int threads) {
  MemorySink sink;
  const ReadRules rules = {{model.form(), true}, normalize};
  read_lines(TextSource{text, "text"}, model, rules, resolve_threads(threads), sink, kPlainChunkBytes);
  const CsrSizes sizes = {model.feature_count(), model.label_count(), 0, 0};
  return sink.take(sizes, {});
}

}  // namespace slide
