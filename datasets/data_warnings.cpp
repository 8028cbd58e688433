#include "datasets/data_warnings.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <optional>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include "datasets/rows/data_parts.h"
#include "datasets/rows/labelled_line.h"
#include "datasets/rows/line_chunks.h"
#include "datasets/rows/occurring_labels.h"
#include "datasets/rows/row_parser.h"
#include "datasets/rows/text_encoding.h"
#include "datasets/text/column_check.h"
#include "datasets/text/label_cells.h"
#include "datasets/text/prediction_check.h"
#include "datasets/text/table.h"
#include "engine/base/foreign_text.h"
#include "engine/base/parallel.h"

namespace slide {

namespace {

constexpr std::size_t kCheckedLines = 1000;
constexpr std::size_t kCheckedBytes = std::size_t{1} << 20;
constexpr std::uint64_t kManyIds = 100'000;  // gaps between fewer ids cost little
constexpr std::size_t kMinLabels = 3;        // samples whose labels all occur once, for a warning
constexpr std::size_t kManyLabels = 50;      // labels of which some may occur twice, for a warning

// Offset of the first byte that is not UTF-8. In parallel, as readers are; releases the pages of a mapped
// file.
std::optional<std::size_t> first_no_utf8(const TextSource& source, int threads) {
  const std::vector<std::string_view> chunks =
      cut_lines(source.text, kDefaultChunkBytes, [](const char*, const char*) {});
  std::atomic<std::size_t> first = source.text.size();
  parallel_for(chunks.size(), resolve_threads(threads), [&](std::size_t index, int) {
    const std::string_view chunk = chunks[index];
    const auto begin = static_cast<std::size_t>(chunk.data() - source.text.data());
    if (begin >= first.load()) return;
    if (const auto at = slide::first_no_utf8(chunk)) {
      std::size_t before = first.load();
      while (begin + *at < before && !first.compare_exchange_weak(before, begin + *at)) {
      }
    }
    source.release_pages(chunk.data(), chunk.data() + chunk.size());
  });
  return first.load() < source.text.size() ? std::optional(first.load()) : std::nullopt;
}

// Warns where the first records of a table have labels in an unexpected form (LabelCells), or texts that are
// numbers.
void check_table(const TextSource& source, const ReadOptions& options, ReadReport& report) {
  const Table table(source.text, source.origin, options.format, options.columns, Labels::kRequired);
  LabelCells cells(options.columns.label_separator);
  NumberTexts texts;
  LabelledLine parts;
  std::string_view rest = source.text.substr(table.header_bytes());
  std::uint64_t line = table.header_lines();
  bool is_weighted = options.columns.weight.empty() || options.format != DataFormat::kJsonl || rest.empty();
  for (std::size_t i = 0; i < kCheckedLines && !rest.empty(); ++i) {
    const std::string_view record = table.take_record(rest);
    const std::uint64_t number = line + 1;
    line = number + static_cast<std::uint64_t>(std::count(record.begin(), record.end(), '\n'));
    if (is_blank_line(record)) continue;
    try {
      table.split(record, parts);
    } catch (const RowFault&) {
      continue;  // the reader reports it
    }
    is_weighted = is_weighted || !parts.object.weight.empty();
    if (const auto cell = table.label_cell(parts)) cells.add(*cell, number);
    texts.add(parts.text, number);
  }
  if (!is_weighted) {
    report.add_warning(fmt::format(
        "{}: no object among the first {} has '{}', which data.weight names, so that these samples weigh 1",
        source.origin, kCheckedLines, options.columns.weight));
  }
  for (std::string warning : {cells.warning(source.origin), texts.warning(source.origin)}) {
    if (!warning.empty()) report.add_warning(std::move(warning));
  }
}

// Warns where the header of a table occurs twice.
void warn_of_second_header(const TextSource& source, const ReadOptions& options, ReadReport& report) {
  if (options.format == DataFormat::kJsonl) return;
  const Table table(source.text, source.origin, options.format, options.columns, Labels::kRequired);
  if (std::string warning = second_header_warning(source, table.header_bytes()); !warning.empty())
    report.add_warning(std::move(warning));
}

// A warning of the first label that has the prefix within its name, as __label__a,__label__b; "" without one.
std::string joined_prefixes(const LabelledLine& parts, std::uint64_t number, const std::string& origin) {
  for (const std::string_view name : parts.labels) {
    if (name.find(kLabelPrefix) == std::string_view::npos) continue;
    return fmt::format("{}:{}: the label '{}' holds {}; write a blank before each {}", origin, number, name,
                       kLabelPrefix, kLabelPrefix);
  }
  return {};
}

// Finds names after __label__ that look like several labels, such as __label__nature,extra: three names and a
// tenth of all have a separator inside, or a name has a part that is also a label. Also finds a name that
// ends with a separator and occurs without it, too.
class JoinedLabels {
 public:
  void add(std::string_view name, std::uint64_t line) {
    ++labels_;
    const std::size_t at = name.find_first_of(",|;");
    if (at == std::string_view::npos) return void(single_.emplace(name));
    if (at + 1 == name.size() && ended_.size() < kMaxJoined) ended_.push_back({std::string(name), line});
    if (at == 0 || name.find_last_of(",|;") + 1 == name.size()) return;
    ++count_;
    if (joined_.size() < kMaxJoined) joined_.push_back({std::string(name), line});
  }

