#include "engine/run/convert.h"

#include <algorithm>

#include "datasets/cache.h"
#include "datasets/detect.h"
#include "datasets/file_bytes.h"
#include "datasets/labelled_line.h"
#include "datasets/line_chunks.h"
#include "datasets/npz.h"
#include "datasets/row_parser.h"
#include "datasets/text_learner.h"
#include "engine/base/error.h"
#include "engine/run/model_file.h"

namespace slide {

namespace {

// ---- text into text ----

ConvertResult rewrite_text(const ConvertOptions& options, FileFormat to) {
  const FileBytes bytes(options.in);
  const std::optional<TextForm> form = find_text_form(bytes.text());
  if (!form) {
    fail_input("{}:1:1: no labelled text; write '{}NAME words ...' or 'NAME,NAME<TAB>words ...'", options.in,
               kLabelPrefix);
  }
  LineFile out(options.out);
  LabelledLine parts;
  std::size_t number = 0;
  ConvertResult result;
  for (std::string_view rest = without_byte_order_mark(bytes.text()); !rest.empty();) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    ++number;
    while (!line.empty() && line.back() == '\r') line.remove_suffix(1);
    if (line.find_first_not_of(" \t") == std::string_view::npos) continue;
    const std::string where = fmt::format("{}:{}:1", options.in, number);
    try {
      split_labelled(line, *form, Labels::kRequired, parts);
    } catch (RowFault& fault) {
      const std::string what = described(options.in, {number, std::move(fault)});
      if (!options.skip_bad) throw InputError(what);
      ++result.report.bad_rows;
      result.report.add_shown(what);
      continue;
    }
    for (std::size_t i = 0; i < parts.labels.size(); ++i)
      append_label(out.text(), to, parts.labels[i], i == 0, where);
    end_labels(out.text(), to);
    const std::size_t begin = std::min(parts.text.find_first_not_of(" \t"), parts.text.size());
    out.text() += parts.text.substr(begin);
    out.end_line();
    ++result.samples;
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

// What text is read with, and whose names are written: of the model, else learnt from --fit or the input.
std::shared_ptr<const TextModel> find_text_model(const ConvertOptions& options) {
  if (!options.model.empty()) {
    std::shared_ptr<const TextModel> text = load_model(options.model).text;
    if (text == nullptr)
      fail_input("{}: the model was not trained on text and has no vocabulary", options.model);
    return text;
  }
  for (const std::string& set : options.set) {
    if (!set.starts_with("text.")) fail_input("--set {}: only keys of [text] have a meaning here", set);
  }
  const Config config = parse_config("", "the settings", options.set);
  const std::string& source = options.fit.empty() ? options.in : options.fit;
  if (is_npz_pair(source)) return nullptr;
  const bool is_input = options.fit.empty();
  const DataFormat format = is_input ? options.from.value_or(DataFormat::kAuto) : DataFormat::kText;
  return learn_text_file(source, format, config.text, options.threads, false, options.skip_bad);
}

ReadOptions read_options(const ConvertOptions& options, DataFormat from,
                         const std::shared_ptr<const TextModel>& text) {
  ReadOptions read;
  read.format = from;
  read.one_based = options.one_based;
  read.normalize = false;  // values as they are; whoever reads them again scales them
  read.threads = options.threads;
  read.skip_bad = options.skip_bad;
  read.feature_limit = text != nullptr ? text->feature_count() : options.features;
  read.label_limit = text != nullptr ? text->label_count() : options.labels;
  read.text = text;
  return read;
}

}  // namespace

ConvertResult convert_data(const ConvertOptions& options) {
  const std::optional<FileFormat> found = options.to ? options.to : format_of_name(options.out);
  if (!found) {
    fail_input("{}: the name does not tell the format; give --to xmc, libsvm, fasttext, tsv or npz",
               options.out);
  }
  const FileFormat to = *found;
  const DataFormat from = options.from.value_or(
      is_npz_pair(options.in) ? DataFormat::kNpz : detect_file(options.in).value_or(DataFormat::kAuto));
  if (from == DataFormat::kText && is_text(to)) return rewrite_text(options, to);
  const std::shared_ptr<const TextModel> text = find_text_model(options);
  const std::string beside = to == FileFormat::kNpz ? npz_paths(options.out).features : options.out;
  ConvertResult result;
  ReadOptions read = read_options(options, from, text);
  read.report = &result.report;
  const Dataset data = read_dataset_to_disk(options.in, read, beside);
  write_data(data, options.out, to, text.get(), options.in);
  write_names(options.label_names, "--label-names", text.get(), true);
  write_names(options.feature_names, "--feature-names", text.get(), false);
  result.samples = data.size();
  result.data = data;
  return result;
}

}  // namespace slide
