#include "datasets/data_writer.h"

#include <algorithm>
#include <cmath>
#include <filesystem>

#include "datasets/formats/detect.h"
#include "datasets/formats/npz.h"
#include "datasets/formats/xmc_writer.h"
#include "datasets/rows/data_parts.h"
#include "datasets/rows/labelled_line.h"
#include "datasets/rows/line_chunks.h"
#include "engine/base/error.h"
#include "engine/base/foreign_text.h"

namespace slide {

namespace {

constexpr std::size_t kLineBufferBytes = std::size_t{1} << 20;
constexpr std::size_t kHeadBytes = std::size_t{1} << 16;  // of a file of text that are kept for a check
constexpr float kMaxRepeats = 1000;                       // of a word, where values are counts

// The word of a feature: a single word, or empty.
std::string word_of(const TextModel* text, std::uint32_t id) {
  if (text == nullptr) return fmt::format("f{}", id);
  const std::string name = text->feature_name(id);
  return name.starts_with('~') || name.starts_with('#') || name.find(' ') != std::string::npos ? "" : name;
}

// Writes each feature as its word, and a word of a small whole value so many times: text has no values.
void write_words(const SparseRow& row, const TextModel* text, const std::string& origin, TextWriter& out) {
  for (std::size_t f = 0; f < row.ids.size(); ++f) {
    const std::string word = word_of(text, row.ids[f]);
    const float value = row.values[f];
    if (word.empty() || value == 0) continue;
    const bool is_count = value >= 1 && value <= kMaxRepeats && value == std::floor(value);
    for (int n = is_count ? static_cast<int>(value) : 1; n > 0; --n) out.add_words(word, origin);
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
  TextWriter out(path, to);
  for (std::size_t i = 0; i < data.size(); ++i) {
    for (const std::uint32_t label : data.labels(i)) out.add_label(name_of(label, names), origin);
    write_words(data.features(i), names.text, origin, out);
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
void TextWriter::add_label(std::string_view name, const std::string& where) {
  std::string label(name);
  if (to_ == FileFormat::kFastText) {
    std::ranges::replace_if(
        label, [](char c) { return c == ' ' || c == '\t'; }, '_');
    const auto [written, is_new] = names_.emplace(label, name);
    if (!is_new && written->second != name) {
      fail_input("{}: the labels '{}' and '{}' would both become {}{}; rename one, or write tsv instead",
                 where, shown_part(written->second), shown_part(name), kLabelPrefix, shown_part(label));
    }
    if (has_labels_) line_ += ' ';
    line_.append(kLabelPrefix).append(label);
  } else {
    if (!has_labels_ && label.starts_with(kLabelPrefix)) {
      fail_input(
          "{}: the label '{}' begins like a line of fastText, and the table would be read as that; write "
          "fasttext instead",
          where, shown_part(label));
    }
    if (label.find(',') != std::string::npos) {
      fail_input("{}: the label '{}' has a comma, which separates labels in a table; write fasttext instead",
                 where, shown_part(label));
    }
    if (has_labels_) line_ += ',';
    line_ += label;
  }
  has_labels_ = true;
}

// A word that begins with the label prefix would be read as a label of fastText.
void TextWriter::add_words(std::string_view words, const std::string& where) {
  for (std::size_t at = words.find(kLabelPrefix);
       to_ == FileFormat::kFastText && at != std::string_view::npos; at = words.find(kLabelPrefix, at + 1)) {
    if (at > 0 && words[at - 1] != ' ' && words[at - 1] != '\t') continue;
    const std::string_view word = words.substr(at, words.find_first_of(" \t", at) - at);
    fail_input(
        "{}: the word '{}' would become a label in fastText's form; change the word, or write tsv instead",
        where, shown_part(word));
  }
  if (has_words_)
    line_ += ' ';
  else
    begin_words();
  line_ += words;
}

// Ends the labels of the line.
void TextWriter::begin_words() {
  line_ += to_ == FileFormat::kFastText ? ' ' : '\t';
  has_words_ = true;
}

void TextWriter::end_line() {
  if (!has_words_) begin_words();
  out_.text() += line_;
  out_.end_line();
  if (head_.size() < kHeadBytes) head_.append(line_).append("\n");
  line_.clear();
  has_labels_ = has_words_ = false;
}

void TextWriter::finish() {
  check_head();
  out_.finish();
}

void TextWriter::check_head() const {
  const char* const remedy =
      to_ == FileFormat::kFastText ? "let a sample with a label be the first" : "write fasttext instead";
  if (without_byte_order_mark(head_).size() < head_.size()) {
    fail_input("{}: its first line would begin with a byte order mark, which is lost when read; {}",
               shown_path(path_), remedy);
  }
  const std::optional<DataFormat> format = detect_format(head_);
  if (format && *format != DataFormat::kText)
    fail_input("{}: it would be read as {}, by its first lines; {}", shown_path(path_), name_of(*format),
               remedy);
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