  // A warning, or "".
  std::string warning(const std::string& origin) const {
    const auto ended = std::ranges::find_if(
        ended_, [&](const Joined& one) { return single_.contains(one.name.substr(0, one.name.size() - 1)); });
    if (ended != ended_.end()) {
      return fmt::format("{}:{}: the labels '{}' and '{}' are two; write a blank behind the name", origin,
                         ended->line, shown_part(ended->name),
                         shown_part(ended->name.substr(0, ended->name.size() - 1)));
    }
    if (joined_.empty()) return {};
    const auto known =
        std::ranges::find_if(joined_, [&](const Joined& one) { return has_known_part(one.name); });
    if (known == joined_.end() && (count_ < kMinJoined || count_ * 10 < labels_)) return {};
    const Joined& shown = known == joined_.end() ? joined_.front() : *known;
    const std::size_t at = shown.name.find_first_of(",|;");
    return fmt::format(
        "{}:{}: the label '{}' looks like several, separated by '{}', and is read as one; write {}NAME for "
        "each label, with a blank before it",
        origin, shown.line, shown_part(shown.name), shown.name[at], kLabelPrefix);
  }

 private:
  static constexpr std::size_t kMinJoined = 3, kMaxJoined = 1000;
  struct Joined {
    std::string name;
    std::uint64_t line;
  };
  bool has_known_part(std::string_view name) const {
    while (true) {
      const std::size_t end = std::min(name.find_first_of(",|;"), name.size());
      if (single_.contains(std::string(name.substr(0, end)))) return true;
      if (end == name.size()) return false;
      name.remove_prefix(end + 1);
    }
  }

