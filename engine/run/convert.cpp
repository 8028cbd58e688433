#include "engine/run/convert.h"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>

#include "datasets/cache.h"
#include "datasets/data_warnings.h"
#include "datasets/formats/dense_data.h"
#include "datasets/formats/detect.h"
#include "datasets/formats/npz.h"
#include "datasets/formats/text_pair.h"
#include "datasets/join_rows.h"
#include "datasets/rows/data_parts.h"
#include "datasets/rows/file_bytes.h"
#include "datasets/rows/labelled_line.h"
#include "datasets/rows/line_chunks.h"
#include "datasets/rows/row_parser.h"
#include "datasets/text/table.h"
#include "datasets/text_learner.h"
#include "engine/base/atomic_file.h"
#include "engine/base/error.h"
#include "engine/model/model_file.h"
#include "engine/model/output_files.h"

namespace slide {

namespace {

// Content of a pipe, which can be read only once; null for a file.
using Stream = std::unique_ptr<const FileBytes>;

Stream stream_of(const std::string& path) {
  return is_stream(path) ? std::make_unique<const FileBytes>(path) : nullptr;
}

// ---- text to text ----

// The lines of a text and their form.
struct Lines {
  std::optional<Table> table;
  TextForm form = TextForm::kFastText;
  std::string_view text;
  std::uint64_t before = 0;  // header lines of a table
  std::string separator = ",";

