// Writers of all output formats. Safe from any thread, for different files.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "datasets/rows/dataset.h"
#include "datasets/rows/unknown_labels.h"
#include "datasets/text/text_model.h"
#include "engine/base/atomic_file.h"

namespace slide {

// Output formats.
enum class FileFormat { kXmc, kLibsvm, kFastText, kTsv, kNpz };

struct NamedFormat {
  std::string_view name;
  FileFormat format;
};
inline constexpr NamedFormat kFileFormats[] = {{"xmc", FileFormat::kXmc},
                                               {"libsvm", FileFormat::kLibsvm},
                                               {"fasttext", FileFormat::kFastText},
                                               {"tsv", FileFormat::kTsv},
                                               {"npz", FileFormat::kNpz}};
// Format by its name in kFileFormats; nullopt for other words.
std::optional<FileFormat> format_of_word(std::string_view word);
// Format by file name extension; nullopt where unknown.
std::optional<FileFormat> format_of_name(const std::string& path);

inline bool is_text(FileFormat format) {
  return format == FileFormat::kFastText || format == FileFormat::kTsv;
}

// Writes lines to a file that appears when complete. One thread.
class LineFile {
 public:
  explicit LineFile(const std::string& path) : file_(path) {}
  std::string& text() { return text_; }  // of the current line
  void end_line();
  void finish();

 private:
  void flush_at(std::size_t bytes);

  AtomicFile file_;
  std::string text_;
};

// Writes labelled text, as fastText or a table reads it: a line per sample, its labels, then its words.
// Throws InputError for names and words that would be read as something else; `where`: position for messages.
// One thread.
class TextWriter {
 public:
  TextWriter(const std::string& path, FileFormat to) : path_(path), to_(to), out_(path) {}
  void add_label(std::string_view name, const std::string& where);  // before the line's words
  void add_words(std::string_view words, const std::string& where);
  void end_line();
  // Throws InputError where the first lines would be read in another format.
  void finish();

 private:
  void begin_words();
  void check_head() const;

  std::string path_;
  FileFormat to_;
  LineFile out_;
  std::string line_;
  bool has_labels_ = false, has_words_ = false;  // of the line
  std::string head_;                             // first lines of the file
  // fastText: names of labels by the form in which they are written.
  std::unordered_map<std::string, std::string> names_;
};

// The names of features and labels that text is written with.
struct WrittenNames {
  const TextModel* text = nullptr;         // nullptr: there are none
  const UnknownLabels* unknown = nullptr;  // names of the labels after the labels of `text`
};

// Writes all samples to `path`, which gets its name when it is whole; an .npz pair is named by its features
// (npz_paths). Text is written with `names`; without them labels are numbers, and features are words f0, f1,
// ..., repeated by their counts. Throws InputError where a name does not fit the format, of data that came
// from `origin`, and Error when the file cannot be written.
void write_data(const Dataset& data, const std::string& path, FileFormat to, const WrittenNames& names,
                const std::string& origin);

}  // namespace slide