  std::unordered_set<std::string> single_;
  std::vector<Joined> joined_, ended_;
  std::size_t labels_ = 0, count_ = 0;
};

// Adds at most one warning about the first kCheckedLines lines of labelled text: labels in another column
// (ColumnCheck), in another form (LabelCells, LabelNames) or with joined prefixes, or texts that are numbers.
void check_lines(const TextSource& source, const ReadOptions& options, ReadReport& report) {
  const TextForm form = find_text_form(source.text).value_or(TextForm::kFastText);
  LabelCells cells(options.columns.label_separator);
  ColumnCheck columns;
  JoinedLabels joined;
  LabelNames names;
  NumberTexts texts;
  LabelledLine parts;
  std::string warning;
  std::string_view rest = without_byte_order_mark(source.text);
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < kCheckedLines && !rest.empty() && warning.empty(); ++i) {
    const std::string_view line = take_line(rest);
    ++number;
    if (is_blank_line(line)) continue;
    if (form == TextForm::kTabs) {
      columns.add(line, number);
      cells.add(line.substr(0, line.find('\t')), number);
      texts.add(line.substr(std::min(line.find('\t'), line.size())), number);
    } else {
      split_labelled(line, form, Labels::kOptional, parts);
      warning = joined_prefixes(parts, number, source.origin);
      for (const std::string_view name : parts.labels) joined.add(name, number), names.add(name, number);
      texts.add(parts.text, number);
    }
  }
  if (warning.empty()) warning = columns.warning(source.origin, options.columns.label_separator);
  if (warning.empty()) warning = cells.warning(source.origin);
  for (const std::string& other :
       {joined.warning(source.origin), names.warning(source.origin), texts.warning(source.origin)})
    if (warning.empty()) warning = other;
  if (!warning.empty()) report.add_warning(std::move(warning));
}

// The place of a number behind the labels of a line, where later features have values: `1 2 3:0.5`. Nothing
// without one.
std::optional<std::size_t> lone_number(std::string_view line) {
  line = line.substr(0, line.find('#'));
  const std::size_t labels = std::min(line.find_first_of(" \t"), line.size());
  if (line.substr(0, labels).find(':') != std::string_view::npos) return std::nullopt;
  const std::size_t at = line.find_first_not_of(" \t", labels);
  if (at == std::string_view::npos || labels == 0) return std::nullopt;
  const std::size_t end = std::min(line.find_first_of(" \t", at), line.size());
  const bool lone = line.substr(at, end - at).find(':') == std::string_view::npos;
  return lone && line.find(':', end) != std::string_view::npos ? std::optional(at) : std::nullopt;
}

// Warns where one in ten of the first lines of XMC or libsvm text has a number that may be a second label.
void check_lone_numbers(const TextSource& source, const ReadOptions& options, ReadReport& report) {
  std::string_view rest = source.text;
  std::uint64_t number = 0, lines = 0, lone = 0, first = 0;
  std::string shown;
  std::size_t column = 0;
  if (options.format == DataFormat::kXmc) take_line(rest), ++number;  // the header
  while (lines < kCheckedLines && !rest.empty()) {
    const std::string_view line = take_line(rest);
    ++number;
    if (is_blank_line(line) || line.starts_with('#')) continue;
    ++lines;
    const auto at = lone_number(line);
    if (!at || lone++ > 0) continue;
    first = number, column = *at + 1;
    shown = line.substr(*at, std::min(line.find_first_of(" \t", *at), line.size()) - *at);
  }
  if (lone == 0 || 10 * lone < lines) return;
  report.add_warning(
      fmt::format("{}:{}:{}: '{}' behind the label has no value, unlike other features, and is read as "
                  "feature {} of value 1; where it is a label, write labels with commas between them",
                  source.origin, first, column, shown_part(shown), shown_part(shown)));
}

}  // namespace

// Warns where a text is probably misread: predictions taken for data, another encoding than UTF-8, a second
// header of a table, labels in an unexpected form.
void add_text_warnings(const TextSource& source, const ReadOptions& options, ReadReport& report) {
  const bool table = is_table(options.format);
  const bool lines = options.format == DataFormat::kText || options.format == DataFormat::kInteractions;
  if (!table) {
    std::string found = lines ? predictions_of_names(source.text, source.origin)
                              : predictions_of_ids(source.text, source.origin);
    if (!found.empty()) return report.add_warning(std::move(found));
  }
  if (!table && !lines) {
    if (options.one_based && options.format == DataFormat::kXmc)
      report.add_warning(
          fmt::format("{}: features are told to count from 1 (data.one_based), but those of XMC text count "
                      "from 0 and are read so",
                      source.origin));
    return check_lone_numbers(source, options, report);
  }
  const bool log = options.format == DataFormat::kInteractions;
  const TextSource checked = {log ? source.text.substr(0, kCheckedBytes) : source.text, source.origin,
                              source.file};
  const auto at = first_no_utf8(checked, options.threads);
  constexpr std::size_t kMaxCharacter = 4;  // bytes in UTF-8
  const bool is_cut =
      at && checked.text.size() < source.text.size() &&
      *at + kMaxCharacter >= checked.text.size();  // a character at the end of the checked part
  if (at && !is_cut) report.add_warning(not_utf8_warning(source.text, *at, source.origin, 0));
  if (table) {
    check_table(source, options, report);
    warn_of_second_header(source, options, report);
  } else if (!log) {
    check_lines(source, options, report);
  }
}

