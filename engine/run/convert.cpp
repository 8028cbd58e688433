#include "engine/run/convert.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "datasets/cache.h"
#include "datasets/detect.h"
#include "datasets/file_bytes.h"
#include "datasets/labelled_line.h"
#include "datasets/line_chunks.h"
#include "datasets/npz.h"
#include "datasets/row_parser.h"
#include "datasets/text_learner.h"
#include "datasets/xmc_writer.h"
#include "engine/base/atomic_file.h"
#include "engine/base/error.h"
#include "engine/run/foreign_text.h"
#include "engine/run/model_file.h"

namespace slide {

namespace {

constexpr std::size_t kBufferBytes = std::size_t{1} << 20;
constexpr float kMostRepeats = 1000;  // of a word, when counts become text

// Lines on their way to a file that gets its name when it is whole.
class LineFile {
 public:
  explicit LineFile(const std::string& path) : file_(path) {}
  std::string& text() { return text_; }
  void end_line() {
    text_ += '\n';
    flush_at(kBufferBytes);
  }
  void finish() {
    flush_at(1);
    file_.finish();
  }

 private:
  void flush_at(std::size_t bytes) {
    if (text_.size() < bytes) return;
    file_.write(text_);
    text_.clear();
  }

  AtomicFile file_;
  std::string text_;
};

bool is_text(FileFormat format) {
  return format == FileFormat::kFastText || format == FileFormat::kTsv;
}

FileFormat format_of_name(const std::string& path) {
  const std::string extension = std::filesystem::path(path).extension().string();
  if (extension == ".npz") return FileFormat::kNpz;
  if (extension == ".tsv") return FileFormat::kTsv;
  if (extension == ".ft" || extension == ".fasttext") return FileFormat::kFastText;
  if (extension == ".svm" || extension == ".libsvm") return FileFormat::kLibsvm;
  if (extension == ".xmc" || extension == ".txt") return FileFormat::kXmc;
  fail_input("{}: the name does not tell the format; give --to xmc, libsvm, fasttext, tsv or npz", path);
}

// Appends the labels of a line of text and what separates them from the text.
template <class Name>
void append_labels(std::string& line, FileFormat to, std::size_t count, const std::string& where,
                   const Name& name) {
  for (std::size_t i = 0; i < count; ++i) {
    std::string label(name(i));
    if (to == FileFormat::kFastText) {
      std::replace_if(
          label.begin(), label.end(), [](char c) { return c == ' ' || c == '\t'; }, '_');
      if (i > 0) line += ' ';
      line.append(kLabelPrefix).append(label);
    } else {
      if (label.find(',') != std::string::npos) {
        fail_input("{}: the label '{}' has a comma, which separates labels in a table; use --to fasttext",
                   where, shown_part(label));
      }
      if (i > 0) line += ',';
      line += label;
    }
  }
  line += to == FileFormat::kFastText ? ' ' : '\t';
}

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
    append_labels(out.text(), to, parts.labels.size(), where, [&](std::size_t i) { return parts.labels[i]; });
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

// ---- features into text ----

// A word that stands for a feature: one word of its own, or nothing.
std::string word_of(const TextModel* text, std::uint32_t id) {
  if (text == nullptr) return fmt::format("f{}", id);
  const std::string name = text->feature_name(id);
  return name.starts_with('~') || name.starts_with('#') || name.find(' ') != std::string::npos ? "" : name;
}

void write_text(const Dataset& data, const ConvertOptions& options, FileFormat to, const TextModel* text) {
  LineFile out(options.out);
  for (std::size_t i = 0; i < data.size(); ++i) {
    const auto labels = data.labels(i);
    append_labels(out.text(), to, labels.size(), options.in, [&](std::size_t l) {
      return text != nullptr ? std::string(text->label_name(labels[l])) : std::to_string(labels[l]);
    });
    const SparseRow row = data.features(i);
    for (std::size_t f = 0; f < row.ids.size(); ++f) {
      const std::string word = word_of(text, row.ids[f]);
      const float value = row.values[f];
      if (word.empty() || value == 0) continue;
      const bool is_count = value >= 1 && value <= kMostRepeats && value == std::floor(value);
      for (int n = is_count ? static_cast<int>(value) : 1; n > 0; --n) {
        if (!out.text().empty() && out.text().back() != ' ' && out.text().back() != '\t') out.text() += ' ';
        out.text() += word;
      }
    }
    out.end_line();
  }
  out.finish();
}

// ---- features into features ----

void write_libsvm(const Dataset& data, const std::string& path) {
  LineFile out(path);
  for (std::size_t i = 0; i < data.size(); ++i) {
    std::string& text = out.text();
    const bool empty = data.labels(i).empty() && data.features(i).ids.empty();
    if (empty)
      text += " 0:0\n";  // a blank line would be no sample
    else
      append_xmc_row(text, data.labels(i), data.features(i));
    text.pop_back();
    out.end_line();
  }
  out.finish();
}

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

void write_data(const Dataset& data, const ConvertOptions& options, FileFormat to, const TextModel* text) {
  switch (to) {
    case FileFormat::kXmc:
      return write_xmc(data, options.out);
    case FileFormat::kLibsvm:
      return write_libsvm(data, options.out);
    case FileFormat::kNpz:
      return write_npz(data, npz_paths(options.out));
    case FileFormat::kFastText:
    case FileFormat::kTsv:
      return write_text(data, options, to, text);
  }
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
  const FileFormat to = options.to ? *options.to : format_of_name(options.out);
  const DataFormat from = options.from.value_or(
      is_npz_pair(options.in) ? DataFormat::kNpz : detect_file(options.in).value_or(DataFormat::kAuto));
  if (from == DataFormat::kText && is_text(to)) return rewrite_text(options, to);
  const std::shared_ptr<const TextModel> text = find_text_model(options);
  const std::string beside = to == FileFormat::kNpz ? npz_paths(options.out).features : options.out;
  ConvertResult result;
  ReadOptions read = read_options(options, from, text);
  read.report = &result.report;
  const Dataset data = read_dataset_to_disk(options.in, read, beside);
  write_data(data, options, to, text.get());
  write_names(options.label_names, "--label-names", text.get(), true);
  write_names(options.feature_names, "--feature-names", text.get(), false);
  result.samples = data.size();
  result.data = data;
  return result;
}

}  // namespace slide