  std::string_view take(std::string_view& rest) const {
    return table ? table->take_record(rest) : take_line(rest);
  }
  void split(std::string_view line, LabelledLine& parts) const {
    table ? table->split(line, parts) : split_labelled(line, form, Labels::kRequired, parts, separator);
  }
};

Lines lines_of(const TextSource& source, DataFormat from, const TableColumns& columns) {
  std::string_view text = source.text;
  if (is_table(from)) {
    Table table(text, source.origin, from, columns, Labels::kRequired);
    text.remove_prefix(table.header_bytes());
    const std::uint64_t before = table.header_lines();
    return {std::move(table), TextForm::kFastText, text, before, {}};
  }
  const TextForm form = require_text_form(text, source.origin);
  return {std::nullopt, form, without_byte_order_mark(text), 0, columns.label_separator};
}

// Counts a malformed row with its description, or throws.
void take_fault(const std::string& fault, bool skip_bad, ReadReport& report) {
  if (!skip_bad) throw InputError(fault);
  ++report.bad_rows;
  report.add_shown(fault);
}

void write_line(const LabelledLine& parts, const std::string& where, TextWriter& out) {
  for (const std::string_view label : parts.labels) out.add_label(label, where);
  const std::size_t begin = std::min(parts.text.find_first_not_of(" \t"), parts.text.size());
  out.add_words(parts.text.substr(begin), where);
  out.end_line();
}

// Writes the samples of a file; counts them and malformed rows.
void rewrite_file(const std::string& path, const Lines& lines, bool skip_bad, TextWriter& out,
                  ConvertResult& result) {
  LabelledLine parts;
  std::uint64_t number = lines.before + 1;  // of the line, or of the first line of a record
  std::uint64_t next = number;
  for (std::string_view rest = lines.text; !rest.empty();) {
    const std::string_view line = lines.take(rest);
    number = std::exchange(next, next + 1 + std::count(line.begin(), line.end(), '\n'));
    if (is_blank_line(line)) continue;
    try {
      lines.split(line, parts);
    } catch (RowFault& fault) {
      take_fault(described(path, {number, std::move(fault)}), skip_bad, result.report);
      continue;
    }
    write_line(parts, fmt::format("{}:{}:1", path, number), out);
    ++result.samples;
  }
}

// Rewrites each line or record in the other text format, without a vocabulary: all words stay.
ConvertResult rewrite_text(const ConvertOptions& options, const Stream& stream, DataFormat from,
                           const TableColumns& columns, FileFormat to) {
  TextWriter out(options.out, to);
  ConvertResult result;
  ReadOptions read;
  read.format = from;
  read.columns = columns;
  read.threads = options.threads;
  const auto rewrite = [&](const FileBytes& bytes, const std::string& path) {
    add_text_warnings({bytes.text(), path}, read, result.report);
    if (options.warned) options.warned(result.report);
    rewrite_file(path, lines_of({bytes.text(), path}, from, columns), options.skip_bad, out, result);
  };
  if (stream) {
    rewrite(*stream, options.in);
  } else {
    for (const std::string& part : parts_of(options.in)) rewrite(FileBytes(part), part);
  }
  if (result.samples == 0 && result.report.bad_rows > 0)
    fail_input("{}; no row of the file can be read", result.report.first.front());
  out.finish();
  return result;
}

// ---- features ----

void write_names(const std::string& path, const char* option, const TextModel* text, bool labels) {
  if (path.empty()) return;
  if (text == nullptr)
    fail_input("{}: features and labels have names only where there is text or a --model", option);
  LineFile out(path);
  const std::uint32_t count = labels ? text->label_count() : text->feature_count();
  for (std::uint32_t id = 0; id < count; ++id) {
    if (labels)
      out.text() += text->label_name(id);
    else
      out.text() += text->feature_name(id);
    out.end_line();
  }
  out.finish();
}

// Settings from --set or from a model.
struct Settings {
  Config config;
  std::shared_ptr<const TextModel> text;  // of the model, or nullptr
  TableColumns columns;
};

// Vocabulary and columns of --model, else columns and [text] keys of --set.
Settings settings_of(const ConvertOptions& options) {
  Settings settings;
  if (!options.model.empty()) {
    Model model = load_model(options.model);
    if (model.text == nullptr)
      fail_input("{}: the model was not trained on text and has no vocabulary", options.model);
    settings = {model.config, std::move(model.text), {}};
  } else {
    constexpr std::string_view kMeant[] = {"text.", "data.text", "data.label"};
    for (const std::string& set : options.set) {
      if (std::ranges::none_of(kMeant, [&](std::string_view key) { return set.starts_with(key); }))
        fail_input(
            "--set {}: only keys of [text], and data.text, data.labels and data.label_separator, have "
            "a meaning here",
            set);
    }
    settings.config = parse_config("", "the settings", options.set);
  }
  const DataConfig& data = settings.config.data;
  settings.columns = {data.text, data.labels, data.label_separator, ""};
  return settings;
}

// Format of a pipe's content, kAuto where unclear.
DataFormat format_of_stream(const FileBytes& stream, const TableColumns& columns) {
  if (const std::optional<DataFormat> table = detect_table(stream.text(), columns)) return *table;
  return detect_format(stream.text()).value_or(DataFormat::kAuto);
}

// Learns the vocabulary of text from a pipe; nullptr where it is not text.
std::shared_ptr<const TextModel> learn_stream(const FileBytes& stream, const std::string& path,
                                              const ReadOptions& read, const TextOptions& options) {
  const DataFormat format =
      read.format == DataFormat::kAuto ? format_of_stream(stream, read.columns) : read.format;
  if (format == DataFormat::kInteractions) {
    fail_input(
        "{}: a log of interactions is read twice, first for its items, but a pipe can be read only once; "
        "write "
        "it to a file first",
        path);
  }
  if (format != DataFormat::kText && !is_table(format)) return nullptr;
  const TextSource source{stream.text(), path};
  std::optional<Table> table;
  if (is_table(format)) table.emplace(source.text, path, format, read.columns, Labels::kRequired);
  return learn_text(source, options, read.threads, kDefaultChunkBytes,
                    {read.skip_bad, table ? &*table : nullptr, read.columns.label_separator});
}

// The vocabulary for reading and names: the model's, else learnt from --fit or the input (`stream`, where
// that is a pipe).
std::shared_ptr<const TextModel> find_text_model(const ConvertOptions& options, const Stream& stream,
                                                 const Settings& settings) {
  if (!options.model.empty()) return settings.text;
  const std::string& source = options.fit.empty() ? options.in : options.fit;
  if (is_file_list(source) && parts_of(source).size() == 1) return nullptr;
  const bool is_input = options.fit.empty();
  ReadOptions read;
  read.format = is_input ? options.from.value_or(DataFormat::kAuto) : DataFormat::kText;
  if (!is_input && !settings.columns.text.empty()) read.format = DataFormat::kAuto;
  read.threads = options.threads;
  read.skip_bad = options.skip_bad;
  read.columns = settings.columns;
  if (is_input && stream) return learn_stream(*stream, source, read, settings.config.text);
  if (const Stream fit = is_input ? nullptr : stream_of(source))
    return learn_stream(*fit, source, read, settings.config.text);
  return learn_text_file(source, read, settings.config.text);
}

ReadOptions read_options(const ConvertOptions& options, DataFormat from, const TableColumns& columns,
                         const std::shared_ptr<const TextModel>& text) {
  ReadOptions read;
  read.columns = columns;
  read.format = from;
  read.one_based = options.one_based;
  read.normalize = false;  // unchanged values; readers scale them
  read.threads = options.threads;
  read.skip_bad = options.skip_bad;
  read.feature_limit = text != nullptr ? text->feature_count() : options.features;
  read.label_limit = text != nullptr ? text->label_count() : options.labels;
  read.text = text;
  return read;
}

// Checks that no output replaces an input or another output.
void check_names(const ConvertOptions& options, FileFormat to) {
  std::vector<OutputFile> outputs = {{"OUT", options.out},
                                     {"--label-names", options.label_names},
                                     {"--feature-names", options.feature_names}};
  if (to == FileFormat::kNpz) {
    const NpzPaths pair = npz_paths(options.out);
    outputs.front().path = pair.features;
    outputs.insert(outputs.begin() + 1, {"OUT", pair.labels});
  }
  check_outputs(outputs, std::array{options.in, options.model, options.fit}, options.replace_models);
}

// By the names of the files, then by the content; kAuto where both leave it open.
DataFormat format_of_input(const std::string& path, const TableColumns& columns) {
  if (const std::vector<std::string> parts = parts_of(path); parts.size() > 1) {
    ReadOptions read;
    read.columns = columns;
    return format_of_parts(parts, read);
  }
  if (is_npz_pair(path)) return DataFormat::kNpz;
  if (named_text_pair(path)) return DataFormat::kAuto;
  const std::string head = head_of_file(path);
  if (const std::optional<DataFormat> table = detect_table(head, columns)) return *table;
  return head.empty() ? DataFormat::kAuto : detect_format(head).value_or(DataFormat::kAuto);
}

}  // namespace

// Rewrites text as text line by line; everything else goes through rows of features and labels.
ConvertResult convert_data(const ConvertOptions& given) {
  ConvertOptions options = given;
  options.in = expanded(given.in);
  const std::optional<FileFormat> found = options.to ? options.to : format_of_name(options.out);
  if (!found) {
    fail_input("{}: the name does not tell the format; give --to xmc, libsvm, fasttext, tsv or npz",
               options.out);
  }
  if (dense_paths(options.in)) {
    fail_input("{}: dense features are trained on and predicted as they are; only sparse ones are converted",
               options.in);
  }
  const FileFormat to = *found;
  check_names(options, to);
  const Settings settings = settings_of(options);
  const Stream stream = stream_of(options.in);
  const DataFormat from = options.from ? *options.from
                          : stream     ? format_of_stream(*stream, settings.columns)
                                       : format_of_input(options.in, settings.columns);
  if ((from == DataFormat::kText || is_table(from)) && is_text(to))
    return rewrite_text(options, stream, from, settings.columns, to);
  const std::shared_ptr<const TextModel> text = find_text_model(options, stream, settings);
  const std::string beside = to == FileFormat::kNpz ? npz_paths(options.out).features : options.out;
  ConvertResult result;
  ReadOptions read = read_options(options, from, settings.columns, text);
  read.report = &result.report;
  const auto read_file = [&] {  // a device has no folder for temporary rows
    return is_pipe_or_device(options.out) ? read_dataset(options.in, read)
                                          : read_dataset_to_disk(options.in, read, beside);
  };
  const Dataset data = stream ? parse_dataset(stream->text(), options.in, read) : read_file();
  if (options.warned) options.warned(result.report);
  write_data(data, options.out, to, {text.get()}, shown_path(options.in));
  write_names(options.label_names, "--label-names", text.get(), true);
  write_names(options.feature_names, "--feature-names", text.get(), false);
  result.samples = data.size();
  result.data = data;
  return result;
}

}  // namespace slide