// Warns where no sample has a label below `labels`: every metric would be 0.
void add_measure_warnings(const Dataset& samples, std::uint64_t labels, bool log, const std::string& path,
                          ReadReport& report) {
  bool labelled = report.unknown_labels > 0;
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const auto ids = samples.labels(i);
    labelled = labelled || !ids.empty();
    if (!ids.empty() && ids.front() < labels) return;
  }
  const char* const what = samples.size() == 0 ? "there is no sample to evaluate"
                           : log ? "no user has an item that is known and that the user did not have before"
                           : labelled ? "no sample has a label that the model knows"
                                      : "no sample has a label";
  report.add_warning(
      fmt::format("{}: {}, so that there is nothing to measure: all measures are 0 or no number",
                  shown_path(path), what));
}

void add_log_warnings(const Dataset& train, const std::string& path, ReadReport& report) {
  for (std::size_t user = 0; user < train.size(); ++user) {
    if (train.features(user).ids.size() > 1) return;
  }
  report.add_warning(
      fmt::format("{}: no user has two items, so that only how many users have each item is learnt; check "
                  "that its users are where they are read",
                  shown_path(path)));
}

std::string gap_warning(const char* what, std::uint64_t ids, std::uint64_t entries) {
  if (ids < 2 * entries + kManyIds) return {};
  return fmt::format(
      "the largest {} id is {}, but samples have only {} {}s in all: number the ids without gaps", what,
      ids - 1, entries, what);
}

void add_gap_warning(const Dataset& train, const std::string& path, ReadReport& report) {
  const auto labels = train.sample_labels();
  if (labels.empty() || std::uint64_t{std::ranges::max(labels)} + 1 != train.label_count()) return;
  if (const std::string told = gap_warning("label", train.label_count(), labels.size()); !told.empty())
    report.add_warning(fmt::format("{}: {}", shown_path(path), told));
}

// Warns where labels leave nothing to learn: one label for all samples, or (nearly) every label on one
// sample. Says nothing below kMinLabels labelled samples.
void add_label_warnings(const Dataset& train, const std::string& path, ReadReport& report) {
  if (!report.warnings.empty()) return;
  const auto all = train.sample_labels();
  const std::vector<OccurringLabel> labels = occurring_labels(train);
  const std::size_t distinct = labels.size();
  const auto once =
      static_cast<std::size_t>(std::ranges::count(labels, std::uint32_t{1}, &OccurringLabel::samples));
  if (distinct == 1 && all.size() == train.samples() && all.size() >= kMinLabels) {
    return report.add_warning(
        fmt::format("{}: all {} samples have the same label and no other, so that there is nothing to learn; "
                    "check that the labels are where they are read",
                    shown_path(path), all.size()));
  }
  const bool nearly_all_once = distinct >= kManyLabels && once * 10 >= distinct * 9;
  if (once < distinct && !nearly_all_once) return;
  std::size_t labelled = 0;
  for (std::size_t i = 0; i < train.samples() && labelled < kMinLabels; ++i)
    labelled += train.labels(i).empty() ? 0 : 1;
  if (labelled < kMinLabels) return;
  report.add_warning(fmt::format(
      "{}: {}, as ids or texts do; check that its labels are where they are read", shown_path(path),
      once == distinct ? fmt::format("each of its {} labels occurs once", distinct)
                       : fmt::format("{} of its {} labels occur once", once, distinct)));
}

}  // namespace slide
