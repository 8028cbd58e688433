#include "datasets/data_writer.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "datasets/formats/npz.h"
#include "datasets/formats/xmc_writer.h"
#include "datasets/rows/labelled_line.h"
#include "engine/base/error.h"
#include "engine/base/foreign_text.h"

namespace slide {

namespace {

constexpr std::size_t kLineBufferBytes = std::size_t{1} << 20;
constexpr float kMaxRepeats = 1000;  // of a word, where values are counts

// The word of a feature: a single word, or empty.
std::string word_of(const TextModel* text, std::uint32_t id) {
  if (text == nullptr) return fmt::format("f{}", id);
  const std::string name = text->feature_name(id);
  return name.starts_with('~') || name.starts_with('#') || name.find(' ') != std::string::npos ? "" : name;
}

// Writes each feature as its word, and a word of a small whole value so many times: text has no values.
void append_words(std::string& line, FileFormat to, const SparseRow& row, const TextModel* text,
                  const std::string& origin) {
  for (std::size_t f = 0; f < row.ids.size(); ++f) {
    const std::string word = word_of(text, row.ids[f]);
    const float value = row.values[f];
    if (word.empty() || value == 0) continue;
    check_words(to, word, origin);
    const bool is_count = value >= 1 && value <= kMaxRepeats && value == std::floor(value);
    for (int n = is_count ? static_cast<int>(value) : 1; n > 0; --n) {
      if (!line.empty() && line.back() != ' ' && line.back() != '\t') line += ' ';
      line += word;
    }
  }
}

std::string name_of(std::uint32_t label, const WrittenNames& names) {
  if (names.text == nullptr) return std::to_string(label);
  const std::uint32_t known = names.text->label_count();
  return std::string(label < known ? names.text->label_name(label)
                                   : std::string_view((*names.unknown)[label - known]));
}

// A line per sample: its labels, the separator, then its features as words.
void write_text(const Dataset& data, const std::string& path, FileFormat to, const WrittenNames& names,
                const std::string& origin) {
  LineFile out(path);
  for (std::size_t i = 0; i < data.size(); ++i) {
    bool is_first = true;
    for (const std::uint32_t label : data.labels(i)) {
      append_label(out.text(), to, name_of(label, names), is_first, origin);
      is_first = false;
    }
    end_labels(out.text(), to);
    append_words(out.text(), to, data.features(i), names.text, origin);
    out.end_line();
  }
  out.finish();
}

void write_libsvm(const Dataset& data, const std::string& path) {
  LineFile out(path);
  for (std::size_t i = 0; i < data.size(); ++i) {
    std::string& text = out.text();
    const bool empty = data.labels(i).empty() && data.features(i).ids.empty();
    if (empty)
      text += " 0:0\n";  // a blank line would not be a sample
    else
      append_xmc_row(text, data.labels(i), data.features(i));
    text.pop_back();
    out.end_line();
  }
  out.finish();
}

}  // namespace

std::optional<FileFormat> format_of_word(std::string_view word) {
  for (const NamedFormat& known : kFileFormats) {
    if (known.name == word) return known.format;
  }
  return std::nullopt;
}

std::optional<FileFormat> format_of_name(const std::string& path) {
  const std::string extension = std::filesystem::path(path).extension().string();
  if (extension == ".npz") return FileFormat::kNpz;
  if (extension == ".tsv") return FileFormat::kTsv;
  if (extension == ".ft" || extension == ".fasttext") return FileFormat::kFastText;
  if (extension == ".svm" || extension == ".libsvm") return FileFormat::kLibsvm;
  if (extension == ".xmc" || extension == ".txt") return FileFormat::kXmc;
  return std::nullopt;
}

void LineFile::end_line() {
  text_ += '\n';
  flush_at(kLineBufferBytes);
}

void LineFile::finish() {
  flush_at(1);
  file_.finish();
}

void LineFile::flush_at(std::size_t bytes) {
  if (text_.size() < bytes) return;
  file_.write(text_);
  text_.clear();
}

// fastText: `__label__name`, blanks as `_`; table: names with commas between them.
void append_label(std::string& line, FileFormat to, std::string_view name, bool is_first,
                  const std::string& where) {
  std::string label(name);
  if (to == FileFormat::kFastText) {
    std::replace_if(
        label.begin(), label.end(), [](char c) { return c == ' ' || c == '\t'; }, '_');
    if (!is_first) line += ' ';
    line.append(kLabelPrefix).append(label);
  } else {
    if (is_first && label.starts_with(kLabelPrefix)) {
      fail_input(
          "{}: the label '{}' begins like a line of fastText, and the table would be read as that; write "
          "fasttext instead",
          where, shown_part(label));
    }
    if (label.find(',') != std::string::npos) {
      fail_input("{}: the label '{}' has a comma, which separates labels in a table; write fasttext instead",
                 where, shown_part(label));
    }
    if (!is_first) line += ',';
    line += label;
  }
}

// A word that begins with the label prefix would be read as a label.
void check_words(FileFormat to, std::string_view text, const std::string& where) {
  if (to != FileFormat::kFastText) return;
  for (std::size_t at = text.find(kLabelPrefix); at != std::string_view::npos;
       at = text.find(kLabelPrefix, at + 1)) {
    if (at > 0 && text[at - 1] != ' ' && text[at - 1] != '\t') continue;
    const std::string_view word = text.substr(at, text.find_first_of(" \t", at) - at);
    fail_input(
        "{}: the word '{}' would become a label in fastText's form; change the word, or write tsv instead",
        where, shown_part(word));
  }
}

void end_labels(std::string& line, FileFormat to) {
  line += to == FileFormat::kFastText ? ' ' : '\t';
}

void write_data(const Dataset& data, const std::string& path, FileFormat to, const WrittenNames& names,
                const std::string& origin) {
  switch (to) {
    case FileFormat::kXmc:
      return write_xmc(data, path);
    case FileFormat::kLibsvm:
      return write_libsvm(data, path);
    case FileFormat::kNpz:
      return write_npz(data, npz_paths(path));
    case FileFormat::kFastText:
    case FileFormat::kTsv:
      return write_text(data, path, to, names, origin);
  }
}

}  // namespace slide
