#include "datasets/read_into.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "datasets/cache_file.h"
#include "datasets/data_warnings.h"
#include "datasets/formats/detect.h"
#include "datasets/formats/idx.h"
#include "datasets/formats/interactions.h"
#include "datasets/formats/log_columns.h"
#include "datasets/formats/log_layout.h"
#include "datasets/formats/npz.h"
#include "datasets/formats/text_pair.h"
#include "datasets/join_rows.h"
#include "datasets/rows/data_parts.h"
#include "datasets/rows/file_bytes.h"
#include "datasets/rows/labelled_line.h"
#include "datasets/rows/line_chunks.h"
#include "datasets/rows/read_report.h"
#include "datasets/rows/text_parser.h"
#include "datasets/rows/xmc_header.h"
#include "datasets/text/labelled_text.h"
#include "datasets/text/log_fields.h"
#include "datasets/text/plain_text_check.h"
#include "datasets/text/table.h"
#include "engine/base/error.h"

namespace slide {

namespace {

[[noreturn]] void fail_unclear(const std::string& origin) {
  fail_input(
      "{}:1:1: the format is not clear: neither a header 'samples features labels', nor a line 'label "
      "id:value', nor labelled text, nor a table, nor IDX images, nor an .npz pair; if it is text, write a "
      "sample a line, as 'label,label<TAB>text'",
      origin);
}

// Whether the first records look like a log with named columns: as many fields as the header, and no text of
// several words but dates.
bool has_plain_columns(std::string_view bytes) {
  constexpr std::size_t kRecords = 20;
  std::vector<std::string_view> fields;
  UnquotedNames unquoted;
  for (const Separator separator : kStrictSeparators) {
    std::string_view rest = without_byte_order_mark(bytes);
    if (!try_cut_fields(take_line(rest), separator, fields, unquoted) || fields.size() < 2) continue;
    const std::size_t columns = fields.size();
    for (std::size_t record = 0; record < kRecords && !rest.empty(); ++record) {
      if (!try_cut_fields(take_line(rest), separator, fields, unquoted) || fields.size() != columns)
        return false;
      for (const std::string_view field : fields) {
        if (field.find(' ') != std::string_view::npos && !date_in_field(field)) return false;
      }
    }
    return true;
  }
  return false;
}

// The first line that is neither blank nor a comment.
std::string_view first_line(std::string_view bytes) {
  std::string_view rest = without_byte_order_mark(bytes);
  std::string_view line = take_line(rest);
  while (!rest.empty() && (is_blank_line(line) || line.starts_with('#'))) line = take_line(rest);
  return line;
}

// Whether a line with a colon can be no sample of features, as it begins with no number.
bool is_no_sample(std::string_view line) {
  std::string_view labels = line.substr(0, line.find_first_of(" \t"));
  if (line.starts_with(' ') || labels.find(':') != std::string_view::npos) return false;
  while (!labels.empty()) {
    const std::size_t end = std::min(labels.find(','), labels.size());
    if (!weight_in_field(labels.substr(0, end))) return true;
    labels.remove_prefix(std::min(end + 1, labels.size()));
  }
  return false;
}

// Whether a line has numbers and a tag, then a namespace, as Vowpal Wabbit reads: "1 |f a b".
bool is_vowpal(std::string_view line) {
  const std::size_t bar = line.find('|');
  if (bar == std::string_view::npos || bar == 0 || bar + 1 >= line.size()) return false;
  const std::string_view numbers = line.substr(0, std::min(line.find('\''), bar));  // before a tag, as 'a
  const bool has_tag = numbers.size() < bar;
  if (line[bar - 1] != ' ' && !has_tag) return false;
  if (trimmed(numbers).empty() || numbers.find_first_not_of("0123456789.:+- ") != std::string_view::npos)
    return false;
  const bool has_named_space = line[bar + 1] != ' ',
             has_one_bar = line.find('|', bar + 1) == std::string_view::npos;
  return has_named_space || has_one_bar;
}

// Throws for lines that only a colon makes features.
void refuse_other_lines(std::string_view bytes, const std::string& origin) {
  const std::string_view line = first_line(bytes);
  if (line.find("::") != std::string_view::npos && line.find("::") == line.find(':') &&
      line.substr(0, line.find("::")).find_first_of(" \t") == std::string_view::npos)
    fail_input(
        "{}:1:1: the format is not clear; if this is a log of interactions with '::' between its columns, "
        "set data.kind=interactions",
        origin);
  if (is_vowpal(line))
    fail_input(
        "{}:1:1: the format is not clear: this looks like Vowpal Wabbit's 'LABEL |NAMESPACE FEATURES', which "
        "is not read; write words as 'LABEL<TAB>WORDS' and numbered features as 'LABEL ID:VALUE ...'",
        origin);
  const std::string_view features = line.substr(0, line.find('#'));  // without a comment
  if (line.find(':') != std::string_view::npos &&
      is_prose_with_colon(features.find(':') != std::string_view::npos ? features : line))
    fail_input(
        "{}:1:1: the format is not clear: this looks like text without labels, as most words of the line are "
        "no features id:value; write a sample a line, as 'label,label<TAB>text'",
        origin);
  if (is_no_sample(line)) fail_unclear(origin);
}

// Throws if the data has named columns of which none is configured as text.
void fail_as_table(std::string_view bytes, const std::string& origin, const TableColumns& columns) {
  const std::string shown = column_list(bytes);
  if (shown.empty()) return;
  const bool json = without_byte_order_mark(bytes).starts_with('{');
  if (columns.text.empty() && layout_of_header(bytes, {}) && json) {
    fail_input(
        "{}:1:1: the format is not clear: if this is a log of interactions, whose columns are {}, write it "
        "as CSV, as JSON is not read as a log (jq -r '[.user, .item] | @csv'); if it is a table, name the "
        "columns of text and labels by data.text and data.labels",
        origin, shown);
  }
  if (columns.text.empty() && layout_of_header(bytes, {})) {
    fail_input(
        "{}:1:1: the format is not clear: if this is a log of interactions, whose columns are {}, set "
        "data.kind=interactions; if it is a table, name those of text and labels by data.text and "
        "data.labels",
        origin, shown);
  }
  if (columns.text.empty()) {
    fail_input(
        "{}:1:1: the format is not clear; if this is a table with the columns {}, name those of text and "
        "labels by data.text and data.labels{}",
        origin, shown,
        has_plain_columns(bytes) ? "; if it is a log of interactions, those of users and items by data.user "
                                   "and data.item"
                                 : "");
  }
  fail_input("{}:1:1: no table with the columns '{}', which data.text names; its columns are {}", origin,
             columns.text, shown);
}

// The format of `bytes`; throws InputError where it is unclear or unsupported. `text`: the model reads lines
// of text, which may have any words.
DataFormat detect(std::string_view bytes, const std::string& origin, const TableColumns& columns, bool text) {
  if (bytes.find_first_not_of(" \t\r\n") == std::string_view::npos) {
    fail_input("{}:1:1: the file is empty; check the path of the data", origin);
  }
  if (const std::optional<DataFormat> table = detect_table(bytes, columns)) return *table;
  if (is_npz(bytes) && !origin.ends_with(".npz") && bytes.find(".npy") == std::string_view::npos)
    fail_input("{}:1:1: this is a zip archive, but no .npz file; unpack it and name a file of it", origin);
  if (const std::optional<DataFormat> format = detect_format(bytes)) {
    if (*format == DataFormat::kLibsvm) refuse_other_lines(bytes, origin);
    return *format;
  }
  const std::optional<std::string> kind = foreign_kind(bytes);
  const std::size_t first = without_byte_order_mark(bytes).find_first_not_of(" \t\r\n");
  const bool is_object = kind && without_byte_order_mark(bytes).substr(first).starts_with('{');
  if (kind && !is_object) fail_input("{}:1:1: this is {}", origin, *kind);
  if (!kind && text && columns.text.empty() && plain_text_warning(bytes, origin, {}).empty())
    return DataFormat::kText;
  if (is_object) {
    const std::string_view object = without_byte_order_mark(bytes).substr(first);
    const std::string fault = json_form_fault(object.substr(0, object.find('\n')));
    if (!fault.empty()) fail_input("{}:1:1: this is {}", origin, fault);
  }
  if (!kind && first_line(bytes).find(':') != std::string_view::npos) refuse_other_lines(bytes, origin);
  fail_as_table(bytes, origin, columns);
  refuse_other_lines(bytes, origin);
  fail_unclear(origin);
}

ReadOptions with_format(ReadOptions options, std::string_view bytes, const std::string& origin) {
  if (options.format != DataFormat::kAuto) return options;
  const bool of_text = options.text != nullptr && !has_items(options.text->form());
  options.format = detect(bytes, origin, options.columns, of_text);
  // Labels and texts that are numbers: of a model of text they are no log.
  if (options.format == DataFormat::kInteractions && of_text && find_text_form(bytes))
    options.format = DataFormat::kText;
  return options;
}

// Parses an interaction log from one or more sources.
CsrSizes parse_log(std::span<const TextSource> sources, const ReadOptions& options, CsrSink& sink,
                   std::size_t chunk_bytes) {
  if (options.text == nullptr || !has_items(options.text->form())) {
    fail_input(
        "{}: this is a log of interactions, but there are no items to know it by; use a model trained on "
        "such "
        "a log, or name the format of the data",
        sources.front().origin);
  }
  const CsrSizes sizes = parse_interactions(sources, *options.text, options, sink, chunk_bytes);
  for (const TextSource& source : sources) {
    if (options.report != nullptr) add_text_warnings(source, options, *options.report);
  }
  return sizes;
}

// Parses XMC, libsvm, labelled text or interactions.
CsrSizes parse_lines(const TextSource& source, const ReadOptions& options, CsrSink& sink,
                     std::size_t chunk_bytes) {
  if (options.format == DataFormat::kInteractions) return parse_log({&source, 1}, options, sink, chunk_bytes);
  if (options.format != DataFormat::kText && !is_table(options.format)) {
    const CsrSizes sizes = parse_text(source, options, sink, chunk_bytes);
    if (options.report != nullptr) add_text_warnings(source, options, *options.report);
    return sizes;
  }
  if (options.text == nullptr) {
    if (is_table(options.format))
      Table(source.text, source.origin, options.format, options.columns, Labels::kRequired);
    fail_input(
        "{}: this is text, but there is no vocabulary for it: the model was trained on features, not on "
        "text; "
        "use one trained on text",
        source.origin);
  }
  const CsrSizes sizes = parse_labelled_text(source, *options.text, options, sink, chunk_bytes);
  if (options.report != nullptr) add_text_warnings(source, options, *options.report);
  return sizes;
}

CsrSizes read_npz(const std::string& path, const ReadOptions& options, CsrSink& sink) {
  const NpzPaths paths = npz_paths(path);
  const FileBytes features(paths.features), labels(paths.labels);
  return parse_npz({features.text(), paths.features}, {labels.text(), paths.labels}, options, sink);
}

// Reads the files of a log as one text: a user may occur in several.
CsrSizes read_log_parts(const std::vector<std::string>& parts, const ReadOptions& options, CsrSink& sink,
                        std::size_t chunk_bytes) {
  const bool spill = sink.saves_memory();
  std::vector<std::unique_ptr<const FileBytes>> files;
  std::vector<TextSource> sources;
  for (const std::string& part : parts) {
    files.push_back(std::make_unique<const FileBytes>(part, spill));
    sources.push_back(
        {without_byte_order_mark(files.back()->text()), part, spill ? files.back().get() : nullptr});
  }
  return parse_log(sources, options, sink, chunk_bytes);
}

// Reads a part; on disk where the sink saves memory.
Dataset read_part(const CsrSink& sink, const std::string& part, const ReadOptions& options,
                  std::size_t chunk_bytes, CsrSizes& sizes) {
  if (!sink.saves_memory()) {
    MemorySink rows;
    sizes = read_into(rows, part, options, chunk_bytes);
    ReadOptions unscaled;  // the whole is scaled
    unscaled.normalize = false;
    return rows.take(sizes, unscaled);
  }
  AtomicFile file(sink.file() + ".part", FileUse::kOwn);
  CacheSink rows(file);
  sizes = read_into(rows, part, options, chunk_bytes);
  rows.finish({}, sizes);
  std::optional<Dataset> data = map_cache(file.descriptor(), file.path(), {}, {}, CacheCheck::kHeader);
  if (!data) fail_run("{}: cannot be mapped into memory", file.path());
  return *std::move(data);
}

// Reads each part separately, with its own header; then concatenates the rows.
CsrSizes read_parts(const std::vector<std::string>& parts, const ReadOptions& options, CsrSink& sink,
                    std::size_t chunk_bytes) {
  ReadReport report, of_part;
  ReadOptions chosen = options;
  chosen.format = format_of_parts(parts, options);
  if (chosen.format == DataFormat::kInteractions) return read_log_parts(parts, chosen, sink, chunk_bytes);
  chosen.report = &of_part;
  std::vector<Dataset> rows;
  CsrSizes all;
  for (const std::string& part : parts) {
    CsrSizes sizes;
    of_part = {};
    rows.push_back(read_part(sink, part, chosen, chunk_bytes, sizes));
    report.add(of_part);
    if (rows.size() > 1 && sizes.dense_columns != all.dense_columns)
      fail_input("{}: its column '{}' has {} numbers a sample, but that of {} has {}; they must be as many",
                 part, options.columns.dense, sizes.dense_columns, parts.front(), all.dense_columns);
    all.dense_columns = sizes.dense_columns;
    all.feature_count = std::max(all.feature_count, sizes.feature_count);
    all.label_count = std::max(all.label_count, sizes.label_count);
    all.feature_bound = std::max(all.feature_bound, sizes.feature_bound);
    all.label_bound = std::max(all.label_bound, sizes.label_bound);
  }
  join_rows(std::move(rows), sink, options.threads);
  if (options.report != nullptr) *options.report = std::move(report);
  return all;
}

}  // namespace

// Chooses the reader by the path (several files, pairs of files), then by the content.
CsrSizes read_into(CsrSink& sink, const std::string& path, const ReadOptions& options,
                   std::size_t chunk_bytes) {
  if (const auto parts = parts_of(path); parts.size() > 1)
    return read_parts(parts, options, sink, chunk_bytes);
  else if (parts.front() != path)
    return read_into(sink, parts.front(), options, chunk_bytes);
  if (is_npz_pair(path)) return read_npz(path, options, sink);
  if (const auto pair = text_pair(path)) return read_text_pair(*pair, options, sink, chunk_bytes);
  const bool spill = sink.saves_memory();
  const FileBytes bytes(path, spill);
  const std::string_view text = without_byte_order_mark(bytes.text());
  const ReadOptions chosen = with_format(options, text, path);
  if (chosen.format == DataFormat::kNpz) return read_npz(path, chosen, sink);
  if (chosen.format == DataFormat::kXmc && has_features_header(text)) {
    fail_input(
        "{}: the first line is 'samples features', so its labels are a second file; name both: {},LABELS",
        path, path);
  }
  if (chosen.format != DataFormat::kIdx) {
    return parse_lines(TextSource{text, path, spill ? &bytes : nullptr}, chosen, sink, chunk_bytes);
  }
  const std::string labels_path = idx_labels_path(path);
  const FileBytes labels(labels_path);
  return parse_idx({bytes.text(), path}, {labels.text(), labels_path}, chosen, sink);
}

// Reads bytes without a path beside them, so that formats of two files are errors.
CsrSizes read_text_into(CsrSink& sink, const TextSource& source, const ReadOptions& options) {
  const TextSource unmarked = {without_byte_order_mark(source.text), source.origin, source.file};
  const ReadOptions chosen = with_format(options, unmarked.text, source.origin);
  if (chosen.format == DataFormat::kNpz) {
    fail_input("{}: the labels of an .npz pair are a second file; give the path of the features",
               source.origin);
  }
  if (chosen.format == DataFormat::kIdx) {
    fail_input("{}: IDX images need their labels file beside them; give the path of the images file",
               source.origin);
  }
  return parse_lines(unmarked, chosen, sink, kDefaultChunkBytes);
}

}  // namespace slide
